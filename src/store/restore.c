/*
 * restore.c - reads a backup in; see backup.h. meta.importing names the backup that is not complete
 * yet. Events come first and in order, so that each is checked against the one before it and a
 * second attempt knows from the last one where the first ended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/backup.h"
#include "store/failure.h"
#include "store/restore_inside.h"
#include "store/schema.h"
#include "store/statement.h"

bool restore_is_done(struct restore *restore, int rc, struct error *err)
{
    if (rc == SQLITE_OK || err->code)
        return rc == SQLITE_OK;
    if (failure_of(restore->database.writer, rc) == FAILURE_JOB)
        return backup_is_damaged(&restore->place, "it contradicts another line", err);
    failure_describe(failure_of(restore->database.writer, rc), restore->database.writer,
                     restore->database.path, err);
    return false;
}

static int run(struct restore *restore, const char *sql)
{
    return sqlite3_exec(restore->database.writer, sql, NULL, NULL, NULL);
}

static bool is_last_known(struct restore *restore)
{
    int64_t is_known = 1;

    statement_number(restore->database.writer,
                     "SELECT body IS NOT NULL FROM events ORDER BY seq DESC LIMIT 1", &is_known);
    return is_known != 0;
}

struct restore *restore_open(const char *path, struct error *err)
{
    struct restore *restore = mem_new(sizeof *restore);
    int rc;

    *err = (struct error){ 0 };
    if (!database_open(path, NULL, &restore->database, err)) {
        free(restore);
        return NULL;
    }
    rc = event_head_read(restore->database.writer, &restore->last);
    if (restore_is_done(restore, rc, err)) {
        restore->first_seq = restore->last.seq;
        restore->is_last_known = is_last_known(restore);
        return restore;
    }
    restore_close(restore);
    return NULL;
}

void restore_close(struct restore *restore)
{
    if (!restore)
        return;
    for (int i = 0; i < BACKUP_TABLES; i++)
        sqlite3_finalize(restore->inserts[i]);
    sqlite3_finalize(restore->look);
    if (restore->is_begun)
        run(restore, "ROLLBACK");
    database_close(&restore->database, true);
    free(restore);
}

/* Names the backup by its first line. */
static void name_backup(const struct restore *restore, char out[HASH_HEX_BYTES])
{
    hash_hex(restore->place.hash, HASH_BYTES, out);
}

static int read_marker(struct restore *restore, char out[HASH_HEX_BYTES])
{
    static const char sql[] = "SELECT value FROM meta WHERE name = 'importing'";
    sqlite3_stmt *read = NULL;
    int rc = sqlite3_prepare_v2(restore->database.writer, sql, -1, &read, NULL);

    out[0] = '\0';
    if (rc == SQLITE_OK && sqlite3_step(read) == SQLITE_ROW &&
        sqlite3_column_bytes(read, 0) == HASH_HEX_BYTES - 1)
        memcpy(out, sqlite3_column_text(read, 0), HASH_HEX_BYTES);
    sqlite3_finalize(read);
    return rc;
}

int restore_begin(struct restore *restore)
{
    int rc = restore->is_begun ? SQLITE_OK : run(restore, "BEGIN IMMEDIATE");

    restore->is_begun = rc == SQLITE_OK;
    return rc;
}

static int save_head(struct restore *restore)
{
    static const char sql[] = "UPDATE counter SET seq = ?1, hash = ?2, unsettled = 1";
    sqlite3_stmt *update = NULL;
    int rc = sqlite3_prepare_v2(restore->database.writer, sql, -1, &update, NULL);

    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(update, 1, restore->last.seq);
        sqlite3_bind_blob(update, 2, restore->last.hash, HASH_BYTES, SQLITE_STATIC);
        rc = sqlite3_step(update) == SQLITE_DONE
                 ? SQLITE_OK
                 : sqlite3_extended_errcode(restore->database.writer);
    }
    sqlite3_finalize(update);
    return rc;
}

int restore_commit(struct restore *restore)
{
    int rc = SQLITE_OK;

    if (!restore->is_begun)
        return SQLITE_OK;
    if (restore->mode == RESTORE_FRESH)
        rc = save_head(restore);
    CRASH_POINT(restore_before_commit);
    if (rc == SQLITE_OK)
        rc = run(restore, "COMMIT");
    CRASH_POINT(restore_after_commit);
    if (rc == SQLITE_OK)
        rc = sqlite3_wal_checkpoint_v2(restore->database.writer, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                       NULL, NULL);
    restore->is_begun = restore->is_begun && rc != SQLITE_OK;
    restore->in_batch = 0;
    return rc;
}

/* Takes back what an earlier backup brought that was never complete. */
static int forget_begun(struct restore *restore)
{
    int rc = restore_begin(restore);

    if (rc == SQLITE_OK)
        rc = run(restore, "DELETE FROM asks; DELETE FROM events; DELETE FROM drafts;"
                          "DELETE FROM conversations; DELETE FROM principals;"
                          "DELETE FROM meta WHERE name = 'importing';"
                          "UPDATE counter SET seq = 0, hash = zeroblob(32), unsettled = 1");
    restore->first_seq = 0;
    restore->last = (struct event_head){ 0 };
    restore->is_last_known = true;
    return rc == SQLITE_OK ? restore_commit(restore) : rc;
}

bool restore_discard(struct restore *restore, bool *ret_was_begun, struct error *err)
{
    char marker[HASH_HEX_BYTES];
    int rc = read_marker(restore, marker);

    *err = (struct error){ 0 };
    *ret_was_begun = marker[0] != '\0';
    if (rc == SQLITE_OK && *marker)
        rc = forget_begun(restore);
    return restore_is_done(restore, rc, err);
}

/* Whether this backup may be read into this store at all. */
static bool take_head(struct restore *restore, const struct backup_head *head, struct error *err)
{
    char ours[HASH_HEX_BYTES], marker[HASH_HEX_BYTES];
    char *sql;
    int rc = read_marker(restore, marker);

    restore->head = *head;
    name_backup(restore, ours);
    if (!restore_is_done(restore, rc, err))
        return false;
    if (head->schema > schema_version())
        return error_set(err, ERROR_bad_format, "",
                         "this backup was written by a newer sayso: install that one");
    if (*marker && strcmp(marker, ours) == 0)
        return true;
    if (*marker) /* no hub had it since: nothing in it is anybody's own */
        rc = forget_begun(restore);
    if (restore->first_seq > 0 && restore->first_seq < head->seq)
        return error_set(
            err, ERROR_wrong_state, "",
            "the store holds asks of its own: a backup is read into an empty one; move "
            "it away first (sayso status tells where it is)");
    if (restore->first_seq > 0) {
        restore->mode = RESTORE_COMPARE;
        return true;
    }
    if (rc == SQLITE_OK)
        rc = restore_begin(restore);
    sql = sqlite3_mprintf("INSERT INTO meta VALUES ('importing', %Q)", ours);
    if (rc == SQLITE_OK)
        rc = sql ? run(restore, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (rc == SQLITE_OK)
        rc = restore_commit(restore);
    return restore_is_done(restore, rc, err);
}

bool restore_line(struct restore *restore, const char *bytes, size_t length, struct error *err)
{
    struct backup_line line;
    bool ok;

    *err = (struct error){ 0 };
    ok = backup_line_read(&restore->place, bytes, length, &line, err);
    if (ok && line.kind == BACKUP_HEAD)
        ok = take_head(restore, &line.head, err);
    else if (ok && line.kind == BACKUP_ROW)
        ok = restore_row(restore, &line, err);
    backup_line_release(&line);
    return ok;
}

/* An ask whose texts are not there could not be shown; one that came twice is there once. */
static int check_asks(struct restore *restore, bool *ret_is_good)
{
    static const char sql[] = "SELECT count(*), count(t.form) FROM asks k LEFT JOIN events t"
                              " ON t.seq = k.number AND t.ask = k.id";
    sqlite3_stmt *count = NULL;
    int rc = sqlite3_prepare_v2(restore->database.writer, sql, -1, &count, NULL);

    *ret_is_good =
        rc == SQLITE_OK && sqlite3_step(count) == SQLITE_ROW &&
        sqlite3_column_int64(count, 0) == sqlite3_column_int64(count, 1) &&
        (restore->mode == RESTORE_COMPARE || sqlite3_column_int64(count, 0) == restore->asks);
    sqlite3_finalize(count);
    return rc;
}

bool restore_finish(struct restore *restore, struct restored *out, struct error *err)
{
    int64_t bad = 0;
    bool are_asks_good = false;
    int rc;

    *err = (struct error){ 0 };
    if (!restore->place.is_over)
        return backup_is_short(&restore->place, err);
    rc = restore_commit(restore);
    if (rc == SQLITE_OK)
        rc = event_check_chain(restore->database.writer, &bad);
    if (rc == SQLITE_OK)
        rc = check_asks(restore, &are_asks_good);
    if (rc == SQLITE_OK && (bad || !are_asks_good || restore->last.seq < restore->head.seq))
        return error_set(err, ERROR_bad_format, "",
                         "the backup contradicts itself: run sayso import --discard, or import "
                         "another one");
    if (rc == SQLITE_OK)
        rc = run(restore, "DELETE FROM meta WHERE name = 'importing'");
    CRASH_POINT(restore_finished);
    *out = (struct restored){ restore->place.line, restore->added };
    return restore_is_done(restore, rc, err);
}
