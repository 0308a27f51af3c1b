/*
 * test_patience.c - what giving up on a call teaches: a client's clock, not a person's Esc.
 * Proves: R5.7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/ask.h"

static void test_what_is_learnt(void **state)
{
    static const struct {
        const char *name;
        int64_t known, held;
        bool says_so;
        int64_t then;
    } cases[] = {
        { "its clock, once", 0, 60010, true, 60010 },
        { "its clock, after an Esc", -33000, 60010, true, 60010 },
        { "its clock was set lower", 60010, 20000, true, 20000 },
        { "its clock was set higher", 20000, 60010, true, 60010 },
        { "too short to be of use", 0, 999, true, 0 },
        { "for no reason, once", 0, 60010, false, -60010 },
        { "for no reason, twice", -60010, 60900, false, 60010 },
        { "for no reason, twice, at the border", -60010, 58010, false, 58010 },
        { "at two different times", -60010, 33000, false, -33000 },
        { "just not the same", -60010, 62011, false, -62011 },
        { "a person, at once", 0, 9999, false, 0 },
        { "a person, at once, twice", -12000, 9999, false, -12000 },
        { "a person, when it is known", 60010, 33000, false, 60010 },
        { "again, when it is known", 60010, 59800, false, 59800 },
        { "nonsense", 0, -5, true, 0 },
        { "nonsense of the other kind", -60010, INT64_MAX, false, -60010 },
        { "nonsense below everything", 60010, INT64_MIN, true, 60010 },
        { "nonsense that was kept", INT64_MIN, 60010, false, -60010 },
        { "longer than any ask lives", 60010, 2592000001, true, 60010 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (client_timeout_learn(cases[i].known, cases[i].held, cases[i].says_so) != cases[i].then)
            fail_msg("%s", cases[i].name);
    }
}

static void test_calls_are_held_for_less(void **state)
{
    static const struct {
        int64_t known, hold;
    } cases[] = {
        { INT64_MAX, -1 },  { 0, -1 },          { -60000, -1 },   { 1000, 500 },
        { 8000, 4000 },     { 20000, 15000 },   { 60000, 54000 }, { 50000, 45000 },
        { 120000, 108000 }, { 300000, 270000 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(client_timeout_hold_ms(cases[i].known), cases[i].hold);
}

static void test_reasons(void **state)
{
    static const struct {
        const char *reason;
        bool is_time;
    } cases[] = {
        { "McpError: MCP error -32001: Request timed out", true },
        { "request timeout", true },
        { "Timeout", true },
        { "MCP error -32001", true },
        { "AbortError: This operation was aborted", false },
        { "user pressed Esc", false },
        { "", false },
        { NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(client_timeout_is_time_up(cases[i].reason), cases[i].is_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_learnt),
        cmocka_unit_test(test_calls_are_held_for_less),
        cmocka_unit_test(test_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
