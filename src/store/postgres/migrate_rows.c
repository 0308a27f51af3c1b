/* migrate_rows.c - see migrate_rows.h. */
#include "store/postgres/migrate_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/params.h"
#include "store/postgres/write.h"

enum { MOST_ROWS = 500, MOST_BYTES = 1048576 };

static void add_comma(struct text *values)
{
    if (values->used > 0)
        text_add_char(values, ',');
}

static void add_bytes(struct text *out, const uint8_t *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    text_add_text(out, "\"\\\\x");
    for (size_t i = 0; i < length; i++) {
        text_add_char(out, digits[bytes[i] >> 4]);
        text_add_char(out, digits[bytes[i] & 15]);
    }
    text_add_char(out, '"');
}

/* Tables are STRICT: a column holds what it says, or NULL. */
static const char *type_of(sqlite3_stmt *row, int column)
{
    const char *declared = sqlite3_column_decltype(row, column);

    if (declared && strcmp(declared, "INTEGER") == 0)
        return "bigint";
    return declared && strcmp(declared, "BLOB") == 0 ? "bytea" : "text";
}

static bool add_value(struct text *out, sqlite3_stmt *row, int column)
{
    const char *text;

    add_comma(out);
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        text_add_text(out, "NULL");
        return true;
    case SQLITE_INTEGER:
        text_add_integer(out, sqlite3_column_int64(row, column));
        return true;
    case SQLITE_BLOB:
        add_bytes(out, sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column));
        return true;
    default:
        text = (const char *)sqlite3_column_text(row, column);
        if (strlen(text) != (size_t)sqlite3_column_bytes(row, column) ||
            !text_is_utf8(text, strlen(text)))
            return false;
        params_add_element(out, text);
        return true;
    }
}

static void add_agent(struct text *out, sqlite3_stmt *row, int columns)
{
    char *name = NULL;

    for (int i = 0; i < columns && !name; i++) {
        if (strcmp(sqlite3_column_name(row, i), "origin") == 0)
            name = write_agent_name((const char *)sqlite3_column_text(row, i));
    }
    add_comma(out);
    if (name)
        params_add_element(out, name);
    else
        text_add_text(out, "NULL");
    free(name);
}

static bool is_asks(const struct migrate_rows *rows)
{
    return strcmp(walk_tables[rows->table].name, "asks") == 0;
}

bool migrate_rows_add(struct migrate_rows *rows, size_t table, sqlite3_stmt *row, struct error *err)
{
    rows->table = table;
    rows->columns = sqlite3_column_count(row);
    rows->bytes = 0;
    for (int i = 0; i < rows->columns; i++) {
        text_put(rows->names[i], sizeof rows->names[i], sqlite3_column_name(row, i));
        rows->types[i] = type_of(row, i);
        if (!add_value(&rows->values[i], row, i))
            return error_set(err, ERROR_bad_unicode, "",
                             "the column %s of the table %s holds what is not UTF-8 text, which "
                             "PostgreSQL refuses: mend the row, or restore a backup",
                             rows->names[i], walk_tables[table].name);
        rows->bytes += rows->values[i].used;
    }
    if (is_asks(rows))
        add_agent(&rows->agents, row, rows->columns);
    rows->count++;
    return true;
}

bool migrate_rows_are_enough(const struct migrate_rows *rows)
{
    return rows->count >= MOST_ROWS || rows->bytes >= MOST_BYTES;
}

static void add_array(struct params *params, const struct text *values)
{
    struct text array = { 0 };

    text_add_char(&array, '{');
    text_add(&array, text_string(values), values->used);
    text_add_char(&array, '}');
    params_text(params, text_string(&array));
    text_release(&array);
}

void migrate_rows_write(const struct migrate_rows *rows, const char *before, const char *after,
                        struct text *sql, struct params *params)
{
    const char *table = walk_tables[rows->table].name;
    bool is_of_events = strcmp(table, "events") == 0; /* whose hub is none of those that run */

    params_text(params, before);
    params_text(params, after);
    text_add_format(sql,
                    "WITH mark AS (UPDATE meta SET value = $2 WHERE name = 'migrating'"
                    " AND value = $1 RETURNING 1) INSERT INTO %s (",
                    table);
    for (int i = 0; i < rows->columns; i++)
        text_add_format(sql, "%s\"%s\"", i ? ", " : "", rows->names[i]);
    text_add_text(sql, is_asks(rows) ? ", agent" : is_of_events ? ", hub" : "");
    text_add_format(sql, ") SELECT u.*%s FROM mark, unnest(", is_of_events ? ", 0" : "");
    for (int i = 0; i < rows->columns; i++) {
        add_array(params, &rows->values[i]);
        text_add_format(sql, "%s$%d::%s[]", i ? ", " : "", params->count, rows->types[i]);
    }
    if (is_asks(rows)) {
        add_array(params, &rows->agents);
        text_add_format(sql, ", $%d::text[]", params->count);
    }
    text_add_text(sql, ") AS u");
}

void migrate_rows_clear(struct migrate_rows *rows)
{
    for (size_t i = 0; i < WALK_COLUMNS; i++)
        text_clear(&rows->values[i]);
    text_clear(&rows->agents);
    rows->count = 0;
    rows->bytes = 0;
}

void migrate_rows_release(struct migrate_rows *rows)
{
    for (size_t i = 0; i < WALK_COLUMNS; i++)
        text_release(&rows->values[i]);
    text_release(&rows->agents);
}
