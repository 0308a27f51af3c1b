/* statement.c - see statement.h. Bound bytes stay the caller's until statement_end. */
#include "store/statement.h"

#include <string.h>

#include <stdlib.h>

#include "base/mem.h"
#include "ports/store.h"

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

void statement_text(struct statement *statement, const char *text)
{
    if (statement->handle)
        note(statement,
             sqlite3_bind_text(statement->handle, ++statement->bound, text, -1, SQLITE_STATIC));
}

void statement_integer(struct statement *statement, int64_t number)
{
    if (statement->handle)
        note(statement, sqlite3_bind_int64(statement->handle, ++statement->bound, number));
}

void statement_keep(struct statement *statement, int64_t number)
{
    if (number != STORE_KEEP)
        statement_integer(statement, number);
    else if (statement->handle)
        note(statement, sqlite3_bind_null(statement->handle, ++statement->bound));
}

void statement_blob(struct statement *statement, const void *bytes, size_t length)
{
    if (statement->handle)
        note(statement, sqlite3_bind_blob64(statement->handle, ++statement->bound, bytes, length,
                                            SQLITE_STATIC));
}

void statement_hash(struct statement *statement, const uint8_t hash[32])
{
    static const uint8_t none[32];

    if (memcmp(hash, none, sizeof none) == 0)
        statement_text(statement, NULL);
    else
        statement_blob(statement, hash, sizeof none);
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
