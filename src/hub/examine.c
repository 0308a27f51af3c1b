/* examine.c - see examine.h. */
#include "hub/examine.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "hub/choose_store.h"
#include "loop/loop.h"
#include "store/postgres/postgres.h"

void hub_examine_store(const char *path, struct inspection *ret_inspection)
{
    store_inspect(path, loop_utc_ms(), ret_inspection);
}

enum hub_examined hub_examine_database(const struct place *place, struct hub_database *out,
                                       struct error *err)
{
    char *store;
    struct text name = { 0 };
    bool is_there;

    *out = (struct hub_database){ 0 };
    if (!choose_store_find(place, &store, err))
        return HUB_STORE_IS_AWAY;
    if (!store)
        return HUB_STORE_IS_FILE;
    postgres_write_name(store, &name);
    text_put(out->name, sizeof out->name, text_string(&name));
    is_there = postgres_examine(store, &out->found, err);
    text_release(&name);
    free(store);
    return is_there ? HUB_STORE_IS_DATABASE : HUB_STORE_IS_AWAY;
}
