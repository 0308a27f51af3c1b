/*
 * index.h - what searches are found by, filled in batches behind the asks. Words are folded here,
 * so the texts are read first, and what was made of them is written by a statement of its own,
 * which leaves out whatever changed in between. It may be repeated, so it goes where reads go.
 */
#ifndef STORE_POSTGRES_INDEX_H
#define STORE_POSTGRES_INDEX_H
#include <stddef.h>
#include <stdint.h>

#include "ports/store.h"

struct pool;

/* The port's `index`. */
void postgres_index(struct pool *pool, int64_t now_ms, size_t batch, store_done *done,
                    void *context);

#endif
