/* examine.h - the store as it lies on disk, for those who look after it. Changes nothing. */
#ifndef HUB_EXAMINE_H
#define HUB_EXAMINE_H
#include "store/inspect.h"
#include "store/postgres/examine.h"

struct error;
struct place;

void hub_examine_store(const char *path, struct inspection *ret_inspection);

struct hub_database {
    struct postgres_examined found;
    char name[256]; /* without a password */
};
enum hub_examined { HUB_STORE_IS_FILE, HUB_STORE_IS_DATABASE, HUB_STORE_IS_AWAY };
/* Whether the store of this user is a database, and what there is to know of it. AWAY: one that
 * can't be used, `err` says why. */
enum hub_examined hub_examine_database(const struct place *place, struct hub_database *out,
                                       struct error *err);

#endif
