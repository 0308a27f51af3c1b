#include "markup/markup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/form.h"
#include "core/visible_text.h"
#include "markup/blocks.h"

static void *grow(void *items, size_t used, size_t *capacity, size_t bytes)
{
    if (used < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 16;
    return mem_resize(items, *capacity * bytes);
}

void builder_begin(struct builder *builder, struct markup_block block)
{
    struct markup *markup = builder->markup;

    builder_end(builder);
    if (markup->block_count == MARKUP_MAX_BLOCKS) {
        markup->is_full = true;
        return;
    }
    block.first = markup->span_count;
    markup->blocks =
        grow(markup->blocks, markup->block_count, &markup->block_capacity, sizeof *markup->blocks);
    markup->blocks[markup->block_count++] = block;
    builder->has_block = true;
}

static size_t add_visible(struct markup *markup, const struct text *raw, enum visible_lines lines,
                          size_t *ret_length)
{
    size_t at = markup->text.used;

    markup->flags |= visible_text(text_string(raw), raw->used, lines, &markup->text);
    *ret_length = markup->text.used - at;
    return at;
}

/* Offered as a link only where what is shown is what would be opened, to the letter. */
static bool is_safe(const struct text *raw, const char *shown, size_t length)
{
    static const char *const schemes[] = { "http://", "https://", "mailto:" };
    const char *address = text_string(raw);

    if (raw->used != length || memcmp(address, shown, length) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (strncasecmp(address, schemes[i], strlen(schemes[i])) == 0)
            return true;
    }
    return false;
}

static void add_address(struct builder *builder, struct markup_span *span)
{
    struct markup *markup = builder->markup;

    span->address = add_visible(markup, &builder->address, VISIBLE_ONE_LINE, &span->address_length);
    if (is_safe(&builder->address, text_string(&markup->text) + span->address,
                span->address_length))
        span->styles |= MARKUP_SAFE;
}

void builder_end_span(struct builder *builder)
{
    struct markup *markup = builder->markup;
    struct markup_span span = { .styles = builder->styles };
    bool is_required = builder->raw.used > 0 || (builder->styles & (MARKUP_CELL | MARKUP_LINK));

    if (is_required && builder->has_block && markup->span_count < MARKUP_MAX_SPANS) {
        span.at = add_visible(markup, &builder->raw, VISIBLE_LINES, &span.length);
        if (span.styles & MARKUP_LINK)
            add_address(builder, &span);
        markup->spans =
            grow(markup->spans, markup->span_count, &markup->span_capacity, sizeof *markup->spans);
        markup->spans[markup->span_count++] = span;
        markup->blocks[markup->block_count - 1].count++;
    } else if (is_required && builder->has_block) {
        markup->is_full = true;
    }
    text_clear(&builder->raw);
    builder->styles = 0;
}

void builder_add(struct builder *builder, unsigned styles, const char *bytes, size_t length)
{
    if ((builder->styles & ~(unsigned)MARKUP_CELL) != styles) {
        unsigned cell = builder->raw.used == 0 ? builder->styles & MARKUP_CELL : 0;

        if (cell)
            builder->styles = 0; /* the mark of the cell goes to its first text */
        builder_end_span(builder);
        builder->styles = styles | cell;
    }
    text_add(&builder->raw, bytes, length);
}

void builder_end(struct builder *builder)
{
    builder_end_span(builder);
    builder->has_block = false;
}

void builder_language(struct builder *builder, const char *bytes, size_t length)
{
    struct markup *markup = builder->markup;
    struct text raw = { 0 };
    size_t at, used;

    text_add(&raw, bytes, length);
    at = add_visible(markup, &raw, VISIBLE_ONE_LINE, &used);
    if (builder->has_block) {
        markup->blocks[markup->block_count - 1].language = at;
        markup->blocks[markup->block_count - 1].language_length = used;
    }
    text_release(&raw);
}

void builder_line(struct builder *builder, struct markup_block block, const char *bytes,
                  size_t length)
{
    builder_begin(builder, block);
    builder_add(builder, 0, bytes, length);
    builder_end(builder);
}

/* Empty lines part paragraphs. Beyond so many the rest is one, so that nothing is ever left out. */
static void builder_plain(struct builder *builder, const char *text)
{
    struct markup_block paragraph = { .kind = MARKUP_PARAGRAPH };

    for (size_t count = 0; *text; count++) {
        const char *end = count < MARKUP_MAX_BLOCKS - 2 ? strstr(text, "\n\n") : NULL;
        size_t length = end ? (size_t)(end - text) : strlen(text);

        while (length > 0 && text[length - 1] == '\n')
            length--;
        if (length > 0)
            builder_line(builder, paragraph, text, length);
        if (!end)
            return;
        text = end + strspn(end, "\n");
    }
}

static void builder_release(struct builder *builder)
{
    text_release(&builder->raw);
    text_release(&builder->address);
}

static void empty(struct markup *markup)
{
    text_release(&markup->text);
    free(markup->blocks);
    free(markup->spans);
    memset(markup, 0, sizeof *markup);
}

struct markup *markup_markdown(const char *text)
{
    struct markup *markup = mem_new(sizeof *markup);
    struct builder builder = { .markup = markup };
    size_t length = strlen(text);

    if (length > MARKUP_MAX_BYTES || !markdown_build(&builder, text, length) || markup->is_full) {
        builder_release(&builder);
        builder = (struct builder){ .markup = markup };
        empty(markup);
        builder_plain(&builder, text);
    }
    builder_release(&builder);
    return markup;
}

struct markup *markup_diff(const char *text)
{
    struct markup *markup = mem_new(sizeof *markup);
    struct builder builder = { .markup = markup };

    diff_build(&builder, text);
    builder_release(&builder);
    if (!markup->is_full)
        return markup;
    markup_free(markup);
    return markup_code(text, NULL);
}

struct markup *markup_code(const char *text, const char *language)
{
    struct markup *markup = mem_new(sizeof *markup);
    struct builder builder = { .markup = markup };

    builder_begin(&builder, (struct markup_block){ .kind = MARKUP_CODE });
    if (language)
        builder_language(&builder, language, strlen(language));
    builder_add(&builder, 0, text, strlen(text));
    builder_end(&builder);
    builder_release(&builder);
    return markup;
}

struct markup *markup_of_preview(const struct preview *preview)
{
    switch (preview->text ? preview->type : PREVIEW_NONE) {
    case PREVIEW_TEXT:
        return markup_code(preview->text, NULL);
    case PREVIEW_MARKDOWN:
        return markup_markdown(preview->text);
    case PREVIEW_CODE:
        return markup_code(preview->text, preview->language);
    case PREVIEW_DIFF:
        return markup_diff(preview->text);
    default:
        return NULL;
    }
}

void markup_free(struct markup *markup)
{
    if (markup)
        empty(markup);
    free(markup);
}

/* A markup as JSON, for pages that build their nodes from it. */

static const char *const kind_names[MARKUP_KIND_COUNT] = {
    [MARKUP_PARAGRAPH] = "paragraph", [MARKUP_HEADING] = "heading", [MARKUP_ITEM] = "item",
    [MARKUP_CODE] = "code",           [MARKUP_RULE] = "rule",       [MARKUP_ROW] = "row",
    [MARKUP_FILE] = "file",           [MARKUP_HUNK] = "hunk",       [MARKUP_ADDED] = "added",
    [MARKUP_REMOVED] = "removed",     [MARKUP_SAME] = "same",       [MARKUP_META] = "meta",
};
static const struct {
    unsigned flag;
    const char *key;
} style_keys[] = {
    { MARKUP_STRONG, "strong" },   { MARKUP_EMPHASIS, "emphasis" }, { MARKUP_LITERAL, "code" },
    { MARKUP_STRUCK, "struck" },   { MARKUP_IMAGE, "image" },       { MARKUP_CELL, "cell" },
}, flag_keys[] = {
    { VISIBLE_HIDDEN, "hidden" },
    { VISIBLE_BIDI, "bidi" },
    { VISIBLE_INVISIBLE, "invisible" },
    { VISIBLE_MIXED_SCRIPT, "mixed_script" },
};

static void write_span(const struct markup *markup, const struct markup_span *span,
                       struct json_writer *writer)
{
    const char *text = text_string(&markup->text);

    json_write_object(writer, NULL);
    json_write_text_n(writer, "text", text + span->at, span->length);
    for (size_t i = 0; i < ARRAY_LEN(style_keys); i++)
        json_write_bool_if(writer, style_keys[i].key, span->styles & style_keys[i].flag);
    if (span->styles & MARKUP_LINK)
        json_write_text_n(writer, "address", text + span->address, span->address_length);
    if (span->styles & MARKUP_SAFE)
        json_write_text_n(writer, "href", text + span->address, span->address_length);
    json_write_end_object(writer);
}

static void write_count(struct json_writer *writer, const char *key, int64_t count)
{
    if (count > 0)
        json_write_integer(writer, key, count);
}

static void write_block(const struct markup *markup, const struct markup_block *block,
                        struct json_writer *writer)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "kind", kind_names[block->kind]);
    write_count(writer, "level", block->level);
    write_count(writer, "depth", block->depth);
    write_count(writer, "quotes", block->quotes);
    if (block->kind == MARKUP_ITEM && block->number >= 0)
        json_write_integer(writer, "number", block->number);
    json_write_bool_if(writer, "head", block->is_head);
    write_count(writer, "added", block->added);
    write_count(writer, "removed", block->removed);
    if (block->language_length > 0)
        json_write_text_n(writer, "language", text_string(&markup->text) + block->language,
                          block->language_length);
    json_write_list(writer, "spans");
    for (size_t i = 0; i < block->count; i++)
        write_span(markup, &markup->spans[block->first + i], writer);
    json_write_end_list(writer);
    json_write_end_object(writer);
}

void markup_write(const struct markup *markup, struct json_writer *writer, const char *key)
{
    json_write_object(writer, key);
    json_write_list(writer, "blocks");
    for (size_t i = 0; i < markup->block_count; i++)
        write_block(markup, &markup->blocks[i], writer);
    json_write_end_list(writer);
    for (size_t i = 0; i < ARRAY_LEN(flag_keys); i++)
        json_write_bool_if(writer, flag_keys[i].key, markup->flags & flag_keys[i].flag);
    json_write_end_object(writer);
}
