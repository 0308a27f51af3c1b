/*
 * glyph.h - what a person takes for one character: a grapheme cluster, and the columns it fills.
 * Editing and wrapping go by glyphs. Terminals disagree about the width of some; a painter puts
 * the cursor by number behind those instead of trusting the sum.
 */
#ifndef CORE_GLYPH_H
#define CORE_GLYPH_H
#include <stdbool.h>
#include <stddef.h>

/* Longer clusters (towers of marks) are cut: people can't read them, and a cell is bounded. */
enum { GLYPH_BYTES = 48 };

struct glyph {
    size_t bytes;     /* of the text; more than GLYPH_BYTES where it was cut */
    size_t shown;     /* of them to be drawn */
    int columns;      /* 0 to 2 */
    bool is_disputed; /* terminals differ */
};
/* The first glyph of UTF-8 text; bytes that are none count one each. `length` is not 0. */
struct glyph glyph_first(const char *text, size_t length);
size_t glyph_before(const char *text, size_t at); /* where the glyph that ends at `at` begins */
int glyph_columns(const char *text, size_t length);

/* Whether a line may end without a blank between the glyph at `before` and the next one, at `at`:
 * where one of them has two columns, and no sign is parted from what it belongs to. */
bool glyph_may_break(const char *text, size_t before, size_t at, struct glyph glyph);

/* The longest beginning of one line of text that fits, cut at a blank where there is one. Returns
 * its bytes; *ret_next is where the following line begins. A line feed ends a line. */
size_t glyph_wrap(const char *text, size_t length, int columns, size_t *ret_next);

#endif
