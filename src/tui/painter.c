/* painter.c - see painter.h. Sequences are those of ECMA-48 and DEC that tmux, xterm, the Linux
 * console and the usual emulators share; a terminal that lacks synchronized output ignores it. */
#include "tui/painter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/canvas.h"

#define CSI "\033["

enum { SHIFT_WORTH_BYTES = 128 }; /* what is drawn with less is not looked through for blocks */

static const char SYNC_ON[] = CSI "?2026h", SYNC_OFF[] = CSI "?2026l";
static const char CURSOR_HIDE[] = CSI "?25l", CURSOR_SHOW[] = CSI "?25h";
static const char PASTE_ON[] = CSI "?2004h", PASTE_OFF[] = CSI "?2004l";
/* What a terminal takes for wider than we do is cut at its edge instead of moving a row down. */
static const char WRAP_OFF[] = CSI "?7l", WRAP_ON[] = CSI "?7h";
static const char ALTERNATE_ON[] = CSI "?1049h" CSI "H" CSI "2J", ALTERNATE_OFF[] = CSI "?1049l";

const char painter_reset_bytes[] = CSI "?2026l" CSI "?2004l" CSI "?7h" CSI "?25h" CSI "0m";

/* Dark and light backgrounds, in the order of enum painter_colours. */
struct ink_look {
    const char *dark[COLOURS_TRUE + 1], *light[COLOURS_TRUE + 1];
};
/* Never faint (it fails on light themes), never a background (themes, transparency). */
static const struct ink_look inks[INK_COUNT] = {
    [INK_PLAIN] = { { "", "", "", "" }, { "", "", "", "" } },
    [INK_STRONG] = { { ";1", ";1", ";1", ";1" }, { ";1", ";1", ";1", ";1" } },
    [INK_QUIET] = { { "", ";90", ";38;5;247", ";38;2;149;158;170" },
                    { "", ";90", ";38;5;242", ";38;2;91;100;112" } },
    [INK_ACCENT] = { { ";1", ";94", ";38;5;111", ";38;2;157;187;255" },
                     { ";1", ";34", ";38;5;26", ";38;2;36;86;197" } },
    [INK_OK] = { { ";1", ";32", ";38;5;115", ";38;2;121;211;160" },
                 { ";1", ";32", ";38;5;22", ";38;2;23;104;61" } },
    [INK_WARN] = { { ";1", ";33", ";38;5;179", ";38;2;236;190;98" },
                   { ";1", ";33", ";38;5;94", ";38;2;125;80;0" } },
    [INK_DANGER] = { { ";1", ";31", ";38;5;217", ";38;2;255;159;151" },
                     { ";1", ";31", ";38;5;124", ";38;2;176;36;28" } },
    [INK_FIELD] = { { ";4", ";4", ";4", ";4" }, { ";4", ";4", ";4", ";4" } },
};

static const char *code_of(const struct painter *painter, enum ink ink)
{
    const struct ink_look *look = &inks[ink];

    return (painter->look.is_light ? look->light : look->dark)[painter->look.colours];
}

/* One color takes the place of another; weight and line have to be taken back. */
static bool is_colour(const char *code)
{
    return code[0] == ';' && (code[1] == '3' || code[1] == '9');
}

static void set_ink(struct painter *painter, enum ink ink, struct text *out)
{
    const char *code = code_of(painter, ink);

    if (painter->ink == (int)ink)
        return;
    text_add_text(out, CSI);
    if (painter->ink == INK_PLAIN || (is_colour(code) && painter->ink > INK_PLAIN &&
                                      is_colour(code_of(painter, (enum ink)painter->ink))))
        code += *code == ';'; /* nothing of what is in force has to go first */
    else if (*code)
        text_add_char(out, '0');
    text_add_text(out, code);
    text_add_char(out, 'm');
    painter->ink = (int)ink;
}

/* A count of one is what is meant without a count. */
static void add_step(int count, char letter, struct text *out)
{
    text_add_text(out, CSI);
    if (count > 1)
        text_add_integer(out, count);
    text_add_char(out, letter);
}

/* Rows are reached by counting from where we are, because inline the row of the screen is unknown;
 * columns by number, because the sum of widths is not to be trusted. */
static void move_to(struct painter *painter, int row, int column, struct text *out)
{
    if (row != painter->at_row)
        add_step(abs(row - painter->at_row), row < painter->at_row ? 'A' : 'B', out);
    if (column != painter->at_column) {
        if (column == 0)
            text_add_char(out, '\r');
        else
            text_add_format(out, CSI "%dG", column + 1);
    }
    painter->at_row = row;
    painter->at_column = column;
}

void painter_begin(struct painter *painter, bool is_alternate, struct text *out)
{
    painter->is_alternate = is_alternate;
    painter->has_begun = true;
    painter->is_cursor_hidden = false;
    if (is_alternate)
        text_add_text(out, ALTERNATE_ON);
    text_add_text(out, PASTE_ON);
    text_add_text(out, WRAP_OFF);
    painter_forget(painter);
}

void painter_forget(struct painter *painter)
{
    canvas_reset(&painter->shown, painter->columns);
    painter->at_row = 0;
    painter->at_column = -1;
    painter->ink = -1;
}

static bool is_same(const struct canvas *a, const struct canvas *b, int row, int column)
{
    const struct cell *left = canvas_cell(a, row, column), *right = canvas_cell(b, row, column);

    if (left->length != right->length || left->columns != right->columns)
        return false;
    if (left->ink != right->ink &&
        (left->length > 0 || left->ink == INK_FIELD || right->ink == INK_FIELD))
        return false;
    return left->length == 0 ||
           memcmp(a->bytes.bytes + left->offset, b->bytes.bytes + right->offset, left->length) == 0;
}

/* The cells between the cursor and this one say the same as before: drawing them once more may be
 * shorter than going there by number. */
static void bridge(struct painter *painter, const struct canvas *canvas, int row, int column,
                   struct text *out)
{
    size_t max = column + 1 < 10 ? 4 : column + 1 < 100 ? 5 : 6, from = out->used;
    int at = painter->at_column;

    if (row != painter->at_row || at < 0 || painter->ink < 0 || painter->ink == INK_FIELD)
        return;
    for (; at < column && out->used - from < max; at++) {
        const struct cell *cell = canvas_cell(canvas, row, at);

        if (cell->is_disputed || cell->columns != 1 || cell->ink == INK_FIELD ||
            (cell->length > 0 && cell->ink != painter->ink))
            break;
        if (cell->length > 0)
            text_add(out, canvas->bytes.bytes + cell->offset, cell->length);
        else
            text_add_char(out, ' ');
    }
    if (at == column && out->used - from <= max)
        painter->at_column = column;
    else
        out->used = from;
}

static void draw_cell(struct painter *painter, const struct canvas *canvas, int row, int column,
                      struct text *out)
{
    const struct cell *cell = canvas_cell(canvas, row, column);

    bridge(painter, canvas, row, column, out);
    move_to(painter, row, column, out);
    set_ink(painter, (enum ink)cell->ink, out);
    if (cell->is_disputed && cell->columns == 2) { /* terminals may fill only one of them */
        text_add_text(out, "  ");
        painter->at_column = -1;
        move_to(painter, row, column, out);
    }
    if (cell->length > 0)
        text_add(out, canvas->bytes.bytes + cell->offset, cell->length);
    else
        text_add_char(out, ' ');
    painter->at_column = column + cell->columns;
    /* in the last column terminals delay the wrap; the place is set again */
    if (cell->is_disputed || painter->at_column >= painter->columns)
        painter->at_column = -1;
}

static void draw_row(struct painter *painter, const struct canvas *canvas, int row,
                     struct text *out)
{
    int end = canvas_row_end(canvas, row);
    bool is_spilt = false; /* the cell before may have reached into this one */

    for (int column = 0; column < end; column++) {
        const struct cell *cell = canvas_cell(canvas, row, column);

        if (cell->columns == 0)
            continue;
        if (is_spilt || !is_same(canvas, &painter->shown, row, column)) {
            draw_cell(painter, canvas, row, column, out);
            is_spilt = cell->is_disputed;
        } else {
            is_spilt = false;
        }
    }
    if (canvas_row_end(&painter->shown, row) > end || (is_spilt && end < canvas->columns)) {
        move_to(painter, row, end, out);
        set_ink(painter, INK_PLAIN, out);
        text_add_text(out, CSI "K");
    }
}

/* Inline, new rows come into being by line feeds, which scroll when the screen is full. */
static void make_rows(struct painter *painter, int rows, struct text *out)
{
    if (painter->is_alternate || rows <= painter->shown.rows)
        return;
    if (painter->at_column < 0 && painter->shown.rows == 0)
        text_add_char(out, '\r');
    move_to(painter, painter->shown.rows > 0 ? painter->shown.rows - 1 : 0, 0, out);
    for (int row = painter->at_row + 1; row < rows; row++)
        text_add_char(out, '\n');
    painter->at_row = rows - 1;
}

static void place_cursor(struct painter *painter, const struct canvas *canvas, struct text *out)
{
    bool hides = canvas->cursor_row < 0;

    if (!hides)
        move_to(painter, canvas->cursor_row, canvas->cursor_column, out);
    if (hides != painter->is_cursor_hidden)
        text_add_text(out, hides ? CURSOR_HIDE : CURSOR_SHOW);
    painter->is_cursor_hidden = hides;
}

static void keep(struct painter *painter, const struct canvas *canvas, int rows)
{
    struct canvas *shown = &painter->shown;

    canvas_reset(shown, canvas->columns);
    if (rows == 0)
        return;
    canvas_need_row(shown, rows - 1);
    memcpy(shown->cells, canvas->cells,
           (size_t)rows * (size_t)canvas->columns * sizeof *canvas->cells);
    text_add(&shown->bytes, canvas->bytes.bytes, canvas->bytes.used);
}

static void draw_rows(struct painter *painter, const struct canvas *canvas, int rows,
                      struct text *out)
{
    for (int row = 0; row < rows; row++)
        draw_row(painter, canvas, row, out);
}

/* Shifts ----------------------------------------------------------------------------------------
 * What of a picture has moved up or down as a block, as a list does that scrolls: a terminal moves
 * its rows by two short sequences, and only what came into sight is drawn. */

/* Rows first..last of the new picture stood `by` rows further down before; by < 0: further up. */
struct shift {
    int first, last, by;
};

enum { SHIFT_CHANGED_MIN = 3, SHIFT_ROWS_MIN = 2 };

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

/* False: nothing that is worth it; then the pictures may also differ in size. */
static bool shift_find(const struct canvas *before, const struct canvas *after,
                       struct shift *ret_shift)
{
    int rows = after->rows, changed = 0, max = SHIFT_ROWS_MIN - 1;
    uint64_t *looks;

    if (rows != before->rows || after->columns != before->columns || rows < SHIFT_CHANGED_MIN)
        return false;
    looks = mem_new(2 * (size_t)rows * sizeof *looks);
    for (int row = 0; row < rows; row++) {
        looks[row] = look_of(before, row);
        looks[rows + row] = look_of(after, row);
        changed += looks[row] != looks[rows + row];
    }
    for (int by = 1 - rows; changed >= SHIFT_CHANGED_MIN && by < rows; by++) {
        struct shift shift = { .by = by };
        int count = by == 0 ? 0 : count_moved(looks, looks + rows, rows, &shift);

        if (count > max) {
            max = count;
            *ret_shift = shift;
        }
    }
    free(looks);
    return max >= SHIFT_ROWS_MIN;
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

/* Does to the picture what the terminal does to its rows; those that came free are blank. */
static void shift_apply(struct canvas *canvas, const struct shift *shift)
{
    size_t rows = (size_t)shift->last - (size_t)shift->first + 1;

    memmove(row_of(canvas, shift->first), row_of(canvas, shift->first + shift->by),
            rows * (size_t)canvas->columns * sizeof(struct cell));
    if (shift->by > 0)
        blank_rows(canvas, shift->last + 1, shift->by);
    else
        blank_rows(canvas, shift->first + shift->by, -shift->by);
}

/* Deletes as many rows at one end of the block as it inserts at the other, so what is below stays
 * where it is. Inline the rows of the screen are unknown, so a region to scroll cannot be named. */
static void move_block(struct painter *painter, const struct shift *shift, struct text *out)
{
    int count = abs(shift->by);
    bool is_up = shift->by > 0;

    move_to(painter, is_up ? shift->first : shift->last - count + 1, painter->at_column, out);
    add_step(count, 'M', out);
    move_to(painter, is_up ? shift->last + 1 : shift->first - count, painter->at_column, out);
    add_step(count, 'L', out);
    painter->at_column = -1; /* some go to the first one then */
}

/* What moved as a block is moved by the terminal where that is shorter. */
static void draw_change(struct painter *painter, const struct canvas *canvas, int rows,
                        struct text *out)
{
    struct painter before = *painter;
    size_t from = out->used, drawn;
    struct text moved = { 0 };
    struct shift shift;
    struct painter after;

    draw_rows(painter, canvas, rows, out);
    drawn = out->used - from;
    if (drawn < SHIFT_WORTH_BYTES || painter->look.lacks_shifts || rows != canvas->rows ||
        !shift_find(&painter->shown, canvas, &shift))
        return;
    after = *painter;
    *painter = before;
    move_block(painter, &shift, &moved);
    shift_apply(&painter->shown, &shift);
    draw_rows(painter, canvas, rows, &moved);
    if (moved.used < drawn) {
        out->used = from;
        text_add(out, moved.bytes, moved.used);
    } else {
        *painter = after; /* what is said to be shown is replaced in any case */
    }
    text_release(&moved);
}

void painter_show(struct painter *painter, const struct canvas *canvas, struct text *out)
{
    int rows = canvas->rows < painter->rows ? canvas->rows : painter->rows;
    size_t before = out->used;
    size_t empty;

    text_add_text(out, SYNC_ON);
    empty = out->used;
    make_rows(painter, rows, out);
    draw_change(painter, canvas, rows, out);
    if (painter->shown.rows > rows) {
        move_to(painter, rows, 0, out);
        set_ink(painter, INK_PLAIN, out);
        text_add_text(out, CSI "J");
    }
    place_cursor(painter, canvas, out);
    if (out->used == empty) { /* nothing changed: nothing is sent */
        out->used = before;
        return;
    }
    set_ink(painter, INK_PLAIN, out);
    text_add_text(out, SYNC_OFF);
    keep(painter, canvas, rows);
}

/* How many rows the old picture fills now that lines are shorter: what was longer has wrapped. */
static int rows_after_wrap(const struct painter *painter, int columns)
{
    int rows = 0;

    for (int row = 0; row <= painter->at_row && row < painter->shown.rows; row++) {
        int used = canvas_row_end(&painter->shown, row);

        rows += used > columns ? (used + columns - 1) / columns : 1;
    }
    return rows > 0 ? rows - 1 : 0;
}

/* From the first row, which is so many above the cursor's, on. */
static void give_up(struct painter *painter, int up, struct text *out)
{
    if (up >= painter->rows)
        up = painter->rows - 1;
    if (painter->is_alternate)
        text_add_text(out, CSI "H");
    else if (up > 0)
        text_add_format(out, CSI "%dA", up);
    text_add_text(out, "\r" CSI "0m" CSI "J");
    painter_forget(painter);
    painter->at_column = 0;
}

void painter_redraw(struct painter *painter, struct text *out)
{
    if (painter->has_begun)
        give_up(painter, painter->at_row, out);
}

void painter_resize(struct painter *painter, int rows, int columns, struct text *out)
{
    int up = painter->is_alternate ? painter->at_row : rows_after_wrap(painter, columns);

    if (rows == painter->rows && columns == painter->columns)
        return;
    painter->rows = rows;
    painter->columns = columns;
    give_up(painter, up, out);
}

void painter_end(struct painter *painter, struct text *out)
{
    if (!painter->has_begun)
        return;
    painter->has_begun = false;
    text_add_text(out, SYNC_ON);
    move_to(painter, 0, 0, out);
    set_ink(painter, INK_PLAIN, out);
    text_add_text(out, CSI "J");
    text_add_text(out, PASTE_OFF);
    text_add_text(out, WRAP_ON);
    if (painter->is_alternate)
        text_add_text(out, ALTERNATE_OFF);
    if (painter->is_cursor_hidden)
        text_add_text(out, CURSOR_SHOW);
    text_add_text(out, SYNC_OFF);
    painter->is_cursor_hidden = false;
    canvas_reset(&painter->shown, painter->columns);
}

void painter_release(struct painter *painter)
{
    canvas_release(&painter->shown);
}
