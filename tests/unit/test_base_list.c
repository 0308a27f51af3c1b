/* test_base_list.c - lists linked both ways: from the front, and any one out of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

struct thing {
    struct thing *next, *previous;
};

static void check(const struct thing *first, size_t count, const struct thing *const *wanted)
{
    const struct thing *previous = NULL;

    for (size_t i = 0; i < count; i++, previous = first, first = first->next) {
        assert_ptr_equal(first, wanted[i]);
        assert_ptr_equal(first->previous, previous);
    }
    assert_null(first);
}

static void any_one_can_leave(void **state)
{
    (void)state;
    for (size_t leaving = 0; leaving < 3; leaving++) {
        struct thing things[3] = { 0 }, *first = NULL;
        const struct thing *left[3] = { &things[2], &things[1], &things[0] };

        for (size_t i = 0; i < 3; i++)
            LIST_ADD(first, &things[i]);
        check(first, 3, left);
        LIST_REMOVE(first, &things[2 - leaving]);
        for (size_t i = leaving; i < 2; i++)
            left[i] = left[i + 1];
        check(first, 2, left);
        LIST_ADD(first, &things[2 - leaving]); /* what its members held before does not matter */
        check(first, 3, (const struct thing *[]){ &things[2 - leaving], left[0], left[1] });
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_one_can_leave) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
