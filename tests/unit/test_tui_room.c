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

#include "base/json.h"
#include "base/mem.h"
#include "core/glyph.h"
#include "i18n/i18n.h"
#include "tui_fixture.h"
#include "tui_forms.h"
#include "tui_standing.h"

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
    { "note for the agent", cache_form, "nwords" },
    { "cancel", cache_form, "q" },
    { "filter", checks_form, "/te" },
    { "short", short_form, "" },
    { "own words", endpoint_form, "o" },
    { "destructive", volumes_form, " " },
    { "several questions", release_form, "" },
    { "number", retry_form, "" },
};

#define ASK(id, title, status, more)                                                               \
    "{\"session_id\":\"" id "\",\"title\":\"" title "\",\"status\":\"" status                      \
    "\",\"agent\":\"claude-code\",\"created_at\":\"2026-07-28T14:02:59.000Z\",\"version\":1,"      \
    "\"origin\":{\"directory\":\"/home/me/shop\",\"uid\":1000,\"pid\":5}" more "}"
#define ENDED ",\"decided_at\":\"2026-07-28T14:03:11.000Z\",\"answered_by\":{\"via\":\"terminal\"}"

/* An ask in each state. */
static const char inbox[] =
    "{\"seq\":1,\"asks\":[" ASK("aaaa", "Which cache should the product page use?", "pending", ",\"remaining_seconds\":252,\"destructive\":true") "," ASK(
        "bbbb", "哪种缓存？", "pending",
        ",\"remaining_seconds\":9999999") "," ASK("cccc", "Done", "submitted",
                                                  ENDED) "," ASK("dddd", "Late", "timeout",
                                                                 ENDED) "," ASK("eeee", "By itself",
                                                                                "auto_submitted",
                                                                                ENDED) "," ASK("fff"
                                                                                               "f",
                                                                                               "No",
                                                                                               "dec"
                                                                                               "lin"
                                                                                               "ed",
                                                                                               ENDED) "," ASK("gggg",
                                                                                                              "Away",
                                                                                                              "cancelled",
                                                                                                              ENDED) "," ASK("hhhh",
                                                                                                                             "Back",
                                                                                                                             "withdrawn",
                                                                                                                             ENDED) "]}";

static void open_inbox(struct stage *stage)
{
    struct json *value = NULL;

    stage_open(stage, cache_form); /* prepares the stage */
    ask_screen_free(stage->ask);
    stage->ask = NULL;
    assert_true(json_parse(inbox, strlen(inbox), &value, NULL));
    stage->inbox = inbox_screen_new(&stage->setup, value, stage->now);
    json_free(value);
    stage_take(stage, NEWS_STATUS, "{\"url\":\"http://localhost:7297/\"}");
}

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

static void every_text_of_the_inbox_has_room(void **state)
{
    static const char *const keys[] = { "", "?", "s", "\t", "j", "/x" };
    struct text lost = { 0 };

    (void)state;
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            struct stage stage = { 0 };

            stage.now.utc_ms = 1785247390400;
            open_inbox(&stage);
            i18n_use((enum language)language);
            stage_type(&stage, keys[i]);
            draw_at_every_width(&stage, "inbox", &lost);
            stage_close(&stage);
        }
    }
    i18n_use(LANGUAGE_EN);
    text_release(&lost);
}

/* Answers that stand: the list, revoking, one before it is made, and what is refused. */
static void every_text_of_standing_answers_has_room(void **state)
{
    static const struct {
        const char *keys, *news;
    } cases[] = { { "a", NULL },
                  { "ad", NULL },
                  { "ajj\r", rule_case },
                  { "ajj\r", standing_case_same },
                  { "h", NULL } };
    struct text lost = { 0 };

    (void)state;
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct stage stage = { 0 };

            stage.now.utc_ms = 1785247390400;
            open_inbox(&stage);
            i18n_use((enum language)language);
            stage_type(&stage, "a");
            stage_take(&stage, NEWS_RULES, standing_rules);
            stage_take(&stage, NEWS_PROPOSED, standing_proposed);
            stage_type(&stage, "\033");
            stage_type(&stage, cases[i].keys);
            if (cases[i].news)
                stage_take(&stage, NEWS_CASE, cases[i].news);
            stage_take(&stage, NEWS_HISTORY, inbox);
            draw_at_every_width(&stage, "rules", &lost);
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
        cmocka_unit_test(every_text_of_the_inbox_has_room),
        cmocka_unit_test(every_text_of_standing_answers_has_room),
        cmocka_unit_test(labels_of_the_command_line_leave_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
