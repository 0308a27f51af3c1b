/*
 * migrate.h - moves a whole store from its file into PostgreSQL, once. Rows are copied in batches,
 * each a transaction with a mark of how far it came: meta.migrating, "STORE STATE TABLE ROWS". Who
 * was killed goes on there. While the mark is there the counter row is not, so that no hub can
 * write, and none opens the database; it comes back when all has been compared.
 */
#ifndef STORE_TRANSFER_MIGRATE_H
#define STORE_TRANSFER_MIGRATE_H
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "store/transfer/rows.h"

struct move_in;
struct params;

enum migrate_phase { MIGRATE_CHECKING, MIGRATE_COPYING, MIGRATE_COMPARING, MIGRATE_PHASES };
typedef void migrate_told(void *context, enum migrate_phase phase, int64_t done, int64_t all);

struct migrated {
    int64_t rows, earlier; /* all; those that an earlier attempt had copied */
    int64_t counts[WALK_TABLES];
    int64_t seq;    /* the last event */
    bool was_done;  /* earlier: nothing was copied now */
    bool was_begun; /* on false: something is there, and the same again goes on with it */
};
/* `path` is a file that no hub has open; it stays as it is. */
bool postgres_migrate(const char *path, const char *url, migrate_told *told, void *context,
                      struct migrated *out, struct error *err);
/* Takes back what an unfinished one brought, so that the database is empty again. */
bool postgres_migrate_discard(const char *url, bool *ret_was_begun, struct error *err);

/* Rows of one table on their way from a file into the database. */

/* Column by column, each an array of PostgreSQL. Zeroed is empty. */
struct migrate_rows {
    size_t table;
    int64_t count;
    size_t bytes;
    int columns;
    char names[WALK_COLUMNS][32];
    const char *types[WALK_COLUMNS]; /* in PostgreSQL */
    struct text values[WALK_COLUMNS];
    struct text agents; /* of asks */
};

/* A database while a whole store is moved into it: statements that wait, over a connection that is
 * made again when it is lost. Each change is one transaction that also changes a fact in meta, so
 * that after a lost reply the fact tells whether it was made. */

enum { MOVE_FACT_BYTES = 256 };

/* Connects, and brings the schema up to date. */
bool move_in_open(const char *url, struct move_in **ret_move, struct error *err);
void move_in_close(struct move_in *move); /* NULL is fine */
/* "" where there is none. */
bool move_in_fact(struct move_in *move, const char *name, char out[MOVE_FACT_BYTES],
                  struct error *err);
/* The caller ends *ret_result with libpq.clear. `params` may be NULL, then `sql` may be several
 * statements. May take minutes. */
bool move_in_read(struct move_in *move, const char *sql, const struct params *params,
                  PGresult **ret_result, struct error *err);
/* After it the fact `name` is `wanted` ("": it is gone); wrong_state: somebody else changes the
 * database too. */
bool move_in_change(struct move_in *move, const char *sql, const struct params *params,
                    const char *name, const char *wanted, struct error *err);
const char *move_in_state(const struct move_in *move); /* SQLSTATE of what failed last */

#endif
