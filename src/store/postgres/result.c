/* result.c - see result.h. */
#include "store/postgres/result.h"

#include <string.h>

#include "base/text.h"
#include "store/columns.h"
#include "store/postgres/libpq.h"

int result_count(const PGresult *result)
{
    return libpq.ntuples(result);
}

bool result_is_null(const PGresult *result, int row, int column)
{
    return row >= libpq.ntuples(result) || column >= libpq.nfields(result) ||
           libpq.getisnull(result, row, column);
}

const char *result_text(const PGresult *result, int row, int column)
{
    return result_is_null(result, row, column) ? NULL : libpq.getvalue(result, row, column);
}

int64_t result_integer(const PGresult *result, int row, int column)
{
    const char *text = result_text(result, row, column);
    int64_t number;

    return text && text_parse_integer(text, &number) ? number : 0;
}

bool result_flag(const PGresult *result, int row, int column)
{
    const char *text = result_text(result, row, column);

    return text && text[0] == 't';
}

static int digit_of(char hex)
{
    if (hex >= '0' && hex <= '9')
        return hex - '0';
    return hex >= 'a' && hex <= 'f' ? hex - 'a' + 10 : -1;
}

void result_bytes(const PGresult *result, int row, int column, void *out, size_t size)
{
    const char *text = result_text(result, row, column);
    uint8_t *bytes = out;

    memset(out, 0, size);
    if (!text || text[0] != '\\' || text[1] != 'x')
        return;
    text += 2;
    for (size_t i = 0; i < size && text[0]; i++, text += 2) {
        int high = digit_of(text[0]), low = digit_of(text[1]);

        if (high < 0 || low < 0)
            return;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
}

void result_column(const PGresult *result, int row, int at, const struct column *column, void *out)
{
    const char *text = result_text(result, row, at);

    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_FILLED:
        column_take_text(column, text, out);
        break;
    case COLUMN_CHARS:
        column_take_bytes(column, text, text ? strlen(text) : 0, out);
        break;
    case COLUMN_BYTES:
    case COLUMN_HASH:
        result_bytes(result, row, at, (char *)out + column->offset, column->size);
        break;
    default:
        column_take_number(column, result_integer(result, row, at), out);
    }
}

void result_read(const PGresult *result, int row, int first, const struct columns *columns,
                 void *out)
{
    memset(out, 0, columns->size);
    for (size_t i = 0; i < columns->count; i++)
        result_column(result, row, first + (int)i, &columns->list[i], out);
}
