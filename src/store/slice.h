/*
 * slice.h - how long work that nobody waits for may hold the writer: so long as it was told, or a
 * part of that where somebody came meanwhile. Whoever works in slices looks after each small step,
 * so a slice is longer than said by one step and the commit.
 */
#ifndef STORE_SLICE_H
#define STORE_SLICE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct slice {
    const atomic_bool *is_wanted; /* the writer, by somebody; borrowed, NULL: never */
    int64_t began_us, most_us;    /* most_us 0: without an end */
};

void slice_begin(struct slice *slice, int64_t most_us);
bool slice_is_over(const struct slice *slice);

#endif
