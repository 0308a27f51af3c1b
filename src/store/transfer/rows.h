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

struct table_scan_table {
    const char *name, *order; /* columns that no two rows have alike */
    const char *where;        /* NULL: all rows; good SQL elsewhere too */
};
enum { SCAN_TABLES = 13, SCAN_COLUMNS = 32 };
/* In the order in which they may be written: what is referred to comes first. All but counter,
 * whose row is below, and what searches are found by (words, by_agent, by_id, by_principal,
 * unindexed, search): that is built again. tests/integration/test_migrate.py compares with the
 * schema. */
extern const struct table_scan_table table_scan_tables[SCAN_TABLES];

struct table_scan {
    sqlite3 *db;
    char *path;
    int64_t counts[SCAN_TABLES], all; /* rows */
    struct event_head head;           /* the row of counter, */
    int64_t failures;                 /* and more of it */
    char source[HASH_HEX_BYTES];      /* which store it is, whatever it holds */
    char state[HASH_HEX_BYTES];       /* of all rows, after table_scan_check */
};
/* `out` is zeroed on false; `err`: the file is damaged, busy, not ours, newer or older. */
bool table_scan_open(const char *path, struct table_scan *out, struct error *err);
void table_scan_close(struct table_scan *scan); /* zeroed is fine */

/* False ends it; `row` has all columns, by name. */
typedef bool table_scan_each(void *context, size_t table, sqlite3_stmt *row, struct error *err);
/* The rows of a table behind the first `skip`. */
bool table_scan_rows(struct table_scan *scan, size_t table, int64_t skip, table_scan_each *each,
                     void *context, struct error *err);
typedef void table_scan_told(void *context, int64_t done, int64_t all);
/* Looks at every row and at the chain of events. */
bool table_scan_check(struct table_scan *scan, table_scan_told *told, void *context,
                      struct error *err);

#endif
