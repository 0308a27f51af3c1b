/* shift.c - see shift.h. */
#include "tui/shift.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/canvas.h"

enum { SHIFT_CHANGED_LEAST = 3, SHIFT_ROWS_LEAST = 2 };

/* What a row looks like, as a number; 0: blank. */
static uint64_t look_of(const struct canvas *canvas, int row)
{
    uint64_t hash = 0;

    for (int column = 0; column < canvas->columns; column++) {
        const struct cell *cell = canvas_cell(canvas, row, column);
        const char *glyph = canvas->bytes.bytes + cell->offset;

        if (cell->length == 0 && cell->ink != INK_FIELD)
            continue;
        hash =
            (hash ^ ((uint64_t)(unsigned)column << 16 ^ (uint64_t)cell->ink << 8 ^ cell->length)) *
            0x9e3779b97f4a7c15u;
        for (int i = 0; i < cell->length; i++)
            hash = (hash ^ (unsigned char)glyph[i]) * 0x100000001b3u;
    }
    return hash;
}

/* How many rows that differ now are found `by` rows further down in what was; sets the first and
 * the last of them. */
static int count_moved(const uint64_t *before, const uint64_t *after, int rows, struct shift *shift)
{
    int count = 0, from = shift->by < 0 ? -shift->by : 0;
    int to = shift->by > 0 ? rows - shift->by : rows;

    for (int row = from; row < to; row++) {
        if (after[row] == 0 || after[row] == before[row] || after[row] != before[row + shift->by])
            continue;
        if (count++ == 0)
            shift->first = row;
        shift->last = row;
    }
    return count;
}

bool shift_find(const struct canvas *before, const struct canvas *after, struct shift *ret_shift)
{
    int rows = after->rows, changed = 0, most = SHIFT_ROWS_LEAST - 1;
    uint64_t *looks;

    if (rows != before->rows || after->columns != before->columns || rows < SHIFT_CHANGED_LEAST)
        return false;
    looks = mem_new(2 * (size_t)rows * sizeof *looks);
    for (int row = 0; row < rows; row++) {
        looks[row] = look_of(before, row);
        looks[rows + row] = look_of(after, row);
        changed += looks[row] != looks[rows + row];
    }
    for (int by = 1 - rows; changed >= SHIFT_CHANGED_LEAST && by < rows; by++) {
        struct shift shift = { .by = by };
        int count = by == 0 ? 0 : count_moved(looks, looks + rows, rows, &shift);

        if (count > most) {
            most = count;
            *ret_shift = shift;
        }
    }
    free(looks);
    return most >= SHIFT_ROWS_LEAST;
}

static struct cell *row_of(struct canvas *canvas, int row)
{
    return canvas->cells + (size_t)row * (size_t)canvas->columns;
}

static void blank_rows(struct canvas *canvas, int first, int count)
{
    struct cell *cells = row_of(canvas, first);

    for (int i = 0; i < count * canvas->columns; i++)
        cells[i] = (struct cell){ .columns = 1 };
}

void shift_apply(struct canvas *canvas, const struct shift *shift)
{
    size_t rows = (size_t)shift->last - (size_t)shift->first + 1;

    memmove(row_of(canvas, shift->first), row_of(canvas, shift->first + shift->by),
            rows * (size_t)canvas->columns * sizeof(struct cell));
    if (shift->by > 0)
        blank_rows(canvas, shift->last + 1, shift->by);
    else
        blank_rows(canvas, shift->first + shift->by, -shift->by);
}
