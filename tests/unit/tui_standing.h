/* tui_standing.h - what a hub says of answers that stand, for tests of the inbox's screen. */
#ifndef TESTS_TUI_STANDING_H
#define TESTS_TUI_STANDING_H

#define RULES_FACTS(from, title, agent, directory, any, answer)                                    \
    "{\"from\":\"" from "\",\"tool\":\"provide_choice\",\"title\":\"" title                        \
    "\",\"agent\":\"" agent "\",\"directory\":\"" directory "\",\"any_prompt\":" any "," answer    \
    "}"
#define RULES_RULE(id, until, expired, facts)                                                      \
    "{\"id\":\"" id "\",\"created_at\":\"2026-07-20T10:00:00.000Z\",\"expires_at\":\"" until       \
    ".000Z\",\"expired\":" expired ",\"rule\":" facts ",\"answer\":{},\"made_by\":{\"person\":"    \
    "\"ada\",\"via\":\"web\"}}"

/* clang-format off */
static const char standing_rules[] = "{\"rules\":["
    RULES_RULE("r1r1", "2026-08-27T14:03:00", "false", RULES_FACTS("aaaa",
        "Which cache should the product page use?", "claude-code", "/home/me/src/shop-api", "true", "\"summary\":\"Redis, write-through\"")) ","
    RULES_RULE("r2r2", "2026-07-01T09:00:00", "true", RULES_FACTS("bbbb",
        "Run the linter first?", "codex", "/srv/infra", "false", "\"confirmed\":true,\"summary\":\"true\""))
    "]}";
static const char standing_one[] = "{\"rules\":["
    RULES_RULE("r2r2", "2026-07-01T09:00:00", "true", RULES_FACTS("bbbb",
        "Run the linter first?", "codex", "/srv/infra", "false", "\"confirmed\":true,\"summary\":\"true\""))
    "]}";
static const char standing_proposed[] = "{\"suggestions\":[{\"count\":4,\"rule\":"
    RULES_FACTS("cccc", "Keep the old /v1 routes?", "gemini-cli", "/home/me/docs", "true", "\"summary\":\"Yes, for 6 months\"") "}]}";

#define RULES_PAST(when, same, answer)                                                          \
    "{\"session_id\":\"x\",\"created_at\":\"2026-07-28T" when ".000Z\",\"same\":" same ",\"summary\":\"" answer "\"}"
#define RULES_CASE(any, same, other)                                                            \
    "{\"from\":\"cccc\",\"tool\":\"provide_choice\",\"title\":\"Keep the old /v1 routes?\",\"agent\":\"gemini-cli\"," \
    "\"directory\":\"/home/me/docs\",\"any_prompt\":" any ",\"summary\":\"Yes, for 6 months\",\"asks\":["             \
    RULES_PAST("13:51:11", "true", "Yes, for 6 months") "," RULES_PAST("09:03:00", "false", "No")              \
    "],\"same\":" same ",\"other\":" other "}"
static const char rule_case[] = RULES_CASE("true", "4", "1");
static const char standing_case_same[] = RULES_CASE("false", "1", "0");
/* clang-format on */

#endif
