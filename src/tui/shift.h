/*
 * shift.h - finds what of a picture has moved up or down as a block, as a list does that scrolls: a
 * terminal moves its rows by two short sequences, and only what came into sight is drawn.
 */
#ifndef TUI_SHIFT_H
#define TUI_SHIFT_H
#include <stdbool.h>

struct canvas;

/* Rows first..last of the new picture stood `by` rows further down before; by < 0: further up. */
struct shift {
    int first, last, by;
};
/* False: nothing that is worth it; then the pictures may also differ in size. */
bool shift_find(const struct canvas *before, const struct canvas *after, struct shift *ret_shift);
/* Does to the picture what the terminal does to its rows; those that came free are blank. */
void shift_apply(struct canvas *canvas, const struct shift *shift);

#endif
