/* statement.h - the statements of one connection: prepared at first use, kept until the end. */
#ifndef STORE_SQLITE_STATEMENT_H
#define STORE_SQLITE_STATEMENT_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column;
struct column_value;
struct columns;

struct statements {
    sqlite3 *db;
    const char *const *sql; /* one text each, constant */
    size_t count;
    sqlite3_stmt **prepared; /* owned; NULL where not used yet */
};

void statements_init(struct statements *set, sqlite3 *db, const char *const *sql, size_t count);
void statements_release(struct statements *set);

/* One use of a statement: values are bound in the order of their `?`, then it is stepped. */
struct statement {
    sqlite3_stmt *handle; /* NULL: could not be prepared, rc says why */
    int bound;
    int rc;      /* the first thing that went wrong, or SQLITE_OK */
    bool is_own; /* it is in no set: it ends with its use */
};

struct statement statement_of(struct statements *set, size_t which);
struct statement statement_with(struct statements *set, size_t which,
                                const struct column_value *values, size_t count);
struct statement statement_once(sqlite3 *db, const char *sql); /* kept in no set */
void statement_bind(struct statement *statement, const struct column_value *values, size_t count);
/* Members of `from`; no more than the statement has parameters for. */
void statement_values(struct statement *statement, const struct column *list, size_t count,
                      const void *from);
bool statement_step(struct statement *statement); /* true: there is a row */
/* The same with all columns of the row in `out`, borrowed until the next step. */
bool statement_next(struct statement *statement, const struct columns *columns, void *out);
/* Ends this use. Returns what went wrong, or SQLITE_OK. */
int statement_end(struct statement *statement);
int statement_run(struct statement *statement);   /* step, then end */
int statement_exec(sqlite3 *db, const char *sql); /* one or several, without values */
/* Of a statement that is used once, the first value of its first row. SQLITE_DONE: it has none. */
int statement_number(sqlite3 *db, const char *sql, int64_t *ret_number);

#endif
