/*
 * write.h - writes as statements, and what came of them back into the writes. A transaction has
 * parts, in this order: asks that are made, asks that change, and answers that are delivered are
 * one statement each, over arrays with an element a write; of the rest each write is a statement.
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

enum write_part {
    PART_NONE, /* PostgreSQL has nothing to do for it: it is done */
    PART_CREATE,
    PART_CHANGE,
    PART_DELIVER,
    PART_SINGLE, /* a statement a write */
    PART_COUNT
};
enum write_part write_part_of(const struct write *write);
/* The asks that it is about: each call finds one more in *ret_id, which is NULL at first. Returns
 * its length; 0: that was all. */
size_t write_next_ask(const struct write *write, const char **ret_id);
/* `count` writes of one part, from this one on. */
void write_bind(const struct write *first, int count, const struct sql **ret_sql,
                struct params *out);
void write_take(struct write *first, int count, const PGresult *result);
/* What became of one as a letter and a number, "D12 "; returns the end of it. */
const char *write_take_said(struct write *write, const char *said);
/* Whose reply has a row is read behind its transaction (sent.wants_row). */
void write_bind_row(const struct write *write, const struct sql **ret_sql, struct params *out);
void write_take_row(struct write *write, const PGresult *result);
/* The name of an agent, by asks.origin (NULL is fine); the caller frees it. NULL: it has none. */
char *write_agent_name(const char *origin);

/* What searches are found by, filled in batches behind the asks. Words are folded here, so the
 * texts are read first, and what was made of them is written by a statement of its own, which
 * leaves out whatever changed in between. It may be repeated, so it goes where reads go. */

/* The three characters that a text goes on with, as one number, and on by one character; -1: there
 * are not so many. */
int64_t write_three(const char **at, const char *end);

/* The port's `index`. */
void postgres_index(struct pool *pool, int64_t now_ms, size_t batch, store_done *done,
                    void *context);

#endif
