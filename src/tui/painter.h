/*
 * painter.h - turns pictures into bytes for a terminal: only what changed, in one synchronized
 * frame. Inline it takes the rows it needs below the prompt and gives them back at the end; on the
 * alternate screen it has all of them. Bytes go into a text, which the caller writes.
 */
#ifndef TUI_PAINTER_H
#define TUI_PAINTER_H
#include <stdbool.h>

#include "tui/canvas.h"

enum painter_colours { COLOURS_NONE, COLOURS_16, COLOURS_256, COLOURS_TRUE };
struct painter_look {
    enum painter_colours colours;
    bool is_light;     /* the terminal's background */
    bool lacks_shifts; /* rows can't be inserted or deleted */
};

struct painter {
    struct painter_look look;
    int rows, columns; /* of the terminal */
    bool is_alternate;
    struct canvas shown;   /* what the terminal has, as far as we know */
    int at_row, at_column; /* of its cursor; column -1: unknown */
    int ink;               /* in force; -1: unknown */
    bool is_cursor_hidden;
    bool has_begun;
};
void painter_begin(struct painter *painter, bool is_alternate, struct text *out);
/* The frame for this picture. Rows that do not fit on the terminal are left out from the end; a
 * caller that minds draws less. */
void painter_show(struct painter *painter, const struct canvas *canvas, struct text *out);
/* The terminal has another size: what was drawn is given up, and the next frame draws it again. */
void painter_resize(struct painter *painter, int rows, int columns, struct text *out);
/* The same at the same size: another look. */
void painter_redraw(struct painter *painter, struct text *out);
/* Gives the rows back and shows the cursor; the shell's next line begins where we began. */
void painter_end(struct painter *painter, struct text *out);
/* Other programs may have written (suspended, resized): the next frame is drawn whole, below. */
void painter_forget(struct painter *painter);
void painter_release(struct painter *painter);

/* What brings any terminal back to order; safe to write from a signal handler. */
extern const char painter_reset_bytes[];

#endif
