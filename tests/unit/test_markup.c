/*
 * test_markup.c - Markdown, code and diffs as spans: what is shown, what can be followed, and that
 * no text is too much.
 * Proves: R7.6 R6.5 P13
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/visible_text.h"
#include "markup/markup.h"

/* One line a block, in a notation short enough to compare. */
static void write_span(const struct markup *markup, const struct markup_span *span,
                       struct text *out)
{
    static const struct {
        unsigned style;
        const char *sign;
    } signs[] = { { MARKUP_CELL, "|" },    { MARKUP_STRONG, "*" }, { MARKUP_EMPHASIS, "_" },
                  { MARKUP_LITERAL, "`" }, { MARKUP_STRUCK, "~" }, { MARKUP_IMAGE, "!" } };

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        text_add_text(out, span->styles & signs[i].style ? signs[i].sign : "");
    text_add_char(out, '[');
    text_add(out, text_string(&markup->text) + span->at, span->length);
    text_add_char(out, ']');
    if (span->styles & MARKUP_LINK) {
        text_add_text(out, span->styles & MARKUP_SAFE ? "(" : "(unsafe ");
        text_add(out, text_string(&markup->text) + span->address, span->address_length);
        text_add_char(out, ')');
    }
}

static void write_markup(const struct markup *markup, struct text *out)
{
    static const char *const kinds[MARKUP_KIND_COUNT] = {
        [MARKUP_PARAGRAPH] = "paragraph", [MARKUP_HEADING] = "heading", [MARKUP_ITEM] = "item",
        [MARKUP_CODE] = "code",           [MARKUP_RULE] = "rule",       [MARKUP_ROW] = "row",
        [MARKUP_FILE] = "file",           [MARKUP_HUNK] = "hunk",       [MARKUP_ADDED] = "added",
        [MARKUP_REMOVED] = "removed",     [MARKUP_SAME] = "same",       [MARKUP_META] = "meta",
    };

    for (size_t i = 0; i < markup->block_count; i++) {
        const struct markup_block *block = &markup->blocks[i];

        text_add_text(out, kinds[block->kind]);
        if (block->level || block->depth || block->quotes)
            text_add_format(out, " %d/%d/%d", block->level, block->depth, block->quotes);
        if (block->kind == MARKUP_ITEM)
            text_add_format(out, " %d", (int)block->number);
        if (block->is_head)
            text_add_text(out, " head");
        if (block->kind == MARKUP_FILE)
            text_add_format(out, " +%d -%d", (int)block->added, (int)block->removed);
        if (block->language_length)
            text_add_format(out, " <%.*s>", (int)block->language_length,
                            text_string(&markup->text) + block->language);
        text_add_text(out, block->count ? " " : "");
        for (size_t j = 0; j < block->count; j++)
            write_span(markup, &markup->spans[block->first + j], out);
        text_add_char(out, '\n');
    }
}

static void expect(struct markup *take_markup, const char *wanted)
{
    struct text out = { 0 };

    write_markup(take_markup, &out);
    assert_string_equal(text_string(&out), wanted);
    text_release(&out);
    markup_free(take_markup);
}

static void markdown_becomes_blocks(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "", "" },
        { "one\ntwo\n\nthree", "paragraph [one two]\nparagraph [three]\n" },
        { "a  \nb", "paragraph [a\nb]\n" },
        { "# Head *x*", "heading 1/0/0 [Head ]_[x]\n" },
        { "**a _b_** `c*d*` ~~e~~", "paragraph *[a ]*_[b][ ]`[c*d*][ ]~[e]\n" },
        { "- a\n- b\n  - c\n\nd", "item 0/1/0 -1 [a]\nitem 0/1/0 -1 [b]\nitem 0/2/0 -1 [c]\n"
                                  "paragraph [d]\n" },
        { "3. a\n4. b\n\n   more", "item 0/1/0 3 [a]\nitem 0/1/0 4 [b]\nparagraph 0/1/0 [more]\n" },
        { "- [x] done\n- [ ] not", "item 0/1/0 -1 [[x] done]\nitem 0/1/0 -1 [[ ] not]\n" },
        { "-\n- a", "item 0/1/0 -1\nitem 0/1/0 -1 [a]\n" },
        { "> q\n>> r", "paragraph 0/0/1 [q]\nparagraph 0/0/2 [r]\n" },
        { "```c\nint a;\n  b\n```", "code <c> [int a;\n  b\n]\n" },
        { "---", "rule\n" },
        { "|a|b|\n|---|---|\n|1|*2*|", "row head |[a]|[b]\nrow |[1]|_[2]\n" },
        { "a &amp; &#65; &#x1b; &foo;", "paragraph [a & A \\x1b &foo;]\n" },
        { "<b>x</b>", "paragraph [<b>x</b>]\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(markup_markdown(cases[i].text), cases[i].wanted);
}

static void links_show_where_they_go(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "[x](https://a.example/b?c=1&amp;d)", "paragraph [x](https://a.example/b?c=1&d)\n" },
        { "see https://a.example.", "paragraph [see ][https://a.example](https://a.example)[.]\n" },
        { "[x](javascript:alert(1))", "paragraph [x](unsafe javascript:alert(1))\n" },
        { "[x](java&#115;cript:alert(1))", "paragraph [x](unsafe javascript:alert(1))\n" },
        { "[x](data:text/html,y)", "paragraph [x](unsafe data:text/html,y)\n" },
        { "[x](/etc/passwd)", "paragraph [x](unsafe /etc/passwd)\n" },
        { "[x](<https://a.example/\xe2\x80\xae"
          "b>)",
          "paragraph [x](unsafe https://a.example/\\u202eb)\n" },
        { "![alt *t*](https://a.example/i.png)",
          "paragraph ![alt ](https://a.example/i.png)_![t](https://a.example/i.png)\n" },
        { "[](https://a.example)", "paragraph [](https://a.example)\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(markup_markdown(cases[i].text), cases[i].wanted);
}

static void diffs_are_counted_by_their_heads(void **state)
{
    (void)state;
    expect(markup_diff("--- a/client.c\n+++ b/client.c\n@@ -1,2 +1,2 @@ f\n--- x\n+++ y\n same\n"),
           "file +1 -1 [client.c]\nhunk [@@ -1,2 +1,2 @@ f]\nremoved [--- x]\nadded [+++ y]\n"
           "same [ same]\n");
    expect(markup_diff("--- a/x\t2026\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\nindex 12"),
           "file +1 -1 [x > y]\nhunk [@@ -1 +1 @@]\nremoved [-a]\nadded [+b]\nmeta [index 12]\n");
    expect(markup_diff("+only\n-signs\n\nx"), "added [+only]\nremoved [-signs]\nsame\nmeta [x]\n");
    expect(markup_diff("@@ -1,99999999999 +1 @@\n\x1b[2J"),
           "meta [@@ -1,99999999999 +1 @@]\nmeta [\\x1b[2J]\n");
}

static void previews_by_their_type(void **state)
{
    struct preview code = { PREVIEW_CODE, (char *)(uintptr_t) "a\n\tb", (char *)(uintptr_t) "c" };
    struct preview text = { PREVIEW_TEXT, (char *)(uintptr_t) "*a*", NULL };
    struct preview none = { 0 };

    (void)state;
    expect(markup_of_preview(&code), "code <c> [a\n    b]\n");
    expect(markup_of_preview(&text), "code [*a*]\n");
    assert_null(markup_of_preview(&none));
}

static void json_for_pages(void **state)
{
    struct markup *markup = markup_markdown("1. **a** [l](https://x.example) \xe2\x80\xae");
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    (void)state;
    markup_write(markup, &writer, NULL);
    assert_string_equal(
        text_string(&out),
        "{\"blocks\":[{\"kind\":\"item\",\"depth\":1,\"number\":1,\"spans\":[{\"text\":\"a\","
        "\"strong\":true},{\"text\":\" \"},{\"text\":\"l\",\"address\":\"https://x.example\","
        "\"href\":\"https://x.example\"},{\"text\":\" \\\\u202e\"}]}],\"hidden\":true,"
        "\"bidi\":true}");
    text_release(&out);
    markup_free(markup);
}

static struct json *read_corpus(void)
{
    struct text bytes = { 0 };
    struct json *value = NULL;
    FILE *file = fopen(TEST_CORPUS "/strings.json", "rb");
    int byte;

    assert_non_null(file);
    while ((byte = getc(file)) != EOF)
        text_add_char(&bytes, (char)byte);
    fclose(file);
    assert_true(json_parse(bytes.bytes, bytes.used, &value, NULL));
    text_release(&bytes);
    return value;
}

/* Making visible what is visible changes nothing: so nothing escaped the sanitizer. */
static void expect_visible(struct markup *take_markup)
{
    struct text again = { 0 };

    for (size_t i = 0; i < take_markup->span_count; i++) {
        const struct markup_span *span = &take_markup->spans[i];
        const char *text = text_string(&take_markup->text) + span->at;

        text_clear(&again);
        visible_text(text, span->length, VISIBLE_LINES, &again);
        assert_int_equal(again.used, span->length);
        assert_memory_equal(text_string(&again), text, span->length);
    }
    text_release(&again);
    markup_free(take_markup);
}

static void hostile_strings_are_visible(void **state)
{
    struct json *corpus = read_corpus();
    const struct json *cases = json_member(corpus, "cases");

    (void)state;
    for (size_t i = 0; i < json_length(cases); i++) {
        const char *text = json_member_text(json_item(cases, i), "text");
        struct text linked = { 0 };

        expect_visible(markup_markdown(text));
        expect_visible(markup_diff(text));
        expect_visible(markup_code(text, text));
        text_add_format(&linked, "- [%s](<https://a.example/%s>) `%s`", text, text, text);
        expect_visible(markup_markdown(text_string(&linked)));
        text_release(&linked);
    }
    json_free(corpus);
}

static double seconds_for(const char *unit, size_t bytes, size_t *ret_spans)
{
    struct text text = { 0 };
    struct markup *markup;
    clock_t begin;
    double seconds;

    while (text.used < bytes)
        text_add_text(&text, unit);
    begin = clock();
    markup = markup_markdown(text_string(&text));
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    *ret_spans = markup->span_count;
    assert_true(markup->block_count <= MARKUP_MAX_BLOCKS);
    assert_true(markup->span_count <= MARKUP_MAX_SPANS);
    markup_free(markup);
    text_release(&text);
    return seconds;
}

/* Whole and bounded, whatever is nested how deep. */
static void bombs_are_bounded(void **state)
{
    static const char *const units[] = { "[",     "![",   "> ",   "- ", "*a ",     "_*",  "`",
                                         "|a",    "\n\n", "<a>",  "&#", "[a](b ",  "~~*", "1. ",
                                         "[a]: ", "```",  "<!--", "\\", "https:/", "a@b", "(" };
    size_t spans;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        double seconds = seconds_for(units[i], 65536, &spans);

        if (seconds > 5)
            fail_msg("%s takes %.1f s", units[i], seconds);
    }
}

static void a_table_cannot_multiply(void **state)
{
    struct text text = { 0 };
    struct markup *markup;

    (void)state;
    for (int i = 0; i < 10000; i++)
        text_add_text(&text, "|a");
    text_add_text(&text, "|\n");
    for (int i = 0; i < 10000; i++)
        text_add_text(&text, "|---");
    text_add_text(&text, "|\n");
    for (int i = 0; i < 10000; i++)
        text_add_text(&text, "x\n");
    markup = markup_markdown(text_string(&text));
    assert_int_equal(markup->block_count, 1); /* shown plain, and whole */
    assert_int_equal(markup->text.used, text.used - 1);
    markup_free(markup);
    text_release(&text);
}

static void nothing_is_left_out(void **state)
{
    struct text text = { 0 };
    struct markup *markup;

    (void)state;
    for (int i = 0; i < MARKUP_MAX_BLOCKS + 500; i++)
        text_add_text(&text, "a\n\n");
    markup = markup_markdown(text_string(&text));
    assert_false(markup->is_full);
    assert_true(markup->block_count < MARKUP_MAX_BLOCKS);
    text_clear(&text);
    for (int i = 0; i < MARKUP_MAX_BLOCKS + 500; i++)
        text_add_text(&text, "+\n");
    markup_free(markup);
    markup = markup_diff(text_string(&text));
    assert_int_equal(markup->block_count, 1);
    assert_int_equal(markup->text.used, text.used);
    markup_free(markup);
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_becomes_blocks),
        cmocka_unit_test(links_show_where_they_go),
        cmocka_unit_test(diffs_are_counted_by_their_heads),
        cmocka_unit_test(previews_by_their_type),
        cmocka_unit_test(json_for_pages),
        cmocka_unit_test(hostile_strings_are_visible),
        cmocka_unit_test(bombs_are_bounded),
        cmocka_unit_test(a_table_cannot_multiply),
        cmocka_unit_test(nothing_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
