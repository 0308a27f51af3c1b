/* migrate_rows.h - rows of one table on their way from a file into the database. */
#ifndef STORE_POSTGRES_MIGRATE_ROWS_H
#define STORE_POSTGRES_MIGRATE_ROWS_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "store/walk.h"

struct error;
struct params;

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
/* False: a value is nothing that the database could hold. */
bool migrate_rows_add(struct migrate_rows *rows, size_t table, sqlite3_stmt *row,
                      struct error *err);
bool migrate_rows_are_enough(const struct migrate_rows *rows);
/* One statement that writes them and moves the mark from `before` to `after`, or does nothing where
 * the mark is another. */
void migrate_rows_write(const struct migrate_rows *rows, const char *before, const char *after,
                        struct text *sql, struct params *params);
void migrate_rows_clear(struct migrate_rows *rows);
void migrate_rows_release(struct migrate_rows *rows);

#endif
