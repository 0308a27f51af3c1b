/*
 * result.h - values out of a row that PostgreSQL sent. What is not there, or not of that kind, is
 * 0, NULL or empty: a database that others write to may hold anything.
 */
#ifndef STORE_POSTGRES_RESULT_H
#define STORE_POSTGRES_RESULT_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column;
struct columns;

int result_count(const PGresult *result); /* rows */
bool result_is_null(const PGresult *result, int row, int column);
int64_t result_integer(const PGresult *result, int row, int column);
bool result_flag(const PGresult *result, int row, int column);
/* NULL where it is NULL; borrowed until PQclear. */
const char *result_text(const PGresult *result, int row, int column);
/* A bytea; never more than `size` bytes, the rest of `out` is zeroed. */
void result_bytes(const PGresult *result, int row, int column, void *out, size_t size);
/* Into its member of `out`; a text is borrowed until PQclear. */
void result_column(const PGresult *result, int row, int at, const struct column *column, void *out);
/* All columns of a struct from `first` on, zeroed where they are not there. Texts are borrowed
 * until PQclear. */
void result_read(const PGresult *result, int row, int first, const struct columns *columns,
                 void *out);

#endif
