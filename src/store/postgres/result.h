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

struct store_row;

int result_count(const PGresult *result); /* rows */
bool result_is_null(const PGresult *result, int row, int column);
int64_t result_integer(const PGresult *result, int row, int column);
bool result_flag(const PGresult *result, int row, int column);
/* NULL where it is NULL; borrowed until PQclear. */
const char *result_text(const PGresult *result, int row, int column);
/* A bytea; never more than `size` bytes, the rest of `out` is zeroed. */
void result_bytes(const PGresult *result, int row, int column, void *out, size_t size);
/* The columns of ROW_WHOLE, ROW_BRIEF or ROW_UNANSWERED (store/row.h) from `first_column` on.
 * Texts are borrowed until PQclear. */
void result_row(const PGresult *result, int row, int first_column, struct store_row *out);

#endif
