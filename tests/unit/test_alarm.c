/*
 * test_alarm.c - the heap of alarms, by random operations against a list that is simply searched.
 * Proves: R5.4 (the order of what is due)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/alarm.h"

enum { ALARMS = 200, OPERATIONS = 20000 };

/* The reference: -1 is not set. */
struct reference {
    int64_t due[ALARMS];
};

/* xorshift: the same numbers each time, so that a failure comes again. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int64_t earliest(const struct reference *reference)
{
    int64_t first = -1;

    for (size_t i = 0; i < ALARMS; i++) {
        if (reference->due[i] >= 0 && (first < 0 || reference->due[i] < first))
            first = reference->due[i];
    }
    return first;
}

static void check(const struct alarm_heap *heap, const struct alarm *alarms,
                  const struct reference *reference)
{
    size_t set = 0;

    for (size_t i = 0; i < ALARMS; i++) {
        set += reference->due[i] >= 0;
        assert_true((alarms[i].place > 0) == (reference->due[i] >= 0));
        if (alarms[i].place)
            assert_ptr_equal(heap->alarms[alarms[i].place - 1], &alarms[i]);
    }
    assert_int_equal(heap->count, set);
    assert_int_equal(alarm_next(heap), earliest(reference));
}

/* Everything that is due comes out, in the order of time, and nothing else. */
static void take_all(struct alarm_heap *heap, struct alarm *alarms, struct reference *reference,
                     int64_t now_ms)
{
    int64_t last = -1;
    struct alarm *taken;

    while ((taken = alarm_take_due(heap, now_ms))) {
        size_t index = (size_t)(taken - alarms);

        assert_true(taken->boot_ms >= last && taken->boot_ms <= now_ms);
        assert_int_equal(taken->boot_ms, reference->due[index]);
        assert_int_equal(taken->place, 0);
        last = taken->boot_ms;
        reference->due[index] = -1;
    }
    assert_true(earliest(reference) < 0 || earliest(reference) > now_ms);
}

static void test_against_a_list(void **state)
{
    struct alarm alarms[ALARMS] = { 0 };
    struct alarm_heap heap = { 0 };
    struct reference reference;
    uint64_t seed = 88172645463325252ULL;

    (void)state;
    for (size_t i = 0; i < ALARMS; i++)
        reference.due[i] = -1;
    for (int i = 0; i < OPERATIONS; i++) {
        size_t which = next_random(&seed) % ALARMS;
        int64_t when = (int64_t)(next_random(&seed) % 1000); /* many at the same time */

        switch (next_random(&seed) % 8) {
        case 0:
            alarm_clear(&heap, &alarms[which]);
            reference.due[which] = -1;
            break;
        case 1:
            take_all(&heap, alarms, &reference, when / 10);
            break;
        default:
            alarm_set(&heap, &alarms[which], when);
            reference.due[which] = when;
        }
        if (i % 16 == 0)
            check(&heap, alarms, &reference);
    }
    take_all(&heap, alarms, &reference, 1000);
    check(&heap, alarms, &reference);
    assert_int_equal(heap.count, 0);
    alarm_heap_release(&heap);
}

static void test_an_empty_heap(void **state)
{
    struct alarm_heap heap = { 0 };
    struct alarm alarm = { 0 };

    (void)state;
    assert_int_equal(alarm_next(&heap), -1);
    assert_null(alarm_take_due(&heap, INT64_MAX));
    alarm_clear(&heap, &alarm);
    alarm_set(&heap, &alarm, 5);
    assert_null(alarm_take_due(&heap, 4));
    assert_ptr_equal(alarm_take_due(&heap, 5), &alarm);
    assert_null(alarm_take_due(&heap, INT64_MAX));
    alarm_set(&heap, &alarm, 7);
    alarm_heap_release(&heap);
    assert_int_equal(heap.count, 0);
    alarm_heap_release(&heap);
}

static void test_set_anew(void **state)
{
    struct alarm_heap heap = { 0 };
    struct alarm first = { 0 }, second = { 0 };

    (void)state;
    alarm_set(&heap, &first, 10);
    alarm_set(&heap, &second, 20);
    alarm_set(&heap, &first, 30);
    assert_int_equal(heap.count, 2);
    assert_int_equal(alarm_next(&heap), 20);
    alarm_set(&heap, &second, 40);
    assert_ptr_equal(alarm_take_due(&heap, 40), &first);
    assert_ptr_equal(alarm_take_due(&heap, 40), &second);
    alarm_heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_list),
        cmocka_unit_test(test_an_empty_heap),
        cmocka_unit_test(test_set_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
