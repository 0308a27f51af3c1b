/*
 * test_tui_room.c - every screen in every language at every width: a text that has a fixed place
 * finds room there, wraps or is marked as cut; nothing is drawn over the edge.
 * Proves: R8.2 R6.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/glyph.h"
#include "tui_fixture.h"
#include "tui_forms.h"

enum { NARROWEST = 40, WIDEST = 130, ROWS = 40 };

static const struct {
    const char *name, *form;
    const char *keys; /* what leads to the screen */
} scenes[] = {
    { "single choice", cache_form, "" },
    { "several", checks_form, "j " },
    { "keys", cache_form, "?" },
    { "settings", checks_form, "s" },
    { "settings, each row", checks_form, "sjjjjjjjj" },
    { "note", cache_form, "\t" },
    { "note to the agent", cache_form, "nwords" },
    { "cancel", cache_form, "q" },
    { "filter", checks_form, "/te" },
    { "short", short_form, "" },
    { "own words", endpoint_form, "o" },
    { "destructive", volumes_form, " " },
    { "several questions", release_form, "" },
    { "number", retry_form, "" },
};

static void draw_at_every_width(struct stage *stage, const char *name, struct text *lost)
{
    for (int columns = NARROWEST; columns <= WIDEST; columns++) {
        const char *shown;

        text_clear(lost);
        stage->canvas.lost = lost;
        shown = stage_draw(stage, columns, ROWS);

        if (lost->used > 0)
            fail_msg("%s, %s, %d columns: no room for %s%s", name, language_tag(i18n_language()),
                     columns, text_string(lost), shown);
    }
}

static void every_text_has_room(void **state)
{
    struct text lost = { 0 };

    (void)state;
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
            struct stage stage = { 0 };

            i18n_use((enum language)language);
            stage.now.utc_ms = 1785247390400;
            stage_open(&stage, scenes[i].form);
            i18n_use((enum language)language);
            stage_type(&stage, scenes[i].keys);
            draw_at_every_width(&stage, scenes[i].name, &lost);
            stage_close(&stage);
        }
    }
    i18n_use(LANGUAGE_EN);
    text_release(&lost);
}

/* Texts the command line puts before a column, by the beginning of their names. */
static void labels_of_the_command_line_leave_room(void **state)
{
    static const struct {
        const char *beginning;
        int columns;
    } places[] = { { "ROW_", 12 } };

    (void)state;
    for (size_t p = 0; p < ARRAY_LEN(places); p++) {
        int seen = 0;

        for (int id = 0; id < TEXT_COUNT; id++) {
            const char *key = i18n_key((enum text_id)id);

            if (strncmp(key, places[p].beginning, strlen(places[p].beginning)) != 0)
                continue;
            for (int l = 0; l < LANGUAGE_COUNT; l++) {
                const char *text = i18n_text_in((enum language)l, (enum text_id)id);

                if (glyph_columns(text, strlen(text)) > places[p].columns)
                    fail_msg("%s has %d columns: %s", key, places[p].columns, text);
            }
            seen++;
        }
        assert_true(seen > 5);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_room),
        cmocka_unit_test(labels_of_the_command_line_leave_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
