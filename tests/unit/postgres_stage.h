/*
 * postgres_stage.h - a database with our tables, and a pool whose reads run when the test says so:
 * they can be counted, explained, held back and made to fail. To be included behind cmocka's four
 * headers.
 */
#ifndef TESTS_POSTGRES_STAGE_H
#define TESTS_POSTGRES_STAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "postgres_fixture.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"

struct staged_read;
struct staged_pool {
    struct pool pool; /* first */
    PGconn *connection;
    struct staged_read *first, *last;
    int reads;     /* that were run */
    int fail_at;   /* the read of this number fails, counted from 1; 0: none */
    bool explains; /* what the server does for each read goes into `plans` */
    struct text plans;
};

/* One database for all tests of a program, emptied for each; the tests skip without a server. */
struct stage {
    char url[POSTGRES_URL_BYTES];
    struct staged_pool pool;
    struct pool *reads; /* the same, for who reads */
    struct pg_store of_reads;
    struct store *store; /* that, whose only functions are those of read.h */
};
#define STAGED(name) cmocka_unit_test_setup_teardown(name, stage_set_up, stage_tear_down)
int stage_set_up(void **state); /* *state NULL: there is no server */
int stage_tear_down(void **state);
int stage_group_tear_down(void **state);

void stage_run(struct stage *stage, const char *sql_text);
int64_t stage_number(struct stage *stage, const char *sql_text);
/* An ask and the event of its creation; with an answer that of the answer too. Ids are 26 times
 * 'a', the end of which counts; NULLs are left out. */
struct staged_ask {
    int64_t number;
    int state;
    int64_t deliver_after_ms, delivered_ms;
    const char *principal, *agent, *form, *answer, *via, *key;
};
void stage_ask(struct stage *stage, const struct staged_ask *ask);
void stage_id(char out[27], int64_t number);

struct staged_pool staged_pool_on(PGconn *connection);
/* Runs what was asked for, one, or all and what that leads to. */
bool pool_step(struct staged_pool *pool);
void pool_run(struct staged_pool *pool);

#endif
