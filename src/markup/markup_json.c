/* markup_json.c - a markup as JSON, for pages that build their nodes from it. */
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/visible_text.h"
#include "markup/markup.h"

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

const char *markup_kind_name(enum markup_kind kind)
{
    return kind_names[kind];
}

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
