/*
 * maintenance.h - the store as it lies on disk and the listener for other machines as the settings
 * want it, for those who look after them. Changes nothing.
 */
#ifndef HUB_MAINTENANCE_H
#define HUB_MAINTENANCE_H
#include <stdint.h>

#include "hub/hub.h"
#include "store/postgres/schema.h"
#include "store/sqlite/inspect.h"
#include "store/transfer/backup.h"
#include "store/transfer/migrate.h"

void hub_examine_store(const char *path, struct inspection *ret_inspection);

struct hub_database {
    struct postgres_examined found;
    char name[256]; /* without a password */
};
enum hub_examined { HUB_STORE_IS_FILE, HUB_STORE_IS_DATABASE, HUB_STORE_IS_AWAY };
/* Whether the store of this user is a database, and what there is to know of it. AWAY: one that
 * can't be used, `err` says why. */
enum hub_examined hub_examine_database(const struct location *location, struct hub_database *out,
                                       struct error *err);

struct hub_listener {
    char where[256]; /* as the setting says */
    char certificate[4096], key[4096];
    int port;               /* 0: any */
    int64_t from_ms, to_ms; /* the certificate is good */
};
enum hub_listening {
    HUB_LISTENS_NOWHERE,
    HUB_LISTENS_PLAIN,
    HUB_LISTENS_TLS,
    HUB_LISTENS_BADLY, /* the settings don't fit; `err` says why, as below */
    HUB_TLS_CERT_AWAY, /* can't be read */
    HUB_TLS_KEY_AWAY,
    HUB_TLS_KEY_OPEN, /* not a file that only its owner can read */
    HUB_TLS_UNFIT,    /* no certificate, no key, or not that one's */
    HUB_TLS_MISSING,  /* there is no OpenSSL */
};
enum hub_listening hub_examine_listener(const struct location *location, struct hub_listener *out,
                                        struct error *err);

/* Backups of the user's store, and reading one in while no hub has it. */
bool hub_backup(backup_sink *sink, void *context, struct error *err);

struct hub_restore {
    struct restore *restore;
    int lock_fd;
};
/* HUB_ENDED: open; the caller closes it. No other process opens the store in the meantime. */
enum hub_outcome hub_restore_open(struct hub_restore *ret_restore, struct error *err);
void hub_restore_close(struct hub_restore *restore);

/* Moving the user's store, or another file, into PostgreSQL while no hub has it. */
struct hub_move {
    const char *path; /* NULL: the user's own store */
    const char *url;
    migrate_told *told;
    void *context;
};
/* HUB_ENDED: done. `ret_path` (appended to) is the file that was read. */
enum hub_outcome hub_migrate(const struct hub_move *move, struct migrated *ret_migrated,
                             struct text *ret_path, struct error *err);
/* Whether this is an address of PostgreSQL at all, well written or not. */
bool hub_is_database(const char *address);
/* Without what is behind the host and without the password. */
void hub_write_database_name(const char *address, struct text *out);
bool hub_migrate_discard(const char *url, bool *ret_was_begun, struct error *err);

#endif
