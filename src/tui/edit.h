/*
 * edit.h - a text being written: one line or many, by glyphs, bounded. Pure; the field that shows
 * it says how wide it is.
 */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct canvas;
struct key;

struct edit {
    struct text text;
    size_t at; /* of the cursor, in bytes, between glyphs */
    bool has_lines;
    size_t max_bytes;
    bool is_full;    /* the last insertion was cut */
    int wish_column; /* that Up and Down keep to; -1: wherever it is */
    int columns;     /* of the field, as drawn last */
    int indent;      /* of its first row */
};
void edit_init(struct edit *edit, bool has_lines, size_t max_bytes, const char *text);
void edit_release(struct edit *edit);
void edit_clear(struct edit *edit);
void edit_set(struct edit *edit, const char *text); /* another text of the same kind */
/* True: the key belonged to the text. Enter does only where there are lines. */
bool edit_key(struct edit *edit, const struct key *key);
/* The same of what is searched for: false once Enter or Esc has ended it, the latter without it. */
bool edit_search_key(struct edit *edit, const struct key *key);
/* Draws from `row` on between the columns, the cursor with it; at most `rows` rows, those around
 * the cursor. Returns the row behind the last. */
int edit_draw(struct edit *edit, struct canvas *canvas, int row, int column, int end, int rows,
              bool has_focus);

/* The same where the first row begins further right, behind a label. */
int edit_draw_from(struct edit *edit, struct canvas *canvas, int row, int first, int column,
                   int end, int rows, bool has_focus);

#endif
