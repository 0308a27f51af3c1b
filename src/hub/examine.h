/* examine.h - the store as it lies on disk, for those who look after it. Changes nothing. */
#ifndef HUB_EXAMINE_H
#define HUB_EXAMINE_H
#include "store/inspect.h"

void hub_examine_store(const char *path, struct inspection *ret_inspection);

#endif
