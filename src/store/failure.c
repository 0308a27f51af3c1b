/* failure.c - see failure.h. */
#include "store/failure.h"

#include <errno.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"
#include "i18n/i18n.h"

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
/* A write that did not happen leaves no doubt about the file; a sync that failed always does. */
static const struct {
    int system;
    enum failure failure;
} by_errno[] = {
    { ENOSPC, FAILURE_FULL },
    { EFBIG, FAILURE_FULL },
    { EDQUOT, FAILURE_FULL },
    { EROFS, FAILURE_READ_ONLY },
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

static enum failure failure_of_errno(int system)
{
    for (size_t i = 0; i < ARRAY_LEN(by_errno); i++) {
        if (by_errno[i].system == system)
            return by_errno[i].failure;
    }
    return FAILURE_BROKEN;
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
