/*
 * pool.h - memory for small things that stay long and are many: asks, calls, connections. They lie
 * beside each other, without a header each, and apart from what comes and goes with every request,
 * which would leave holes between them. For the loop's thread alone.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H
#include <stddef.h>

enum { POOL_MAX_BYTES = 512 }; /* what is longer comes from malloc */

void *pool_new(size_t bytes);              /* zeroed, for members of up to 8 bytes */
void pool_free(void *thing, size_t bytes); /* as many as it was made with; NULL is fine */

/* Memory of things that come and go with every request and are many at a time: some of what was
 * given back is kept and handed out again, which malloc does only for very few of a size. What
 * stays long comes from pool_new. For the loop's thread alone. */

enum {
    FREELIST_MAX_BYTES = 2048, /* what is longer comes from malloc */
    FREELIST_KEPT = 64,        /* of each size */
};

void *freelist_new(size_t bytes);              /* whatever was there before, not zeroed */
void freelist_free(void *thing, size_t bytes); /* as many as it was made with; NULL is fine */

#endif
