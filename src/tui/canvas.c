#include "tui/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"

enum { CANVAS_ROWS_MAX = 10000, CANVAS_COLUMNS_MAX = 1000 };

void canvas_reset(struct canvas *canvas, int columns)
{
    if (columns < 1)
        columns = 1;
    if (columns > CANVAS_COLUMNS_MAX)
        columns = CANVAS_COLUMNS_MAX;
    if (columns != canvas->columns) {
        free(canvas->cells);
        canvas->cells = NULL;
        canvas->row_capacity = 0;
    }
    canvas->columns = columns;
    canvas->rows = 0;
    text_clear(&canvas->bytes);
    canvas->cursor_row = -1;
    canvas->cursor_column = 0;
}

void canvas_release(struct canvas *canvas)
{
    free(canvas->cells);
    text_release(&canvas->bytes);
    memset(canvas, 0, sizeof *canvas);
}

static size_t place(const struct canvas *canvas, int row, int column)
{
    return (size_t)row * (size_t)canvas->columns + (size_t)column;
}

void canvas_need_row(struct canvas *canvas, int row)
{
    size_t from = place(canvas, canvas->rows, 0);

    if (row < canvas->rows || row >= CANVAS_ROWS_MAX)
        return;
    if (row >= canvas->row_capacity) {
        canvas->row_capacity = row + 16;
        canvas->cells = mem_resize(canvas->cells,
                                   place(canvas, canvas->row_capacity, 0) * sizeof *canvas->cells);
    }
    canvas->rows = row + 1;
    memset(canvas->cells + from, 0,
           (place(canvas, canvas->rows, 0) - from) * sizeof *canvas->cells);
    for (size_t i = from; i < place(canvas, canvas->rows, 0); i++)
        canvas->cells[i].columns = 1;
}

/* Half of a wide glyph that is drawn over becomes blank with its other half. */
static void blank(struct canvas *canvas, int row, int column)
{
    struct cell *cell = canvas->cells + place(canvas, row, column);

    if (cell->columns == 0 && column > 0)
        cell[-1] = (struct cell){ .columns = 1 };
    if (cell->columns == 2 && column + 1 < canvas->columns)
        cell[1] = (struct cell){ .columns = 1 };
    *cell = (struct cell){ .columns = 1 };
}

static void put_glyph(struct canvas *canvas, int row, int column, enum ink ink, const char *bytes,
                      struct glyph glyph)
{
    struct cell *cell = canvas->cells + place(canvas, row, column);

    if (canvas->lost && cell->length > 0 && canvas->bytes.bytes[cell->offset] != ' ' &&
        (cell->length != glyph.shown ||
         memcmp(canvas->bytes.bytes + cell->offset, bytes, glyph.shown) != 0))
        text_add_format(canvas->lost, "%.*s under %.*s\n", cell->length, /* not for people */
                        canvas->bytes.bytes + cell->offset, (int)glyph.shown, bytes);
    for (int i = 0; i < glyph.columns; i++)
        blank(canvas, row, column + i);
    *cell = (struct cell){
        .offset = (uint32_t)canvas->bytes.used,
        .length = (uint8_t)glyph.shown,
        .columns = (uint8_t)glyph.columns,
        .ink = (uint8_t)ink,
        .is_disputed = glyph.is_disputed,
    };
    text_add(&canvas->bytes, bytes, glyph.shown);
    if (glyph.columns == 2)
        cell[1] = (struct cell){ .ink = (uint8_t)ink };
}

/* True for what must never reach a terminal, even if the caller forgot to make it visible. */
static bool is_control(const char *bytes, size_t length)
{
    int32_t code_point = text_decode(&bytes, bytes + length);

    return code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f);
}

int canvas_put(struct canvas *canvas, int row, int column, int end, enum ink ink, const char *text,
               size_t length)
{
    canvas_need_row(canvas, row);
    if (end > canvas->columns)
        end = canvas->columns;
    if (row < 0 || row >= canvas->rows || column < 0)
        return column;
    for (size_t at = 0; at < length;) {
        struct glyph glyph = glyph_first(text + at, length - at);

        if (column + glyph.columns > end) {
            if (canvas->lost)
                text_add_format(canvas->lost, "%.*s\n", (int)length, text);
            break;
        }
        if (is_control(text + at, glyph.bytes)) {
            glyph.columns = 1;
            glyph.shown = 1;
            put_glyph(canvas, row, column, ink, " ", glyph);
        } else if (glyph.columns > 0) {
            put_glyph(canvas, row, column, ink, text + at, glyph);
        }
        column += glyph.columns;
        at += glyph.bytes;
    }
    return column;
}

int canvas_put_text(struct canvas *canvas, int row, int column, int end, enum ink ink,
                    const char *text)
{
    return canvas_put(canvas, row, column, end, ink, text, strlen(text));
}

int canvas_put_cut(struct canvas *canvas, int row, int column, int end, enum ink ink,
                   const char *text, size_t length, const char *cut)
{
    if (end > canvas->columns)
        end = canvas->columns;
    if (column + glyph_columns(text, length) <= end)
        return canvas_put(canvas, row, column, end, ink, text, length);
    for (size_t at = 0, next; at < length; at = next) { /* as much as leaves room for the mark */
        next = at + glyph_first(text + at, length - at).bytes;
        if (column + glyph_columns(text, next) > end - 1) {
            length = at;
            break;
        }
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    column = canvas_put(canvas, row, column, end - 1, ink, text, length);
    return canvas_put_text(canvas, row, column, end, INK_QUIET, cut);
}

const struct cell *canvas_cell(const struct canvas *canvas, int row, int column)
{
    static const struct cell nothing = { .columns = 1 };

    if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
        return &nothing;
    return canvas->cells + place(canvas, row, column);
}

int canvas_row_end(const struct canvas *canvas, int row)
{
    int end = canvas->columns;

    while (end > 0 && canvas_cell(canvas, row, end - 1)->length == 0 &&
           canvas_cell(canvas, row, end - 1)->columns == 1)
        end--;
    return end;
}

void canvas_write_row(const struct canvas *canvas, int row, struct text *out)
{
    int last = canvas_row_end(canvas, row);

    for (int column = 0; column < last; column++) {
        const struct cell *cell = canvas_cell(canvas, row, column);

        if (cell->length > 0)
            text_add(out, canvas->bytes.bytes + cell->offset, cell->length);
        else if (cell->columns == 1)
            text_add_char(out, ' ');
    }
}

void canvas_write(const struct canvas *canvas, const char *line_end, struct text *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        canvas_write_row(canvas, row, out);
        text_add_text(out, line_end);
    }
}
