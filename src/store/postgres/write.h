/*
 * write.h - one write as a statement, and what came of it back into the job.
 * Each kind of job is one function of the schema, which returns one row: outcome, seq, and the
 * columns of ROW_WHOLE (store/row.h), NULL where no row is to be handed on.
 */
#ifndef STORE_POSTGRES_WRITE_H
#define STORE_POSTGRES_WRITE_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "ports/store.h"

struct job;
struct params;
struct sql;

/* False: PostgreSQL has nothing to do for it, it is done. */
bool write_bind(const struct job *job, const struct sql **ret_sql, struct params *out);
void write_take(struct job *job, const PGresult *result);
void write_take_outcome(struct job *job, enum store_outcome outcome, int64_t seq);
/* What the agent of an ask calls itself, by asks.origin (NULL is fine); the caller frees it. NULL:
 * it has no name. */
char *write_agent_name(const char *origin);

#endif
