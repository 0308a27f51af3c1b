/*
 * test_tui_standing.c - answers that stand, in the inbox: the list, one before it is made, making
 * and revoking, what others do at the same time, and what agents write.
 * Proves: R2.2 R6.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json.h"
#include "tui_fixture.h"
#include "tui_forms.h"
#include "tui_standing.h"

static void open_inbox(struct stage *stage)
{
    static const char list[] = "{\"seq\":1,\"asks\":[]}";
    struct json *value = NULL;

    stage_open(stage, cache_form); /* prepares the stage */
    ask_screen_free(stage->ask);
    stage->ask = NULL;
    assert_true(json_parse(list, strlen(list), &value, NULL));
    stage->inbox = inbox_screen_new(&stage->setup, value, stage->now);
    json_free(value);
    text_clear(&stage->effects);
}

static void open_list(struct stage *stage)
{
    open_inbox(stage);
    stage_type(stage, "a");
    stage_expect(stage, "RULES\n");
    stage_expect_no_row(stage, "No rules"); /* it is not known yet */
    stage_take(stage, NEWS_RULES, standing_rules);
    stage_take(stage, NEWS_PROPOSED, standing_proposed);
}

static void the_list(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_list(&stage);
    stage_expect_screen(
        &stage, 80, 24,
        " Rules                                                                        2\n"
        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
        " ▸ ✓ Which cache should the product page use?      Redis, write-through\n"
        "     expires 2026-08-27 14:03, created by ada      \"claude-code\" ~/src/shop-api\n"
        "   - Run the linter first?                         Yes\n"
        "     expired 2026-07-01 09:00, created by ada      \"codex\" /srv/infra\n"
        "\n"
        " Suggested from your history\n"
        "   + Keep the old /v1 routes?                      Yes, for 6 months\n"
        "     same answer 4 times                           \"gemini-cli\" ~/docs\n"
        "\n"
        " Enter view  d delete  Esc back\n");
    stage_expect_screen(&stage, 40, 16,
                        " Rules                                2\n"
                        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
                        " ▸ ✓ Which cache should the product pa›\n"
                        "     Redis, write-through\n"
                        "   - Run the linter first?\n"
                        "     Yes\n"
                        "\n"
                        " Suggested from your history\n"
                        "   + Keep the old /v1 routes?\n"
                        "     Yes, for 6 months\n"
                        "\n"
                        " Enter view  d delete  Esc back\n");
    stage_type(&stage, "\r");
    stage_expect(&stage, "LOOK\n");
    stage_type(&stage, "\033");
    stage_expect_row(&stage, "0 pending");
    stage_close(&stage);
}

static void one_before_it_is_made(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_list(&stage);
    stage_type(&stage, "jj\r");
    stage_expect(&stage, "CASE {\"any_prompt\":true}\n");
    stage_type(&stage, "3"); /* what it means has not been seen yet */
    stage_expect(&stage, "");
    stage_take(&stage, NEWS_CASE, rule_case);
    stage_expect_screen(
        &stage, 80, 24,
        " Create a rule from this answer?\n"
        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
        " Title       Keep the old /v1 routes?\n"
        " Answer      Yes, for 6 months\n"
        " Agent       \"gemini-cli\"\n"
        " Directory   ~/docs\n"
        " Prompt      any prompt\n"
        "\n"
        " past asks: 4 with this answer, 1 with a different one\n"
        "   ✓ 12 min    Yes, for 6 months\n"
        "   ! 5 h       No\n"
        "\n"
        " Matching asks will be answered automatically, and the agent will be told. For\n"
        " how long?\n"
        " 1 1 day  2 7 days  3 30 days  4 90 days  5 1 year  p Prompt  Esc back\n");
    stage_type(&stage, "p");
    stage_expect(&stage, "CASE {}\n");
    stage_take(&stage, NEWS_CASE, rule_case); /* the reply to the earlier preview: it is ignored */
    stage_type(&stage, "1");
    stage_expect(&stage, "");
    stage_take(&stage, NEWS_CASE, standing_case_same);
    stage_expect_row(&stage, "same prompt");
    stage_expect_row(&stage, "1 with this answer, 0 with a different one");
    stage_type(&stage, "2");
    stage_expect(&stage, "STAND {\"seconds\":604800}\n");
    stage_take(&stage, NEWS_STANDS, "{\"id\":\"r3r3\"}");
    stage_expect(&stage, "RULES\n");
    stage_expect_row(&stage, "Matching asks will now be answered automatically.");
    stage_expect_row(&stage, "Rules");
    stage_close(&stage);
}

static void revoking_takes_two_keys(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_list(&stage);
    stage_type(&stage, "d");
    stage_expect_row(&stage, "Delete this rule? You will be asked again.");
    stage_type(&stage, "j"); /* anything but y keeps it */
    stage_expect(&stage, "");
    stage_expect_no_row(&stage, "Delete this rule?");
    stage_type(&stage, "dy");
    stage_expect(&stage, "REVOKE {\"id\":\"r1r1\"}\n");
    stage_take(&stage, NEWS_REVOKED, "{}");
    stage_expect_row(&stage, "Rule deleted. You will be asked again.");
    stage_take(&stage, NEWS_RULED, "{}");
    stage_expect(&stage, "RULES\n");
    stage_take(&stage, NEWS_RULES, standing_one);
    stage_expect_row(&stage, " ▸ - Run the linter first?");
    stage_type(&stage, "jd"); /* what is only proposed can't be revoked */
    stage_expect_no_row(&stage, "Delete this rule?");
    stage_close(&stage);
}

/* Another person revokes it while the screen asks whether to: the key must not hit another one. */
static void others_at_the_same_time(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_list(&stage);
    stage_type(&stage, "jj"); /* the proposed one */
    stage_take(&stage, NEWS_RULES, standing_one);
    stage_expect_row(&stage, " ▸ + Keep the old /v1 routes?");
    stage_take(&stage, NEWS_RULES, standing_rules);
    stage_expect_row(&stage, " ▸ + Keep the old /v1 routes?");
    stage_type(&stage, "kkd");
    stage_take(&stage, NEWS_RULES, standing_one);
    stage_expect_no_row(&stage, "Delete this rule?");
    stage_type(&stage, "y");
    stage_expect(&stage, "");
    stage_take(&stage, NEWS_LIST, "{\"seq\":2,\"asks\":[]}"); /* the hub is back: read again */
    stage_expect(&stage, "RULES\n");
    stage_take(&stage, NEWS_RULES, "{\"rules\":[]}");
    stage_take(&stage, NEWS_PROPOSED, "{\"suggestions\":[]}");
    stage_expect_row(&stage, "No rules.");
    stage_expect_row(&stage, "No suggestions: you haven");
    stage_type(&stage, "jkd\r");
    stage_expect(&stage, "");
    stage_type(&stage, "\033");
    stage_take(&stage, NEWS_RULED, "{}"); /* they are not on screen: nothing is asked for */
    stage_expect(&stage, "");
    stage_close(&stage);
}

static void from_the_history(void **state)
{
    static const char found[] =
        "{\"asks\":[{\"session_id\":\"cccc\",\"title\":\"Keep the old /v1 routes?\",\"status\":"
        "\"submitted\",\"agent\":\"x\",\"created_at\":\"2026-07-28T13:50:00.000Z\",\"decided_at\":"
        "\"2026-07-28T13:51:11.000Z\",\"version\":1,\"origin\":{},\"summary\":\"Yes\"},"
        "{\"session_id\":\"dddd\",\"title\":\"By itself\",\"status\":\"auto_submitted\",\"agent\":"
        "\"x\",\"created_at\":\"2026-07-28T13:50:00.000Z\",\"decided_at\":"
        "\"2026-07-28T13:51:11.000Z\",\"version\":1,\"origin\":{},\"answered_by\":{\"via\":"
        "\"rule\"},\"summary\":\"Maybe\"}]}";
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "h");
    stage_take(&stage, NEWS_HISTORY, found);
    text_clear(&stage.effects);
    stage_expect_row(&stage, "By itself                          Maybe                      rule");
    stage_type(&stage, "a");
    stage_expect(&stage, "CASE {}\n");
    stage_take(&stage, NEWS_CASE, standing_case_same);
    stage_expect_row(&stage, "Keep the old /v1 routes?");
    stage_type(&stage, "\033");
    stage_expect(&stage, "HISTORY {\"which\":\"completed\",\"limit\":200}\n");
    stage_take(&stage, NEWS_HISTORY, found);
    stage_type(&stage, "a");
    stage_take(&stage, NEWS_REFUSED,
               "{\"code\":\"wrong_state\",\"message\":\"rules can't answer destructive asks\"}");
    stage_expect_row(&stage, "rules can't answer destructive asks");
    stage_expect_no_row(&stage, "30 days");
    text_clear(&stage.effects);
    stage_type(&stage, "3"); /* there is nothing to do but to go back */
    stage_expect(&stage, "HISTORY {\"which\":\"completed\",\"limit\":200}\n");
    stage_close(&stage);
}

static void what_agents_write_is_drawn_and_nothing_more(void **state)
{
    static const char hostile[] = "{\"rules\":[" RULES_RULE(
        "r1r1", "2026-08-27T14:03:00", "false",
        RULES_FACTS("aaaa", "\\u001b[2J\\u202eevil", "\\u0007bell\\\"", "/x\\n/y", "false",
                    "\"summary\":\"\\u001b]52;c;eA==\\u0007\"")) "]}";
    struct stage stage = { 0 };
    const char *drawn;

    (void)state;
    open_list(&stage);
    stage_take(&stage, NEWS_RULES, hostile);
    for (int columns = 20; columns < 130; columns += 10) {
        drawn = stage_draw(&stage, columns, 24);
        assert_null(strpbrk(drawn, "\033\a"));
        assert_null(strstr(drawn, "\u202e"));
    }
    stage_expect_row(&stage, "\\x1b[2J\\u202eevil");
    stage_close(&stage);
}

/* More than a screen holds: the cursor stays in sight. */
static void many_of_them(void **state)
{
    struct stage stage = { 0 };
    struct text rules = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "a");
    text_add_text(&rules, "{\"rules\":[");
    for (int i = 0; i < 400; i++)
        text_add_format(&rules,
                        "%s{\"id\":\"r%d\",\"expires_at\":\"2026-08-27T14:03:00.000Z\",\"rule\":"
                        "{\"from\":\"a%d\",\"title\":\"Number %d.\"}}",
                        i ? "," : "", i, i, i);
    text_add_text(&rules, "]}");
    stage_take(&stage, NEWS_RULES, text_string(&rules));
    stage_take(&stage, NEWS_PROPOSED, standing_proposed);
    for (int i = 0; i < 60; i++)
        stage_type(&stage, "j");
    stage_expect_row(&stage, " ▸ ✓ Number 60.");
    for (int i = 0; i < 30; i++)
        stage_type(&stage, "k");
    stage_expect_row(&stage, " ▸ ✓ Number 30.");
    stage_take(&stage, NEWS_RULES, standing_one);
    stage_expect_row(&stage, "Run the linter first?");
    text_release(&rules);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list),
        cmocka_unit_test(one_before_it_is_made),
        cmocka_unit_test(revoking_takes_two_keys),
        cmocka_unit_test(others_at_the_same_time),
        cmocka_unit_test(from_the_history),
        cmocka_unit_test(what_agents_write_is_drawn_and_nothing_more),
        cmocka_unit_test(many_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
