/*
 * test_policy.c - when an agent must ask.
 * Proves: R11.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "core/routing.h"

static const struct {
    const char *name;
    struct policy_situation situation;
    unsigned reasons;
} cases[] = {
    { "nothing to decide", { .paths = 0 }, 0 },
    { "one way", { .paths = 1 }, 0 },
    { "two ways", { .paths = 2 }, 0 },
    { "three ways", { .paths = 3 }, POLICY_PATHS },
    { "any number of ways", { .paths = INT64_MAX }, POLICY_PATHS },
    { "less than none", { .paths = INT64_MIN }, 0 },
    { "destructive with one way", { .paths = 1, .is_destructive = true }, POLICY_DESTRUCTIVE },
    { "a name is missing", { .paths = 1, .missing_count = 1 }, POLICY_MISSING },
    { "all at once",
      { .paths = 5, .is_destructive = true, .missing_count = 2 },
      POLICY_PATHS | POLICY_DESTRUCTIVE | POLICY_MISSING },
};

static void test_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (policy_reasons(&cases[i].situation) != cases[i].reasons)
            fail_msg("%s", cases[i].name);
    }
}

static void test_texts(void **state)
{
    static const struct {
        enum policy_reason reason;
        const char *words;
    } texts[] = {
        { POLICY_PATHS, "More than two approaches" },
        { POLICY_DESTRUCTIVE, "destructive" },
        { POLICY_MISSING, "missing" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_non_null(strstr(policy_reason_text(texts[i].reason), texts[i].words));
    assert_string_equal(policy_reason_text((enum policy_reason)8), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
