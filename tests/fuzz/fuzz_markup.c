/*
 * fuzz_markup.c - any text as Markdown, diff, code and plain: every span is visible text, points
 * into the whole, and a link that may be followed is one of ours.
 * Proves: R7.6, R6.5, P13
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/visible_text.h"
#include "markup/markup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_visible(const char *bytes, size_t length, enum visible_lines lines)
{
    struct text again = { 0 };

    visible_text(bytes, length, lines, &again);
    demand(again.used == length && memcmp(text_string(&again), bytes, length) == 0);
    text_release(&again);
}

static void check_span(const struct markup *markup, const struct markup_span *span)
{
    const char *text = text_string(&markup->text), *address = text + span->address;

    demand(span->at + span->length <= markup->text.used);
    demand(span->address + span->address_length <= markup->text.used);
    check_visible(text + span->at, span->length, VISIBLE_LINES);
    if (span->styles & MARKUP_LINK)
        check_visible(address, span->address_length, VISIBLE_ONE_LINE);
    if (span->styles & MARKUP_SAFE)
        demand(strncasecmp(address, "http", 4) == 0 || strncasecmp(address, "mailto:", 7) == 0);
}

static void check(struct markup *take_markup)
{
    struct text json = { 0 };
    struct json_writer writer = json_writer_to(&json);
    struct json *read = NULL;
    size_t spans = 0;

    demand(take_markup->block_count <= MARKUP_MAX_BLOCKS);
    for (size_t i = 0; i < take_markup->block_count; i++) {
        demand(take_markup->blocks[i].first == spans);
        demand(take_markup->blocks[i].depth <= MARKUP_MAX_DEPTH);
        spans += take_markup->blocks[i].count;
    }
    demand(spans == take_markup->span_count);
    for (size_t i = 0; i < take_markup->span_count; i++)
        check_span(take_markup, &take_markup->spans[i]);
    markup_write(take_markup, &writer, NULL);
    demand(json_parse(text_string(&json), json.used, &read, NULL));
    json_free(read);
    text_release(&json);
    markup_free(take_markup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_text_n((const char *)data, size);

    check(markup_markdown(text));
    check(markup_diff(text));
    check(markup_code(text, text));
    free(text);
    return 0;
}
