/* row.c - see row.h. */
#include "store/row.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "ports/store.h"

#define MEMBER_SIZE(member) sizeof(((struct store_row *)0)->member)
#define COLUMN_OF(sql, kind, member)                                                               \
    { COLUMN_##kind, offsetof(struct store_row, member), MEMBER_SIZE(member) },
const struct row_column row_columns[ROW_COLUMN_COUNT] = { ROW_ASK_COLUMNS(
    COLUMN_OF) ROW_LONG_COLUMNS(COLUMN_OF) ROW_ANSWER_COLUMNS(COLUMN_OF) };

static const size_t row_texts[] = {
    offsetof(struct store_row, ask.tool),        offsetof(struct store_row, ask.title),
    offsetof(struct store_row, ask.form_json),   offsetof(struct store_row, ask.arguments_json),
    offsetof(struct store_row, ask.origin_json), offsetof(struct store_row, ask.idempotency_key),
    offsetof(struct store_row, answer_json),     offsetof(struct store_row, answer_key),
    offsetof(struct store_row, actor_json),
};

/* A damaged file may hold anything: never more than the member takes, the rest stays zero. */
static void read_bytes(sqlite3_stmt *statement, int at, char *out, size_t room)
{
    const void *bytes = sqlite3_column_blob(statement, at);
    size_t length = (size_t)sqlite3_column_bytes(statement, at);

    if (bytes)
        memcpy(out, bytes, length < room ? length : room);
}

static void read_number(sqlite3_stmt *statement, int at, char *out, size_t size)
{
    int64_t wide = sqlite3_column_int64(statement, at);
    int32_t narrow = (int32_t)wide;

    memcpy(out, size == sizeof wide ? (const void *)&wide : (const void *)&narrow, size);
}

void row_read(sqlite3_stmt *statement, struct store_row *out)
{
    *out = (struct store_row){ 0 };
    for (int at = 0; at < ROW_COLUMN_COUNT; at++) {
        char *member = (char *)out + row_columns[at].offset;
        size_t size = row_columns[at].size;
        const char *text;

        switch (row_columns[at].kind) {
        case COLUMN_CHARS:
            read_bytes(statement, at, member, size - 1);
            break;
        case COLUMN_BYTES:
            read_bytes(statement, at, member, size);
            break;
        case COLUMN_NUMBER:
            read_number(statement, at, member, size);
            break;
        case COLUMN_TEXT:
            text = (const char *)sqlite3_column_text(statement, at);
            memcpy(member, &text, sizeof text);
            break;
        }
    }
}

size_t row_bytes_with_texts(const void *source, size_t size, const size_t *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = *(const char *const *)((const char *)source + members[i]);

        size += text ? strlen(text) + 1 : 0;
    }
    return size;
}

void row_copy_with_texts(void *copy, const void *source, size_t size, const size_t *members,
                         size_t count)
{
    char *end = (char *)copy + size;

    memcpy(copy, source, size);
    for (size_t i = 0; i < count; i++) {
        const char **text = (const char **)((char *)copy + members[i]);

        if (*text) {
            size_t length = strlen(*text) + 1;

            *text = memcpy(end, *text, length);
            end += length;
        }
    }
}

struct store_row *row_copy(const struct store_row *row)
{
    size_t bytes = row_bytes_with_texts(row, sizeof *row, row_texts, ARRAY_LEN(row_texts));
    struct store_row *copy = mem_resize(NULL, bytes);

    row_copy_with_texts(copy, row, sizeof *row, row_texts, ARRAY_LEN(row_texts));
    return copy;
}
