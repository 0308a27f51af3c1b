/*
 * chosen_store.h - the store that SAYSO_TEST_STORE names, for the fixtures of tests that hold on
 * every store: a file, or with "postgres" a database of the tests' server (postgres_fixture.h) that
 * is as new for each test. To be included behind cmocka's four headers.
 */
#ifndef TESTS_CHOSEN_STORE_H
#define TESTS_CHOSEN_STORE_H
#include <stdbool.h>
#include <stdint.h>

#include "postgres_fixture.h"

struct loop;
struct store;

bool chosen_is_postgres(void);
/* Where a new store is: the file at `path`, or an empty database by its URL. */
void chosen_begin(const char *path, char out_where[POSTGRES_URL_BYTES]);
struct store *chosen_open(struct loop *loop, const char *where);

/* Behind the store's back. */
void chosen_run(const char *where, const char *sql);
int64_t chosen_number(const char *where, const char *sql);
int64_t chosen_bad_event(const char *where); /* the first event that does not fit; 0: all do */
/* 32 bytes of zero as SQL has them. */
const char *chosen_zeros(void);

#endif
