/*
 * markup.h - Markdown, code, and diffs as flat, bounded blocks of spans, in linear time (R7.6). The
 * sanitizer runs over each span's text and address, so nothing here can act, hide, or reorder. A
 * new block or style has a name in markup.c, and a drawing in tui/prose.c and the portal.
 */
#ifndef MARKUP_MARKUP_H
#define MARKUP_MARKUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct json_writer;
struct preview;

enum {
    MARKUP_MAX_BYTES = 262144, /* longer text is shown as it is, without its markup */
    MARKUP_MAX_BLOCKS = 20000,
    MARKUP_MAX_SPANS = 40000,
    MARKUP_MAX_DEPTH = 8, /* deeper lists and quotes are drawn as if so deep */
};

enum markup_kind {
    MARKUP_PARAGRAPH,
    MARKUP_HEADING, /* level 1 to 6 */
    MARKUP_ITEM,    /* of a list: number, or -1 for a bullet */
    MARKUP_CODE,    /* its line ends count */
    MARKUP_RULE,
    MARKUP_ROW,  /* of a table; spans that begin a cell say so */
    MARKUP_FILE, /* of a diff: its name, lines added and removed */
    MARKUP_HUNK,
    MARKUP_ADDED,
    MARKUP_REMOVED,
    MARKUP_SAME,
    MARKUP_META, /* other lines of a diff */
    MARKUP_KIND_COUNT,
};
enum markup_style {
    MARKUP_STRONG = 1,
    MARKUP_EMPHASIS = 2,
    MARKUP_LITERAL = 4, /* code within a line */
    MARKUP_STRUCK = 8,
    MARKUP_LINK = 16, /* has an address, which is always shown */
    MARKUP_SAFE = 32, /* of http, https or mailto, and shown exactly as it is */
    MARKUP_IMAGE = 64,
    MARKUP_CELL = 128, /* a cell of the table begins here */
};

struct markup_span {
    size_t at, length; /* in the markup's text */
    size_t address, address_length;
    unsigned styles;
};
struct markup_block {
    enum markup_kind kind;
    int level;         /* HEADING */
    int depth, quotes; /* of lists and quotations around it */
    int64_t number;    /* ITEM */
    bool is_head;      /* ROW */
    int64_t added, removed;
    size_t language, language_length; /* CODE */
    size_t first, count;              /* of its spans */
};
struct markup {
    struct text text; /* visible; all of it, spans point into it */
    struct markup_block *blocks;
    size_t block_count, block_capacity;
    struct markup_span *spans;
    size_t span_count, span_capacity;
    unsigned flags; /* visible_flags of everything */
    bool is_full;   /* a bound was met; such a text is shown plain */
};

/* Never fail: text that has too much markup, or none, is paragraphs of plain text. */
struct markup *markup_markdown(const char *text);
struct markup *markup_diff(const char *text);
struct markup *markup_code(const char *text, const char *language); /* language may be NULL */
struct markup *markup_of_preview(const struct preview *preview);    /* NULL: there is none */
void markup_free(struct markup *markup);

/*
 * {blocks: [{kind, level?, depth?, quotes?, number?, head?, added?, removed?, language?,
 *   spans: [{text, strong?, emphasis?, code?, struck?, image?, cell?, address?, href?}]}],
 *  hidden?, bidi?, invisible?, mixed_script?}
 * `address` is what is shown; `href` is there only where a link may be offered.
 */
void markup_write(const struct markup *markup, struct json_writer *writer, const char *key);

#endif
