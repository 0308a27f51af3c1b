/* statement.c - see statement.h. Bound bytes stay the caller's until statement_end. */
#include "store/sqlite/statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/columns.h"

void statements_init(struct statements *set, sqlite3 *db, const char *const *sql, size_t count)
{
    *set = (struct statements){ .db = db, .sql = sql, .count = count };
    set->prepared = mem_new(count * sizeof *set->prepared);
}

void statements_release(struct statements *set)
{
    for (size_t i = 0; set->prepared && i < set->count; i++)
        sqlite3_finalize(set->prepared[i]);
    free(set->prepared);
    *set = (struct statements){ 0 };
}

struct statement statement_of(struct statements *set, size_t which)
{
    struct statement statement = { .handle = set->prepared[which] };
    unsigned keep = SQLITE_PREPARE_PERSISTENT;

    if (statement.handle && !sqlite3_stmt_busy(statement.handle))
        return statement;
    statement.is_own = statement.handle != NULL;
    statement.rc = sqlite3_prepare_v3(set->db, set->sql[which], -1, statement.is_own ? 0 : keep,
                                      &statement.handle, NULL);
    if (!statement.is_own)
        set->prepared[which] = statement.handle;
    return statement;
}

static void note(struct statement *statement, int rc)
{
    if (statement->rc == SQLITE_OK)
        statement->rc = rc;
}

void statement_bind(struct statement *statement, const struct column_value *values, size_t count)
{
    sqlite3_stmt *handle = statement->handle;

    for (size_t i = 0; handle && i < count; i++) {
        const struct column_value *value = &values[i];
        int at = ++statement->bound;

        if (value->kind == VALUE_NUMBER)
            note(statement, sqlite3_bind_int64(handle, at, value->number));
        else if (value->kind == VALUE_BYTES)
            note(statement,
                 sqlite3_bind_blob64(handle, at, value->bytes, value->length, SQLITE_STATIC));
        else if (value->kind == VALUE_TEXT)
            note(statement, sqlite3_bind_text(handle, at, value->bytes, -1, SQLITE_STATIC));
        else
            note(statement, sqlite3_bind_null(handle, at));
    }
}

struct statement statement_with(struct statements *set, size_t which,
                                const struct column_value *values, size_t count)
{
    struct statement statement = statement_of(set, which);

    statement_bind(&statement, values, count);
    return statement;
}

struct statement statement_once(sqlite3 *db, const char *sql)
{
    struct statement statement = { .is_own = true };

    statement.rc = sqlite3_prepare_v2(db, sql, -1, &statement.handle, NULL);
    return statement;
}

void statement_values(struct statement *statement, const struct column *list, size_t count,
                      const void *from)
{
    int max = sqlite3_bind_parameter_count(statement->handle);

    for (size_t i = 0; i < count && statement->bound < max; i++) {
        struct column_value value = column_value(&list[i], from);

        statement_bind(statement, &value, 1);
    }
}

bool statement_step(struct statement *statement)
{
    int rc;

    if (statement->rc != SQLITE_OK)
        return false;
    rc = sqlite3_step(statement->handle);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        note(statement, rc);
    return rc == SQLITE_ROW;
}

static void read_column(sqlite3_stmt *row, int at, const struct column *column, void *out)
{
    const void *bytes;

    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_FILLED:
        column_take_text(column, (const char *)sqlite3_column_text(row, at), out);
        break;
    case COLUMN_CHARS:
    case COLUMN_BYTES:
    case COLUMN_HASH:
        bytes = sqlite3_column_blob(row, at); /* before its length */
        column_take_bytes(column, bytes, (size_t)sqlite3_column_bytes(row, at), out);
        break;
    default:
        column_take_number(column, sqlite3_column_int64(row, at), out);
    }
}

bool statement_next(struct statement *statement, const struct columns *columns, void *out)
{
    bool is_row = statement_step(statement);

    memset(out, 0, columns->size);
    for (size_t i = 0; is_row && i < columns->count; i++)
        read_column(statement->handle, (int)i, &columns->list[i], out);
    return is_row;
}

int statement_end(struct statement *statement)
{
    if (statement->is_own)
        sqlite3_finalize(statement->handle);
    else
        sqlite3_reset(statement->handle);
    statement->handle = NULL;
    return statement->rc;
}

int statement_run(struct statement *statement)
{
    statement_step(statement);
    return statement_end(statement);
}

int statement_exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int statement_number(sqlite3 *db, const char *sql, int64_t *ret_number)
{
    struct statement read = statement_once(db, sql);
    bool is_row = statement_step(&read);
    int rc;

    if (is_row)
        *ret_number = sqlite3_column_int64(read.handle, 0);
    rc = statement_end(&read);
    return rc == SQLITE_OK && !is_row ? SQLITE_DONE : rc;
}
