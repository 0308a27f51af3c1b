/*
 * inspect.c - see inspect.h.
 * A file nobody has open has no log; it is read as if it could not change, since a reader of a
 * file with a log would leave files behind.
 */
#include "store/inspect.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/failure.h"
#include "store/schema.h"

enum { BUSY_MS = 1000 };

static bool has_log(const char *path)
{
    char *name = mem_format("%s-wal", path);
    bool is_there = access(name, F_OK) == 0;

    free(name);
    return is_there;
}

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

char *store_read_only_address(const char *path)
{
    return address_of(path, !has_log(path));
}

static bool read_first(sqlite3 *db, const char *sql, int64_t parameter, const char **ret_text,
                       int64_t *ret_number, sqlite3_stmt **ret_statement)
{
    bool ok = sqlite3_prepare_v2(db, sql, -1, ret_statement, NULL) == SQLITE_OK;

    if (ok && sqlite3_bind_parameter_count(*ret_statement) > 0)
        sqlite3_bind_int64(*ret_statement, 1, parameter);
    ok = ok && sqlite3_step(*ret_statement) == SQLITE_ROW;
    if (ok && ret_text)
        *ret_text = (const char *)sqlite3_column_text(*ret_statement, 0);
    if (ok && ret_number)
        *ret_number = sqlite3_column_int64(*ret_statement, 0);
    return ok;
}

static bool read_number(sqlite3 *db, const char *sql, int64_t parameter, int64_t *ret_number)
{
    sqlite3_stmt *statement = NULL;
    bool ok = read_first(db, sql, parameter, NULL, ret_number, &statement);

    sqlite3_finalize(statement);
    return ok;
}

static bool are_pages_whole(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    const char *verdict = NULL;
    bool ok = read_first(db, "PRAGMA quick_check(1)", 0, &verdict, NULL, &statement) && verdict &&
              strcmp(verdict, "ok") == 0;

    sqlite3_finalize(statement);
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
    if (read_number(db, "PRAGMA user_version", 0, &version))
        out->version = (int)version;
    if (outcome != INSPECT_WHOLE)
        return outcome;
    if (!are_pages_whole(db))
        return failure_was_disk(db) ? INSPECT_UNREADABLE : INSPECT_DAMAGED;
    if (version > 0 &&
        (!read_number(db,
                      "SELECT count(*) FROM tokens WHERE revoked_ms = 0 AND kind IN"
                      " ('agent', 'host') AND (expires_ms = 0 OR expires_ms > ?1)",
                      now_utc_ms, &out->agent_tokens) ||
         !read_number(db,
                      "SELECT count(*) FROM tokens WHERE revoked_ms = 0"
                      " AND (expires_ms = 0 OR expires_ms > ?1)",
                      now_utc_ms, &out->all_tokens) ||
         !read_number(db,
                      "SELECT count(*) FROM tokens WHERE revoked_ms = 0 AND expires_ms > 0"
                      " AND expires_ms <= ?1",
                      now_utc_ms, &out->expired_tokens)))
        return INSPECT_DAMAGED;
    if (version > 0 &&
        read_number(db, "SELECT count(*) FROM meta WHERE name = 'importing'", 0, &importing))
        outcome = importing > 0 ? INSPECT_IMPORTING : outcome;
    return outcome;
}

void store_inspect(const char *path, int64_t now_utc_ms, struct inspection *ret_inspection)
{
    struct inspection *out = ret_inspection;
    sqlite3 *db = NULL;
    struct stat found;
    char *address;
    int rc;

    *out = (struct inspection){ .our_version = schema_version() };
    if (lstat(path, &found) != 0 && errno == ENOENT) {
        out->outcome = INSPECT_ABSENT;
        return;
    }
    address = store_read_only_address(path);
    rc = sqlite3_open_v2(address, &db,
                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW |
                             SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                         NULL);
    free(address);
    if (!db)
        abort(); /* out of memory, as everywhere */
    sqlite3_busy_timeout(db, BUSY_MS);
    out->outcome = INSPECT_UNREADABLE;
    if (rc == SQLITE_OK)
        out->outcome = judge(db, now_utc_ms, out);
    if (out->outcome == INSPECT_UNREADABLE)
        snprintf(out->message, sizeof out->message, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}
