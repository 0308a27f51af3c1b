/*
 * test_base_table.c - the hash table of things that carry their own link, by random operations
 * against an array, with keys that come more than once.
 * Proves: R5.5 (finding asks by call and by key)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"

enum { THINGS = 600, KEYS = 150, OPERATIONS = 20000 };

struct thing {
    int before;
    char key[6];
    struct table_link link, other_link;
    bool is_in, is_seen;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void name(struct thing *thing, unsigned number)
{
    memset(thing->key, 0, sizeof thing->key);
    memcpy(thing->key, &number, sizeof number); /* with zeros inside */
}

/* By key: each that is in comes once, and nothing else. */
static void check_key(const struct table *table, struct thing *things, unsigned number)
{
    struct thing wanted;
    struct table_link *link;
    size_t found = 0, in = 0;

    name(&wanted, number);
    for (link = table_find(table, wanted.key); link; link = table_find_next(table, link)) {
        struct thing *thing = TABLE_THING(thing, link, link);

        assert_true(thing->is_in);
        assert_memory_equal(thing->key, wanted.key, sizeof wanted.key);
        found++;
    }
    for (size_t i = 0; i < THINGS; i++)
        in += things[i].is_in && memcmp(things[i].key, wanted.key, sizeof wanted.key) == 0;
    assert_int_equal(found, in);
}

static void check_all(const struct table *table, struct thing *things)
{
    struct table_link *link = NULL;
    size_t seen = 0, in = 0;

    for (size_t i = 0; i < THINGS; i++) {
        in += things[i].is_in;
        things[i].is_seen = false;
    }
    while ((link = table_each(table, link))) {
        struct thing *thing = TABLE_THING(thing, link, link);

        assert_true(thing->is_in && !thing->is_seen);
        thing->is_seen = true;
        seen++;
    }
    assert_int_equal(seen, in);
    assert_int_equal(table->count, in);
}

static void test_against_an_array(void **state)
{
    struct thing *things = mem_new(THINGS * sizeof *things);
    struct table table = TABLE_OF(thing, link, key);
    uint64_t seed = 2463534242ULL;

    (void)state;
    for (unsigned i = 0; i < THINGS; i++)
        name(&things[i], i % KEYS);
    for (int i = 0; i < OPERATIONS; i++) {
        struct thing *thing = &things[next_random(&seed) % THINGS];

        if (thing->is_in)
            table_remove(&table, &thing->link);
        else
            table_insert(&table, &thing->link);
        thing->is_in = !thing->is_in;
        if (i % 64 == 0) {
            check_all(&table, things);
            check_key(&table, things, (unsigned)(next_random(&seed) % (KEYS + 10)));
        }
    }
    table_release(&table);
    free(things);
}

static void test_empty(void **state)
{
    struct table table = TABLE_OF(thing, link, key);
    struct thing thing = { 0 };

    (void)state;
    assert_null(table_find(&table, thing.key));
    assert_null(table_each(&table, NULL));
    table_insert(&table, &thing.link);
    assert_ptr_equal(table_find(&table, thing.key), &thing.link);
    assert_null(table_find_next(&table, &thing.link));
    table_remove(&table, &thing.link);
    assert_null(table_find(&table, thing.key));
    assert_null(table_each(&table, NULL));
    table_release(&table);
    table_release(&table);
}

/* The one just returned may be removed before the next is asked for. */
static void test_removing_while_walking(void **state)
{
    struct thing things[100] = { 0 };
    struct table table = TABLE_OF(thing, link, key);
    struct table_link *link = NULL;
    size_t removed = 0;

    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(things); i++) {
        name(&things[i], i);
        table_insert(&table, &things[i].link);
    }
    while ((link = table_each(&table, link))) {
        table_remove(&table, link);
        removed++;
    }
    assert_int_equal(removed, ARRAY_LEN(things));
    assert_int_equal(table.count, 0);
    table_release(&table);
}

/* One thing in two tables, by links of its own. */
static void test_two_tables(void **state)
{
    struct thing things[40] = { 0 };
    struct table first = TABLE_OF(thing, link, key), second = TABLE_OF(thing, other_link, key);

    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(things); i++) {
        name(&things[i], i);
        table_insert(&first, &things[i].link);
        table_insert(&second, &things[i].other_link);
    }
    for (unsigned i = 0; i < ARRAY_LEN(things); i++) {
        assert_ptr_equal(TABLE_THING(thing, link, table_find(&first, things[i].key)), &things[i]);
        assert_ptr_equal(TABLE_THING(thing, other_link, table_find(&second, things[i].key)),
                         &things[i]);
        table_remove(&first, &things[i].link);
        assert_null(table_find(&first, things[i].key));
    }
    assert_int_equal(second.count, ARRAY_LEN(things));
    table_release(&first);
    table_release(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_an_array),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_removing_while_walking),
        cmocka_unit_test(test_two_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
