/*
 * spare.h - memory of things that come and go with every request and are many at a time: some of
 * what was given back is kept and handed out again, which malloc does only for very few of a size.
 * What stays long belongs in pool.h. For the loop's thread alone.
 */
#ifndef BASE_SPARE_H
#define BASE_SPARE_H
#include <stddef.h>

enum {
    SPARE_MOST_BYTES = 2048, /* what is longer comes from malloc */
    SPARE_KEPT = 64,         /* of each size */
};

void *spare_new(size_t bytes);              /* whatever was there before, not zeroed */
void spare_free(void *thing, size_t bytes); /* as many as it was made with; NULL is fine */

#endif
