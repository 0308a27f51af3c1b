/*
 * test_base_spare.c - memory that is used again: by random operations against what is known of
 * each thing, and that no more is kept than is said.
 * Proves: P20
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"

enum { THINGS = 500, OPERATIONS = 60000 };

/* xorshift: the same numbers each time, so that a failure comes again. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct thing {
    unsigned char *at; /* NULL: none */
    size_t bytes;
    unsigned char mark;
};

static void make(struct thing *thing, uint64_t *random)
{
    thing->bytes = next_random(random) % (FREELIST_MAX_BYTES + 200);
    thing->mark = (unsigned char)next_random(random);
    thing->at = freelist_new(thing->bytes);
    assert_non_null(thing->at);
    assert_int_equal((uintptr_t)thing->at % 16, 0);
    memset(thing->at, thing->mark, thing->bytes);
}

/* Nothing else wrote into it: every byte is its own. */
static void check_and_free(struct thing *thing)
{
    for (size_t i = 0; i < thing->bytes; i++)
        assert_int_equal(thing->at[i], thing->mark);
    freelist_free(thing->at, thing->bytes);
    thing->at = NULL;
}

static void things_do_not_share_memory(void **state)
{
    struct thing *things = mem_new(THINGS * sizeof *things);
    uint64_t random = 20261115;

    (void)state;
    for (int i = 0; i < OPERATIONS; i++) {
        struct thing *thing = &things[next_random(&random) % THINGS];

        if (thing->at)
            check_and_free(thing);
        else
            make(thing, &random);
    }
    for (int i = 0; i < THINGS; i++) {
        if (things[i].at)
            check_and_free(&things[i]);
    }
    freelist_free(NULL, 8);
    free(things);
}

#ifndef __SANITIZE_ADDRESS__ /* where everything is malloc's */
static void what_is_given_back_comes_again(void **state)
{
    void *first = freelist_new(700), *second = freelist_new(700);

    (void)state;
    freelist_free(first, 700);
    assert_ptr_equal(freelist_new(690), first); /* sizes are rounded up */
    freelist_free(second, 700);
    freelist_free(first, 690);
    assert_ptr_equal(freelist_new(700), first);
    assert_ptr_equal(freelist_new(700), second);
    freelist_free(first, 700);
    freelist_free(second, 700);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_do_not_share_memory),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(what_is_given_back_comes_again),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
