/*
 * memory.h - malloc of the simulator: every simulated process has a region of its own at a fixed
 * address. A process that is killed loses its memory by setting the region back, whatever it was
 * doing; a process that has just started can be kept and put back for the next history.
 */
#ifndef SIMULATE_MEMORY_H
#define SIMULATE_MEMORY_H
#include <stddef.h>

struct region;

struct region *region_new(void); /* empty; lives as long as the program */
/* What malloc takes from until this is called again; returns the one before. NULL: the program's
 * own, which is never set back. */
struct region *region_use(struct region *region);
void region_reset(struct region *region);
/* A copy of all that is in it, to be put back over anything that happened since. */
struct region_copy *region_save(const struct region *region);
void region_load(struct region *region, const struct region_copy *copy);
size_t region_used(const struct region *region);

#endif
