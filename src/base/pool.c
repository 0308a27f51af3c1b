/*
 * pool.c - A chunk holds cells of one size and lies at a multiple of its own size, so that a
 * cell's address says whose it is. Chunks with room are in a list for their size; one that has
 * become empty goes back to the system unless it is the only one with room.
 */
#include "base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/os.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_IS_MALLOC 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POOL_IS_MALLOC 1
#endif

#ifdef POOL_IS_MALLOC /* a sanitizer sees what is used after its end only in malloc's memory */

void *pool_new(size_t bytes)
{
    return mem_new(bytes);
}

void pool_free(void *thing, size_t bytes)
{
    (void)bytes;
    free(thing);
}

#else

enum { POOL_CHUNK_BYTES = 65536, POOL_STEP = 8, POOL_SIZES = POOL_MAX_BYTES / POOL_STEP + 1 };

struct cell {
    struct cell *next;
};

struct chunk {
    struct chunk *next, *previous; /* of those with room */
    struct cell *unused;           /* given back */
    uint32_t made; /* cells that were ever given out: the memory behind is untouched */
    uint32_t used, max;
    uint32_t size; /* of a cell, in steps */
};

static struct chunk *with_room[POOL_SIZES];

static size_t size_of(size_t bytes)
{
    return bytes ? (bytes + POOL_STEP - 1) / POOL_STEP : 1;
}

static struct chunk *chunk_new(size_t size)
{
    struct chunk *chunk = mem_or_abort(os_map_aligned(POOL_CHUNK_BYTES));

    chunk->size = (uint32_t)size;
    chunk->max = (uint32_t)((POOL_CHUNK_BYTES - sizeof *chunk) / (size * POOL_STEP));
    LIST_ADD(with_room[chunk->size], chunk);
    return chunk;
}

void *pool_new(size_t bytes)
{
    size_t size = size_of(bytes);
    struct chunk *chunk;
    struct cell *cell;

    if (size >= POOL_SIZES)
        return mem_new(bytes);
    chunk = with_room[size] ? with_room[size] : chunk_new(size);
    cell = chunk->unused;
    if (cell)
        chunk->unused = cell->next;
    else
        cell = (struct cell *)(void *)((char *)(chunk + 1) + chunk->made++ * size * POOL_STEP);
    if (++chunk->used == chunk->max)
        LIST_REMOVE(with_room[chunk->size], chunk);
    memset(cell, 0, size * POOL_STEP);
    return cell;
}

void pool_free(void *thing, size_t bytes)
{
    struct cell *cell = thing;
    struct chunk *chunk;

    if (!thing)
        return;
    if (size_of(bytes) >= POOL_SIZES) {
        free(thing);
        return;
    }
    chunk = (struct chunk *)((uintptr_t)thing & ~(uintptr_t)(POOL_CHUNK_BYTES - 1));
    if (chunk->size != size_of(bytes))
        abort(); /* a wrong size would hand the same memory out twice */
    cell->next = chunk->unused;
    chunk->unused = cell;
    if (chunk->used-- == chunk->max)
        LIST_ADD(with_room[chunk->size], chunk);
    if (chunk->used == 0 && (chunk->next || chunk->previous)) {
        LIST_REMOVE(with_room[chunk->size], chunk);
        os_unmap(chunk, POOL_CHUNK_BYTES);
    }
}

#endif

/* Sizes are rounded up, so that there are few lists. */

enum { FREELIST_STEP = 128, FREELIST_SIZES = FREELIST_MAX_BYTES / FREELIST_STEP };

#ifdef POOL_IS_MALLOC
static const int kept_max = 0;
#else
static const int kept_max = FREELIST_KEPT;
#endif

struct block {
    struct block *next;
};
static struct size {
    struct block *kept;
    int count;
} sizes[FREELIST_SIZES];

/* NULL: none of ours. */
static struct size *freelist_size_of(size_t bytes)
{
    return bytes > 0 && bytes <= FREELIST_MAX_BYTES ? &sizes[(bytes - 1) / FREELIST_STEP] : NULL;
}

void *freelist_new(size_t bytes)
{
    struct size *size = freelist_size_of(bytes);
    struct block *block = size ? size->kept : NULL;

    if (!block)
        return mem_resize(NULL, size ? (size_t)(size - sizes + 1) * FREELIST_STEP : bytes);
    size->kept = block->next;
    size->count--;
    return block;
}

void freelist_free(void *thing, size_t bytes)
{
    struct size *size = freelist_size_of(bytes);
    struct block *block = thing;

    if (!thing)
        return;
    if (!size || size->count >= kept_max) {
        free(thing);
        return;
    }
    block->next = size->kept;
    size->kept = block;
    size->count++;
}
