/*
 * database.c - Whether a file is damaged is asked at every start of a small file; of a large one
 * only when the last run did not end cleanly, which its log tells by being there.
 */
#include "store/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/event.h"
#include "store/sqlite/log_vfs.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/statement.h"

enum {
    READER_BUSY_MS = 1000, /* the loop stands still for so long */
    SMALL_BYTES = 16 * 1024 * 1024,
};
static const char shared_pragmas[] =
    "PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0; PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY;";
static const char writer_pragmas[] =
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA journal_size_limit = 8388608; PRAGMA synchronous = FULL;";
static const char *const suffixes[] = { "", "-wal", "-shm" };

enum open_outcome { OPENED, DAMAGED, REFUSED };

static enum open_outcome refused(sqlite3 *db, int rc, const char *path, struct error *err)
{
    enum failure failure = failure_of(db, rc);

    if (failure_is_corruption(rc))
        return DAMAGED;
    if (failure == FAILURE_BROKEN && os_free_bytes(path) == 0)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_FULL, "path", path, NULL);
    else if (failure == FAILURE_BROKEN)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_CHECK_DISK, "path", path,
                  "reason", sqlite3_errmsg(db), NULL);
    else
        failure_describe(failure, db, path, err);
    return REFUSED;
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? mem_text_n(path, (size_t)(slash - path) + 1) : mem_text(".");
}

char *database_resolve(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = directory_of(path);
    char *real = realpath(directory, NULL);
    char *whole = real ? mem_format("%s/%s", real, slash ? slash + 1 : path) : NULL;

    free(directory);
    free(real);
    return whole;
}

static char *resolve(const char *path, struct error *err)
{
    char *whole = database_resolve(path);
    const char *why = strerror(errno);
    char *directory = directory_of(path);

    if (!whole)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_NO_DIRECTORY, "path", directory,
                  "reason", why, NULL);
    free(directory);
    return whole;
}

/* Made before SQLite sees it: log and index take their mode from this file whatever the umask. */
static bool prepare_file(const char *path, bool *ret_is_large, struct error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat info;
    bool ok = false;

    if (fd < 0 && errno == ELOOP)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_LINK, "path", path, NULL);
    else if (fd < 0 || fstat(fd, &info) != 0)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_CHECK_MODE, "path", path,
                  "reason", strerror(errno), NULL);
    else if (!S_ISREG(info.st_mode))
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_NO_FILE, "path", path, NULL);
    else if ((info.st_mode & 077) != 0 && fchmod(fd, 0600) != 0)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_READABLE, "path", path, NULL);
    else
        ok = true;
    if (ok)
        *ret_is_large = info.st_size > SMALL_BYTES;
    if (fd >= 0)
        close(fd);
    CRASH_POINT(store_file_made);
    return ok;
}

/* An older log may have been copied here with any mode. */
static bool check_modes(const char *path, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < ARRAY_LEN(suffixes); i++) {
        char *name = mem_format("%s%s", path, suffixes[i]);
        struct stat info;

        if (lstat(name, &info) == 0 && (info.st_mode & 077) != 0 &&
            (!S_ISREG(info.st_mode) || chmod(name, 0600) != 0))
            ok = error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_OPEN, "path", name,
                           NULL);
        free(name);
    }
    return ok;
}

bool database_has_log(const char *path)
{
    char *name = mem_format("%s-wal", path);
    bool exists = access(name, F_OK) == 0;

    free(name);
    return exists;
}

static sqlite3 *connect(const char *path, const char *vfs_name, int flags)
{
    sqlite3 *db = NULL;

    flags |= SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
             SQLITE_OPEN_EXRESCODE;
    sqlite3_open_v2(path, &db, flags, vfs_name);
    if (!db)
        abort(); /* out of memory, as everywhere */
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return db;
}

int database_check_pages(sqlite3 *db)
{
    struct statement check = statement_once(db, "PRAGMA quick_check(1)");
    const char *first =
        statement_step(&check) ? (const char *)sqlite3_column_text(check.handle, 0) : NULL;
    bool is_whole = first && strcmp(first, "ok") == 0;
    int rc = statement_end(&check);

    return rc == SQLITE_OK && !is_whole ? SQLITE_CORRUPT : rc;
}

static enum open_outcome judge(sqlite3 *db, enum schema_outcome schema, const char *path,
                               struct error *err)
{
    switch (schema) {
    case SCHEMA_READY:
        return OPENED;
    case SCHEMA_DAMAGED:
        return DAMAGED;
    case SCHEMA_FAILED:
        return refused(db, sqlite3_extended_errcode(db), path, err);
    case SCHEMA_FOREIGN:
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_FOREIGN, "path", path, NULL);
        return REFUSED;
    case SCHEMA_NEWER:
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_NEWER, "path", path, "version",
                  TEXT_NUMBER(schema_version()), NULL);
        return REFUSED;
    }
    return REFUSED;
}

/* Looks before it changes anything: the file may be a newer sayso's, or not ours at all. */
static enum open_outcome set_up(sqlite3 *db, bool needs_check, const char *path, struct error *err)
{
    struct event_head head;
    enum open_outcome outcome;
    int rc = statement_exec(db, shared_pragmas);

    if (rc != SQLITE_OK)
        return refused(db, rc, path, err);
    outcome = judge(db, schema_look(db), path, err);
    if (outcome != OPENED)
        return outcome;
    if (needs_check)
        rc = database_check_pages(db);
    if (rc == SQLITE_OK)
        rc = statement_exec(db, writer_pragmas);
    CRASH_POINT(store_log_on);
    if (rc != SQLITE_OK)
        return refused(db, rc, path, err);
    outcome = judge(db, schema_upgrade(db), path, err);
    if (outcome != OPENED)
        return outcome;
    /* What a killed process left in the log may not be on disk, and will be acknowledged so. */
    rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = event_head_read(db, &head);
    return rc == SQLITE_OK ? OPENED : refused(db, rc, path, err);
}

static enum open_outcome open_writer(struct database *database, const char *vfs_name,
                                     struct error *err)
{
    enum open_outcome outcome;
    bool is_large, had_log = database_has_log(database->path);
    sqlite3 *db;
    int rc;

    if (!prepare_file(database->path, &is_large, err))
        return REFUSED;
    db =
        connect(database->path, log_vfs_over(vfs_name), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    rc = sqlite3_extended_errcode(db);
    sqlite3_busy_timeout(db, DATABASE_BUSY_MS);
    if (rc == SQLITE_OK)
        outcome = set_up(db, had_log || !is_large, database->path, err);
    else
        outcome = refused(db, rc, database->path, err);
    if (outcome == DAMAGED && failure_was_disk(db)) {
        /* what could not be read looks damaged as well, and would be moved aside for nothing */
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_UNREADABLE, "path",
                  database->path, NULL);
        outcome = REFUSED;
    }
    if (outcome == OPENED)
        database->writer = db;
    else
        sqlite3_close(db);
    return outcome;
}

/* Reads right away: log and index are opened then, and later there may be no descriptors left. */
static bool open_reader(struct database *database, const char *vfs_name, struct error *err)
{
    struct event_head head;
    int rc;

    database->reader = connect(database->path, vfs_name, SQLITE_OPEN_READONLY);
    rc = sqlite3_extended_errcode(database->reader);
    sqlite3_busy_timeout(database->reader, READER_BUSY_MS);
    if (rc == SQLITE_OK)
        rc = statement_exec(database->reader, shared_pragmas);
    if (rc == SQLITE_OK)
        rc = event_head_read(database->reader, &head);
    if (rc == SQLITE_OK)
        return true;
    if (refused(database->reader, rc, database->path, err) == DAMAGED)
        failure_describe(FAILURE_BROKEN, database->reader, database->path, err);
    return false;
}

/* A damaged file is moved out of the way, never over anything that is there. The log goes first: a
 * log left beside a new, empty file would be played into it, while a damaged file without its log
 * is found damaged again. */
enum { QUARANTINE_TRIES = 100 };
static const char *const moved_first_to_last[] = { "-wal", "-shm", "-journal", "" };

static bool is_free(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(moved_first_to_last); i++) {
        char *name = mem_format("%s%s", path, moved_first_to_last[i]);
        bool exists = access(name, F_OK) == 0 || errno != ENOENT;

        free(name);
        if (exists)
            return false;
    }
    return true;
}

static char *find_name(const char *path)
{
    time_t now = time(NULL);
    struct tm utc;
    char stamp[32];

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 1; i <= QUARANTINE_TRIES; i++) {
        char *name = i == 1 ? mem_format("%s.damaged-%s", path, stamp)
                            : mem_format("%s.damaged-%s-%d", path, stamp, i);

        if (is_free(name))
            return name;
        free(name);
    }
    return NULL;
}

static bool move_one(const char *path, const char *to, const char *suffix)
{
    char *from_name = mem_format("%s%s", path, suffix);
    char *to_name = mem_format("%s%s", to, suffix);
    bool ok = os_rename_new(from_name, to_name) || errno == ENOENT;

    free(from_name);
    free(to_name);
    CRASH_POINT(store_moved_aside);
    return ok;
}

/* ret_path: owned; where the file is now. Its log goes with it. */
static bool quarantine_move(const char *path, char **ret_path, struct error *err)
{
    char *to = find_name(path);

    for (size_t i = 0; to && i < ARRAY_LEN(moved_first_to_last); i++) {
        if (!move_one(path, to, moved_first_to_last[i])) {
            error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_NOT_MOVED, "path", path,
                      "reason", strerror(errno), NULL);
            free(to);
            return false;
        }
    }
    if (!to)
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_COPIES, "path", path,
                         NULL);
    *ret_path = to;
    return true;
}

static bool remember_quarantine(sqlite3 *db, const char *quarantine, const char *path,
                                struct error *err)
{
    char *sql = sqlite3_mprintf("INSERT INTO meta VALUES ('recovered_from', %Q)", quarantine);
    int rc = sql ? statement_exec(db, sql) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (rc != SQLITE_OK)
        failure_describe(failure_of(db, rc), db, path, err);
    return rc == SQLITE_OK;
}

/* Starts empty beside the damaged file. */
static bool begin_again(struct database *database, const char *vfs_name, struct error *err)
{
    enum open_outcome outcome;
    char *quarantine = NULL;
    bool ok = false;

    if (!quarantine_move(database->path, &quarantine, err))
        return false;
    outcome = open_writer(database, vfs_name, err);
    if (outcome == OPENED)
        ok = remember_quarantine(database->writer, quarantine, database->path, err);
    else if (outcome == DAMAGED)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_STORE_DAMAGED_AGAIN, "path",
                  database->path, NULL);
    free(quarantine);
    return ok;
}

bool database_open(const char *path, const char *vfs_name, struct database *out, struct error *err)
{
    struct database database = { .path = resolve(path, err) };
    mode_t before = umask(077);
    bool ok = false;

    if (database.path) {
        enum open_outcome outcome = open_writer(&database, vfs_name, err);

        ok = outcome == OPENED || (outcome == DAMAGED && begin_again(&database, vfs_name, err));
    }
    ok = ok && open_reader(&database, vfs_name, err) && check_modes(database.path, err);
    umask(before);
    if (ok)
        *out = database;
    else
        database_close(&database, false);
    return ok;
}

void database_close(struct database *database, bool is_clean)
{
    sqlite3_close(database->reader);
    if (database->writer && is_clean)
        sqlite3_db_config(database->writer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    sqlite3_close(database->writer);
    free(database->path);
    *database = (struct database){ 0 };
}

static const struct {
    int rc;
    enum failure failure;
} by_code[] = {
    { SQLITE_FULL, FAILURE_FULL },       { SQLITE_READONLY, FAILURE_READ_ONLY },
    { SQLITE_BUSY, FAILURE_BUSY },       { SQLITE_LOCKED, FAILURE_BUSY },
    { SQLITE_NOMEM, FAILURE_MEMORY },    { SQLITE_IOERR, FAILURE_BROKEN },
    { SQLITE_CORRUPT, FAILURE_BROKEN },  { SQLITE_NOTADB, FAILURE_BROKEN },
    { SQLITE_CANTOPEN, FAILURE_BROKEN }, { SQLITE_PROTOCOL, FAILURE_BROKEN },
};
static const enum text_id remedies[FAILURE_COUNT] = {
    [FAILURE_JOB] = TEXT_REASON_WRITE_REFUSED,        [FAILURE_FULL] = TEXT_REASON_DISK_FULL,
    [FAILURE_READ_ONLY] = TEXT_REASON_DISK_READ_ONLY, [FAILURE_BUSY] = TEXT_REASON_DISK_BUSY,
    [FAILURE_MEMORY] = TEXT_REASON_NO_MEMORY,         [FAILURE_BROKEN] = TEXT_REASON_DISK_FAILED,
};

/* Of the file, then of its log; SQLite does not tell which of them failed. A failed commit leaves
 * no trace in sqlite3_system_errno, so the files are asked. */
static void last_errors(sqlite3 *db, int out[2])
{
    sqlite3_file *log = NULL;

    out[0] = out[1] = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &out[0]);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &out[1]);
}

/* A write that did not happen leaves no doubt about the file; a sync that failed always does. */
static enum failure failure_of_errno(int system)
{
    if (system == ENOSPC || system == EFBIG || system == EDQUOT)
        return FAILURE_FULL;
    return system == EROFS ? FAILURE_READ_ONLY : FAILURE_BROKEN;
}

static enum failure failure_of_write(sqlite3 *db)
{
    enum failure failure = FAILURE_BROKEN;
    int errors[2];

    last_errors(db, errors);
    for (int i = 0; i < 2; i++) {
        if (errors[i] == 0)
            continue;
        failure = failure_of_errno(errors[i]);
        if (failure == FAILURE_BROKEN)
            break;
    }
    return failure;
}

enum failure failure_of(sqlite3 *db, int rc)
{
    if (rc == SQLITE_IOERR_WRITE)
        return failure_of_write(db);
    if (rc == SQLITE_IOERR_NOMEM)
        return FAILURE_MEMORY;
    for (size_t i = 0; i < ARRAY_LEN(by_code); i++) {
        if (by_code[i].rc == (rc & 0xff))
            return by_code[i].failure;
    }
    return FAILURE_JOB;
}

bool failure_was_disk(sqlite3 *db)
{
    int errors[2];

    last_errors(db, errors);
    return errors[0] != 0 || errors[1] != 0;
}

bool failure_is_corruption(int rc)
{
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
}

void failure_describe(enum failure failure, sqlite3 *db, const char *path, struct error *err)
{
    error_say(err, ERROR_storage_failed, "", remedies[failure], "path", path, "reason",
              sqlite3_errmsg(db), NULL);
}
