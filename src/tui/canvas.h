/*
 * canvas.h - a picture of cells, drawn by widgets and compared by the painter. Knows no terminal:
 * what stands here are glyphs and inks, never escape sequences.
 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Roles, not colors; the painter knows what each looks like where (docs/terminal.md). */
enum ink {
    INK_PLAIN,
    INK_STRONG,
    INK_QUIET,
    INK_ACCENT,
    INK_OK,
    INK_WARN,
    INK_DANGER,
    INK_FIELD,
    INK_COUNT,
};

struct cell {
    uint32_t offset; /* of its glyph in the canvas's bytes */
    uint8_t length;  /* 0: blank */
    uint8_t columns; /* 2: the next cell is covered by this one; 0: covered */
    uint8_t ink;
    bool is_disputed;
};

/* Rows are as many as were drawn on. */
struct canvas {
    struct cell *cells; /* rows * columns */
    int rows, columns;
    int row_capacity;
    struct text bytes;
    int cursor_row, cursor_column; /* row -1: hidden */
    struct text *lost; /* borrowed; for tests: a line for each text without room and each glyph
                          that was drawn over; NULL: not kept */
};
void canvas_reset(struct canvas *canvas, int columns); /* empty, memory kept */
void canvas_release(struct canvas *canvas);
void canvas_need_row(struct canvas *canvas, int row); /* rows up to it exist from now on */

/* Draws one line of text that was made visible before; control characters are drawn as blanks, so
 * nothing written by anybody can act. Stops before `end` (a column); returns the column behind the
 * last glyph. */
int canvas_put(struct canvas *canvas, int row, int column, int end, enum ink ink, const char *text,
               size_t length);
int canvas_put_text(struct canvas *canvas, int row, int column, int end, enum ink ink,
                    const char *text);
/* The same, with `cut` (one column) in the last place when the text does not fit. */
int canvas_put_cut(struct canvas *canvas, int row, int column, int end, enum ink ink,
                   const char *text, size_t length, const char *cut);
const struct cell *canvas_cell(const struct canvas *canvas, int row, int column);
int canvas_row_end(const struct canvas *canvas, int row); /* the column behind its last glyph */
/* A row as text without closing blanks, for tests and for lines that stay. Appends to `out`. */
void canvas_write_row(const struct canvas *canvas, int row, struct text *out);
void canvas_write(const struct canvas *canvas, const char *line_end, struct text *out); /* all */

#endif
