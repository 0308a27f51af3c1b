/*
 * test_tui_plain.c - a question as plain lines: whole, in reading order, answered line by line,
 * without one escape sequence.
 * Proves: R6.1 R2.3 R5.3
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
#include "tui/plain_screen.h"
#include "tui_fixture.h"
#include "tui_forms.h"

/* One conversation: what the screen prints, and behind it what the person types. */
struct talk {
    struct stage stage;
    struct plain_screen *screen;
    struct text out;
};

static void begin(struct talk *talk, const char *form)
{
    char *whole = stage_whole(form, "", "");
    struct json *value = NULL;

    memset(talk, 0, sizeof *talk);
    talk->stage.now.utc_ms = 1785247390400;
    stage_open(&talk->stage, form); /* prepares the stage */
    assert_true(json_parse(whole, strlen(whole), &value, NULL));
    assert_true(plain_screen_new(&talk->stage.setup, value, talk->stage.now, &talk->screen,
                                 &talk->out, NULL));
    json_free(value);
    free(whole);
    talk->stage.now.mono_ms += 1000;
    text_clear(&talk->stage.effects);
}

static void say(struct talk *talk, const char *line)
{
    text_add_format(&talk->out, "%s\n", line);
    plain_screen_line(talk->screen, line, talk->stage.now, &talk->out);
}

static void take(struct talk *talk, enum screen_news news, const char *json)
{
    struct json *value = NULL;

    assert_true(json_parse(json, strlen(json), &value, NULL));
    plain_screen_take(talk->screen, news, value, talk->stage.now, &talk->out);
    json_free(value);
}

static void expect_said(const struct talk *talk, const char *part)
{
    if (!strstr(text_string(&talk->out), part))
        fail_msg("nobody said \"%s\" in\n%s", part, text_string(&talk->out));
    for (size_t i = 0; i < talk->out.used; i++)
        assert_true((unsigned char)talk->out.bytes[i] >= 0x20 || talk->out.bytes[i] == '\n');
}

static void end(struct talk *talk)
{
    plain_screen_free(talk->screen);
    text_release(&talk->out);
    stage_close(&talk->stage);
}

static void a_whole_talk(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, cache_form);
    say(&talk, "1");
    say(&talk, "Use the cluster we already have.");
    say(&talk, "y");
    stage_expect_acts(&talk.stage,
                      "ANSWER {\"selected_ids\":[\"redis\"],\"global_annotation\":\"Use "
                      "the cluster we already have.\"}\n");
    take(&talk, NEWS_DECIDED, "{\"status\":\"submitted\"}");
    stage_expect_acts(&talk.stage, "CLOSE\n");
    assert_string_equal(
        text_string(&talk.out),
        "Ask from \"claude-code\" (you, PID 48213) in ~/src/shop-api, waiting 48 s.\n"
        "Time left: 4 min 12 s.\n"
        "Type e for more time, t for time left, w for browser, ? for help, q to cancel.\n"
        "\n"
        "Which cache should the product page use?\n"
        "\n"
        "The product page reads stock levels 1,200 times a second at peak and PostgreSQL\n"
        "is at 78 % CPU. A cache in front would fix it; the ways differ in how old the\n"
        "shown stock may be, so I need your call.\n"
        "  - Target: p95 under 80 ms\n"
        "  - Must survive a deploy without a cold start\n"
        "\n"
        "Choose one:\n"
        "1. Redis, write-through (recommended)\n"
        "   One more service to run; stock is right within 50 ms. About 2 h of work.\n"
        "2. Materialized view, refreshed every 5 s\n"
        "   Nothing new to run; stock may be 5 s old.\n"
        "3. In-process cache, 30 s\n"
        "   Simplest; each of the 6 pods has its own truth.\n"
        "4. Leave it as it is\n"
        "   Scale the database up instead, about 310 EUR a month.\n"
        "\n"
        "Your choice, 1 to 4: 1\n"
        "Note for the agent (Enter for none): Use the cluster we already have.\n"
        "Send \"Redis, write-through\"? y or n: y\n"
        "Sent: Redis, write-through. 48 s.\n");
    end(&talk);
}

static void several_and_wrong_numbers(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, checks_form);
    say(&talk, "77");
    expect_said(&talk, "Enter one of the numbers shown.");
    say(&talk, "1,3");
    say(&talk, "");
    say(&talk, "y");
    stage_expect_acts(&talk.stage, "ANSWER {\"selected_ids\":[\"unit\",\"browser\"]}\n");
    end(&talk);
    begin(&talk, checks_form);
    say(&talk, "1 2 3 4"); /* more than three: said, and asked again */
    say(&talk, "");
    say(&talk, "y");
    stage_expect_acts(&talk.stage, "");
    expect_said(&talk, "hoose 1 to 3\n");
    end(&talk);
}

static void own_words_end_with_a_dot(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, endpoint_form);
    say(&talk, "o");
    say(&talk, "e"); /* within a text letters are letters */
    say(&talk, "second line");
    say(&talk, ".");
    say(&talk, "");
    say(&talk, "y");
    stage_expect_acts(&talk.stage,
                      "ANSWER {\"selected_ids\":[],\"custom_input\":\"e\\nsecond line\"}\n");
    end(&talk);
}

static void destructive_takes_the_code(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, volumes_form);
    expect_said(&talk, "3. Delete all three now [delete-now]");
    say(&talk, "3");
    say(&talk, "");
    say(&talk, "y");
    stage_expect_acts(&talk.stage, "CHALLENGE\n");
    take(&talk, NEWS_CODE, "{\"code\":\"472\"}");
    expect_said(&talk, "Type 472 to confirm, or press Enter to go back: ");
    say(&talk, "");
    stage_expect_acts(&talk.stage, "");
    say(&talk, "3");
    say(&talk, "");
    say(&talk, "y");
    take(&talk, NEWS_CODE, "{\"code\":\"555\"}");
    text_clear(&talk.stage.effects);
    say(&talk, "555");
    stage_expect_acts(&talk.stage, "ANSWER {\"selected_ids\":[\"delete-now\"],\"code\":\"555\"}\n");
    end(&talk);
}

static void cancelled_refused_undone_overtaken(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, cache_form);
    say(&talk, "q");
    say(&talk, "not now");
    stage_expect_acts(&talk.stage, "CANCEL {\"global_annotation\":\"not now\"}\n");
    end(&talk);
    begin(&talk, cache_form);
    say(&talk, "2");
    say(&talk, "");
    say(&talk, "y");
    take(&talk, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":5000}");
    text_clear(&talk.stage.effects);
    say(&talk, "u");
    stage_expect_acts(&talk.stage, "UNDO\n");
    take(&talk, NEWS_UNDONE, "{}");
    say(&talk, "1");
    take(&talk, NEWS_CHANGED,
         "{\"ask\":{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"status\":\"timeout\","
         "\"version\":2,\"created_at\":\"2026-07-28T14:02:23.000Z\",\"decided_at\":\"2026-07-28T14:"
         "07:23.000Z\"}}");
    expect_said(&talk, "timed out after 5 min");
    assert_int_equal(plain_screen_exit_code(talk.screen), 4);
    end(&talk);
}

static void time_is_told_twice(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, cache_form);
    text_clear(&talk.out);
    plain_screen_tick(talk.screen, talk.stage.now, &talk.out);
    assert_int_equal(talk.out.used, 0);
    talk.stage.now.mono_ms = plain_screen_wake_ms(talk.screen);
    plain_screen_tick(talk.screen, talk.stage.now, &talk.out);
    plain_screen_tick(talk.screen, talk.stage.now, &talk.out);
    assert_string_equal(text_string(&talk.out), "\nTime left: 1 min.\n");
    talk.stage.now.mono_ms = plain_screen_wake_ms(talk.screen);
    plain_screen_tick(talk.screen, talk.stage.now, &talk.out);
    assert_string_equal(text_string(&talk.out), "\nTime left: 1 min.\n\nTime left: 10 s.\n");
    assert_int_equal(plain_screen_wake_ms(talk.screen), -1);
    end(&talk);
}

static void typed_ahead_answers_nothing(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, cache_form);
    talk.stage.now.mono_ms -= 900;
    say(&talk, "1");
    expect_said(&talk, "too soon; press the key again");
    stage_expect_acts(&talk.stage, "");
    end(&talk);
}

static void what_was_answered_before_is_said(void **state)
{
    struct talk talk;
    char *form = mem_format("%s,\"answered_ms\":1785247350400", cache_form);

    (void)state;
    begin(&talk, form);
    expect_said(&talk, "\nYou answered this 40 s ago, and the agent may not have received it.");
    end(&talk);
    free(form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_answered_before_is_said),
        cmocka_unit_test(a_whole_talk),
        cmocka_unit_test(several_and_wrong_numbers),
        cmocka_unit_test(own_words_end_with_a_dot),
        cmocka_unit_test(destructive_takes_the_code),
        cmocka_unit_test(cancelled_refused_undone_overtaken),
        cmocka_unit_test(time_is_told_twice),
        cmocka_unit_test(typed_ahead_answers_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
