/*
 * test_maths.c - each function that is found in libm when it is first called does what its name
 * says, and two threads may find it at the same time.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static volatile double at = 0.5; /* so that nothing is worked out by the compiler */

static void functions_of_one_number(void **state)
{
    const struct {
        double (*function)(double), wanted;
    } rows[] = {
        { acos, 1.0471975511965979 },
        { asin, 0.52359877559829893 },
        { asinh, 0.48121182505960347 },
        { atan, 0.46364760900080609 },
        { atanh, 0.54930614433405489 },
        { cos, 0.87758256189037276 },
        { cosh, 1.1276259652063807 },
        { exp, 1.6487212707001282 },
        { floor, 0 },
        { log, -0.69314718055994529 },
        { log10, -0.3010299956639812 },
        { round, 1 },
        { sin, 0.47942553860420301 },
        { sinh, 0.52109530549374738 },
        { sqrt, 0.70710678118654757 },
        { tan, 0.54630248984379048 },
        { tanh, 0.46211715726000973 },
        { trunc, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(fabs(rows[i].function(at) - rows[i].wanted) < 1e-12);
    assert_true(fabs(acosh(at + 1) - 0.96242365011920694) < 1e-12);
}

static void functions_of_two_numbers(void **state)
{
    (void)state;
    assert_true(fabs(atan2(at, 1) - atan(at)) < 1e-12);
    assert_true(fmod(at + 5, 2) == 1.5);
    assert_true(pow(at, 3) == 0.125);
}

static void *power(void *result)
{
    *(double *)result = pow(2, 10 * (at + 0.5));
    return NULL;
}

static void threads_find_the_same(void **state)
{
    double results[8] = { 0 };
    pthread_t threads[ARRAY_LEN(results)];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(results); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, power, &results[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(results[i] == 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_number),
        cmocka_unit_test(functions_of_two_numbers),
        cmocka_unit_test(threads_find_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
