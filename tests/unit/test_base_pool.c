/*
 * test_base_pool.c - memory for small things, by random operations against what is known of each;
 * and many descriptors watched through one.
 * Proves: P20
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/pool.h"

enum { THINGS = 3000, OPERATIONS = 60000 };

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

/* Nothing else wrote into it: every byte is its own. */
static void check_and_free(struct thing *thing)
{
    for (size_t i = 0; i < thing->bytes; i++)
        assert_int_equal(thing->at[i], thing->mark);
    pool_free(thing->at, thing->bytes);
    thing->at = NULL;
}

static void make(struct thing *thing, uint64_t *random)
{
    thing->bytes = 1 + next_random(random) % (POOL_MAX_BYTES + 100);
    thing->mark = (unsigned char)next_random(random);
    thing->at = pool_new(thing->bytes);
    assert_int_equal((uintptr_t)thing->at % 8, 0);
    for (size_t i = 0; i < thing->bytes; i++)
        assert_int_equal(thing->at[i], 0);
    memset(thing->at, thing->mark, thing->bytes);
}

static void test_random_things(void **state)
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
    pool_free(NULL, 8);
    free(things);
}

/* Ten thousand of a size, twice: the second time has the memory of the first. */
static void test_many_of_one_size(void **state)
{
    enum { MANY = 10000, SIZE = 104 };
    void **things = mem_new(MANY * sizeof *things);

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            things[i] = pool_new(SIZE);
            assert_int_equal(*(char *)things[i], 0);
            memset(things[i], 0xff, SIZE);
        }
        for (int i = 0; i < MANY; i++)
            pool_free(things[i * 7 % MANY], SIZE); /* 7 and MANY have no divisor in common */
    }
    free(things);
}

static void test_aligned_pages(void **state)
{
    static const size_t sizes[] = { 4096, 65536, 1048576 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *one = os_map_aligned(sizes[i]), *two = os_map_aligned(sizes[i]);

        assert_non_null(one);
        assert_non_null(two);
        assert_int_equal((uintptr_t)one % sizes[i], 0);
        assert_int_equal((uintptr_t)two % sizes[i], 0);
        one[0] = one[sizes[i] - 1] = two[0] = two[sizes[i] - 1] = 1;
        os_unmap(one, sizes[i]);
        assert_int_equal(two[0], 1);
        os_unmap(two, sizes[i]);
    }
}

/* The events of the only one that is ready; 0: none is. */
static unsigned look(int poller, void *expected)
{
    struct os_ready ready[4];
    int count = os_poller_take(poller, ready, 4);

    assert_in_range(count, 0, 1);
    if (count == 1)
        assert_ptr_equal(ready[0].thing, expected);
    return count == 1 ? ready[0].events : 0;
}

static void test_poller(void **state)
{
    int poller = os_poller_open(), pair[2], thing;
    char byte = 'x';

    (void)state;
    assert_true(poller >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_true(os_poller_watch(poller, pair[0], 0, OS_READABLE, &thing));
    assert_int_equal(look(poller, &thing), 0);
    assert_int_equal(write(pair[1], &byte, 1), 1);
    assert_int_equal(look(poller, &thing), OS_READABLE);
    assert_int_equal(look(poller, &thing), OS_READABLE); /* until it is read */
    assert_true(os_poller_watch(poller, pair[0], OS_READABLE, OS_WRITABLE | OS_HUNG_UP, &thing));
    assert_int_equal(look(poller, &thing), OS_WRITABLE);
    assert_true(os_poller_watch(poller, pair[0], OS_WRITABLE | OS_HUNG_UP, OS_HUNG_UP, &thing));
    assert_int_equal(look(poller, &thing), 0);
    assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
    assert_int_equal(look(poller, &thing), OS_HUNG_UP);
    assert_true(os_poller_watch(poller, pair[0], OS_HUNG_UP, 0, &thing));
    assert_int_equal(look(poller, &thing), 0);
    assert_true(os_poller_watch(poller, pair[0], 0, 0, &thing)); /* nothing is to be done */
    assert_false(os_poller_watch(poller, -1, 0, OS_READABLE, &thing));
    close(pair[0]);
    close(pair[1]);
    close(poller);
}

static long resident_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages;
}

/* What lies behind the freed memory keeps it in the process, but not in the machine. */
static void test_memory_goes_back(void **state)
{
    enum { MANY = 8000, BYTES = 2000, PAGES = MANY / 2 * BYTES / 4096 };
    char **things;
    long before;

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* malloc is another's */
#endif
    if (getenv("SAYSO_VALGRIND"))
        skip();
    things = mem_new(MANY * sizeof *things);
    for (int i = 0; i < MANY; i++) {
        things[i] = mem_new(BYTES);
        memset(things[i], 1, BYTES);
    }
    for (int i = 0; i < MANY - 1; i++)
        free(things[i]);
    before = resident_pages();
    os_give_memory_back();
    assert_true(before - resident_pages() > PAGES);
    free(things[MANY - 1]);
    free(things);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_things),    cmocka_unit_test(test_many_of_one_size),
        cmocka_unit_test(test_aligned_pages),    cmocka_unit_test(test_poller),
        cmocka_unit_test(test_memory_goes_back),
    };

    return cmocka_run_group_tests_name("base_pool", tests, NULL, NULL);
}
