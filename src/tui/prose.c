/* prose.c - running text on a canvas: lines that wrap, and blocks of spans. */
#include <string.h>

#include "core/glyph.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/ask_state.h"
#include "tui/draw.h"

int pen_at(struct pen *pen, int column, enum ink ink, const char *text)
{
    return canvas_put_text(pen->canvas, pen->row, column, pen->end, ink, text);
}

int pen_cut(struct pen *pen, int column, int end, enum ink ink, const char *text, const char *cut)
{
    return canvas_put_cut(pen->canvas, pen->row, column, end, ink, text, strlen(text), cut);
}

int draw_columns(const struct text *text)
{
    return glyph_columns(text_string(text), text->used);
}

void pen_right(struct pen *pen, enum ink ink, const char *text)
{
    int column = pen->end - glyph_columns(text, strlen(text));

    pen_at(pen, column < pen->left ? pen->left : column, ink, text);
}

int pen_wrap(struct pen *pen, int column, enum ink ink, const char *text, size_t length)
{
    int begin = column, behind = column;

    for (size_t at = 0; at < length || at == 0;) {
        size_t next;
        int room = pen->end - begin;
        size_t bytes = glyph_wrap(text + at, length - at, room > 1 ? room : 1, &next);

        canvas_need_row(pen->canvas, pen->row);
        behind = canvas_put(pen->canvas, pen->row, begin, pen->end, ink, text + at, bytes);
        at += next;
        if (at >= length)
            break;
        pen->row++;
    }
    return behind;
}

void pen_line(struct pen *pen, int column, enum ink ink, const char *text)
{
    pen_at(pen, column, ink, text);
    pen->row++;
}

void pen_lines_at(struct pen *pen, int column, enum ink ink, const char *text)
{
    pen_wrap(pen, column, ink, text, strlen(text));
    pen->row++;
}

void pen_lines(struct pen *pen, enum ink ink, const char *text)
{
    pen_lines_at(pen, pen->left, ink, text);
}

void pen_text(struct pen *pen, enum ink ink, const struct text *text)
{
    if (text->used > 0)
        pen_lines(pen, ink, text_string(text));
}

void pen_rule(struct pen *pen, const struct marks *marks)
{
    for (int i = 0; i < pen->canvas->columns; i++)
        canvas_put_text(pen->canvas, pen->row, i, pen->canvas->columns, INK_QUIET, marks->gone);
    pen->row++;
}

void draw_list_head(struct pen *pen, const struct marks *marks, const char *title,
                    const char *right)
{
    pen_at(pen, pen->left, INK_STRONG, title);
    pen_right(pen, INK_QUIET, right);
    pen->row++;
    pen_rule(pen, marks);
}

void draw_search(struct pen *pen, struct edit *edit, bool has_focus)
{
    pen_at(pen, pen->left, INK_ACCENT, "/");
    pen->row = edit_draw(edit, pen->canvas, pen->row, pen->left + 2, pen->end, 1, has_focus);
}

/* A row window over what is drawn, so that long texts scroll without being drawn twice. */
struct window {
    struct pen *pen;
    int first, last; /* of rows counted from the top of the text; last is not drawn */
    int row;
    int column, left;
};

static bool is_seen(const struct window *window)
{
    return window->row >= window->first && window->row < window->last;
}

static void new_row(struct window *window)
{
    window->row++;
    window->column = window->left;
    if (is_seen(window))
        canvas_need_row(window->pen->canvas, window->pen->row + window->row - window->first);
}

static void put(struct window *window, enum ink ink, const char *text, size_t length)
{
    if (is_seen(window))
        canvas_put(window->pen->canvas, window->pen->row + window->row - window->first,
                   window->column, window->pen->end, ink, text, length);
    window->column += glyph_columns(text, length);
}

/* True: the row ends within a word, which would fit better on a row of its own. */
static bool is_torn(const char *text, size_t bytes, size_t next, size_t length)
{
    return next == bytes && bytes < length && (unsigned char)text[0] < 0x80 &&
           !memchr(text, ' ', bytes);
}

/* One span, going on where the one before ended. */
static void put_span(struct window *window, enum ink ink, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        int room = window->pen->end - window->column;
        bool is_begun = window->column > window->left;
        size_t next, bytes = glyph_wrap(text + at, length - at, room > 1 ? room : 1, &next);

        if (is_begun && (room < 1 || is_torn(text + at, bytes, next, length - at))) {
            new_row(window);
            at += text[at] == ' ';
            continue;
        }
        put(window, ink, text + at, bytes);
        if (next > bytes || at + next < length)
            new_row(window);
        at += next;
    }
}

static enum ink span_ink(const struct markup_block *block, unsigned styles)
{
    static const enum ink inks[MARKUP_KIND_COUNT] = {
        [MARKUP_ADDED] = INK_OK,   [MARKUP_REMOVED] = INK_DANGER, [MARKUP_HUNK] = INK_QUIET,
        [MARKUP_META] = INK_QUIET, [MARKUP_HEADING] = INK_STRONG, [MARKUP_FILE] = INK_STRONG,
    };

    if (inks[block->kind] != INK_PLAIN) /* else as its words are */
        return inks[block->kind];
    if (block->is_head || (styles & (MARKUP_STRONG | MARKUP_EMPHASIS)))
        return INK_STRONG;
    return block->quotes > 0 ? INK_QUIET : INK_PLAIN;
}

static bool has_same_address(const struct markup *markup, const struct markup_span *a,
                             const struct markup_span *b)
{
    const char *text = text_string(&markup->text);

    return (b->styles & MARKUP_LINK) && a->address_length == b->address_length &&
           memcmp(text + a->address, text + b->address, a->address_length) == 0;
}

/* Where a link leads is always written out, unless its text says just that. */
static void put_address(struct window *window, const struct markup *markup,
                        const struct markup_span *span)
{
    const char *text = text_string(&markup->text);

    if (span->length == span->address_length &&
        memcmp(text + span->at, text + span->address, span->length) == 0)
        return;
    put_span(window, INK_QUIET, span->length ? " <" : "<", span->length ? 2 : 1);
    put_span(window, INK_QUIET, text + span->address, span->address_length);
    put_span(window, INK_QUIET, ">", 1);
}

static void put_spans(struct window *window, const struct markup *markup,
                      const struct markup_block *block)
{
    const char *text = text_string(&markup->text);

    for (size_t i = 0; i < block->count; i++) {
        const struct markup_span *span = &markup->spans[block->first + i];
        size_t length = span->length;

        if ((span->styles & MARKUP_CELL) && i > 0)
            put_span(window, INK_QUIET, "  ", 2);
        if (block->kind == MARKUP_CODE && length > 0 && text[span->at + length - 1] == '\n')
            length--; /* the line end that closes the block */
        put_span(window, span_ink(block, span->styles), text + span->at, length);
        if ((span->styles & MARKUP_LINK) &&
            (i + 1 == block->count || !has_same_address(markup, span, span + 1)))
            put_address(window, markup, span);
    }
}

static void put_mark(struct window *window, const struct markup_block *block)
{
    struct text mark = { 0 };

    if (block->kind == MARKUP_ITEM && block->number >= 0)
        text_add_format(&mark, "%d. ", (int)block->number);
    else if (block->kind == MARKUP_ITEM)
        text_add_text(&mark, "- ");
    for (int i = 0; i < block->quotes; i++)
        put(window, INK_QUIET, "> ", 2);
    put(window, INK_PLAIN, text_string(&mark), mark.used);
    text_release(&mark);
}

static void put_block(struct window *window, const struct markup *markup,
                      const struct markup_block *block)
{
    struct text counts = { 0 };

    window->left = window->pen->left + (block->depth > 0 ? block->depth * 2 : 0);
    if (block->kind == MARKUP_CODE && markup->block_count > 1)
        window->left += 2;
    window->column = window->left;
    put_mark(window, block);
    window->left = window->column; /* what follows stands below the words, not below the mark */
    if (block->kind == MARKUP_RULE)
        put(window, INK_QUIET, "- - -", 5);
    put_spans(window, markup, block);
    if (block->kind == MARKUP_FILE) {
        text_add_format(&counts, "  +%d -%d", (int)block->added, (int)block->removed);
        put(window, INK_QUIET, text_string(&counts), counts.used);
    }
    text_release(&counts);
}

/* Paragraphs are parted by a blank row; items, and lines of a diff, are not. */
static bool needs_gap(const struct markup_block *before, const struct markup_block *block)
{
    if (block->kind == MARKUP_ITEM)
        return false;
    if (block->kind >= MARKUP_ROW && before->kind >= MARKUP_ROW)
        return false;
    return before->kind != MARKUP_HEADING && !(block->depth > 0 && before->depth > 0);
}

int draw_markup(struct pen *pen, const struct markup *markup, int skip, int max)
{
    struct window window = { .pen = pen, .first = skip, .last = max > 0 ? skip + max : 1 << 30 };

    window.left = window.column = pen->left;
    for (size_t i = 0; i < markup->block_count; i++) {
        const struct markup_block *block = &markup->blocks[i];

        if (i > 0) {
            window.left = pen->left;
            new_row(&window);
            if (needs_gap(&markup->blocks[i - 1], block))
                new_row(&window);
        } else if (is_seen(&window)) {
            canvas_need_row(pen->canvas, pen->row);
        }
        put_block(&window, markup, block);
    }
    window.row++;
    skip = window.row < window.last ? window.row : window.last;
    pen->row += skip > window.first ? skip - window.first : 0;
    return window.row;
}

/* East-Asian neutral signs, so that no terminal draws them two wide. */

static const struct marks unicode = {
    .cursor = "▸",
    .picked = "◉",
    .unpicked = "◦",
    .ticked = "[✓]",
    .unticked = "[ ]",
    .done = "✓",
    .crossed = "✗",
    .star = "✦",
    .no_star = "✧",
    .left = "╍",
    .gone = "╌",
    .divider = "╎",
    .cut_end = "›",
    .cut_start = "‹",
};
static const struct marks ascii = {
    .cursor = ">",
    .picked = "(*)",
    .unpicked = "( )",
    .ticked = "[x]",
    .unticked = "[ ]",
    .done = "+",
    .crossed = "x",
    .star = "*",
    .no_star = ".",
    .left = "=",
    .gone = "-",
    .divider = "|",
    .cut_end = ">",
    .cut_start = "<",
};

const struct marks *marks_of(bool is_ascii)
{
    return is_ascii ? &ascii : &unicode;
}
