/* row.c - see row.h. */
#include "store/row.h"

#include "base/mem.h"
#include "store/store.h"

#define ROW_COLUMN(sql, kind, member) COLUMN_OF(kind, struct store_row, member),
static const struct column columns[ROW_COLUMN_COUNT] = { ROW_ASK_COLUMNS(
    ROW_COLUMN) ROW_LONG_COLUMNS(ROW_COLUMN) ROW_ANSWER_COLUMNS(ROW_COLUMN) };
const struct columns row_columns = { columns, ROW_COLUMN_COUNT, sizeof(struct store_row) };

int64_t row_limit(size_t number)
{
    return number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

struct store_row *row_copy(const struct store_row *row)
{
    struct store_row *copy = mem_resize(NULL, sizeof *copy + columns_text_bytes(&row_columns, row));

    *copy = *row;
    columns_copy_texts(&row_columns, copy, (char *)(copy + 1));
    return copy;
}
