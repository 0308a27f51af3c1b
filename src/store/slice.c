/* slice.c - see slice.h. */
#include "store/slice.h"

#include <time.h>

enum { SLICE_PART = 5 }; /* with somebody waiting it ends after a fifth: else it would never end */

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void slice_begin(struct slice *slice, int64_t most_us)
{
    slice->began_us = now_us();
    slice->most_us = most_us;
}

bool slice_is_over(const struct slice *slice)
{
    int64_t took_us;

    if (slice->most_us == 0)
        return false;
    took_us = now_us() - slice->began_us;
    return took_us >= slice->most_us || (slice->is_wanted && atomic_load(slice->is_wanted) &&
                                         took_us >= slice->most_us / SLICE_PART);
}
