/* spare.c - see spare.h. Sizes are rounded up, so that there are few lists. */
#include "base/spare.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SPARE_STEP = 128, SPARE_SIZES = SPARE_MOST_BYTES / SPARE_STEP };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPARE_IS_MALLOC 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SPARE_IS_MALLOC 1
#endif

#ifdef SPARE_IS_MALLOC /* a sanitizer sees what is used after its end only in malloc's memory */
static const int kept_most = 0;
#else
static const int kept_most = SPARE_KEPT;
#endif

struct block {
    struct block *next;
};
static struct size {
    struct block *kept;
    int count;
} sizes[SPARE_SIZES];

/* NULL: none of ours. */
static struct size *size_of(size_t bytes)
{
    return bytes > 0 && bytes <= SPARE_MOST_BYTES ? &sizes[(bytes - 1) / SPARE_STEP] : NULL;
}

void *spare_new(size_t bytes)
{
    struct size *size = size_of(bytes);
    struct block *block = size ? size->kept : NULL;

    if (!block)
        return mem_resize(NULL, size ? (size_t)(size - sizes + 1) * SPARE_STEP : bytes);
    size->kept = block->next;
    size->count--;
    return block;
}

void spare_free(void *thing, size_t bytes)
{
    struct size *size = size_of(bytes);
    struct block *block = thing;

    if (!thing)
        return;
    if (!size || size->count >= kept_most) {
        free(thing);
        return;
    }
    block->next = size->kept;
    size->kept = block;
    size->count++;
}
