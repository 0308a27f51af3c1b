/* move.c - see move.h. The lock is the one a hub on that file holds: it lies beside it. */
#include "hub/move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres.h"
#include "wire/place.h"

static char *lock_beside(const char *path, const struct place *place)
{
    const char *slash = strrchr(path, '/');
    struct text name = { 0 };

    text_add(&name, path, slash ? (size_t)(slash + 1 - path) : 0);
    text_add_text(&name, strrchr(place->lock, '/') + 1);
    return text_take(&name);
}

/* The user's own is locked in any case, if it is there. Beside another file, a copy that may be
 * read only, no hub ever ran where there is no lock. */
static enum hub_outcome lock_source(const char *path, const struct place *place, int *ret_fd,
                                    struct error *err)
{
    char *name = lock_beside(path, place);
    bool is_own = strcmp(path, place->database) == 0;
    enum os_lock lock = OS_LOCK_HELD;

    *ret_fd = -1;
    if (access(is_own ? path : name, F_OK) == 0)
        lock = os_lock_file(name, ret_fd);
    if (lock == OS_LOCK_FAILED)
        error_set(err, ERROR_unavailable, "", "can't lock %.250s: %s; look at its owner and mode",
                  name, strerror(errno));
    free(name);
    return lock == OS_LOCK_HELD ? HUB_ENDED : lock == OS_LOCK_BUSY ? HUB_BUSY : HUB_FAILED;
}

enum hub_outcome hub_migrate(const struct hub_move *move, struct migrated *ret_migrated,
                             struct text *ret_path, struct error *err)
{
    enum hub_outcome outcome;
    struct place place;
    int lock_fd = -1;

    *ret_migrated = (struct migrated){ 0 };
    os_harden();
    if (!place_find(&place, err))
        return HUB_FAILED;
    text_add_text(ret_path, move->path ? move->path : place.database);
    outcome = lock_source(text_string(ret_path), &place, &lock_fd, err);
    if (outcome == HUB_ENDED && !postgres_migrate(text_string(ret_path), move->url, move->told,
                                                  move->context, ret_migrated, err))
        outcome = HUB_FAILED;
    if (lock_fd >= 0)
        close(lock_fd);
    return outcome;
}

bool hub_is_database(const char *address)
{
    return address_is_ours(address);
}

void hub_write_database_name(const char *address, struct text *out)
{
    postgres_write_name(address, out);
}

bool hub_migrate_discard(const char *url, bool *ret_was_begun, struct error *err)
{
    os_harden();
    return postgres_migrate_discard(url, ret_was_begun, err);
}
