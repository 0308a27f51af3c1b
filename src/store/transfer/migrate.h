/*
 * migrate.h - moves a whole store from its file into PostgreSQL, once. Rows are copied in batches,
 * each a transaction with a mark of how far it came: meta.migrating, "STORE STATE TABLE ROWS". Who
 * was killed goes on there. While the mark is there the counter row is not, so that no hub can
 * write, and none opens the database; it comes back when all has been compared.
 */
#ifndef STORE_TRANSFER_MIGRATE_H
#define STORE_TRANSFER_MIGRATE_H
#include <stdbool.h>
#include <stdint.h>

#include "store/transfer/rows.h"

enum migrate_phase { MIGRATE_CHECKING, MIGRATE_COPYING, MIGRATE_COMPARING, MIGRATE_PHASES };
typedef void migrate_told(void *context, enum migrate_phase phase, int64_t done, int64_t all);

struct migrated {
    int64_t rows, earlier; /* all; those that an earlier attempt had copied */
    int64_t counts[SCAN_TABLES];
    int64_t seq;    /* the last event */
    bool was_done;  /* earlier: nothing was copied now */
    bool was_begun; /* on false: something is there, and the same again goes on with it */
};
/* `path` is a file that no hub has open; it stays as it is. */
bool postgres_migrate(const char *path, const char *url, migrate_told *told, void *context,
                      struct migrated *out, struct error *err);
/* Takes back what an unfinished one brought, so that the database is empty again. */
bool postgres_migrate_discard(const char *url, bool *ret_was_begun, struct error *err);

#endif
