/*
 * examine.h - the store as it lies on disk and the listener for other machines as the settings want
 * it, for those who look after them. Changes nothing.
 */
#ifndef HUB_EXAMINE_H
#define HUB_EXAMINE_H
#include <stdint.h>

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
enum hub_listening hub_examine_listener(const struct place *place, struct hub_listener *out,
                                        struct error *err);

#endif
