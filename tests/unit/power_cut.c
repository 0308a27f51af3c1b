/* power_cut.c - see power_cut.h. */
#include "power_cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { SECTOR = 512, CHANCES = 16 };
static const char *const suffixes[FAULT_FILES] = { "", "-wal", "-journal" };

struct image {
    bool exists;
    char *bytes; /* owned */
    size_t size, capacity;
};
struct file {
    struct image synced;
    bool syncs_directory; /* a new log or journal: SQLite's first sync is of the directory too */
    size_t *since;        /* owned: entries of the log since the last sync */
    size_t since_count, since_capacity;
};
struct power_cut {
    const struct fault_log *log;
    size_t position;
    struct file files[FAULT_FILES];
};

/* How likely a sector of an unsynced write is lost or torn, in CHANCES; a cut draws one row. */
static const struct mood {
    unsigned lost, torn;
} moods[] = {
    { 0, 0 }, { CHANCES, 0 }, { 8, 0 }, { 1, 1 }, { 14, 1 }, { 4, 4 }, { 0, 1 },
};

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * 0x2545f4914f6cdd1dU >> 32;
}

struct power_cut *power_cut_new(const struct fault_log *log)
{
    struct power_cut *cut = mem_new(sizeof *cut);

    cut->log = log;
    cut->files[FAULT_MAIN].synced.exists = true;
    return cut;
}

void power_cut_free(struct power_cut *cut)
{
    for (int i = 0; cut && i < FAULT_FILES; i++) {
        free(cut->files[i].synced.bytes);
        free(cut->files[i].since);
    }
    free(cut);
}

static void resize(struct image *image, size_t size)
{
    image->exists = true;
    if (size > image->capacity) {
        image->capacity = size * 2;
        image->bytes = mem_resize(image->bytes, image->capacity);
    }
    if (size > image->size)
        memset(image->bytes + image->size, 0, size - image->size);
    image->size = size;
}

static void put(struct image *image, int64_t offset, const char *bytes, size_t length)
{
    size_t end = (size_t)offset + length;

    if (length == 0)
        return;
    if (end > image->size)
        resize(image, end);
    image->exists = true;
    memcpy(image->bytes + offset, bytes, length);
}

static void drop(struct image *image)
{
    free(image->bytes);
    *image = (struct image){ 0 };
}

static void apply(struct image *image, const struct fault_entry *entry)
{
    if (entry->act == FAULT_WRITE)
        put(image, entry->offset, entry->bytes, entry->length);
    else if (entry->act == FAULT_TRUNCATE && (size_t)entry->offset < image->size)
        resize(image, (size_t)entry->offset);
    else if (entry->act == FAULT_DELETE)
        drop(image);
}

static void settle(const struct power_cut *cut, struct file *file)
{
    for (size_t i = 0; i < file->since_count; i++)
        apply(&file->synced, &cut->log->entries[file->since[i]]);
    file->since_count = 0;
}

static bool is_deleted(const struct power_cut *cut, const struct file *file)
{
    return file->since_count > 0 &&
           cut->log->entries[file->since[file->since_count - 1]].act == FAULT_DELETE;
}

static void on_open(const struct power_cut *cut, struct file *file, enum fault_file_kind kind)
{
    if (is_deleted(cut, file))
        settle(cut, file); /* a new file by an old name: the old one is gone for good */
    file->syncs_directory = kind != FAULT_MAIN && !file->synced.exists && file->since_count == 0;
}

static void on_sync(struct power_cut *cut, struct file *file)
{
    for (int i = 0; file->syncs_directory && i < FAULT_FILES; i++) {
        if (is_deleted(cut, &cut->files[i]))
            settle(cut, &cut->files[i]);
    }
    file->syncs_directory = false;
    settle(cut, file);
    file->synced.exists = true;
}

static void on_change(struct power_cut *cut, struct file *file)
{
    const struct fault_entry *entry = &cut->log->entries[cut->position];

    if (file->since_count == file->since_capacity) {
        file->since_capacity = file->since_capacity * 2 + 64;
        file->since = mem_resize(file->since, file->since_capacity * sizeof *file->since);
    }
    file->since[file->since_count++] = cut->position;
    if (entry->act == FAULT_DELETE && entry->length > 0)
        settle(cut, file);
}

void power_cut_advance(struct power_cut *cut, size_t position)
{
    for (; cut->position < position; cut->position++) {
        const struct fault_entry *entry = &cut->log->entries[cut->position];
        struct file *file = &cut->files[entry->file];

        if (entry->act == FAULT_OPEN)
            on_open(cut, file, entry->file);
        else if (entry->act == FAULT_SYNC)
            on_sync(cut, file);
        else
            on_change(cut, file);
    }
}

/* Sector by sector, as the disk's own lines divide it. */
static void apply_some(struct image *image, const struct fault_entry *entry,
                       const struct mood *mood, uint64_t *seed)
{
    size_t done = 0;

    if (entry->act != FAULT_WRITE) {
        if (draw(seed) % CHANCES >= mood->lost)
            apply(image, entry);
        return;
    }
    while (done < entry->length) {
        size_t at = (size_t)entry->offset + done, piece = SECTOR - at % SECTOR;
        uint64_t chance = draw(seed) % CHANCES;

        if (piece > entry->length - done)
            piece = entry->length - done;
        if (chance >= mood->lost + mood->torn)
            put(image, (int64_t)at, entry->bytes + done, piece);
        else if (chance >= mood->lost)
            put(image, (int64_t)at, entry->bytes + done, draw(seed) % piece);
        done += piece;
    }
}

static void write_image(const struct image *image, const char *path)
{
    FILE *file;

    unlink(path);
    if (!image->exists)
        return;
    file = fopen(path, "w");
    if (!file || (image->size && fwrite(image->bytes, 1, image->size, file) != image->size) ||
        fclose(file) != 0)
        abort();
}

void power_cut_write(const struct power_cut *cut, uint64_t seed, const char *path)
{
    const struct mood *mood;

    seed = seed * 0x9e3779b97f4a7c15U + 1;
    mood = &moods[draw(&seed) % ARRAY_LEN(moods)];
    for (int i = 0; i < FAULT_FILES; i++) {
        const struct file *file = &cut->files[i];
        struct image image = file->synced;
        char *name = mem_format("%s%s", path, suffixes[i]);

        image.bytes = image.bytes ? mem_text_n(image.bytes, image.size) : NULL;
        image.capacity = image.size;
        for (size_t k = 0; k < file->since_count; k++)
            apply_some(&image, &cut->log->entries[file->since[k]], mood, &seed);
        write_image(&image, name);
        free(image.bytes);
        free(name);
    }
}
