/*
 * test_tui_inbox.c - all asks as a live list: what arrives never moves the row under the cursor,
 * and an ask is answered in place.
 * Proves: R6.3 R6.6 R5.8
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui_fixture.h"
#include "tui_forms.h"

#define ASK(id, title, status, agent, directory, created, more)                                    \
    "{\"session_id\":\"" id "\",\"title\":\"" title "\",\"status\":\"" status                      \
    "\",\"agent\":\"" agent "\",\"created_at\":\"2026-07-28T" created                              \
    ".000Z\",\"version\":1,\"origin\":{"                                                           \
    "\"directory\":\"/home/me/" directory "\",\"uid\":1000,\"pid\":5}" more "}"
#define LEFT_S(seconds) ",\"remaining_seconds\":" seconds
#define ENDED(when, via)                                                                           \
    ",\"decided_at\":\"2026-07-28T" when ".000Z\",\"answered_by\":{\"via\":\"" via "\"}"

/* clang-format off */
static const char list[] = "{\"seq\":1,\"asks\":["
    ASK("aaaa", "Which cache should the product page use?", "pending", "claude-code", "src/shop-api", "14:02:59", LEFT_S("252")) ","
    ASK("bbbb", "Delete 3 unused database volumes?", "pending", "codex", "infra", "14:02:51", LEFT_S("580") ",\"destructive\":true") ","
    ASK("cccc", "Three questions before the release", "pending", "gemini-cli", "docs-site", "13:58:44", LEFT_S("42")) ","
    ASK("dddd", "Keep the old /v1 routes?", "submitted", "codex", "x", "13:50:00", ENDED("13:51:11", "terminal")) ","
    ASK("eeee", "Pick a colour for the error page", "timeout", "codex", "x", "13:27:00", ENDED("13:32:11", "")) ","
    ASK("ffff", "Lint rule set for new packages", "auto_submitted", "codex", "x", "13:00:00", ENDED("13:03:11", "web")) ","
    ASK("gggg", "Rename UserDto to Account?", "cancelled", "codex", "x", "12:00:00", ENDED("12:03:11", "client")) ","
    ASK("hhhh", "Force-push to main?", "declined", "codex", "x", "11:00:00", ENDED("11:03:11", "terminal"))
    "]}";
/* clang-format on */

static void open_inbox(struct stage *stage)
{
    struct json *value = NULL;

    stage_open(stage, cache_form); /* prepares the stage */
    ask_screen_free(stage->ask);
    stage->ask = NULL;
    assert_true(json_parse(list, strlen(list), &value, NULL));
    stage->inbox = inbox_screen_new(&stage->setup, value, stage->now);
    json_free(value);
    stage_take(stage, NEWS_STATUS, "{\"url\":\"http://localhost:7297/\"}");
    text_clear(&stage->effects);
}

static void the_list(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    open_inbox(&stage);
    stage_expect_screen(
        &stage, 80, 24,
        " sayso  3 pending                                        http://localhost:7297/\n"
        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
        " ▸  4:12   Which cache should the product page use?  \"claude-code\" shop-›  auto\n"
        "    9:40 ! Delete 3 unused database volumes?         \"codex\"       infra   auto\n"
        "    0:42   Three questions before the release        \"gemini-cli\"  docs-›  auto\n"
        "\n"
        " Recently completed\n"
        "   ✓ 12 min  Keep the old /v1 routes?          answered         terminal\n"
        "   - 31 min  Pick a colour for the error page  timed out        auto\n"
        "   ✓ 1 h     Lint rule set for new packages    auto-answered    web\n"
        "   ✗ 2 h     Rename UserDto to Account?        cancelled        client\n"
        "   ✗ 3 h     Force-push to main?               declined         terminal\n"
        "\n"
        " Enter answer  / search  c cancel  e +5 min  h history  s settings  q quit\n");
    stage_expect_screen(&stage, 40, 24,
                        " sayso  3 pending                 :7297\n"
                        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
                        " ▸  4:12   Which cache should the prod›\n"
                        "           \"claude-code\" shop-api  auto\n"
                        "    9:40 ! Delete 3 unused database vo›\n"
                        "           \"codex\" infra           auto\n"
                        "    0:42   Three questions before the›\n"
                        "           \"gemini-cli\" docs-site  auto\n"
                        "\n"
                        " Recently completed\n"
                        "   ✓ Keep the old /v1 routes?\n"
                        "   - Pick a colour for the error page\n"
                        "   ✓ Lint rule set for new packages\n"
                        "\n"
                        " Enter answer  / search  ? keys  q\n");
    stage_close(&stage);
}

#define NEW_ASK                                                                                    \
    "{\"ask\":" ASK("nnnn", "A new one", "pending", "codex", "x", "14:03:10", LEFT_S("100")) "}"

static void what_arrives_moves_nothing(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "j"); /* at the destructive one */
    stage_draw(&stage, 80, 24);
    stage_take(&stage, NEWS_CHANGED, NEW_ASK);
    stage_expect(&stage, "BELL\n");
    stage_expect_row(&stage, "4 pending");
    stage_type(&stage, "\r");
    stage_expect(&stage, "OPEN\n");
    stage_expect_row(&stage, " ▸  9:40 ! Delete 3 unused");
    /* the one under the cursor is answered elsewhere: the next takes its place, nothing opens */
    stage_take(&stage, NEWS_CHANGED,
               "{\"ask\":" ASK("bbbb", "Delete 3 unused database volumes?", "submitted", "codex",
                               "infra", "14:02:51", ENDED("14:03:11", "web")) "}");
    stage_expect_row(&stage, "3 pending");
    stage_expect_row(&stage, " ▸  0:42   Three questions");
    stage_close(&stage);
}

/* A day has more digits than the column: neither the mark nor the title is written over. */
static void long_times_leave_the_mark(void **state)
{
    static const struct {
        const char *left, *english, *chinese;
    } cases[] = {
        { LEFT_S("3599"), "   59:59 ! Drop it", "   59:59 ! Drop it" },
        { LEFT_S("3600"), "     1 h ! Drop it", "  1 小时 ! Drop it" },
        { LEFT_S("7199"), "     1 h ! Drop it", "  1 小时 ! Drop it" },
        { LEFT_S("86399"), "    23 h ! Drop it", "  23 小时! Drop it" },
        { LEFT_S("2592000"), "    30 d ! Drop it", "   30 天 ! Drop it" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            struct stage stage = { 0 };
            char *news = mem_format("{\"ask\":%s%s,\"destructive\":true}}",
                                    "{\"session_id\":\"nnnn\",\"title\":\"Drop it\",\"status\":"
                                    "\"pending\",\"agent\":\"codex\",\"version\":1,\"created_at\":"
                                    "\"2026-07-28T14:03:10.000Z\"",
                                    cases[i].left);

            open_inbox(&stage);
            i18n_use((enum language)language);
            stage_draw(&stage, 80, 24);
            stage_take(&stage, NEWS_CHANGED, news);
            stage_expect_row(&stage, language == LANGUAGE_EN ? cases[i].english : cases[i].chinese);
            i18n_use(LANGUAGE_EN);
            stage_close(&stage);
            free(news);
        }
    }
}

/* As many as do not fit: the row under the cursor keeps its place on the screen. */
static void the_row_keeps_its_place(void **state)
{
    struct stage stage = { 0 };
    int before = -1, after = -1, row = 0;

    (void)state;
    open_inbox(&stage);
    for (int i = 0; i < 30; i++) {
        char *json = mem_format("{\"ask\":{\"session_id\":\"x%d\",\"title\":\"Number %d\","
                                "\"status\":\"pending\",\"agent\":\"a\",\"version\":1,"
                                "\"created_at\":\"2026-07-28T14:04:%02d.000Z\"}}",
                                i, i, i);

        stage_take(&stage, NEWS_CHANGED, json);
        free(json);
    }
    stage_draw(&stage, 80, 24); /* the cursor is in the last row of the window; now up */
    for (int i = 0; i < 8; i++)
        stage_type(&stage, "k");
    for (const char *at = stage_draw(&stage, 80, 24); *at; at += strcspn(at, "\n") + 1, row++) {
        if (strncmp(at, " ▸", 4) == 0)
            before = row;
    }
    stage_take(&stage, NEWS_CHANGED,
               "{\"ask\":{\"session_id\":\"yyyy\",\"title\":\"Late\",\"status\":\"pending\","
               "\"agent\":\"a\",\"version\":1,\"created_at\":\"2026-07-28T14:05:00.000Z\"}}");
    row = 0;
    for (const char *at = stage_draw(&stage, 80, 24); *at; at += strcspn(at, "\n") + 1, row++) {
        if (strncmp(at, " ▸", 4) == 0)
            after = row;
    }
    assert_true(before > 0);
    assert_int_equal(after, before);
    stage_close(&stage);
}

static char *whole_of(const char *id)
{
    char *whole = stage_whole(cache_form, "", ""),
         *at = strstr(whole, "abcd2345abcd2345abcd2345ab");
    char *changed = mem_format("%.*s%s%s", (int)(at - whole), whole, id, at + 26);

    free(whole);
    return changed;
}

static void answered_in_place(void **state)
{
    struct stage stage = { 0 };
    char *whole = whole_of("aaaa");

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "\r");
    stage_expect(&stage, "OPEN\n");
    stage_take(&stage, NEWS_WHOLE, whole);
    stage_draw(&stage, 80, 24);
    stage_type(&stage, "1"); /* too early for an answer */
    stage_expect(&stage, "");
    stage_wait(&stage, 600);
    stage_expect_row(&stage, "Redis, write-through");
    stage_type(&stage, "2");
    stage_expect(&stage, "ANSWER {\"selected_ids\":[\"view\"]}\n");
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":5000}");
    stage_expect_row(&stage, "Saved: Materialized view");
    stage_wait(&stage, 5100);
    stage_expect_row(&stage, "3 pending"); /* back, and the next one is not opened by itself */
    stage_expect(&stage, "");
    free(whole);
    stage_close(&stage);
}

static void neighbours_and_leaving(void **state)
{
    struct stage stage = { 0 };
    char *first = whole_of("aaaa"), *second = whole_of("bbbb");

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "\r");
    stage_take(&stage, NEWS_WHOLE, first);
    stage_wait(&stage, 1);
    stage_wait(&stage, 600);
    text_clear(&stage.effects);
    stage_type(&stage, "]");
    stage_expect(&stage, "OPEN\n");
    stage_take(&stage, NEWS_WHOLE, second);
    stage_wait(&stage, 1);
    stage_type(&stage, "\003"); /* leaves the ask, not the inbox */
    stage_expect(&stage, "");
    stage_expect_row(&stage, " ▸  9:40 ! Delete");
    stage_type(&stage, "q");
    stage_expect(&stage, "CLOSE\n");
    free(first);
    free(second);
    stage_close(&stage);
}

static void cancelled_from_the_list(void **state)
{
    struct stage stage = { 0 };
    char *whole = whole_of("aaaa");

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "c");
    stage_expect(&stage, "OPEN\n");
    stage_take(&stage, NEWS_WHOLE, whole);
    stage_wait(&stage, 1);
    stage_expect_row(&stage, "Cancel this ask?");
    stage_wait(&stage, 600);
    stage_type(&stage, "\r");
    stage_expect(&stage, "CANCEL {}\n");
    free(whole);
    stage_close(&stage);
}

static void searching_and_losing_the_hub(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "/gemini");
    stage_type(&stage, "\r");
    stage_expect_no_row(&stage, "Which cache");
    stage_expect_row(&stage, "Three questions");
    stage_type(&stage, "\033");
    stage_expect_row(&stage, "Which cache");
    stage_take(&stage, NEWS_LOST, "{\"retry_ms\":2000}");
    stage_expect_row(&stage, "-:--");
    stage_type(&stage, "r");
    stage_expect(&stage, "RECONNECT\n");
    stage_take(&stage, NEWS_LIST, "{\"seq\":9,\"asks\":[]}");
    stage_expect_row(&stage, "No agents are waiting for you");
    stage_type(&stage, "\r"); /* nothing to open */
    stage_expect(&stage, "");
    stage_close(&stage);
}

#define FRESH(id, created, more)                                                                   \
    "{\"ask\":" ASK(id, "New one", "pending", "codex", "x", created, LEFT_S("900") more) "}"

static void silent_while_the_client_shows_it(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_take(&stage, NEWS_CHANGED, FRESH("iiii", "14:03:10", ",\"quiet_seconds\":15"));
    stage_wait(&stage, 14000);
    stage_expect(&stage, "");
    stage_wait(&stage, 1100);
    stage_expect(&stage, "BELL\n");
    stage_wait(&stage, 60000); /* once */
    stage_expect(&stage, "");
    stage_close(&stage);
}

static void put_off_it_rings_again_at_its_time(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "l");
    stage_expect_row(&stage, "Snooze notifications?");
    stage_type(&stage, "1");
    stage_expect(&stage, "LATER 600\n");
    stage_take(&stage, NEWS_CHANGED,
               "{\"ask\":" ASK("aaaa", "Which cache should the product page use?", "pending",
                               "claude-code", "src/shop-api", "14:02:59",
                               LEFT_S("1000") ",\"later_until\":\"2026-07-28T14:13:11.000Z\"") "}");
    stage_expect_row(&stage, "snoozed  auto");
    stage_wait(&stage, 590000);
    stage_expect(&stage, "");
    stage_wait(&stage, 11000);
    stage_expect(&stage, "BELL\n");
    stage_expect_no_row(&stage, "snoozed  auto");
    stage_close(&stage);
}

/* What came while the hub was away is news, what was there before is not. */
static void after_a_loss_only_news_rings(void **state)
{
    struct stage stage = { 0 };
    char *longer = mem_format(
        "%.*s,%s", (int)(strlen(list) - 2), list,
        ASK("jjjj", "Meanwhile", "pending", "codex", "x", "14:03:00", LEFT_S("900")) "]}");

    (void)state;
    open_inbox(&stage);
    stage_take(&stage, NEWS_LOST, "{\"retry_ms\":2000}");
    stage_take(&stage, NEWS_LIST, list);
    stage_expect(&stage, "");
    stage_take(&stage, NEWS_LIST, longer);
    stage_expect(&stage, "BELL\n");
    free(longer);
    stage_close(&stage);
}

static void quiet_hours_of_the_person(void **state)
{
    static const struct {
        const char *settings, *wanted;
    } cases[] = {
        { "{\"name\":\"quiet_hours\",\"value\":\"14:00-15:00\"}", "" },
        { "{\"name\":\"quiet_hours\",\"value\":\"22:00-07:00\"}", "BELL\n" },
        { "{\"name\":\"quiet_hours\",\"value\":\"22:00-14:04\"}", "" },
        { "{\"name\":\"do_not_disturb\",\"value\":true}", "" },
        { "{\"name\":\"notifications\",\"value\":false}", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage stage = { 0 };
        char *settings = mem_format("{\"settings\":[%s]}", cases[i].settings);

        open_inbox(&stage);
        stage_take(&stage, NEWS_SETTINGS, settings);
        stage_take(&stage, NEWS_CHANGED, FRESH("iiii", "14:03:10", ""));
        stage_expect(&stage, cases[i].wanted);
        free(settings);
        stage_close(&stage);
    }
}

static void looking_back(void **state)
{
    static const char found[] = "{\"asks\":[" ASK(
        "dddd", "Keep the old /v1 routes?", "submitted", "codex", "x", "13:50:00",
        ENDED(
            "13:51:11",
            "terminal") ",\"summary\":\"Yes, for 6 months\"") "," ASK("eeee", "Sure?", "submitted",
                                                                      "codex", "x", "13:27:00",
                                                                      ENDED(
                                                                          "13:32:11",
                                                                          "web") ",\"confirmed\":"
                                                                                 "true") "],"
                                                                                         "\"next\":"
                                                                                         "\"1-1\"}";
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "h");
    stage_expect(&stage, "HISTORY {\"which\":\"completed\",\"limit\":200}\n");
    stage_expect_no_row(&stage, "No matches"); /* it is not known yet */
    stage_take(&stage, NEWS_HISTORY, found);
    stage_expect_row(&stage, " ▸ ✓ 12 min  Keep the old /v1 routes?");
    stage_expect_row(&stage, "Yes, for 6 months");
    stage_expect_row(&stage, "2+");
    stage_expect_row(&stage, "Sure?                              Yes");
    stage_type(&stage, "/old");
    stage_type(&stage, "\r");
    stage_expect(&stage, "HISTORY {\"which\":\"completed\",\"limit\":200,\"search\":\"old\"}\n");
    stage_take(&stage, NEWS_HISTORY, "{\"asks\":[]}");
    stage_expect_row(&stage, "No matches");
    stage_type(&stage, "\r"); /* nothing to open */
    stage_expect(&stage, "");
    stage_type(&stage, "\033");
    stage_expect_row(&stage, "3 pending");
    stage_close(&stage);
}

/* Back from coffee: how many timed out unseen, a note for the agent of one, and more time. */
static void what_timed_out_unseen(void **state)
{
    static const char unseen[] = "{\"asks\":[" ASK(
        "eeee", "Pick a colour", "timeout", "codex", "x", "13:27:00",
        ENDED("13:32:11", "")) "," ASK("ffff", "Lint rules", "timeout", "codex", "x", "13:00:00",
                                       ENDED("13:03:11",
                                             "")) "]"
                                                  ",\"count\":2,\"longer_seconds\":1200}";
    static const char another[] =
        "{\"asks\":[" ASK("gggg", "Drop a table", "timeout", "claude-code", "y", "13:35:00",
                          ENDED("13:35:11", "")) "]"
                                                 ",\"count\":3,\"longer_seconds\":1200}";
    struct stage stage = { 0 };

    (void)state;
    open_inbox(&stage);
    stage_type(&stage, "t"); /* there is nothing to tell */
    stage_expect_row(&stage, "3 pending");
    stage_take(&stage, NEWS_UNSEEN, unseen);
    stage_expect_row(&stage, "2 asks timed out unseen");
    stage_expect_row(&stage, "t tell the agent anyway");
    stage_type(&stage, "t");
    stage_expect_row(&stage, " Pick a colour");
    stage_expect_row(&stage, "Tab give me longer next time (20 min)");
    stage_type(&stage, "was away");
    stage_expect_row(&stage, "Tell the agent: was away");
    stage_take(&stage, NEWS_UNSEEN, another); /* of another agent */
    stage_expect_row(&stage, "3 asks timed out unseen");
    stage_expect_row(&stage, " Pick a colour");
    stage_type(&stage, "\r");
    stage_expect(&stage, "TELL {\"global_annotation\":\"was away\"}\n");
    stage_take(&stage, NEWS_TOLD, "{\"session_id\":\"ffff\"}");
    stage_expect(&stage, "UNSEEN\n");
    stage_expect_row(&stage, "The agent receives this with its next result.");
    stage_take(&stage, NEWS_UNSEEN, another);
    stage_expect_row(&stage, " Drop a table");
    stage_type(&stage, "\t");
    stage_expect(&stage, "SETTING timeout_seconds 1200\n");
    stage_expect_no_row(&stage, "give me longer");
    stage_type(&stage, "\r"); /* without a note the ask is opened */
    stage_expect(&stage, "LOOK\n");
    stage_type(&stage, "\033");
    stage_expect(&stage, "SEEN\n");
    stage_expect_no_row(&stage, "timed out unseen");
    stage_take(&stage, NEWS_CHANGED,
               "{\"ask\":" ASK("aaaa", "Which cache should the product page use?", "timeout",
                               "claude-code", "src/shop-api", "14:02:59",
                               ENDED("14:07:11", "")) "}");
    stage_expect(&stage, "UNSEEN\n"); /* it may be one more */
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list),
        cmocka_unit_test(what_arrives_moves_nothing),
        cmocka_unit_test(long_times_leave_the_mark),
        cmocka_unit_test(the_row_keeps_its_place),
        cmocka_unit_test(answered_in_place),
        cmocka_unit_test(neighbours_and_leaving),
        cmocka_unit_test(cancelled_from_the_list),
        cmocka_unit_test(searching_and_losing_the_hub),
        cmocka_unit_test(silent_while_the_client_shows_it),
        cmocka_unit_test(put_off_it_rings_again_at_its_time),
        cmocka_unit_test(after_a_loss_only_news_rings),
        cmocka_unit_test(quiet_hours_of_the_person),
        cmocka_unit_test(looking_back),
        cmocka_unit_test(what_timed_out_unseen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
