/* examine.c - see examine.h. */
#include "hub/examine.h"

#include "loop/loop.h"

void hub_examine_store(const char *path, struct inspection *ret_inspection)
{
    store_inspect(path, loop_utc_ms(), ret_inspection);
}
