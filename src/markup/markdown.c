/*
 * markdown.c - Markdown by md4c's core, GitHub's dialect without HTML, into blocks and spans. md4c
 * has no static archive; it is loaded when the first text is parsed, because a program that shows
 * none should not pay for it at its start. Without it texts are shown as they are.
 */
#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "markup/blocks.h"

enum {
    MARKDOWN_ENTITY_BYTES = 12,
    MARKDOWN_CODE_POINT_MAX = 0x10ffff,
    SPAN_TYPES = (int)MD_SPAN_DEL + 1,
};

struct reading {
    struct builder *builder;
    unsigned styles;
    int depth, quotes, lists;
    int64_t numbers[MARKUP_MAX_DEPTH]; /* of the next item by depth; -1: bullets */
    bool is_item_due;                  /* an item began and has no block yet */
    bool is_head;
    int link_depth;       /* a link within an image's text has the image's address */
    int open[SPAN_TYPES]; /* how many there are within each other */
};

typedef int md_parse_function(const MD_CHAR *, MD_SIZE, const MD_PARSER *, void *);

static md_parse_function *load_parser(void)
{
    static const struct os_function function = { "md_parse", 0, OS_LINKED(md_parse) };
    static md_parse_function *parser;
    static bool is_tried;
    const char *missing;

    if (!is_tried)
        os_load("libmd4c.so.0", &function, 1, &parser, &missing);
    is_tried = true;
    return parser;
}

static int bounded(int depth)
{
    return depth < MARKUP_MAX_DEPTH ? depth : MARKUP_MAX_DEPTH;
}

static int64_t *next_number(struct reading *reading)
{
    int depth = bounded(reading->depth);

    return &reading->numbers[depth > 0 ? depth - 1 : 0];
}

static struct markup_block place_block(const struct reading *reading, enum markup_kind kind)
{
    return (struct markup_block){ .kind = kind,
                                  .depth = bounded(reading->depth),
                                  .quotes = bounded(reading->quotes) };
}

static void begin_item(struct reading *reading)
{
    struct markup_block block = place_block(reading, MARKUP_ITEM);
    int64_t *number = next_number(reading);

    block.number = *number;
    if (*number >= 0)
        ++*number;
    reading->is_item_due = false;
    builder_begin(reading->builder, block);
}

/* Text of tight items comes without a paragraph around it. */
static void need_block(struct reading *reading)
{
    if (reading->is_item_due)
        begin_item(reading);
    else if (!reading->builder->has_block)
        builder_begin(reading->builder, place_block(reading, MARKUP_PARAGRAPH));
}

static void begin_list(struct reading *reading, int64_t number)
{
    if (reading->is_item_due) /* a list that is all there is of an item */
        begin_item(reading);
    reading->depth++;
    *next_number(reading) = number;
}

static void begin_part(struct reading *reading, struct markup_block block)
{
    if (reading->is_item_due)
        begin_item(reading);
    builder_begin(reading->builder, block);
}

static void begin_task(struct reading *reading, const MD_BLOCK_LI_DETAIL *detail)
{
    reading->is_item_due = true;
    if (detail->is_task) {
        begin_item(reading);
        builder_add(reading->builder, 0, detail->task_mark == ' ' ? "[ ] " : "[x] ", 4);
    }
}

static int is_stopped(const struct reading *reading)
{
    return reading->builder->markup->is_full;
}

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct reading *reading = context;
    struct markup_block block = place_block(reading, MARKUP_PARAGRAPH);
    const MD_BLOCK_CODE_DETAIL *code = detail; /* where it is that */

    switch (type) {
    case MD_BLOCK_QUOTE:
        builder_end(reading->builder);
        reading->quotes++;
        break;
    case MD_BLOCK_UL:
        begin_list(reading, -1);
        break;
    case MD_BLOCK_OL:
        begin_list(reading, ((const MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI:
        builder_end(reading->builder);
        begin_task(reading, detail);
        break;
    case MD_BLOCK_HR:
        block.kind = MARKUP_RULE;
        begin_part(reading, block);
        break;
    case MD_BLOCK_H:
        block.kind = MARKUP_HEADING;
        block.level = (int)((const MD_BLOCK_H_DETAIL *)detail)->level;
        begin_part(reading, block);
        break;
    case MD_BLOCK_CODE:
        block.kind = MARKUP_CODE;
        begin_part(reading, block);
        if (code->lang.size > 0)
            builder_language(reading->builder, code->lang.text, code->lang.size);
        break;
    case MD_BLOCK_P:
        if (!reading->is_item_due)
            builder_begin(reading->builder, block);
        break;
    case MD_BLOCK_THEAD:
        reading->is_head = true;
        break;
    case MD_BLOCK_TR:
        block.kind = MARKUP_ROW;
        block.is_head = reading->is_head;
        begin_part(reading, block);
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        builder_end_span(reading->builder);
        reading->builder->styles = MARKUP_CELL;
        break;
    default:
        break;
    }
    return is_stopped(reading);
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct reading *reading = context;

    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
        reading->quotes--;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        reading->depth--;
        break;
    case MD_BLOCK_LI:
        if (reading->is_item_due)
            begin_item(reading);
        break;
    case MD_BLOCK_THEAD:
        reading->is_head = false;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        builder_end_span(reading->builder);
        return is_stopped(reading);
    default:
        break;
    }
    builder_end(reading->builder);
    return is_stopped(reading);
}

/* The entities that people write; the others stay as they were written. */
static void add_entity(struct text *out, const char *bytes, size_t length)
{
    static const struct {
        const char *entity, *text;
    } known[] = {
        { "&amp;", "&" },   { "&lt;", "<" },    { "&gt;", ">" },   { "&quot;", "\"" },
        { "&apos;", "'" },  { "&nbsp;", " " },  { "&copy;", "©" }, { "&hellip;", "…" },
        { "&mdash;", "—" }, { "&ndash;", "–" },
    };
    char number[MARKDOWN_ENTITY_BYTES] = "";
    bool is_hex = length > 3 && (bytes[2] == 'x' || bytes[2] == 'X'), is_none;
    long point;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].entity) == length && memcmp(known[i].entity, bytes, length) == 0) {
            text_add_text(out, known[i].text);
            return;
        }
    }
    if (length < 4 || length > sizeof number || bytes[1] != '#') {
        text_add(out, bytes, length);
        return;
    }
    memcpy(number, bytes + 2 + is_hex, length - 3 - (size_t)is_hex);
    point = strtol(number, NULL, is_hex ? 16 : 10);
    is_none = point <= 0 || point > MARKDOWN_CODE_POINT_MAX || (point >= 0xd800 && point <= 0xdfff);
    text_add_code_point(out, is_none ? 0xfffd : (int32_t)point);
}

static void read_attribute(const MD_ATTRIBUTE *attribute, struct text *out)
{
    text_clear(out);
    for (size_t i = 0; attribute->size > 0 && attribute->substr_offsets[i] < attribute->size; i++) {
        const char *part = attribute->text + attribute->substr_offsets[i];
        size_t length = attribute->substr_offsets[i + 1] - attribute->substr_offsets[i];

        if (attribute->substr_types[i] == MD_TEXT_ENTITY)
            add_entity(out, part, length);
        else
            text_add(out, part, length);
    }
}

static void begin_link(struct reading *reading, const MD_ATTRIBUTE *address, unsigned style)
{
    need_block(reading);
    if (reading->link_depth++ > 0)
        return;
    builder_end_span(reading->builder);
    read_attribute(address, &reading->builder->address);
    reading->styles |= style;
    builder_add(reading->builder, reading->styles, "", 0);
}

static void end_link(struct reading *reading)
{
    if (--reading->link_depth > 0)
        return;
    builder_end_span(reading->builder);
    reading->styles &= ~(unsigned)(MARKUP_LINK | MARKUP_IMAGE);
}

/* Emphasis may be nested in itself; the style ends with the outermost. */
static void on_span(struct reading *reading, MD_SPANTYPE type, int by)
{
    static const unsigned styles[SPAN_TYPES] = {
        [MD_SPAN_EM] = MARKUP_EMPHASIS,
        [MD_SPAN_STRONG] = MARKUP_STRONG,
        [MD_SPAN_DEL] = MARKUP_STRUCK,
        [MD_SPAN_CODE] = MARKUP_LITERAL,
    };
    unsigned style = (int)type < SPAN_TYPES ? styles[type] : 0;

    if (!style)
        return;
    reading->open[type] += by;
    if (reading->open[type] > 0)
        reading->styles |= style;
    else
        reading->styles &= ~style;
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct reading *reading = context;

    if (type == MD_SPAN_A)
        begin_link(reading, &((const MD_SPAN_A_DETAIL *)detail)->href, MARKUP_LINK);
    else if (type == MD_SPAN_IMG)
        begin_link(reading, &((const MD_SPAN_IMG_DETAIL *)detail)->src, MARKUP_LINK | MARKUP_IMAGE);
    else
        on_span(reading, type, 1);
    return is_stopped(reading);
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct reading *reading = context;

    (void)detail;
    if (type == MD_SPAN_A || type == MD_SPAN_IMG)
        end_link(reading);
    else
        on_span(reading, type, -1);
    return is_stopped(reading);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *bytes, MD_SIZE length, void *context)
{
    struct reading *reading = context;
    struct text entity = { 0 };

    need_block(reading);
    switch (type) {
    case MD_TEXT_BR:
        builder_add(reading->builder, reading->styles, "\n", 1);
        break;
    case MD_TEXT_SOFTBR:
        builder_add(reading->builder, reading->styles, " ", 1);
        break;
    case MD_TEXT_ENTITY:
        add_entity(&entity, bytes, length);
        builder_add(reading->builder, reading->styles, text_string(&entity), entity.used);
        text_release(&entity);
        break;
    default:
        builder_add(reading->builder, reading->styles, bytes, length);
    }
    return is_stopped(reading);
}

bool markdown_build(struct builder *builder, const char *text, size_t length)
{
    static const MD_PARSER parser = {
        .flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = on_enter_block,
        .leave_block = on_leave_block,
        .enter_span = on_enter_span,
        .leave_span = on_leave_span,
        .text = on_text,
    };
    struct reading reading = { .builder = builder };
    md_parse_function *parse = load_parser();
    bool is_whole = parse && parse(text, (MD_SIZE)length, &parser, &reading) == 0;

    builder_end(builder);
    return is_whole;
}

/* A unified diff, a block a line. Hunks are counted: a removed "-- x" is not the name of a file. */

struct hunk {
    long old_left, new_left;
};

static bool begins(const char *line, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* "12" or "12,5": the second is how many lines; without it there is one. Moves on. */
static bool read_range(const char **at, const char *end, long *ret_lines)
{
    long numbers[2] = { 0, 1 };

    for (int i = 0; i < 2; i++) {
        const char *begin = *at;

        for (numbers[i] = 0; *at < end && **at >= '0' && **at <= '9' && *at - begin < 9; ++*at)
            numbers[i] = numbers[i] * 10 + (**at - '0');
        if (*at == begin)
            return false;
        if (i == 1 || *at == end || **at != ',') {
            *ret_lines = i == 1 ? numbers[1] : 1;
            return true;
        }
        ++*at;
    }
    return false;
}

static bool take(const char **at, const char *end, const char *sign)
{
    if (!begins(*at, (size_t)(end - *at), sign))
        return false;
    *at += strlen(sign);
    return true;
}

static bool read_hunk(const char *line, size_t length, struct hunk *hunk)
{
    const char *end = line + length;

    return take(&line, end, "@@ -") && read_range(&line, end, &hunk->old_left) &&
           take(&line, end, " +") && read_range(&line, end, &hunk->new_left) &&
           take(&line, end, " @@");
}

/* Without "a/" and "b/" in front and a time behind. */
static void cut_name(const char **name, size_t *length)
{
    const char *tab = memchr(*name, '\t', *length);

    if (tab)
        *length = (size_t)(tab - *name);
    if (begins(*name, *length, "a/") || begins(*name, *length, "b/")) {
        *name += 2;
        *length -= 2;
    }
}

/* "--- a/x" and "+++ b/x" are one line for people; both names where they differ. */
static void add_file(struct builder *builder, const char *old, size_t old_length, const char *new,
                     size_t new_length)
{
    struct markup_block block = { .kind = MARKUP_FILE };
    bool is_same;

    cut_name(&old, &old_length);
    cut_name(&new, &new_length);
    is_same = old_length == new_length && memcmp(old, new, old_length) == 0;
    builder_begin(builder, block);
    if (!is_same) {
        builder_add(builder, 0, old, old_length);
        builder_add(builder, 0, " > ", 3);
    }
    builder_add(builder, 0, new, new_length);
    builder_end(builder);
}

struct lines {
    struct builder *builder;
    struct hunk hunk;
    bool is_in_hunk;
    size_t file; /* index of its block + 1; 0: none yet */
};

static void count(struct lines *lines, bool is_added)
{
    struct markup_block *file;

    if (lines->file == 0)
        return;
    file = &lines->builder->markup->blocks[lines->file - 1];
    file->added += is_added;
    file->removed += !is_added;
}

/* A line of a hunk, its sign kept: it carries the meaning without color. */
static void add_change(struct lines *lines, const char *line, size_t length)
{
    struct markup_block block = { .kind = MARKUP_SAME };

    if (length > 0 && line[0] == '\\') { /* "No newline at end of file" */
        block.kind = MARKUP_META;
    } else if (length > 0 && line[0] == '+') {
        block.kind = MARKUP_ADDED;
        lines->hunk.new_left--;
        count(lines, true);
    } else if (length > 0 && line[0] == '-') {
        block.kind = MARKUP_REMOVED;
        lines->hunk.old_left--;
        count(lines, false);
    } else {
        lines->hunk.old_left--;
        lines->hunk.new_left--;
    }
    builder_line(lines->builder, block, line, length);
    lines->is_in_hunk = lines->hunk.old_left > 0 || lines->hunk.new_left > 0;
}

/* Outside of a hunk signs are still signs: agents write diffs whose heads are wrong. */
static void add_other(struct lines *lines, const char *line, size_t length)
{
    struct markup_block block = { .kind = MARKUP_META };

    if (length > 0 && (line[0] == '+' || line[0] == '-')) {
        block.kind = line[0] == '+' ? MARKUP_ADDED : MARKUP_REMOVED;
        count(lines, line[0] == '+');
    } else if (length == 0 || line[0] == ' ') {
        block.kind = MARKUP_SAME;
    }
    builder_line(lines->builder, block, line, length);
}

/* Returns the bytes consumed. */
static size_t add_line(struct lines *lines, const char *line)
{
    size_t length = strcspn(line, "\n"), next = line[length] ? length + 1 : length;
    size_t second = strcspn(line + next, "\n");

    if (lines->is_in_hunk) {
        add_change(lines, line, length);
    } else if (read_hunk(line, length, &lines->hunk)) {
        builder_line(lines->builder, (struct markup_block){ .kind = MARKUP_HUNK }, line, length);
        lines->is_in_hunk = lines->hunk.old_left > 0 || lines->hunk.new_left > 0;
    } else if (begins(line, length, "--- ") && begins(line + next, second, "+++ ")) {
        add_file(lines->builder, line + 4, length - 4, line + next + 4, second - 4);
        lines->file = lines->builder->markup->block_count;
        return next + (line[next + second] ? second + 1 : second);
    } else {
        add_other(lines, line, length);
    }
    return next;
}

void diff_build(struct builder *builder, const char *text)
{
    struct lines lines = { .builder = builder };

    while (*text && !builder->markup->is_full)
        text += add_line(&lines, text);
}
