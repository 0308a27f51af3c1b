/*
 * move_in.h - a database while a whole store is moved into it: statements that wait, over a
 * connection that is made again when it is lost. Each change is one transaction that also changes a
 * fact in meta, so that after a lost reply the fact tells whether it was made.
 */
#ifndef STORE_POSTGRES_MOVE_IN_H
#define STORE_POSTGRES_MOVE_IN_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct move_in;
struct params;

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
