/*
 * log_vfs.c - see log_vfs.h. Other files than logs are the base's own and never come here.
 *
 * The log is a header and frames, each frame 24 bytes and a page (SQLite, walformat). Bytes 4 to 7
 * of a frame's header are zero unless the frame ends a transaction. Held is only what continues
 * the last write: what goes elsewhere is written immediately, as is everything about a frame whose
 * header was not seen or ends a transaction.
 */
#include "store/sqlite/log_vfs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    FRAME_HEADER_BYTES = 24,
    HELD_MAX = 31 * 4120, /* SQLite's own VFS takes less than 128 KB in one write */
};

struct log_vfs {
    sqlite3_vfs vfs; /* the base's but for xOpen */
    sqlite3_vfs *base;
};

struct log_file {
    sqlite3_file file;
    sqlite3_file *real; /* behind this struct, in the same memory */
    char *held;         /* owned, HELD_MAX; NULL until needed */
    int used;
    sqlite3_int64 end; /* of the last write, what is held included; -1: none yet */
    bool ends_transaction;
};

/* What could not be written is not tried again: SQLite was told. */
static int flush(struct log_file *log)
{
    int used = log->used;

    log->used = 0;
    if (used == 0)
        return SQLITE_OK;
    return log->real->pMethods->xWrite(log->real, log->held, used, log->end - used);
}

static int write_through(struct log_file *log, const void *bytes, int amount, sqlite3_int64 offset)
{
    int rc = flush(log);

    log->end = offset + amount;
    return rc == SQLITE_OK ? log->real->pMethods->xWrite(log->real, bytes, amount, offset) : rc;
}

static bool ends_transaction(const unsigned char *header)
{
    return header[4] | header[5] | header[6] | header[7];
}

static int log_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset)
{
    struct log_file *log = (struct log_file *)file;
    bool is_header = amount == FRAME_HEADER_BYTES;
    int rc = SQLITE_OK;

    if (is_header)
        log->ends_transaction = ends_transaction(bytes);
    if (offset != log->end || amount > HELD_MAX)
        return write_through(log, bytes, amount, offset);
    if (amount > HELD_MAX - log->used)
        rc = flush(log);
    if (rc != SQLITE_OK)
        return rc;
    if (!log->held)
        log->held = mem_resize(NULL, HELD_MAX);
    memcpy(log->held + log->used, bytes, (size_t)amount);
    log->used += amount;
    log->end += amount;
    return is_header || !log->ends_transaction ? SQLITE_OK : flush(log);
}

static int log_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset)
{
    struct log_file *log = (struct log_file *)file;
    int rc = flush(log);

    return rc == SQLITE_OK ? log->real->pMethods->xRead(log->real, out, amount, offset) : rc;
}

/* The log is cut when it was folded into the file because nothing goes on: the memory goes too. */
static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *log = (struct log_file *)file;
    int rc = flush(log);

    free(log->held);
    log->held = NULL;
    return rc == SQLITE_OK ? log->real->pMethods->xTruncate(log->real, size) : rc;
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *log = (struct log_file *)file;
    int rc = flush(log);

    return rc == SQLITE_OK ? log->real->pMethods->xSync(log->real, flags) : rc;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    struct log_file *log = (struct log_file *)file;
    int rc = flush(log);

    return rc == SQLITE_OK ? log->real->pMethods->xFileSize(log->real, ret_size) : rc;
}

static int log_close(sqlite3_file *file)
{
    struct log_file *log = (struct log_file *)file;
    int rc = flush(log), closed;

    free(log->held);
    log->held = NULL;
    closed = log->real->pMethods->xClose(log->real);
    return rc == SQLITE_OK ? closed : rc;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct log_file *)file)->real;
}

static int log_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int log_check_lock(sqlite3_file *file, int *ret_held)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_held);
}

static int log_control(sqlite3_file *file, int what, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int log_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int log_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1, /* a log is not mapped, and its index is the main file's */
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

static int log_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *ret_flags)
{
    sqlite3_vfs *base = ((struct log_vfs *)vfs)->base;
    struct log_file *log = (struct log_file *)file;
    int rc;

    if (!(flags & SQLITE_OPEN_WAL))
        return base->xOpen(base, name, file, flags, ret_flags);
    *log = (struct log_file){ .real = (sqlite3_file *)(log + 1), .end = -1 };
    log->real->pMethods = NULL;
    rc = base->xOpen(base, name, log->real, flags, ret_flags);
    if (log->real->pMethods) /* must be closed, even after a failure */
        log->file.pMethods = &log_methods;
    return rc;
}

const char *log_vfs_over(const char *base_name)
{
    sqlite3_vfs *base = sqlite3_vfs_find(base_name);
    struct log_vfs *added;
    sqlite3_vfs *found;
    char *name;

    if (!base)
        return NULL;
    name = mem_format("sayso-log-%s", base->zName);
    found = sqlite3_vfs_find(name);
    if (found) {
        free(name);
        return found->zName;
    }
    added = mem_new(sizeof *added); /* SQLite keeps it until the process ends */
    *added = (struct log_vfs){ *base, base };
    added->vfs.pNext = NULL;
    added->vfs.zName = name;
    added->vfs.szOsFile += (int)sizeof(struct log_file);
    added->vfs.xOpen = log_open;
    if (sqlite3_vfs_register(&added->vfs, 0) != SQLITE_OK)
        abort(); /* out of memory, as everywhere */
    return name;
}
