/*
 * postgres_twin.h - one stage with two stores: every write goes to SQLite and to PostgreSQL, and
 * what came of it must be the same. To be included behind cmocka's four headers.
 */
#ifndef TESTS_POSTGRES_TWIN_H
#define TESTS_POSTGRES_TWIN_H
#include "postgres_fixture.h"
#include "store/writes.h"
#include "store_fixture.h"

struct twin {
    struct place *place; /* SQLite */
    char url[POSTGRES_URL_BYTES];
    PGconn *connection;
    int batches;
    struct store_reply reply; /* of the last write; the row is twin_row's */
};
#define TWIN(name) cmocka_unit_test_setup_teardown(name, twin_set_up, twin_tear_down)
int twin_set_up(void **state); /* *state NULL: there is no server */
int twin_tear_down(void **state);
int twin_group_tear_down(void **state);

/* Runs a statement on PostgreSQL; false: it was refused, and *ret_state has its SQLSTATE. */
bool twin_try(struct twin *twin, const char *text, char ret_state[6]);
/* A write in the transaction that is open; false: it was refused, write->reply.err says why. */
bool twin_send(struct twin *twin, struct write *write);
/* A write in a transaction of its own on PostgreSQL alone. Its outcome is STORE_FAILED where the
 * database refused it. */
struct store_reply twin_write(struct twin *twin, struct write *write);
/* The same write on both. Fails the test where outcome, number or row differ. */
enum store_outcome twin_run(struct twin *twin, const struct write *write);
/* All tables that both have hold the same. */
void twin_compare(struct twin *twin);

#endif
