/*
 * pool.h - memory for small things that stay long and are many: asks, calls, connections. They lie
 * beside each other, without a header each, and apart from what comes and goes with every request,
 * which would leave holes between them; for that there is spare.h. For the loop's thread alone.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H
#include <stddef.h>

enum { POOL_MOST_BYTES = 512 }; /* what is longer comes from malloc */

void *pool_new(size_t bytes);              /* zeroed, for members of up to 8 bytes */
void pool_free(void *thing, size_t bytes); /* as many as it was made with; NULL is fine */

#endif
