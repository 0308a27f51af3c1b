/*
 * write.h - one write as a statement, and what came of it back into the write. Each kind of write
 * is one function of the schema, which returns one row: outcome, seq, and the columns of ROW_WHOLE
 * (store/row.h), NULL where no row is to be handed on.
 */
#ifndef STORE_POSTGRES_WRITE_H
#define STORE_POSTGRES_WRITE_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct write;
struct params;
struct pool;
struct sql;

/* False: PostgreSQL has nothing to do for it, it is done. */
bool write_bind(const struct write *write, const struct sql **ret_sql, struct params *out);
void write_take(struct write *write, const PGresult *result);
/* The name of an agent, by asks.origin (NULL is fine); the caller frees it. NULL: it has none. */
char *write_agent_name(const char *origin);

/* What searches are found by, filled in batches behind the asks. Words are folded here, so the
 * texts are read first, and what was made of them is written by a statement of its own, which
 * leaves out whatever changed in between. It may be repeated, so it goes where reads go. */

/* The port's `index`. */
void postgres_index(struct pool *pool, int64_t now_ms, size_t batch, store_done *done,
                    void *context);

#endif
