/*
 * kept_sql.c - the database and its statements are kept when the store closes them, for who opens
 * it again: to read the SQL of tables and statements takes longer than an input does. What a
 * connection knows of the file's content is no matter: in WAL mode it asks with every transaction,
 * and is told by the index, which is put back with the file.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

enum { SETS_MAX = 8 };

static struct database kept; /* without a writer: none yet */
static bool is_open;
static struct {
    struct statements set; /* without a db: this and those behind it are free */
    bool is_open;
} sets[SETS_MAX];

bool __real_database_open(const char *path, const char *vfs_name, struct database *out,
                          struct error *err);
bool __wrap_database_open(const char *path, const char *vfs_name, struct database *out,
                          struct error *err);
bool __wrap_database_open(const char *path, const char *vfs_name, struct database *out,
                          struct error *err)
{
    if (is_open || (!kept.writer && !__real_database_open(path, vfs_name, &kept, err)))
        abort();
    /* the one setting that changes on the way */
    if (sqlite3_exec(kept.writer, "PRAGMA synchronous = FULL", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    is_open = true;
    *out = kept;
    return true;
}

void __wrap_database_close(struct database *database, bool is_clean);
void __wrap_database_close(struct database *database, bool is_clean)
{
    if (!is_clean || !sqlite3_get_autocommit(kept.writer) || !sqlite3_get_autocommit(kept.reader))
        abort(); /* this disk never fails, and a transaction is ended */
    for (size_t i = 0; i < SETS_MAX; i++) {
        if (sets[i].is_open)
            abort(); /* its statements were not released */
    }
    is_open = false;
    *database = (struct database){ 0 };
}

void __real_statements_init(struct statements *set, sqlite3 *db, const char *const *sql,
                            size_t count);
void __wrap_statements_init(struct statements *set, sqlite3 *db, const char *const *sql,
                            size_t count);
void __wrap_statements_init(struct statements *set, sqlite3 *db, const char *const *sql,
                            size_t count)
{
    size_t i = 0;

    while (sets[i].set.db && (sets[i].is_open || sets[i].set.db != db || sets[i].set.sql != sql)) {
        if (++i == SETS_MAX)
            abort();
    }
    if (!sets[i].set.db)
        __real_statements_init(&sets[i].set, db, sql, count);
    sets[i].is_open = true;
    *set = sets[i].set;
}

void __wrap_statements_release(struct statements *set);
void __wrap_statements_release(struct statements *set)
{
    size_t at = 0;

    if (!set->prepared)
        return;
    while (sets[at].set.prepared != set->prepared)
        at++;
    for (size_t i = 0; i < set->count; i++) {
        sqlite3_reset(set->prepared[i]);
        if (set->prepared[i])
            sqlite3_clear_bindings(set->prepared[i]);
    }
    sets[at].is_open = false;
    *set = (struct statements){ 0 };
}
