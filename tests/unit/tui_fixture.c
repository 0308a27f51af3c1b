/* tui_fixture.c - see tui_fixture.h. */
#include "tui_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"

static const char *const kind_names[] = {
    [EFFECT_ANSWER] = "ANSWER",       [EFFECT_CHALLENGE] = "CHALLENGE",
    [EFFECT_CANCEL] = "CANCEL",       [EFFECT_DECLINE] = "DECLINE",
    [EFFECT_DRAFT] = "DRAFT",         [EFFECT_EXTEND] = "EXTEND",
    [EFFECT_UNDO] = "UNDO",           [EFFECT_SEND_NOW] = "SEND_NOW",
    [EFFECT_BROWSER] = "BROWSER",     [EFFECT_SETTING] = "SETTING",
    [EFFECT_HIDE] = "HIDE",           [EFFECT_SNOOZE] = "LATER",
    [EFFECT_LOOK] = "LOOK",           [EFFECT_OPEN] = "OPEN",
    [EFFECT_RECONNECT] = "RECONNECT", [EFFECT_COPY] = "COPY",
    [EFFECT_BELL] = "BELL",           [EFFECT_NEIGHBOUR] = "NEIGHBOUR",
    [EFFECT_UNSEEN] = "UNSEEN",       [EFFECT_SEEN] = "SEEN",
    [EFFECT_TELL] = "TELL",           [EFFECT_HISTORY] = "HISTORY",
    [EFFECT_RULES] = "RULES",         [EFFECT_CASE] = "CASE",
    [EFFECT_STAND] = "STAND",         [EFFECT_REVOKE] = "REVOKE",
    [EFFECT_SUSPEND] = "SUSPEND",     [EFFECT_CLOSE] = "CLOSE",
    [EFFECT_QUIT] = "QUIT",
};

static void on_effect(void *context, const struct screen_effect *effect)
{
    struct stage *stage = context;

    assert_non_null(effect->session_id);
    text_add_text(&stage->effects, kind_names[effect->kind]);
    if (effect->json)
        text_add_format(&stage->effects, " %s", effect->json);
    if (effect->name)
        text_add_format(&stage->effects, " %s", effect->name);
    if (effect->text)
        text_add_format(&stage->effects, " %s", effect->text);
    if (effect->number)
        text_add_format(&stage->effects, " %" PRId64, effect->number);
    text_add_char(&stage->effects, '\n');
}

char *stage_whole(const char *form, const char *more_ask, const char *more)
{
    return mem_format(
        "{\"seq\":1,\"ask\":{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"title\":\"T\","
        "\"status\":\"pending\",\"interface\":\"auto\",\"agent\":\"claude-code\","
        "\"created_at\":\"2026-07-28T14:02:23.000Z\",\"remaining_seconds\":252,\"version\":1,"
        "\"detached\":false,\"destructive\":false,\"decided_at\":null,\"origin\":{\"name\":"
        "\"claude-code\",\"directory\":\"/home/me/src/shop-api\",\"uid\":1000,\"pid\":48213},"
        "\"answered_by\":null%s},\"form\":{\"version\":1,%s},\"answer\":null,\"result\":{}%s}",
        more_ask, form, more);
}

static void prepare(struct stage *stage)
{
    if (stage->setup.effect)
        return;
    setenv("TZ", "UTC", 1);
    stage->setup.context = stage;
    stage->setup.effect = on_effect;
    stage->setup.home = "/home/me";
    stage->setup.uid = 1000;
    stage->setup.has_portal = true;
    stage->now.mono_ms = 1000000;
    if (stage->now.utc_ms == 0)
        stage->now.utc_ms = 1785247391000; /* 2026-07-28 14:03:11 */
    stage->columns = 80;
    stage->rows = 24;
}

void stage_open_whole(struct stage *stage, const char *whole)
{
    struct json *value = NULL;
    struct error err = { 0 };

    prepare(stage);
    if (!json_parse(whole, strlen(whole), &value, &err))
        fail_msg("not JSON: %s in %s", err.message, whole);
    if (!ask_screen_new(&stage->setup, value, stage->now, &stage->ask, &err))
        fail_msg("no screen: %s", err.message);
    json_free(value);
    stage_draw(stage, stage->columns, stage->rows);
    stage_wait(stage, 600);
}

void stage_open(struct stage *stage, const char *form)
{
    char *whole = stage_whole(form, "", "");

    stage_open_whole(stage, whole);
    free(whole);
}

void stage_close(struct stage *stage)
{
    ask_screen_free(stage->ask);
    inbox_screen_free(stage->inbox);
    text_release(&stage->effects);
    canvas_release(&stage->canvas);
    keyboard_release(&stage->keyboard);
    memset(stage, 0, sizeof *stage);
}

static void on_key(void *context, const struct key *key)
{
    struct stage *stage = context;

    if (stage->inbox)
        inbox_screen_key(stage->inbox, key, stage->now);
    else
        ask_screen_key(stage->ask, key, stage->now);
}

void stage_type(struct stage *stage, const char *bytes)
{
    stage->now.mono_ms += 100;
    keyboard_feed(&stage->keyboard, bytes, strlen(bytes), on_key, stage);
    keyboard_time_out(&stage->keyboard, on_key, stage);
}

void stage_wait(struct stage *stage, int64_t ms)
{
    stage->now.mono_ms += ms;
    stage->now.utc_ms += ms;
    stage_draw(stage, stage->columns, stage->rows);
}

void stage_take(struct stage *stage, enum screen_news news, const char *json)
{
    struct json *value = NULL;

    assert_true(json_parse(json, strlen(json), &value, NULL));
    if (stage->inbox)
        inbox_screen_take(stage->inbox, news, value, stage->now);
    else
        ask_screen_take(stage->ask, news, value, stage->now);
    json_free(value);
}

const char *stage_draw(struct stage *stage, int columns, int rows)
{
    static struct text picture;

    if (stage->inbox)
        inbox_screen_draw(stage->inbox, &stage->canvas, columns, rows, stage->now);
    else
        ask_screen_draw(stage->ask, &stage->canvas, columns, rows, stage->now);
    text_clear(&picture);
    for (int row = 0; row < stage->canvas.rows; row++) {
        canvas_write_row(&stage->canvas, row, &picture);
        text_add_char(&picture, '\n');
    }
    return text_string(&picture);
}

void stage_expect(struct stage *stage, const char *effects)
{
    assert_string_equal(text_string(&stage->effects), effects);
    text_clear(&stage->effects);
}

void stage_expect_acts(struct stage *stage, const char *wanted)
{
    struct text acts = { 0 };
    const char *line = text_string(&stage->effects);

    for (; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "DRAFT ", 6) != 0)
            text_add(&acts, line, strcspn(line, "\n") + 1);
    }
    assert_string_equal(text_string(&acts), wanted);
    text_release(&acts);
    text_clear(&stage->effects);
}

void stage_expect_screen(struct stage *stage, int columns, int rows, const char *wanted)
{
    const char *drawn = stage_draw(stage, columns, rows), *d = drawn, *w = wanted;

    for (int row = 1; *d || *w; row++) {
        size_t drawn_length = strcspn(d, "\n"), wanted_length = strcspn(w, "\n");

        if (drawn_length != wanted_length || memcmp(d, w, drawn_length) != 0) {
            print_message("%s", drawn); /* longer than a message of cmocka's may be */
            fail_msg("row %d is\n%.*s\nnot\n%.*s", row, (int)drawn_length, d, (int)wanted_length,
                     w);
        }
        d += drawn_length + (d[drawn_length] != '\0');
        w += wanted_length + (w[wanted_length] != '\0');
    }
}

void stage_expect_row(struct stage *stage, const char *part)
{
    const char *drawn = stage_draw(stage, stage->columns, stage->rows);

    if (!strstr(drawn, part))
        fail_msg("no row has \"%s\" in\n%s", part, drawn);
}

void stage_expect_no_row(struct stage *stage, const char *part)
{
    const char *drawn = stage_draw(stage, stage->columns, stage->rows);

    if (strstr(drawn, part))
        fail_msg("a row has \"%s\" in\n%s", part, drawn);
}
