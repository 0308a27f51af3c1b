/*
 * fuzz_ask_screen.c - any keys, news and sizes, in any order: the picture keeps its bounds and has
 * only visible cells, and what is sent is JSON that the hub's own check understands.
 * Proves: R6.1, R6.5, P13, P14
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "core/fields/answer.h"
#include "core/fields/form.h"
#include "tui/ask_screen.h"
#include "tui/canvas.h"
#include "tui/keyboard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const forms[] = {
    "\"fields\":[{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":[{\"id\":"
    "\"a\",\"label\":\"中文 A\",\"recommended\":true,\"preview\":{\"type\":\"diff\",\"text\":\"--- "
    "a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b\"}},{\"id\":\"b\",\"label\":\"B\"}],"
    "\"min_selections\":1,\"max_selections\":1}],\"single_submit\":true",
    "\"fields\":[{\"name\":\"choice\",\"kind\":\"multi\",\"required\":true,\"options\":[{\"id\":"
    "\"a\",\"label\":\"A\",\"default\":true},{\"id\":\"b\",\"label\":\"B\"},{\"id\":\"c\","
    "\"label\":\"C\"}],\"min_selections\":1,\"max_selections\":2}]",
    "\"fields\":[{\"name\":\"choice\",\"kind\":\"hybrid\",\"required\":true,\"options\":[{\"id\":"
    "\"a\",\"label\":\"A\"}],\"max_selections\":1,\"placeholder\":\"p\",\"placeholder_visible\":"
    "true}],\"destructive\":true",
    "\"fields\":[{\"name\":\"n\",\"kind\":\"number\",\"required\":true,\"minimum\":0,\"maximum\":"
    "10,\"style\":\"slider\"},{\"name\":\"r\",\"kind\":\"number\",\"integer\":true,\"minimum\":1,"
    "\"maximum\":5,\"style\":\"rating\"},{\"name\":\"t\",\"kind\":\"text\",\"max_chars\":20},"
    "{\"name\":\"c\",\"kind\":\"confirm\",\"required\":true},{\"name\":\"f\",\"kind\":\"number\"}]",
};
static const char *const news[] = {
    "{\"code\":\"472\"}",
    "{\"status\":\"submitted\",\"undo_ms\":5000}",
    "{\"retry_ms\":100}",
    "{\"code\":\"wrong_state\",\"message\":\"no\"}",
    "{\"code\":\"already_answered\",\"message\":\"late\"}",
    "{\"ask\":{\"session_id\":\"x\",\"status\":\"timeout\",\"version\":9}}",
    "{\"ask\":{\"session_id\":\"x\",\"status\":\"pending\",\"version\":9,\"remaining_seconds\":5}}",
    "{\"session_id\":\"x\",\"draft\":{\"selected_ids\":[\"b\"],\"custom_input\":\"d\","
    "\"global_annotation\":\"n\"}}",
    "{\"settings\":[{\"name\":\"notes\",\"value\":false},{\"name\":\"single_submit\",\"value\":"
    "\"batch\"}]}",
    "{\"settings\":[{\"name\":\"notes\",\"value\":true},{\"name\":\"note_focus\",\"value\":true}]}",
};

struct world {
    struct ask_screen *screen;
    struct screen_time now;
    struct form form;
    bool is_over;
};

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void on_effect(void *context, const struct screen_effect *effect)
{
    struct world *world = context;
    struct json *json = NULL;
    struct answer answer = { 0 };

    if (effect->json)
        demand(json_parse(effect->json, strlen(effect->json), &json, NULL));
    if (effect->kind == EFFECT_ANSWER) {
        demand(answer_check(&world->form, json, &answer, NULL));
        answer_release(&answer);
    }
    json_free(json);
}

static void on_key(void *context, const struct key *key)
{
    struct world *world = context;

    world->now.mono_ms += 90;
    ask_screen_key(world->screen, key, world->now);
}

static void draw(struct world *world, struct canvas *canvas, int columns, int rows)
{
    struct text row = { 0 };

    ask_screen_draw(world->screen, canvas, columns, rows, world->now);
    demand(canvas->columns == columns);
    demand(canvas->rows <= rows || ask_screen_wants_alternate(world->screen));
    for (int i = 0; i < canvas->rows; i++) {
        text_clear(&row);
        canvas_write_row(canvas, i, &row);
        for (size_t k = 0; k < row.used; k++)
            demand((unsigned char)row.bytes[k] >= 0x20 && row.bytes[k] != 0x7f);
    }
    demand(ask_screen_wake_ms(world->screen) >= -1);
    text_release(&row);
}

static void begin(struct world *world, uint8_t which)
{
    struct screen_setup setup = { .context = world, .effect = on_effect, .has_portal = true };
    struct text whole = { 0 }, form = { 0 };
    struct json *json = NULL;

    text_add_format(&form,
                    "{\"version\":1,\"title\":\"T\",\"prompt\":\"**P** [l](http://x) q\","
                    "\"allow_annotations\":true,%s}",
                    forms[which % (sizeof forms / sizeof *forms)]);
    demand(form_parse(text_string(&form), form.used, &world->form, NULL));
    text_add_format(&whole,
                    "{\"ask\":{\"session_id\":\"x\",\"status\":\"pending\",\"version\":1,"
                    "\"created_at\":\"2026-07-28T14:02:23.000Z\",\"remaining_seconds\":60},"
                    "\"form\":%s,\"hidden\":[\"b\"]}",
                    text_string(&form));
    demand(json_parse(text_string(&whole), whole.used, &json, NULL));
    world->now = (struct screen_time){ 1000, 1785247390400 };
    demand(ask_screen_new(&setup, json, world->now, &world->screen, NULL));
    json_free(json);
    text_release(&whole);
    text_release(&form);
}

static void take_news(struct world *world, uint8_t which, uint8_t what)
{
    const char *text = news[what % (sizeof news / sizeof *news)];
    struct json *json = NULL;

    demand(json_parse(text, strlen(text), &json, NULL));
    ask_screen_take(world->screen, (enum screen_news)(which % (NEWS_STATUS + 1)), json, world->now);
    json_free(json);
}

/* Bytes are keys, but for two that are commands of ours: 0xfe news, 0xff another size. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = { 0 };
    struct canvas canvas = { 0 };
    struct keyboard keyboard = { 0 };
    int columns = 80, rows = 24;

    if (size == 0 || size > 512)
        return 0;
    begin(&world, data[0]);
    draw(&world, &canvas, columns, rows);
    world.now.mono_ms += 600;
    for (size_t i = 1; i < size; i++) {
        char byte = (char)data[i];

        if (data[i] == 0xfe && i + 2 < size) {
            take_news(&world, data[i + 1], data[i + 2]);
            i += 2;
        } else if (data[i] == 0xff && i + 2 < size) {
            columns = 1 + data[i + 1];
            rows = 1 + data[i + 2] % 100;
            world.now.mono_ms += 500;
            i += 2;
        } else {
            keyboard_feed(&keyboard, &byte, 1, on_key, &world);
            if (i % 3 == 0)
                keyboard_time_out(&keyboard, on_key, &world);
        }
        if (i % 16 == 0)
            draw(&world, &canvas, columns, rows);
    }
    draw(&world, &canvas, columns, rows);
    ask_screen_draw_summary(world.screen, &canvas, columns);
    ask_screen_free(world.screen);
    form_release(&world.form);
    keyboard_release(&keyboard);
    canvas_release(&canvas);
    return 0;
}
