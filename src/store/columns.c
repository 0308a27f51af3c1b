#include "store/columns.h"

#include <stdbool.h>
#include <string.h>

#include "store/store.h"

static bool is_text(const struct column *column)
{
    return column->kind == COLUMN_TEXT || column->kind == COLUMN_FILLED;
}

static const char **text_at(const struct column *column, const void *from)
{
    return (const char **)((char *)from + column->offset);
}

static int64_t number_at(const struct column *column, const void *from)
{
    const char *member = (const char *)from + column->offset;

    if (column->kind == COLUMN_FIXED)
        return (int64_t)column->offset;
    if (column->kind == COLUMN_BITS)
        return *(const uint32_t *)member;
    if (column->size == sizeof(bool))
        return *(const bool *)member;
    return column->size == sizeof(int64_t) ? *(const int64_t *)member : *(const int *)member;
}

struct column_value column_value(const struct column *column, const void *from)
{
    static const char none[DIGEST_BYTES];
    const char *member = (const char *)from + column->offset;
    struct column_value value = { .kind = VALUE_NULL, .bytes = member, .length = column->size };

    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_FILLED:
        value.bytes = *text_at(column, from);
        if (!value.bytes && column->kind == COLUMN_FILLED)
            value.bytes = "";
        value.kind = value.bytes ? VALUE_TEXT : VALUE_NULL;
        break;
    case COLUMN_CHARS:
        value.kind = VALUE_TEXT;
        break;
    case COLUMN_HASH:
    case COLUMN_BYTES:
        if (column->kind == COLUMN_BYTES || memcmp(member, none, sizeof none) != 0)
            value.kind = VALUE_BYTES;
        break;
    case COLUMN_NUMBER:
    case COLUMN_BITS:
    case COLUMN_KEEP:
    case COLUMN_FIXED:
        value.number = number_at(column, from);
        if (column->kind != COLUMN_KEEP || value.number != STORE_KEEP)
            value.kind = VALUE_NUMBER;
        break;
    }
    return value;
}

void column_take_number(const struct column *column, int64_t number, void *out)
{
    char *member = (char *)out + column->offset;

    if (column->size == sizeof(bool))
        *(bool *)member = number != 0;
    else if (column->size == sizeof(int64_t))
        *(int64_t *)member = number;
    else
        *(int *)member = (int)number;
}

void column_take_text(const struct column *column, const char *borrowed, void *out)
{
    *text_at(column, out) = borrowed;
}

void column_take_bytes(const struct column *column, const void *bytes, size_t length, void *out)
{
    size_t room = column->kind == COLUMN_CHARS ? column->size - 1 : column->size;

    if (bytes)
        memcpy((char *)out + column->offset, bytes, length < room ? length : room);
}

int column_hex_byte(const char *two)
{
    static const char digits[] = "0123456789abcdef";
    const char *high = memchr(digits, two[0], sizeof digits - 1);
    const char *low = high ? memchr(digits, two[1], sizeof digits - 1) : NULL;

    return low ? (int)((high - digits) << 4 | (low - digits)) : -1;
}

int column_compare(const struct column *column, const void *left, const void *right)
{
    struct column_value a = column_value(column, left), b = column_value(column, right);

    if (is_text(column) || column->kind == COLUMN_CHARS)
        return strcmp(a.bytes ? a.bytes : "", b.bytes ? b.bytes : "");
    if (column->kind == COLUMN_BYTES)
        return memcmp(a.bytes, b.bytes, column->size);
    return (a.number > b.number) - (a.number < b.number);
}

size_t columns_text_bytes(const struct columns *columns, const void *from)
{
    size_t bytes = 0;

    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];
        const char *text = is_text(column) ? *text_at(column, from) : NULL;

        bytes += text ? strlen(text) + 1 : 0;
    }
    return bytes;
}

void columns_copy_texts(const struct columns *columns, void *copy, char *room)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];
        const char **text = is_text(column) ? text_at(column, copy) : NULL;

        if (text && *text) {
            size_t length = strlen(*text) + 1;

            *text = memcpy(room, *text, length);
            room += length;
        }
    }
}
