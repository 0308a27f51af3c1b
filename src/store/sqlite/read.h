/* read.h - what the store reads, on the loop's thread over a connection of its own. */
#ifndef STORE_SQLITE_READ_H
#define STORE_SQLITE_READ_H
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/text.h"
#include "store/columns.h"
#include "store/reads.h"
#include "store/sqlite/statement.h"
#include "store/store.h"
#include "store/writes.h"

struct reader {
    struct queued_store queued; /* first: a struct store * is one of these */
    sqlite3 *db;                /* borrowed */
    const char *path;           /* borrowed */
    atomic_bool *is_broken;     /* borrowed */
    struct statements statements;
    struct statements history; /* of history.c */
    struct text meta;          /* what reader_meta returned last */
};

void reader_init(struct reader *reader, sqlite3 *db, const char *path, atomic_bool *is_broken);
void reader_release(struct reader *reader);

static inline struct reader *reader_of(struct store *store)
{
    return (struct reader *)store;
}

/* For a store that begins with a reader. */
#define READER_FUNCTION(name) STORE_FUNCTION(reader_, name)
#define READER_MEMBER(name)   .name = reader_##name,
STORE_READS(READER_FUNCTION)
/* The member `read` of what both stores begin with. */
void reader_read(struct store *store, enum read_statement which, const struct column_value *values,
                 size_t count, const struct reading *reading);

/* Ends a statement. False: `err`, and is_broken where only a restart fixes it. */
bool reader_end(struct reader *reader, struct statement *statement, struct error *err);
/* All reads until reader_rest see the same. False: it is so already, and who began it ends it. */
bool reader_begin(struct reader *reader);
void reader_rest(struct reader *reader);

extern const char *const history_sql[]; /* history.c */
extern const size_t history_sql_count;

#endif
