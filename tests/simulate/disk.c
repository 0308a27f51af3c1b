/*
 * disk.c - see disk.h. Each write since the last sync is kept with what it wrote over, so that the
 * synced file can be had back and some of the writes done again.
 */
#include "disk.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "memory.h"
#include "task.h"

enum { DISKS_MAX = 8, SECTOR = 512, CHANCES = 16, SHM_PIECES = 4, SHM_BYTES = 32768 };
enum kind { KIND_MAIN, KIND_LOG, KIND_JOURNAL, KINDS };
static const char *const suffixes[KINDS] = { "", "-wal", "-journal" };

struct change { /* a write, or where `is_cut` a truncation to `offset` */
    bool is_cut;
    size_t offset, length, size_before;
    char *old, *new; /* owned; what was there up to the old size */
};
struct image {
    bool is_safe;           /* its power is never cut */
    bool exists, was_there; /* was_there: when it was synced last */
    char *bytes;
    size_t size, capacity;
    struct change *changes;
    size_t change_count, change_capacity;
};
/* Who holds what of the main file and of the log's index; gone with the process. */
struct locks {
    int shared_count;
    const void *reserved, *exclusive;
    int shm_shared[SQLITE_SHM_NLOCK];
    const void *shm_exclusive[SQLITE_SHM_NLOCK];
    bool is_mapped[SHM_PIECES];
};
struct disk {
    const char *directory;
    struct image images[KINDS];
    struct locks locks;
    char *shm[SHM_PIECES]; /* the index of the log; stays where it is for good */
};
struct disk_file {
    sqlite3_file base;
    struct disk *disk;
    struct image *image;
    int level;
    unsigned shm_shared, shm_exclusive; /* bits */
};

static struct disk *disks[DISKS_MAX];
static size_t disk_count;
static sqlite3_vfs disk_vfs;

struct disk *disk_new(const char *directory)
{
    struct disk *disk = mem_new(sizeof *disk);

    if (disk_count == DISKS_MAX)
        abort();
    disk->directory = mem_text(directory);
    disks[disk_count++] = disk;
    return disk;
}

static void forget_changes(struct image *image)
{
    for (size_t i = 0; i < image->change_count; i++) {
        free(image->changes[i].old);
        free(image->changes[i].new);
    }
    image->change_count = 0;
    image->was_there = image->exists;
}

static void resize(struct image *image, size_t size)
{
    if (size > image->capacity) {
        image->capacity = size * 2;
        image->bytes = mem_resize(image->bytes, image->capacity);
    }
    if (size > image->size)
        memset(image->bytes + image->size, 0, size - image->size);
    image->size = size;
}

static void put(struct image *image, size_t offset, const char *bytes, size_t length)
{
    if (offset + length > image->size)
        resize(image, offset + length);
    memcpy(image->bytes + offset, bytes, length);
}

static void copy_shm(struct disk *disk, const struct disk *from)
{
    disk->locks = from->locks;
    for (int i = 0; i < SHM_PIECES; i++) {
        if (from->locks.is_mapped[i] && !disk->shm[i])
            disk->shm[i] = mem_new(SHM_BYTES);
        if (from->locks.is_mapped[i])
            memcpy(disk->shm[i], from->shm[i], SHM_BYTES);
    }
}

void disk_copy(struct disk *disk, const struct disk *from)
{
    struct region *used = region_use(NULL);

    for (int i = 0; i < KINDS; i++) {
        struct image *image = &disk->images[i];

        forget_changes(image);
        image->size = 0;
        if (from->images[i].size)
            put(image, 0, from->images[i].bytes, from->images[i].size);
        image->exists = image->was_there = from->images[i].exists;
    }
    copy_shm(disk, from);
    region_use(used);
}

void disk_keep_power(struct disk *disk)
{
    for (int i = 0; i < KINDS; i++)
        disk->images[i].is_safe = true;
}

void disk_let_go(struct disk *disk)
{
    disk->locks = (struct locks){ 0 };
}

static void note_change(struct image *image, bool is_cut, size_t offset, const char *bytes,
                        size_t length)
{
    size_t end = is_cut ? image->size : offset + length;
    struct change *change;

    if (image->is_safe)
        return;
    if (image->change_count == image->change_capacity) {
        image->change_capacity = image->change_capacity * 2 + 16;
        image->changes =
            mem_resize(image->changes, image->change_capacity * sizeof *image->changes);
    }
    if (end > image->size)
        end = image->size;
    change = &image->changes[image->change_count++];
    *change = (struct change){
        .is_cut = is_cut, .offset = offset, .length = length, .size_before = image->size
    };
    if (end > offset)
        change->old = mem_text_n(image->bytes + offset, end - offset);
    if (!is_cut)
        change->new = mem_text_n(bytes, length);
}

static void take_back(struct image *image, const struct change *change)
{
    size_t end = change->is_cut ? change->size_before : change->offset + change->length;

    resize(image, change->size_before);
    if (end > change->size_before)
        end = change->size_before;
    if (end > change->offset && change->old)
        memcpy(image->bytes + change->offset, change->old, end - change->offset);
}

/* How likely a sector is lost or torn, in CHANCES; a cut draws one row. */
static const struct mood {
    unsigned lost, torn;
} moods[] = { { CHANCES, 0 }, { 8, 0 }, { 1, 1 }, { 14, 1 }, { 4, 4 }, { 0, 0 } };

static void do_some(struct image *image, const struct change *change, const struct mood *mood,
                    uint64_t *seed)
{
    if (change->is_cut) {
        if (draw_below(seed, CHANCES) >= mood->lost && change->offset < image->size)
            resize(image, change->offset);
        return;
    }
    for (size_t done = 0; done < change->length;) {
        size_t at = change->offset + done, piece = SECTOR - at % SECTOR;
        unsigned chance = draw_below(seed, CHANCES);

        if (piece > change->length - done)
            piece = change->length - done;
        if (chance >= mood->lost + mood->torn)
            put(image, at, change->new + done, piece);
        else if (chance >= mood->lost)
            put(image, at, change->new + done, draw_below(seed, (unsigned)piece));
        done += piece;
    }
}

void disk_cut_power(struct disk *disk, uint64_t *seed)
{
    const struct mood *mood = &moods[draw_below(seed, ARRAY_LEN(moods))];
    struct region *used = region_use(NULL);

    for (int i = 0; i < KINDS; i++) {
        struct image *image = &disk->images[i];

        for (size_t k = image->change_count; k > 0; k--)
            take_back(image, &image->changes[k - 1]);
        for (size_t k = 0; k < image->change_count; k++)
            do_some(image, &image->changes[k], mood, seed);
        image->exists = image->exists || image->was_there;
        forget_changes(image);
    }
    region_use(used);
}

/* The one place every effect on the disk passes: here the process may be killed or put aside. */
static void effect(const char *what, const struct disk_file *file)
{
    task_effect(what, suffixes[file->image - file->disk->images]);
}

static int disk_close(sqlite3_file *base)
{
    return base->pMethods->xUnlock(base, SQLITE_LOCK_NONE);
}

static int disk_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset)
{
    const struct image *image = ((struct disk_file *)base)->image;
    size_t at = (size_t)offset, wanted = (size_t)amount;
    size_t there = at < image->size ? image->size - at : 0;

    if (there > wanted)
        there = wanted;
    if (there)
        memcpy(out, image->bytes + at, there);
    memset((char *)out + there, 0, wanted - there);
    return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int disk_write(sqlite3_file *base, const void *bytes, int amount, sqlite3_int64 offset)
{
    struct disk_file *file = (struct disk_file *)base;
    struct region *used;

    effect("write", file);
    used = region_use(NULL);
    note_change(file->image, false, (size_t)offset, bytes, (size_t)amount);
    put(file->image, (size_t)offset, bytes, (size_t)amount);
    region_use(used);
    return SQLITE_OK;
}

static int disk_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct disk_file *file = (struct disk_file *)base;
    struct region *used;

    effect("truncate", file);
    used = region_use(NULL);
    note_change(file->image, true, (size_t)size, NULL, 0);
    resize(file->image, (size_t)size);
    region_use(used);
    return SQLITE_OK;
}

static int disk_sync(sqlite3_file *base, int flags)
{
    struct disk_file *file = (struct disk_file *)base;
    struct region *used;

    (void)flags;
    effect("sync", file);
    used = region_use(NULL);
    forget_changes(file->image);
    region_use(used);
    return SQLITE_OK;
}

static int disk_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    *ret_size = (sqlite3_int64)((struct disk_file *)base)->image->size;
    return SQLITE_OK;
}

static int disk_lock(sqlite3_file *base, int level)
{
    struct disk_file *file = (struct disk_file *)base;
    struct disk *disk = file->disk;

    if (level <= file->level)
        return SQLITE_OK;
    if ((disk->locks.exclusive && disk->locks.exclusive != file) ||
        (level >= SQLITE_LOCK_RESERVED && disk->locks.reserved && disk->locks.reserved != file))
        return SQLITE_BUSY;
    if (level == SQLITE_LOCK_EXCLUSIVE && disk->locks.shared_count > (file->level > 0))
        return SQLITE_BUSY;
    if (file->level == SQLITE_LOCK_NONE)
        disk->locks.shared_count++;
    if (level >= SQLITE_LOCK_RESERVED)
        disk->locks.reserved = file;
    if (level == SQLITE_LOCK_EXCLUSIVE)
        disk->locks.exclusive = file;
    file->level = level;
    return SQLITE_OK;
}

static int disk_unlock(sqlite3_file *base, int level)
{
    struct disk_file *file = (struct disk_file *)base;
    struct disk *disk = file->disk;

    if (level >= file->level)
        return SQLITE_OK;
    if (disk->locks.exclusive == file)
        disk->locks.exclusive = NULL;
    if (disk->locks.reserved == file)
        disk->locks.reserved = NULL;
    if (level == SQLITE_LOCK_NONE)
        disk->locks.shared_count--;
    file->level = level;
    return SQLITE_OK;
}

static int disk_check_lock(sqlite3_file *base, int *ret_held)
{
    *ret_held = ((struct disk_file *)base)->disk->locks.reserved != NULL;
    return SQLITE_OK;
}

static int disk_control(sqlite3_file *base, int what, void *argument)
{
    (void)base;
    (void)what;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int disk_sector(sqlite3_file *base)
{
    (void)base;
    return SECTOR;
}

static int disk_traits(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* as SQLite's own says of every disk */
}

static int shm_map(sqlite3_file *base, int piece, int bytes, int extends, void volatile **ret_at)
{
    struct disk *disk = ((struct disk_file *)base)->disk;
    struct region *used = region_use(NULL);

    if (piece >= SHM_PIECES || bytes != SHM_BYTES)
        abort();
    if (!disk->shm[piece])
        disk->shm[piece] = mem_new(SHM_BYTES);
    region_use(used);
    if (!disk->locks.is_mapped[piece] && extends)
        memset(disk->shm[piece], 0, SHM_BYTES);
    disk->locks.is_mapped[piece] |= extends;
    *ret_at = disk->locks.is_mapped[piece] ? disk->shm[piece] : NULL;
    return SQLITE_OK;
}

static bool shm_is_free(const struct disk_file *file, int from, int count, bool is_exclusive)
{
    for (int i = from; i < from + count; i++) {
        const struct disk *disk = file->disk;
        int others = disk->locks.shm_shared[i] - (int)(file->shm_shared >> i & 1);

        if ((disk->locks.shm_exclusive[i] && disk->locks.shm_exclusive[i] != file) ||
            (is_exclusive && others > 0))
            return false;
    }
    return true;
}

static int shm_lock(sqlite3_file *base, int from, int count, int flags)
{
    struct disk_file *file = (struct disk_file *)base;
    struct disk *disk = file->disk;
    bool is_exclusive = flags & SQLITE_SHM_EXCLUSIVE, locks = flags & SQLITE_SHM_LOCK;

    if (locks && !shm_is_free(file, from, count, is_exclusive))
        return SQLITE_BUSY;
    for (int i = from; i < from + count; i++) {
        unsigned bit = 1U << i;

        if (is_exclusive) {
            disk->locks.shm_exclusive[i] = locks ? file : NULL;
            file->shm_exclusive = locks ? file->shm_exclusive | bit : file->shm_exclusive & ~bit;
        } else if (locks != (bool)(file->shm_shared & bit)) {
            disk->locks.shm_shared[i] += locks ? 1 : -1;
            file->shm_shared ^= bit;
        }
    }
    return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *base)
{
    (void)base;
}

static int shm_unmap(sqlite3_file *base, int deletes)
{
    struct disk_file *file = (struct disk_file *)base;

    for (int i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (file->shm_exclusive >> i & 1)
            shm_lock(base, i, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        if (file->shm_shared >> i & 1)
            shm_lock(base, i, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    }
    for (int i = 0; deletes && i < SHM_PIECES; i++)
        file->disk->locks.is_mapped[i] = false;
    return SQLITE_OK;
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_check_lock,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

static struct disk *find_disk(const char *path)
{
    for (size_t i = 0; path && i < disk_count; i++) {
        size_t length = strlen(disks[i]->directory);

        if (strncmp(path, disks[i]->directory, length) == 0 && path[length] == '/')
            return disks[i];
    }
    abort(); /* temporary files are in memory (PRAGMA temp_store) */
}

static struct image *find_image(struct disk *disk, const char *path)
{
    size_t length = strlen(path);

    for (int i = KINDS - 1; i >= 0; i--) {
        size_t end = strlen(suffixes[i]);

        if (length > end && strcmp(path + length - end, suffixes[i]) == 0)
            return &disk->images[i];
    }
    return NULL;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                     int *ret_flags)
{
    struct disk_file *file = (struct disk_file *)base;

    (void)vfs;
    *file = (struct disk_file){ .disk = find_disk(path) };
    file->image = find_image(file->disk, path);
    if (!file->image->exists && !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    if (!file->image->exists)
        effect("create", file);
    file->image->exists = true;
    file->base.pMethods = &disk_methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int syncs_directory)
{
    struct disk *disk = find_disk(path);
    struct image *image = find_image(disk, path);
    struct region *used;

    (void)vfs;
    (void)syncs_directory;
    if (!image->exists)
        return SQLITE_IOERR_DELETE_NOENT;
    task_effect("delete", suffixes[image - disk->images]);
    used = region_use(NULL);
    image->exists = false;
    image->size = 0;
    forget_changes(image);
    region_use(used);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret_answer)
{
    const struct image *image = find_image(find_disk(path), path);

    (void)vfs;
    *ret_answer = image->exists && (flags != SQLITE_ACCESS_EXISTS || image->size > 0);
    return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int max, char *out)
{
    (void)vfs;
    sqlite3_snprintf(max, out, "%s", path);
    return SQLITE_OK;
}

static int disk_random(sqlite3_vfs *vfs, int amount, char *out)
{
    (void)vfs;
    random_bytes(out, (size_t)amount);
    return amount;
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    task_wait_a_while(us);
    return us;
}

static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *ret_ms)
{
    (void)vfs;
    *ret_ms = 210866760000000 + task_utc_ms();
    return SQLITE_OK;
}

static int disk_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    (void)size;
    (void)out;
    return 0;
}

void disk_register(void)
{
    disk_vfs = (sqlite3_vfs){ .iVersion = 2,
                              .szOsFile = sizeof(struct disk_file),
                              .mxPathname = 512,
                              .zName = DISK_VFS,
                              .xOpen = disk_open,
                              .xDelete = disk_delete,
                              .xAccess = disk_access,
                              .xFullPathname = disk_full_path,
                              .xRandomness = disk_random,
                              .xSleep = disk_sleep,
                              .xGetLastError = disk_last_error,
                              .xCurrentTimeInt64 = disk_time };
    if (sqlite3_vfs_register(&disk_vfs, 0) != SQLITE_OK)
        abort();
}
