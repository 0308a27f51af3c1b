/*
 * test_tui_news.c - one question as a model, and what the hub says while it is open: decided here
 * and taken back, decided elsewhere, timed out, gone and back, drafts of other places, settings.
 * Proves: R6.1 R6.4 R5.2 R5.3 R5.9 R7.9 R8.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/facts.h"
#include "tui_fixture.h"
#include "tui_forms.h"

#define LEFT       "\033[D"
#define RIGHT      "\033[C"
#define ESC        "\033"
#define CTRL_D     "\004"
#define ENTER      "\r"
#define ANSWER(it) "ANSWER {\"selected_ids\":[" it "]}\n"

#define CHANGED(status, via)                                                                       \
    "{\"ask\":{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"title\":\"T\",\"status\":\"" status \
    "\",\"version\":2,\"remaining_seconds\":null,\"decided_at\":\"2026-07-28T14:03:05.000Z\","     \
    "\"answered_by\":{\"person\":\"me\",\"via\":\"" via "\"}}}"

static void undo(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_type(&stage, "2");
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":5000}");
    text_clear(&stage.effects);
    stage_expect_row(
        &stage, "✓ Saved: Materialized view, refreshed›. Sending in 5 s.   u undo  Enter send");
    stage_type(&stage, "u");
    stage_expect(&stage, "UNDO\n");
    stage_take(&stage, NEWS_UNDONE, "{}");
    stage_expect_row(&stage, "Materialized view");
    stage_type(&stage, "1");
    stage_expect_acts(&stage, ANSWER("\"redis\""));
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":5000}");
    stage_wait(&stage, 4900);
    stage_expect(&stage, "");
    stage_wait(&stage, 200);
    stage_expect(&stage, "CLOSE\n");
    assert_int_equal(ask_screen_exit_code(stage.ask), 0);
    stage_close(&stage);
    stage_open(&stage, cache_form);
    stage_type(&stage, "2");
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":5000}");
    text_clear(&stage.effects);
    stage_type(&stage, ENTER);
    stage_expect(&stage, "SEND_NOW\nCLOSE\n");
    stage_close(&stage);
}

/* An answer from elsewhere arrives while the person types, and while this answer is under way. */
static void somebody_was_faster(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, endpoint_form);
    stage_type(&stage, "omy words");
    text_clear(&stage.effects);
    stage_take(&stage, NEWS_CHANGED, CHANGED("submitted", "web"));
    stage_expect_acts(&stage, "LOOK\n");
    stage_expect_row(&stage, "Answered in the portal");
    stage_expect_row(&stage, "my words");
    stage_type(&stage, CTRL_D); /* what was meant for the text does nothing now */
    stage_type(&stage, "1");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "");
    stage_wait(&stage, 600);
    stage_type(&stage, "y");
    stage_expect_acts(&stage, "COPY my words\n");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "CLOSE\n");
    assert_int_equal(ask_screen_exit_code(stage.ask), 0);
    stage_close(&stage);

    stage_open(&stage, cache_form);
    stage_type(&stage, "1");
    text_clear(&stage.effects);
    stage_take(&stage, NEWS_CHANGED, CHANGED("submitted", "web"));
    stage_expect_acts(&stage, ""); /* it may be our own: the reply tells */
    stage_take(&stage, NEWS_REFUSED,
               "{\"code\":\"already_answered\",\"message\":\"this ask was already decided\"}");
    stage_expect_acts(&stage, "LOOK\n");
    stage_expect_row(&stage, "Answered in the portal");
    stage_close(&stage);
}

static void timed_out_while_typing(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, endpoint_form);
    stage_type(&stage, "ohalf a th");
    stage_take(&stage, NEWS_CHANGED, CHANGED("timeout", ""));
    stage_expect_row(&stage, "Timed out. Nothing was chosen for you.");
    stage_expect_row(&stage, "half a th");
    assert_int_equal(ask_screen_exit_code(stage.ask), 4);
    stage_close(&stage);
    stage_open(&stage, cache_form);
    stage_take(&stage, NEWS_CHANGED, CHANGED("withdrawn", ""));
    stage_expect_row(&stage, "Withdrawn by the agent");
    assert_int_equal(ask_screen_exit_code(stage.ask), 3);
    stage_close(&stage);
}

static void hub_gone_and_back(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(cache_form, "", "");

    (void)state;
    stage_open(&stage, cache_form);
    stage_take(&stage, NEWS_LOST, "{\"retry_ms\":3000}");
    stage_type(&stage, "1");
    stage_expect_acts(&stage, "");
    stage_expect_row(&stage, "not sent");
    stage_type(&stage, "r");
    stage_expect_acts(&stage, "RECONNECT\n");
    stage_take(&stage, NEWS_WHOLE, whole);
    stage_type(&stage, "2");
    stage_expect_acts(&stage, ANSWER("\"view\""));
    stage_take(&stage, NEWS_LOST, "{\"retry_ms\":3000}"); /* before the reply came */
    stage_take(&stage, NEWS_WHOLE, whole);
    stage_expect_acts(&stage, ANSWER("\"view\"")); /* the same again: already so, or now */
    stage_close(&stage);
    free(whole);
}

static void refused_by_the_hub(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_type(&stage, "1");
    stage_take(&stage, NEWS_REFUSED, "{\"code\":\"wrong_state\",\"message\":\"try \\u001b[2J\"}");
    stage_expect_row(&stage, "try \\x1b[2J");
    text_clear(&stage.effects);
    stage_type(&stage, "2");
    stage_expect_acts(&stage, ANSWER("\"view\""));
    stage_close(&stage);
}

static void drafts(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(endpoint_form, "",
                              ",\"draft\":{\"selected_ids\":[],\"custom_input\":\"from the "
                              "portal\",\"global_annotation\":\"n\"}");

    (void)state;
    stage_open_whole(&stage, whole);
    stage_expect_row(&stage, "from the portal");
    stage_expect(&stage, "");
    stage_type(&stage, "o!");
    stage_wait(&stage, 1);
    stage_expect(&stage, "DRAFT {\"selected_ids\":[],\"custom_input\":\"from the portal!\","
                         "\"global_annotation\":\"n\"}\n");
    stage_type(&stage, "!");
    stage_wait(&stage, 500);
    stage_expect(&stage, ""); /* at most one a second */
    stage_take(
        &stage, NEWS_DRAFTED,
        "{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"draft\":{\"custom_input\":\"x\"}}");
    stage_expect_row(&stage, "from the portal!!"); /* what is being typed is not overwritten */
    stage_wait(&stage, 500);
    stage_expect(&stage, "DRAFT {\"selected_ids\":[],\"custom_input\":\"from the portal!!\","
                         "\"global_annotation\":\"n\"}\n");
    stage_wait(&stage, 3000);
    stage_take(
        &stage, NEWS_DRAFTED,
        "{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"draft\":{\"custom_input\":\"x\"}}");
    stage_expect_no_row(&stage, "from the portal");
    stage_close(&stage);
    free(whole);
}

/* The code sends the answer that it was asked for: another draft can't swap it. */
static void drafts_wait_for_the_code(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, volumes_form);
    stage_type(&stage, "3\r");
    stage_wait(&stage, 4000);
    stage_take(&stage, NEWS_CODE, "{\"code\":\"472\"}");
    stage_take(&stage, NEWS_DRAFTED,
               "{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"draft\":{\"selected_ids\":["
               "\"backup-first\"]}}");
    stage_expect_row(&stage, "Delete all three now\" (delete-now) can't be undone");
    stage_close(&stage);
}

static void settings_in_force(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_take(
        &stage, NEWS_SETTINGS,
        "{\"settings\":[{\"name\":\"single_submit\",\"value\":\"batch\",\"source\":\"saved\"}"
        ",{\"name\":\"notes\",\"value\":false,\"source\":\"saved\"}]}");
    stage_expect_row(&stage, "Enter to send  notes off");
    stage_type(&stage, "2");
    stage_expect_acts(&stage, "");
    stage_type(&stage, "\t");
    stage_expect_row(&stage, "notes are off");
    stage_type(&stage, "s");
    stage_type(&stage, RIGHT);
    stage_expect_acts(&stage, "SETTING interface web\n");
    stage_type(&stage, "j");
    stage_type(&stage, LEFT);
    stage_expect_acts(&stage, "SETTING timeout_seconds 180\n");
    stage_type(&stage, "r");
    stage_expect_acts(&stage, "SETTING timeout_seconds\n");
    stage_type(&stage, ESC);
    stage_take(&stage, NEWS_SETTINGS,
               "{\"settings\":[{\"name\":\"language\",\"value\":\"zh\",\"source\":\"saved\"}]}");
    stage_expect_row(&stage, "s 设置");
    stage_close(&stage);
    i18n_use(LANGUAGE_EN);
}

/* The hub can be another machine's, and send any number. */
static void times_beyond_any_range(void **state)
{
    static const char far[] = "{\"session_id\":\"aaaa\",\"quiet_seconds\":9223372036854775807,"
                              "\"remaining_seconds\":9223372036854775807}";
    static const char gone[] = "{\"session_id\":\"aaaa\",\"quiet_seconds\":-9223372036854775808,"
                               "\"remaining_seconds\":-9223372036854775808}";
    const struct screen_time now = { 5000, 1700000000000 };
    struct facts facts = { 0 };
    struct json *ask = NULL;

    (void)state;
    assert_true(json_parse(far, strlen(far), &ask, NULL));
    facts_read(&facts, ask, "", now);
    assert_true(facts_left_ms(&facts, now) > 0);
    assert_true(facts.quiet_until_mono_ms > now.mono_ms && facts.total_ms > 0);
    json_free(ask);
    assert_true(json_parse(gone, strlen(gone), &ask, NULL));
    facts_read(&facts, ask, "", now);
    assert_int_equal(facts_left_ms(&facts, now), -1);
    assert_true(facts.quiet_until_mono_ms < now.mono_ms);
    json_free(ask);
    facts_release(&facts);
}

/* The title's row has the question of the step where the title is only the first of them. */
static void a_question_is_said_once(void **state)
{
    static const char form[] = FORM(
        "Which way? (+1)", "Which way? (+1)",
        "{\"name\":\"way\",\"kind\":\"single\",\"required\":true,\"label\":\"Which way?\","
        "\"header\":\"Way\",\"options\":[{\"id\":\"l\",\"label\":\"Left\"}],\"max_selections\":1},"
        "{\"name\":\"gear\",\"kind\":\"single\",\"required\":true,\"label\":\"Which gear?\","
        "\"header\":\"Gear\",\"options\":[{\"id\":\"l\",\"label\":\"Low\"}],\"max_selections\":1}",
        "");
    static const char *const questions[] = { "Which way?", "Which gear?" };
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, form);
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        const char *shown = stage_draw(&stage, 80, 24), *at = strstr(shown, questions[i]);

        assert_non_null(at);
        assert_null(strstr(at + 1, questions[i]));
        assert_null(strstr(shown, questions[1 - i]));
        stage_type(&stage, RIGHT);
    }
    stage_close(&stage);
}

/* There is no later moment: that less than ten seconds are left rings in quiet times too. */
static void the_last_seconds_ring(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_take(&stage, NEWS_SETTINGS,
               "{\"settings\":[{\"name\":\"sound\",\"value\":true},"
               "{\"name\":\"do_not_disturb\",\"value\":true}]}");
    text_clear(&stage.effects);
    stage_wait(&stage, 241000);
    stage_expect(&stage, "");
    stage_wait(&stage, 2000);
    stage_expect(&stage, "BELL\n");
    stage_close(&stage);
}

static void the_panel_leads_to_the_browser(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_type(&stage, "sw");
    stage_expect_acts(&stage, "BROWSER\n");
    stage_close(&stage);
}

/* The agent's client may have lost it: it is filled in, and only a person sends it. */
static void what_was_answered_before_is_said_and_chosen(void **state)
{
    static const char *const said[LANGUAGE_COUNT] = { "You answered this 40 s ago",
                                                      "你在 40 秒前答复过此请求" };

    (void)state;
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        struct stage stage = { 0 };
        char *form = mem_format("%s,\"answered_ms\":1785247351000", cache_form);
        char *whole = stage_whole(form, "", ",\"draft\":{\"selected_ids\":[\"view\"]}");

        i18n_use((enum language)language);
        stage_open_whole(&stage, whole);
        stage_expect_row(&stage, said[language]);
        stage_expect(&stage, "");
        stage_type(&stage, CTRL_D);
        stage_expect_acts(&stage, ANSWER("\"view\""));
        stage_close(&stage);
        free(whole);
        free(form);
    }
    i18n_use(LANGUAGE_EN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_answered_before_is_said_and_chosen),
        cmocka_unit_test(a_question_is_said_once),
        cmocka_unit_test(the_last_seconds_ring),
        cmocka_unit_test(the_panel_leads_to_the_browser),
        cmocka_unit_test(undo),
        cmocka_unit_test(somebody_was_faster),
        cmocka_unit_test(timed_out_while_typing),
        cmocka_unit_test(hub_gone_and_back),
        cmocka_unit_test(refused_by_the_hub),
        cmocka_unit_test(drafts),
        cmocka_unit_test(drafts_wait_for_the_code),
        cmocka_unit_test(settings_in_force),
        cmocka_unit_test(times_beyond_any_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
