/* rule.c - `sayso rule`: answers that stand for asks to come. What one would have meant is shown
 * before it is made, and it can be taken back at any time. */

#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"

enum { MAX_DAYS = 365, DAY_S = 86400 };

static bool write_ask(const struct arguments *arguments, struct text *params)
{
    struct json_writer writer = json_object_to(params);
    int64_t days = 0;

    if (!arguments_integer(arguments, "for", 1, MAX_DAYS, &days))
        return false;
    json_write_text(&writer, "session_id", arguments->words[1]);
    json_write_bool_if(&writer, "any_prompt", arguments_value(arguments, "any-prompt") != NULL);
    if (days)
        json_write_integer(&writer, "seconds", days * DAY_S);
    json_write_end_object(&writer);
    return true;
}

static const char *answer_of(const struct json *facts)
{
    const struct json *confirmed = json_member(facts, "confirmed");

    if (confirmed)
        return i18n_text(json_is_true(confirmed) ? TEXT_TUI_YES : TEXT_TUI_NO);
    return say_member(facts, "summary");
}

/* For which asks, and what is answered. */
static void print_facts(const struct json *facts)
{
    bool any_prompt = json_is_true(json_member(facts, "any_prompt"));

    say_row(TEXT_ROW_TITLE, json_member_text(facts, "title"));
    say_row(TEXT_ROW_AGENT, say_member(facts, "agent"));
    say_row(TEXT_ROW_DIRECTORY, json_member_text(facts, "directory"));
    say_row(TEXT_RULE_ROW_PROMPT,
            i18n_text(any_prompt ? TEXT_RULE_ANY_PROMPT : TEXT_RULE_SAME_PROMPT));
    say_row(TEXT_ROW_ANSWER, answer_of(facts));
}

static void print_until(const struct arguments *arguments, const struct json *rule, bool is_over)
{
    struct text when = { 0 };

    say_add_time(arguments, &when, json_member(rule, "expires_at"));
    say_result(is_over ? TEXT_RULE_OVER : TEXT_RULE_UNTIL, "id", json_member_text(rule, "id"),
               "time", text_string(&when));
    text_release(&when);
}

static void print_rule(const struct arguments *arguments, const struct json *rule)
{
    print_until(arguments, rule, json_is_true(json_member(rule, "expired")));
    print_facts(json_member(rule, "rule"));
}

static void print_suggestion(const struct arguments *arguments, const struct json *one)
{
    const struct json *facts = json_member(one, "rule");
    bool any_prompt = json_is_true(json_member(facts, "any_prompt"));

    (void)arguments;
    say_result(TEXT_RULE_SUGGESTED, "count", TEXT_NUMBER(json_member_integer(one, "count", 0)));
    print_facts(facts);
    say_result(TEXT_RULE_DO_ADD, "id", json_member_text(facts, "from"), "option",
               any_prompt ? "--any-prompt" : "");
}

static void print_preview(const struct arguments *arguments, const struct json *result)
{
    const struct json *asks = json_member(result, "asks");

    print_facts(result);
    say_result(TEXT_RULE_SO_FAR, "same", TEXT_NUMBER(json_member_integer(result, "same", 0)),
               "other", TEXT_NUMBER(json_member_integer(result, "other", 0)));
    for (size_t i = 0; i < json_length(asks); i++) {
        const struct json *ask = json_item(asks, i);
        struct text when = { 0 };

        say_add_time(arguments, &when, json_member(ask, "created_at"));
        say_result(json_is_true(json_member(ask, "same")) ? TEXT_RULE_CASE_SAME
                                                          : TEXT_RULE_CASE_OTHER,
                   "id", json_member_text(ask, "session_id"), "time", text_string(&when), "answer",
                   answer_of(ask));
        text_release(&when);
    }
}

static void print_added(const struct arguments *arguments, const struct json *rule)
{
    print_until(arguments, rule, false);
    print_facts(json_member(rule, "rule"));
    say_note(TEXT_RULE_ADDED, "id", json_member_text(rule, "id"));
}

static void print_removed(const struct arguments *arguments, const struct json *result)
{
    (void)result;
    say_result(TEXT_RULE_REMOVED, "id", arguments->words[1]);
}

static const struct act acts[] = {
    { "list", 1, "rule/list", .shown = "rules", .print_item = print_rule, .none = TEXT_RULE_NONE },
    { "suggest", 1, "rule/suggest", .shown = "suggestions", .print_item = print_suggestion,
      .none = TEXT_RULE_NO_SUGGESTIONS },
    { "preview", 2, "rule/preview", write_ask, .print = print_preview },
    { "add", 2, "rule/add", write_ask, .print = print_added },
    { "remove", 2, "rule/remove", act_write_id, .print = print_removed },
};

static const struct verb_option options[] = {
    { "for", 0, "DAYS", TEXT_OPT_RULE_FOR, false },
    { "any-prompt", 0, NULL, TEXT_OPT_RULE_ANY_PROMPT, false },
    { "utc", 0, NULL, TEXT_OPT_UTC, false },
};
static const char *const usage[] = { "rule [list]",
                                     "rule suggest",
                                     "rule preview ASK [--any-prompt]",
                                     "rule add ASK [--any-prompt] [--for DAYS]",
                                     "rule remove ID",
                                     NULL };
static const char *const examples[] = { "rule preview k3f7", "rule add k3f7 --for 7",
                                        "rule remove 3f0c", NULL };
VERB_ACTS(rule, TEXT_CLI_RULE, VERB_TABLES,
          .syntax = "list | suggest | preview ASK | add ASK | remove ID", .max_words = 2,
          .works_remotely = true);
