/*
 * memory.c - see memory.h. Sizes are rounded up to classes with a list of freed blocks each; the
 * memory behind the last block is taken bit by bit. A block begins with its class.
 */
#include "memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    REGIONS_MAX = 12,
    HEADER_BYTES = 16,
    FINE_BYTES = 1024, /* classes are 16 bytes apart up to here, then four to a doubling */
    FINE_CLASSES = FINE_BYTES / 16,
    CLASSES = FINE_CLASSES + 4 * 20,
};
static const size_t REGION_BYTES = (size_t)1 << 29;
static const uintptr_t FIRST_ADDRESS = (uintptr_t)1 << 44;

struct block {
    struct block *next;
};
struct region { /* lies at the beginning of its own memory */
    size_t used;
    struct block *freed[CLASSES];
};
struct region_copy {
    size_t used;
    char bytes[];
};

static struct region *regions[REGIONS_MAX];
static size_t region_count;
static struct region *current;

static size_t class_of(size_t bytes)
{
    size_t doubling;

    if (bytes <= FINE_BYTES)
        return bytes ? (bytes + 15) / 16 - 1 : 0;
    doubling = (size_t)(63 - __builtin_clzll(bytes - 1));
    return FINE_CLASSES + (doubling - 10) * 4 + ((bytes - 1) >> (doubling - 2) & 3);
}

static size_t bytes_of(size_t class)
{
    size_t coarse = class - FINE_CLASSES;

    if (class < FINE_CLASSES)
        return (class + 1) * 16;
    return ((size_t)1 << (coarse / 4 + 8)) * (5 + coarse % 4);
}

static size_t *header_of(const void *memory)
{
    return (size_t *)(void *)((uintptr_t)memory - HEADER_BYTES);
}

struct region *region_new(void)
{
    /* where it was in every other run, so that nothing can depend on addresses */
    void *at = (void *)(FIRST_ADDRESS + region_count * REGION_BYTES);
    struct region *region =
        mmap(at, REGION_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (region == MAP_FAILED || region_count == REGIONS_MAX)
        abort();
    region->used = (sizeof *region + 15) & ~(size_t)15;
    regions[region_count++] = region;
    return region;
}

static struct region *own(void)
{
    if (region_count == 0)
        region_new();
    return current ? current : regions[0];
}

struct region *region_use(struct region *region)
{
    struct region *before = current;

    current = region;
    return before;
}

void region_reset(struct region *region)
{
    memset(region, 0, sizeof *region);
    region->used = (sizeof *region + 15) & ~(size_t)15;
}

struct region_copy *region_save(const struct region *region)
{
    struct region *before = region_use(NULL);
    struct region_copy *copy = malloc(sizeof *copy + region->used);

    region_use(before);
    copy->used = region->used;
    memcpy(copy->bytes, region, region->used);
    return copy;
}

void region_load(struct region *region, const struct region_copy *copy)
{
    memcpy(region, copy->bytes, copy->used);
}

size_t region_used(const struct region *region)
{
    return region->used;
}

static struct region *region_of(const void *memory)
{
    for (size_t i = 0; i < region_count; i++) {
        if ((uintptr_t)memory - (uintptr_t)regions[i] < REGION_BYTES)
            return regions[i];
    }
    abort(); /* not ours */
}

static void *take(struct region *region, size_t class)
{
    size_t bytes = bytes_of(class) + HEADER_BYTES;
    struct block *block = region->freed[class];
    char *at;

    if (block) {
        region->freed[class] = block->next;
        return block;
    }
    if (region->used + bytes > REGION_BYTES)
        abort();
    at = (char *)region + region->used;
    region->used += bytes;
    *(size_t *)(void *)at = class;
    return at + HEADER_BYTES;
}

void *malloc(size_t bytes)
{
    if (bytes > REGION_BYTES / 4) {
        errno = ENOMEM;
        return NULL;
    }
    return take(own(), class_of(bytes));
}

void free(void *memory)
{
    struct block *block = memory;
    struct region *region;
    size_t class;

    if (!memory)
        return;
    region = region_of(memory);
    class = *header_of(memory);
    block->next = region->freed[class];
    region->freed[class] = block;
}

void *calloc(size_t count, size_t bytes)
{
    void *memory;

    if (bytes && count > REGION_BYTES / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    memory = malloc(count * bytes);
    if (memory)
        memset(memory, 0, count * bytes);
    return memory;
}

/* Grows in the region where it is, whichever region is current. */
void *realloc(void *memory, size_t bytes)
{
    size_t before;
    struct region *used;
    void *grown;

    if (!memory)
        return malloc(bytes);
    before = bytes_of(*header_of(memory));
    if (bytes <= before && bytes * 2 >= before)
        return memory;
    used = region_use(region_of(memory));
    grown = malloc(bytes);
    region_use(used);
    if (grown) {
        memcpy(grown, memory, before < bytes ? before : bytes);
        free(memory);
    }
    return grown;
}

size_t malloc_usable_size(void *memory)
{
    return memory ? bytes_of(*header_of(memory)) : 0;
}

static void *align(size_t alignment, size_t bytes)
{
    if (alignment > 16)
        abort(); /* nothing here wants that */
    return malloc(bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return align(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return align(alignment, bytes);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t bytes)
{
    *ret_memory = align(alignment, bytes);
    return *ret_memory ? 0 : ENOMEM;
}
