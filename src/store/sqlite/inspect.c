/*
 * inspect.c - see inspect.h.
 * A file that no process has open has no log; it is read as if it could not change, since a reader
 * of a file with a log would leave files behind.
 */
#include "store/sqlite/inspect.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/columns.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/statement.h"

enum { BUSY_MS = 1000 };

/* file:… with everything but plain characters written as %NN */
static char *address_of(const char *path, bool is_still)
{
    char *address = mem_new(3 * strlen(path) + 32), *at = address;

    at += snprintf(at, 8, "file:");
    for (; *path; path++) {
        bool is_plain = strchr("/._-", *path) || (*path >= '0' && *path <= '9') ||
                        (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z');

        at += is_plain ? snprintf(at, 2, "%c", *path)
                       : snprintf(at, 4, "%%%02x", (unsigned)(unsigned char)*path);
    }
    if (is_still)
        snprintf(at, 16, "?immutable=1");
    return address;
}

int store_open_read_only(const char *path, int busy_ms, sqlite3 **ret_db)
{
    char *real = database_resolve(path);
    char *address = address_of(real ? real : path, !database_has_log(path));
    int rc = sqlite3_open_v2(address, ret_db,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW |
                                 SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             NULL);

    free(real);
    free(address);
    if (!*ret_db)
        abort(); /* out of memory, as everywhere */
    sqlite3_busy_timeout(*ret_db, busy_ms);
    return rc;
}

static bool count_tokens(sqlite3 *db, int64_t now_utc_ms, struct inspection *out)
{
    static const char sql[] =
        "SELECT count(*) FILTER (WHERE is_valid AND kind IN ('agent', 'host')),"
        " count(*) FILTER (WHERE is_valid), count(*) FILTER (WHERE NOT is_valid)"
        " FROM (SELECT kind, expires_ms = 0 OR expires_ms > ?1 AS is_valid FROM tokens"
        " WHERE revoked_ms = 0)";
    struct statement count = statement_once(db, sql);
    bool ok;

    statement_bind(&count, VALUES(value_number(now_utc_ms)));
    ok = statement_step(&count);
    if (ok) {
        out->agent_tokens = sqlite3_column_int64(count.handle, 0);
        out->all_tokens = sqlite3_column_int64(count.handle, 1);
        out->expired_tokens = sqlite3_column_int64(count.handle, 2);
    }
    statement_end(&count);
    return ok;
}

static enum inspect_outcome judge(sqlite3 *db, int64_t now_utc_ms, struct inspection *out)
{
    static const enum inspect_outcome outcomes[] = {
        [SCHEMA_READY] = INSPECT_WHOLE,       [SCHEMA_NEWER] = INSPECT_NEWER,
        [SCHEMA_FOREIGN] = INSPECT_FOREIGN,   [SCHEMA_DAMAGED] = INSPECT_DAMAGED,
        [SCHEMA_FAILED] = INSPECT_UNREADABLE,
    };
    enum inspect_outcome outcome = outcomes[schema_look(db)];
    int64_t version = 0, importing = 0;

    if (outcome == INSPECT_UNREADABLE && failure_is_corruption(sqlite3_extended_errcode(db)))
        return INSPECT_DAMAGED;
    if (statement_number(db, "PRAGMA user_version", &version) == SQLITE_OK)
        out->version = (int)version;
    if (outcome != INSPECT_WHOLE)
        return outcome;
    if (database_check_pages(db) != SQLITE_OK)
        return failure_was_disk(db) ? INSPECT_UNREADABLE : INSPECT_DAMAGED;
    if (version > 0 && !count_tokens(db, now_utc_ms, out))
        return INSPECT_DAMAGED;
    if (version > 0)
        statement_number(db, "SELECT count(*) FROM meta WHERE name = 'importing'", &importing);
    return importing > 0 ? INSPECT_IMPORTING : outcome;
}

void store_inspect(const char *path, int64_t now_utc_ms, struct inspection *ret_inspection)
{
    struct inspection *out = ret_inspection;
    sqlite3 *db = NULL;
    struct stat found;
    int rc;

    *out = (struct inspection){ .our_version = schema_version() };
    if (lstat(path, &found) != 0 && errno == ENOENT) {
        out->outcome = INSPECT_ABSENT;
        return;
    }
    rc = store_open_read_only(path, BUSY_MS, &db);
    out->outcome = INSPECT_UNREADABLE;
    if (rc == SQLITE_OK)
        out->outcome = judge(db, now_utc_ms, out);
    if (out->outcome == INSPECT_UNREADABLE)
        snprintf(out->message, sizeof out->message, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}
