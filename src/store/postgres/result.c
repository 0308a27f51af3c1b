/* result.c - see result.h. */
#include "store/postgres/result.h"

#include <string.h>

#include "base/text.h"
#include "ports/store.h"
#include "store/postgres/libpq.h"
#include "store/row.h"

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

static void read_number(int64_t wide, char *out, size_t size)
{
    int32_t narrow = (int32_t)wide;

    memcpy(out, size == sizeof wide ? (const void *)&wide : (const void *)&narrow, size);
}

void result_row(const PGresult *result, int row, int first_column, struct store_row *out)
{
    *out = (struct store_row){ 0 };
    for (int at = 0; at < ROW_COLUMN_COUNT; at++) {
        char *member = (char *)out + row_columns[at].offset;
        size_t size = row_columns[at].size;
        const char *text;

        switch (row_columns[at].kind) {
        case COLUMN_CHARS:
            text = result_text(result, row, first_column + at);
            text_put(member, size, text ? text : "");
            break;
        case COLUMN_BYTES:
            result_bytes(result, row, first_column + at, member, size);
            break;
        case COLUMN_NUMBER:
            read_number(result_integer(result, row, first_column + at), member, size);
            break;
        case COLUMN_TEXT:
            text = result_text(result, row, first_column + at);
            memcpy(member, &text, sizeof text);
            break;
        }
    }
}
