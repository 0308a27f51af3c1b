/*
 * test_engine_origin.c - where asks come from is kept once for those that say the same.
 * Proves: R9.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/state.h"

static const struct asker asker = { .client = { 7, 9 } };

static void test_the_same_words_are_kept_once(void **state)
{
    struct principal principal = { 0 };
    struct origin *one = origin_use(&principal, "{\"pid\":1}", "bot", &asker);
    struct origin *same = origin_use(&principal, "{\"pid\":1}", "bot", &asker);
    struct origin *other = origin_use(&principal, "{\"pid\":2}", "bot", &asker);
    struct origin *renamed = origin_use(&principal, "{\"pid\":1}", "cat", &asker);
    struct origin *nameless = origin_use(&principal, "{\"pid\":1}", NULL, &asker);

    (void)state;
    assert_ptr_equal(one, same);
    assert_ptr_not_equal(one, other);
    assert_ptr_not_equal(one, renamed);
    assert_ptr_not_equal(one, nameless);
    assert_string_equal(one->json, "{\"pid\":1}");
    assert_string_equal(one->agent, "bot");
    assert_null(nameless->agent);
    assert_int_equal(one->asker.client.pid, 7);
    origin_release(&principal, one);
    assert_ptr_equal(origin_use(&principal, "{\"pid\":1}", "bot", &asker), same);
    origin_release(&principal, same);
    origin_release(&principal, same);
    origin_release(&principal, renamed);
    origin_release(&principal, nameless);
    assert_ptr_equal(principal.origins, other);
    origin_release(&principal, other);
    assert_null(principal.origins);
}

/* Each from a process of its own: none is found again, and none is lost. */
static void test_many_that_differ(void **state)
{
    enum { MANY = 200 };
    struct principal principal = { 0 };
    struct origin *origins[MANY];
    char json[32];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        snprintf(json, sizeof json, "{\"pid\":%d}", i);
        origins[i] = origin_use(&principal, json, "bot", &asker);
        assert_string_equal(origins[i]->json, json);
    }
    for (int i = 0; i < MANY; i++)
        origin_release(&principal, origins[i * 7 % MANY]); /* in no order */
    assert_null(principal.origins);
}

static void test_an_ask_without_one(void **state)
{
    struct principal principal = { 0 };
    struct origin *none = origin_use(&principal, NULL, NULL, &asker);

    (void)state;
    assert_string_equal(none->json, "null");
    origin_release(&principal, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_words_are_kept_once),
        cmocka_unit_test(test_many_that_differ),
        cmocka_unit_test(test_an_ask_without_one),
    };

    return cmocka_run_group_tests_name("engine_origin", tests, NULL, NULL);
}
