#include "hub/maintenance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "hub/listener.h"
#include "i18n/i18n.h"
#include "net/http.h"
#include "net/tls.h"
#include "rpc/location.h"
#include "settings/settings.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres.h"

/* What the setting `store` of this user is for a hub that starts now: an address, for the caller to
 * free; NULL: a file of its own. False: the settings can't be read. */
static bool find_store(const struct location *location, char **ret_store, struct error *err)
{
    struct settings *settings = settings_new();
    const char *store;
    bool ok;

    settings_load(settings, location->settings);
    ok = !settings_problem(settings, err);
    store = settings_text(settings, SETTING_STORE);
    *ret_store = ok && store[0] ? mem_text(store) : NULL;
    settings_free(settings);
    return ok;
}

void hub_examine_store(const char *path, struct inspection *ret_inspection)
{
    store_inspect(path, loop_utc_ms(), ret_inspection);
}

enum hub_examined hub_examine_database(const struct location *location, struct hub_database *out,
                                       struct error *err)
{
    char *store;
    struct text name = { 0 };
    bool is_there;

    *out = (struct hub_database){ 0 };
    if (!find_store(location, &store, err))
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

/* It loads the certificate as a hub would, and opens no port. */

/* A file, too: who reads from a pipe waits for ever. */
static bool is_readable(const char *path, struct error *err)
{
    struct stat found;

    if (stat(path, &found) != 0 || access(path, R_OK) != 0)
        return error_set(err, ERROR_unavailable, "", "%s", strerror(errno));
    return S_ISREG(found.st_mode) ||
           error_say(err, ERROR_unavailable, "", TEXT_REASON_SECRET_NO_FILE, "path", path, NULL);
}

static enum hub_listening examine_tls(const struct settings *settings, struct hub_listener *out,
                                      struct error *err)
{
    struct tls_context *tls = NULL;

    text_put(out->certificate, sizeof out->certificate, settings_text(settings, SETTING_TLS_CERT));
    text_put(out->key, sizeof out->key, settings_text(settings, SETTING_TLS_KEY));
    if (!out->certificate[0])
        return HUB_LISTENS_PLAIN;
    if (!is_readable(out->certificate, err))
        return HUB_TLS_CERT_AWAY;
    if (!is_readable(out->key, err))
        return HUB_TLS_KEY_AWAY;
    if (!os_private_file(out->key, err))
        return HUB_TLS_KEY_OPEN;
    if (!public_listener_load_tls(settings, &tls, err))
        return err->path[0] ? HUB_TLS_UNFIT : HUB_TLS_MISSING;
    tls_context_times(tls, &out->from_ms, &out->to_ms);
    tls_context_free(tls);
    return HUB_LISTENS_TLS;
}

enum hub_listening hub_examine_listener(const struct location *location, struct hub_listener *out,
                                        struct error *err)
{
    struct settings *settings = settings_new();
    enum hub_listening listening;
    struct http_virtual_host virtual_host;

    *out = (struct hub_listener){ .to_ms = INT64_MAX };
    settings_load(settings, location->settings);
    text_put(out->where, sizeof out->where, settings_text(settings, SETTING_LISTEN));
    if (settings_problem(settings, err)) {
        listening = HUB_LISTENS_BADLY;
    } else if (!public_listener_is_wanted(settings)) {
        listening = HUB_LISTENS_NOWHERE;
    } else if (!public_listener_read(settings, &virtual_host, err)) {
        listening = HUB_LISTENS_BADLY;
    } else {
        out->port = virtual_host.port;
        listening = examine_tls(settings, out, err);
    }
    settings_free(settings);
    return listening;
}

/* The file of a user whose store is a database is not what a hub works on. */
static bool is_file(const struct location *location, struct error *err)
{
    char *store;
    struct text name = { 0 };
    bool is_here = find_store(location, &store, err) && !store;

    if (store) {
        postgres_write_name(store, &name);
        error_say(err, ERROR_wrong_state, "", TEXT_REASON_STORE_SHARED, "name", text_string(&name),
                  NULL);
    }
    text_release(&name);
    free(store);
    return is_here;
}

bool hub_backup(backup_sink *sink, void *context, struct error *err)
{
    struct location location;

    return location_find(&location, err) && is_file(&location, err) &&
           store_backup(location.database, sink, context, err);
}

enum hub_outcome hub_restore_open(struct hub_restore *ret_restore, struct error *err)
{
    struct location location;
    enum os_lock lock;

    *ret_restore = (struct hub_restore){ .lock_fd = -1 };
    os_harden();
    if (!location_find(&location, err) || !is_file(&location, err) ||
        !location_prepare(&location, err))
        return HUB_FAILED;
    lock = os_lock_file(location.lock, &ret_restore->lock_fd);
    if (lock == OS_LOCK_BUSY)
        return HUB_BUSY;
    if (lock == OS_LOCK_FAILED) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LOCK, "path", location.lock,
                  "reason", strerror(errno), NULL);
        return HUB_FAILED;
    }
    ret_restore->restore = restore_open(location.database, err);
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

/* The lock is the one a hub on that file holds: it lies beside it. */

static char *lock_beside(const char *path, const struct location *location)
{
    const char *slash = strrchr(path, '/');
    struct text name = { 0 };

    text_add(&name, path, slash ? (size_t)(slash + 1 - path) : 0);
    text_add_text(&name, strrchr(location->lock, '/') + 1);
    return text_take(&name);
}

/* The user's own is locked in any case, if it is there. Beside another file, a copy that may be
 * read only, no hub ever ran where there is no lock. */
static enum hub_outcome lock_source(const char *path, const struct location *location, int *ret_fd,
                                    struct error *err)
{
    char *name = lock_beside(path, location);
    bool is_own = strcmp(path, location->database) == 0;
    enum os_lock lock = OS_LOCK_HELD;

    *ret_fd = -1;
    if (access(is_own ? path : name, F_OK) == 0)
        lock = os_lock_file(name, ret_fd);
    if (lock == OS_LOCK_FAILED)
        error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LOCK, "path", name, "reason",
                  strerror(errno), NULL);
    free(name);
    return lock == OS_LOCK_HELD ? HUB_ENDED : lock == OS_LOCK_BUSY ? HUB_BUSY : HUB_FAILED;
}

enum hub_outcome hub_migrate(const struct hub_move *move, struct migrated *ret_migrated,
                             struct text *ret_path, struct error *err)
{
    enum hub_outcome outcome;
    struct location location;
    int lock_fd = -1;

    *ret_migrated = (struct migrated){ 0 };
    os_harden();
    if (!location_find(&location, err))
        return HUB_FAILED;
    text_add_text(ret_path, move->path ? move->path : location.database);
    outcome = lock_source(text_string(ret_path), &location, &lock_fd, err);
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
