/*
 * rows.h - every row of a store's file, in an order that stays, for who moves it elsewhere. Reads
 * one state of the file and leaves nothing behind; that no hub has it open is the caller's care.
 */
#ifndef STORE_TRANSFER_ROWS_H
#define STORE_TRANSFER_ROWS_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "store/event.h"

struct error;

struct walk_table {
    const char *name, *order; /* columns that no two rows have alike */
    const char *where;        /* NULL: all rows; good SQL elsewhere too */
};
enum { WALK_TABLES = 13, WALK_COLUMNS = 32 };
/* In the order in which they may be written: what is referred to comes first. All but counter,
 * whose row is below, and what searches are found by (words, by_agent, by_id, by_principal,
 * unindexed, search): that is made anew. tests/integration/test_migrate.py compares with the
 * schema. */
extern const struct walk_table walk_tables[WALK_TABLES];

struct walk {
    sqlite3 *db;
    char *path;
    int64_t counts[WALK_TABLES], all; /* rows */
    struct event_head head;           /* the row of counter, */
    int64_t failures;                 /* and more of it */
    char source[HASH_HEX_BYTES];      /* which store it is, whatever it holds */
    char state[HASH_HEX_BYTES];       /* of all rows, after walk_check */
};
/* `out` is zeroed on false; `err`: the file is damaged, busy, not ours, newer or older. */
bool walk_open(const char *path, struct walk *out, struct error *err);
void walk_close(struct walk *walk); /* zeroed is fine */

/* False ends it; `row` has all columns, by name. */
typedef bool walk_each(void *context, size_t table, sqlite3_stmt *row, struct error *err);
/* The rows of a table behind the first `skip`. */
bool walk_rows(struct walk *walk, size_t table, int64_t skip, walk_each *each, void *context,
               struct error *err);
typedef void walk_told(void *context, int64_t done, int64_t all);
/* Looks at every row and at the chain of events. */
bool walk_check(struct walk *walk, walk_told *told, void *context, struct error *err);

#endif
