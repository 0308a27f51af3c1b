/*
 * test_tui_screens.c - the pictures of docs/terminal.md, drawn by the screens themselves: what the
 * document shows is what people get, to the cell.
 * Proves: R6.1 R6.4 R8.2 R2.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "i18n/i18n.h"
#include "tui_fixture.h"
#include "tui_forms.h"

static struct text document;

static void read_document(void)
{
    FILE *file = fopen(TEST_DOCS "/terminal.md", "rb");
    int byte;

    assert_non_null(file);
    while ((byte = getc(file)) != EOF)
        text_add_char(&document, (char)byte);
    fclose(file);
}

/* The block of text so many behind a heading; the caller frees. */
static char *picture(const char *heading, int number)
{
    static const char fence[] = "```text\n";
    char *line = mem_format("\n### %s\n", heading);
    const char *at = strstr(text_string(&document), line), *end;

    if (!at)
        fail_msg("the document has no heading %s", heading);
    for (at = strstr(at, fence); number > 0; number--)
        at = strstr(at + 1, fence);
    at += strlen(fence);
    end = strstr(at, "```\n");
    free(line);
    return mem_text_n(at, (size_t)(end - at));
}

static int rows_of(const char *text)
{
    int rows = 0;

    for (; *text; text++)
        rows += *text == '\n';
    return rows;
}

/* `_` is the terminal's cursor: it must stand there, in an empty cell. Makes it one. */
static void check_cursor(const struct stage *stage, char *wanted)
{
    char *row = wanted;
    int columns = 0;

    if (stage->canvas.cursor_row < 0)
        return;
    for (int i = 0; i < stage->canvas.cursor_row; i++)
        row += strcspn(row, "\n") + 1;
    while (*row && columns < stage->canvas.cursor_column) {
        struct glyph glyph = glyph_first(row, strlen(row));

        columns += glyph.columns;
        row += glyph.bytes;
    }
    if (*row != '_')
        fail_msg("the cursor is in row %d, column %d, where the picture has none",
                 stage->canvas.cursor_row, stage->canvas.cursor_column);
    *row = ' ';
    if (row[1] == '\n') {
        while (row > wanted && *row == ' ')
            memmove(row, row + 1, strlen(row)), row--;
    }
}

/* With SAYSO_PICTURES=FILE the pictures are written there instead, for the document. */
static bool write_picture(struct stage *stage, const char *heading, int number, int columns,
                          int rows)
{
    const char *path = getenv("SAYSO_PICTURES");
    FILE *file = path ? fopen(path, "ab") : NULL;
    const char *drawn;

    if (!file)
        return false;
    drawn = stage_draw(stage, columns, rows);
    fprintf(file, "%s\t%d\t%d\t%d\n%s\f", heading, number, stage->canvas.cursor_row,
            stage->canvas.cursor_column, drawn);
    fclose(file);
    return true;
}

static void expect_picture(struct stage *stage, const char *heading, int number, int columns)
{
    char *wanted = picture(heading, number);
    int rows = rows_of(wanted);

    print_message("%s, %d\n", heading, number);
    if (!write_picture(stage, heading, number, columns, rows)) {
        stage_draw(stage, columns, rows);
        check_cursor(stage, wanted);
        stage_expect_screen(stage, columns, rows, wanted);
    }
    free(wanted);
}

/* At a width no document shows: where the words stand. */
static void expect_wide(const struct stage *stage, int row, const char *words, int column)
{
    struct text line = { 0 };
    const char *found;

    canvas_write_row(&stage->canvas, row, &line);
    found = strstr(text_string(&line), words);
    if (!found)
        fail_msg("row %d has no %s: %s", row, words, text_string(&line));
    assert_int_equal(glyph_columns(text_string(&line), (size_t)(found - text_string(&line))),
                     column);
    text_release(&line);
}

static void single_choice(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, cache_form);
    expect_picture(&stage, "Single choice", 0, 80);
    expect_picture(&stage, "Single choice", 1, 40);
    stage_draw(&stage, 200, 50);
    expect_wide(&stage, 0, "4:12", 195);
    expect_wide(&stage, 0, "asked 14:02:23", 179);
    expect_wide(&stage, 1, "╌╌╌", 168); /* 252 of 300 s */
    expect_wide(&stage, 4, "The product page reads", 1);
    expect_wide(&stage, 8, "s settings", 189);
    stage.now.utc_ms += 86400000;
    stage_draw(&stage, 200, 50);
    expect_wide(&stage, 0, "asked yesterday 14:02  ", 172);
    stage_close(&stage);
}

/* Who agent not waiting is not blocked. */
static void detached(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(cache_form, "", ""), *at = strstr(whole, "\"detached\":false");

    (void)state;
    memcpy(at, "\"detached\":true ", 16);
    stage_open_whole(&stage, whole);
    stage_draw(&stage, 200, 50);
    expect_wide(&stage, 2, "agent not waiting", 48);
    free(whole);
    stage_close(&stage);
}

static void multi(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(checks_form, "", ",\"hidden\":[\"h1\",\"h2\",\"h3\",\"h4\"]");

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open_whole(&stage, whole);
    stage_type(&stage, "j");
    expect_picture(&stage, "Multi, with min and max", 0, 80);
    expect_picture(&stage, "Multi, with min and max", 1, 40);
    free(whole);
    stage_close(&stage);
}

static void hybrid(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, endpoint_form);
    stage_type(&stage, "oGET /accounts/{id}/billing-documents");
    stage_type(&stage, "\rCredit notes will live there too, so \"invoices\" is too narrow.");
    stage.now.mono_ms += 1100;
    stage_draw(&stage, 80, 24); /* the draft goes out */
    stage.now.mono_ms -= 1100;
    expect_picture(&stage, "Hybrid, own text being edited", 0, 80);
    stage_type(&stage, "\025\177");
    expect_picture(&stage, "Hybrid, own text being edited", 1, 40);
    stage_close(&stage);
}

static void note(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, cache_form);
    stage_type(&stage, "\tUse the cluster we already have in eu-west.");
    expect_picture(&stage, "Note focused by Tab", 0, 80);
    expect_picture(&stage, "Note focused by Tab", 1, 40);
    stage_close(&stage);
}

static char *regions_form(void)
{
    static const char *const cities[] = { "Ireland", "London", "Paris" };
    struct text options = { 0 };
    char *form;

    for (int i = 1; i <= 31; i++) {
        text_add_text(&options, i > 1 ? "," : "");
        if (i >= 12 && i <= 14)
            text_add_format(&options, "{\"id\":\"eu-west-%d\",\"label\":\"eu-west-%d     %s\"}",
                            i - 11, i - 11, cities[i - 12]);
        else
            text_add_format(&options, "{\"id\":\"r%d\",\"label\":\"Region %d\"}", i, i);
    }
    form = mem_format("\"title\":\"Which regions get the release?\",\"prompt\":\"Which regions get "
                      "the release?\",\"fields\":[{\"name\":\"choice\",\"kind\":\"multi\","
                      "\"required\":true,\"options\":[%s],\"max_selections\":31}],"
                      "\"allow_annotations\":true",
                      text_string(&options));
    text_release(&options);
    return form;
}

static void filter(void **state)
{
    struct stage stage = { 0 };
    char *form = regions_form();
    char *whole = stage_whole(form, "", "");
    char *left = strstr(whole, "252"); /* 9:31 of 10 min */

    (void)state;
    memcpy(left, "571", 3);
    stage.now.utc_ms = 1785247371400;
    stage_open_whole(&stage, whole);
    stage_type(&stage, "3");
    stage_wait(&stage, 400);
    stage.now.mono_ms -= 400;
    stage_type(&stage, "/eu-w \033[A\033[B");
    stage.now.mono_ms -= 200;
    stage.now.utc_ms = 1785247391000;
    expect_picture(&stage, "Filter a long list", 0, 80);
    expect_picture(&stage, "Filter a long list", 1, 40);
    free(form);
    free(whole);
    stage_close(&stage);
}

static void slider(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage,
               FORM("How long may the payment provider take?",
                    "0.4 % of the calls hang for over a minute. Median 210 ms, p99 1,840 ms.",
                    "{\"name\":\"value\",\"label\":\"Limit for one call\",\"kind\":\"number\","
                    "\"required\":true,\"integer\":true,\"minimum\":100,\"maximum\":5000,\"step\":"
                    "100,\"unit\":\"ms\",\"style\":\"slider\",\"default_number\":2400}",
                    ""));
    stage_type(&stage, "\033[C");
    expect_picture(&stage, "Number slider", 0, 80);
    expect_picture(&stage, "Number slider", 1, 40);
    stage_close(&stage);
}

static void rating(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, FORM("How good is this summary of the incident?",
                            "How good is this summary of the incident?",
                            "{\"name\":\"value\",\"kind\":\"number\",\"required\":true,"
                            "\"integer\":true,\"minimum\":1,\"maximum\":5,\"style\":\"rating\"}",
                            ""));
    stage_type(&stage, "4");
    expect_picture(&stage, "Rating", 0, 80);
    expect_picture(&stage, "Rating", 1, 40);
    stage_close(&stage);
}

static void destructive(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(volumes_form, "", ""), *at;

    (void)state;
    at = strstr(whole, "252");
    memcpy(at, "580", 3);
    at = strstr(whole, "14:02:23");
    memcpy(at, "14:02:51", 8);
    at = strstr(whole, "48213");
    memcpy(at, "50177", 5);
    at = strstr(whole, "\"agent\":\"claude-code\"");
    memcpy(at, "\"agent\":\"codex\"      ", 21);
    at = strstr(whole, "/home/me/src/shop-api");
    memcpy(at, "/home/me/infra/volume", 21);
    at = mem_format("%.*ss%s", (int)(at + 21 - whole), whole, at + 21);
    stage.now.utc_ms = 1785247390400;
    stage_open_whole(&stage, at);
    stage_type(&stage, "3\r");
    stage_take(&stage, NEWS_CODE, "{\"code\":\"472\"}");
    stage_type(&stage, "47");
    expect_picture(&stage, "Destructive: the second act", 0, 80);
    expect_picture(&stage, "Destructive: the second act", 1, 40);
    free(whole);
    free(at);
    stage_close(&stage);
}

static void stepper(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(release_form, "", ""), *at = strstr(whole, "252");

    (void)state;
    memcpy(at, " 42", 3);
    at = strstr(whole, "14:02:23");
    memcpy(at, "13:58:44", 8);
    at = strstr(whole, "\"agent\":\"claude-code\"");
    memcpy(at, "\"agent\":\"gemini-cli\" ", 21);
    stage.now.utc_ms = 1785247381400;
    stage_open_whole(&stage, whole);
    stage_type(&stage, "\r");
    stage_type(&stage, "1oSupport leads, so that they can write the help pages");
    stage_type(&stage, "\033");
    stage_type(&stage, "\033[A\033[A\033[A");
    stage.now.mono_ms -= 400;
    expect_picture(&stage, "Stepper: several questions, then review", 0, 80);
    expect_picture(&stage, "Stepper: several questions, then review", 1, 40);
    stage_type(&stage, "\033[C");
    stage_type(&stage, "1\033[C");
    stage_wait(&stage, 10500);
    expect_picture(&stage, "Stepper: several questions, then review", 2, 80);
    free(whole);
    stage_close(&stage);
}

static void preview(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, retry_form);
    expect_picture(&stage, "Preview pane with a diff", 0, 80);
    expect_picture(&stage, "Preview pane with a diff", 1, 40);
    stage_close(&stage);
}

static const char settings_json[] =
    "{\"settings\":[{\"name\":\"timeout_seconds\",\"value\":300,\"source\":\"saved\"},{"
    "\"name\":\"language\",\"value\":\"en\",\"source\":\"environment\"}]}";

static void settings(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(checks_form, "", ",\"hidden\":[\"h1\",\"h2\",\"h3\",\"h4\"]");

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open_whole(&stage, whole);
    stage_take(&stage, NEWS_SETTINGS, settings_json);
    stage_type(&stage, "sj");
    expect_picture(&stage, "Settings", 0, 80);
    expect_picture(&stage, "Settings", 1, 40);
    free(whole);
    stage_close(&stage);
}

static void cancel(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, cache_form);
    stage_type(&stage, "qask me again after the release");
    expect_picture(&stage, "Cancel, with a note", 0, 80);
    expect_picture(&stage, "Cancel, with a note", 1, 40);
    stage_close(&stage);
}

static void urgent(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(short_form, "", ""), *at = strstr(whole, "252");

    (void)state;
    memcpy(at, "  9", 3);
    stage.now.utc_ms = 1785247633400;
    stage_open_whole(&stage, whole);
    expect_picture(&stage, "Countdown, urgent", 0, 80);
    expect_picture(&stage, "Countdown, urgent", 1, 40);
    free(whole);
    stage_close(&stage);
}

static const char ended[] =
    ",\"status\":\"submitted\",\"decided_at\":\"2026-07-28T14:03:05.000Z\",\"answered_by\":{"
    "\"person\":\"me\",\"via\":\"web\"}";

static void elsewhere(void **state)
{
    struct stage stage = { 0 };
    char *whole;

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, cache_form);
    stage_type(&stage, "\tUse the cluster we already have in eu-west.");
    stage_take(&stage, NEWS_CHANGED,
               "{\"ask\":{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"title\":\"T\",\"status\":"
               "\"submitted\",\"version\":2,\"decided_at\":\"2026-07-28T14:03:05.000Z\","
               "\"answered_by\":{\"person\":\"me\",\"via\":\"web\"}}}");
    whole = mem_format("{\"ask\":{\"session_id\":\"abcd2345abcd2345abcd2345ab\",\"version\":2%s},"
                       "\"form\":{},\"answer\":{\"selected_ids\":[\"view\"]}}",
                       ended);
    stage_take(&stage, NEWS_WHOLE, whole);
    expect_picture(&stage, "Answered elsewhere", 0, 80);
    expect_picture(&stage, "Answered elsewhere", 1, 40);
    free(whole);
    stage_close(&stage);
}

static void reconnecting(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, short_form);
    stage_type(&stage, "\tUse the cluster we already have in eu-west.");
    stage_take(&stage, NEWS_LOST, "{\"retry_ms\":3000}");
    expect_picture(&stage, "Reconnecting", 0, 80);
    expect_picture(&stage, "Reconnecting", 1, 40);
    stage_close(&stage);
}

static void expect_summary(struct stage *stage, int columns, const char *wanted)
{
    struct text line = { 0 };

    ask_screen_draw_summary(stage->ask, &stage->canvas, columns);
    for (int row = 0; row < stage->canvas.rows; row++) {
        canvas_write_row(&stage->canvas, row, &line);
        text_add_char(&line, '\n');
    }
    assert_string_equal(text_string(&line), wanted);
    text_release(&line);
}

static void saved_and_summed_up(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage.now.utc_ms = 1785247384400;
    stage_open(&stage, cache_form);
    stage_type(&stage, "\r");
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"submitted\",\"undo_ms\":4000}");
    expect_picture(&stage, "Undo, and the summary line left behind", 0, 80);
    expect_summary(&stage, 80,
                   "✓ Which cache should the product page use?  Redis, write-through  42 s\n");
    expect_summary(&stage, 40,
                   "✓ Which cache should the product page›\n  Redis, write-through  42 s\n");
    stage_close(&stage);
}

/* clang-format off */
static const char chinese_form[] = FORM(
    "商品页应使用哪种缓存？",
    "商品页在高峰期每秒读取库存 1200 次，PostgreSQL 的 CPU 占用已达 78%。"
        "加一层缓存即可解决，但各方案允许的库存延迟不同，需要你来决定。",
    "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":["
        OPTION("a", "Redis，直写", ABOUT("多维护一个服务；库存 50 毫秒内准确。约需 2 小时。") RECOMMENDED) ","
        OPTION("b", "物化视图，每 5 秒刷新", ABOUT("无需新服务；库存可能滞后 5 秒。")) ","
        OPTION("c", "进程内缓存，30 秒", ABOUT("最简单；但 6 个 pod 各有一份数据。")) ","
        OPTION("d", "维持现状", ABOUT("改为升级数据库，每月约 310 欧元。"))
    "],\"min_selections\":1,\"max_selections\":1}",
    ",\"single_submit\":true");
/* clang-format on */

static void chinese(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    i18n_use(LANGUAGE_ZH);
    stage.now.utc_ms = 1785247390400;
    stage_open(&stage, chinese_form);
    expect_picture(&stage, "Chinese", 0, 80);
    expect_picture(&stage, "Chinese", 1, 40);
    stage_close(&stage);
    i18n_use(LANGUAGE_EN);
}

static int setup(void **state)
{
    (void)state;
    read_document();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    text_release(&document);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_choice),
        cmocka_unit_test(detached),
        cmocka_unit_test(multi),
        cmocka_unit_test(hybrid),
        cmocka_unit_test(note),
        cmocka_unit_test(filter),
        cmocka_unit_test(slider),
        cmocka_unit_test(rating),
        cmocka_unit_test(destructive),
        cmocka_unit_test(stepper),
        cmocka_unit_test(preview),
        cmocka_unit_test(settings),
        cmocka_unit_test(cancel),
        cmocka_unit_test(urgent),
        cmocka_unit_test(elsewhere),
        cmocka_unit_test(reconnecting),
        cmocka_unit_test(saved_and_summed_up),
        cmocka_unit_test(chinese),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
