/* keep.c - see keep.h. */
#include "hub/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "hub/choose_store.h"
#include "store/postgres/postgres.h"
#include "wire/place.h"

/* The file of a user whose store is a database is not what a hub works on. */
static bool is_file(const struct place *place, struct error *err)
{
    char *store;
    struct text name = { 0 };
    bool is_here = choose_store_find(place, &store, err) && !store;

    if (store) {
        postgres_write_name(store, &name);
        error_set(
            err, ERROR_wrong_state, "",
            "the store is the database %.160s: back it up with pg_dump and bring it back with "
            "pg_restore",
            text_string(&name));
    }
    text_release(&name);
    free(store);
    return is_here;
}

bool hub_backup(backup_sink *sink, void *context, struct error *err)
{
    struct place place;

    return place_find(&place, err) && is_file(&place, err) &&
           store_backup(place.database, sink, context, err);
}

enum hub_outcome hub_restore_open(struct hub_restore *ret_restore, struct error *err)
{
    struct place place;
    enum os_lock lock;

    *ret_restore = (struct hub_restore){ .lock_fd = -1 };
    os_harden();
    if (!place_find(&place, err) || !is_file(&place, err) || !place_prepare(&place, err))
        return HUB_FAILED;
    lock = os_lock_file(place.lock, &ret_restore->lock_fd);
    if (lock == OS_LOCK_BUSY)
        return HUB_BUSY;
    if (lock == OS_LOCK_FAILED) {
        error_set(err, ERROR_unavailable, "", "can't lock %s: %s; look at its owner and mode",
                  place.lock, strerror(errno));
        return HUB_FAILED;
    }
    ret_restore->restore = restore_open(place.database, err);
    if (ret_restore->restore)
        return HUB_ENDED;
    hub_restore_close(ret_restore);
    return HUB_FAILED;
}

void hub_restore_close(struct hub_restore *restore)
{
    restore_close(restore->restore);
    if (restore->lock_fd >= 0)
        close(restore->lock_fd);
    *restore = (struct hub_restore){ .lock_fd = -1 };
}
