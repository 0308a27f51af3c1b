/* fault_vfs.c - see fault_vfs.h. Two threads do I/O, so everything shared is under one lock. */
#include "fault_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct fault_file {
    sqlite3_file base;
    enum fault_file_kind kind;
    bool is_watched, has_failed;
    sqlite3_file *real; /* behind this struct, in the same memory */
};

static const int failures[] = {
    [FAULT_WRITE] = SQLITE_IOERR_WRITE,       [FAULT_SYNC] = SQLITE_IOERR_FSYNC,
    [FAULT_TRUNCATE] = SQLITE_IOERR_TRUNCATE, [FAULT_OPEN] = SQLITE_CANTOPEN,
    [FAULT_DELETE] = SQLITE_IOERR_DELETE,     [FAULT_READ] = SQLITE_IOERR_READ,
};

static sqlite3_vfs fault_vfs, *real_vfs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_plan plan;
static long counted;
static bool has_failed;
static struct fault_log *recorded;

void fault_vfs_plan(struct fault_plan next)
{
    pthread_mutex_lock(&lock);
    plan = next;
    counted = 0;
    has_failed = false;
    pthread_mutex_unlock(&lock);
}

long fault_vfs_count(void)
{
    long count;

    pthread_mutex_lock(&lock);
    count = counted;
    pthread_mutex_unlock(&lock);
    return count;
}

bool fault_vfs_has_failed(void)
{
    bool answer;

    pthread_mutex_lock(&lock);
    answer = has_failed;
    pthread_mutex_unlock(&lock);
    return answer;
}

void fault_vfs_record(struct fault_log *log)
{
    pthread_mutex_lock(&lock);
    recorded = log;
    pthread_mutex_unlock(&lock);
}

size_t fault_vfs_position(void)
{
    size_t position;

    pthread_mutex_lock(&lock);
    position = recorded ? recorded->count : 0;
    pthread_mutex_unlock(&lock);
    return position;
}

void fault_log_release(struct fault_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->entries[i].bytes);
    free(log->entries);
    *log = (struct fault_log){ 0 };
}

static void write_down(const struct fault_entry *entry, const void *bytes)
{
    struct fault_entry *added;

    if (!recorded || entry->act == FAULT_READ)
        return;
    if (recorded->count == recorded->capacity) {
        recorded->capacity = recorded->capacity * 2 + 64;
        recorded->entries =
            mem_resize(recorded->entries, recorded->capacity * sizeof *recorded->entries);
    }
    added = &recorded->entries[recorded->count++];
    *added = *entry;
    if (bytes)
        added->bytes = mem_text_n(bytes, entry->length);
}

/* The one place every act passes: SQLITE_OK, or how it fails. */
static int act(const struct fault_entry *entry, const void *bytes)
{
    int rc = SQLITE_OK;

    pthread_mutex_lock(&lock);
    if (plan.acts >> entry->act & 1) {
        counted++;
        if (plan.at > 0 && (counted == plan.at || (plan.stays && counted > plan.at)))
            rc = plan.is_full ? SQLITE_FULL : failures[entry->act];
    }
    if (rc == SQLITE_OK) {
        write_down(entry, bytes);
    } else {
        has_failed = true;
        errno = EIO;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static int act_on(sqlite3_file *file, enum fault_act what, int64_t offset, size_t length,
                  const void *bytes)
{
    struct fault_file *fault = (struct fault_file *)file;
    struct fault_entry entry = {
        .act = what, .file = fault->kind, .offset = offset, .length = length
    };

    int rc = fault->is_watched ? act(&entry, bytes) : SQLITE_OK;

    if (rc != SQLITE_OK)
        fault->has_failed = true;
    return rc;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

static int fault_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int fault_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset)
{
    int rc = act_on(file, FAULT_READ, offset, (size_t)amount, NULL);

    return rc ? rc : real_of(file)->pMethods->xRead(real_of(file), out, amount, offset);
}

static int fault_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset)
{
    int rc = act_on(file, FAULT_WRITE, offset, (size_t)amount, bytes);

    return rc ? rc : real_of(file)->pMethods->xWrite(real_of(file), bytes, amount, offset);
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = act_on(file, FAULT_TRUNCATE, size, 0, NULL);

    return rc ? rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int fault_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    return act_on(file, FAULT_SYNC, 0, 0, NULL);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int fault_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int fault_check_lock(sqlite3_file *file, int *ret_held)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_held);
}

static int fault_control(sqlite3_file *file, int what, void *argument)
{
    if (what == SQLITE_FCNTL_LAST_ERRNO && ((struct fault_file *)file)->has_failed) {
        *(int *)argument = EIO;
        return SQLITE_OK;
    }
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int fault_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int fault_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend,
                         void volatile **ret_memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret_memory);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int fault_shm_unmap(sqlite3_file *file, int removes)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), removes);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_traits,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static enum fault_file_kind kind_of(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    if (length > 4 && strcmp(name + length - 4, "-wal") == 0)
        return FAULT_LOG;
    if (length > 8 && strcmp(name + length - 8, "-journal") == 0)
        return FAULT_JOURNAL;
    return FAULT_MAIN;
}

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *ret_flags)
{
    struct fault_file *fault = (struct fault_file *)file;
    int rc;

    (void)vfs;
    memset(fault, 0, sizeof *fault);
    fault->real = (sqlite3_file *)(fault + 1);
    fault->kind = kind_of(name);
    fault->is_watched =
        (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    rc = act_on(file, FAULT_OPEN, 0, 0, NULL);
    if (rc == SQLITE_OK)
        rc = real_vfs->xOpen(real_vfs, name, fault->real, flags, ret_flags);
    fault->base.pMethods = rc == SQLITE_OK ? &fault_methods : NULL;
    return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int syncs_directory)
{
    struct fault_entry entry = { .act = FAULT_DELETE,
                                 .file = kind_of(name),
                                 .length = syncs_directory ? 1 : 0 };
    int rc = act(&entry, NULL);

    (void)vfs;
    return rc ? rc : real_vfs->xDelete(real_vfs, name, 0);
}

void fault_vfs_register(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    fault_vfs = *real_vfs;
    fault_vfs.pNext = NULL;
    fault_vfs.zName = FAULT_VFS;
    fault_vfs.szOsFile = (int)sizeof(struct fault_file) + real_vfs->szOsFile;
    fault_vfs.xOpen = fault_open;
    fault_vfs.xDelete = fault_delete;
    if (sqlite3_vfs_register(&fault_vfs, 0) != SQLITE_OK)
        abort();
}
