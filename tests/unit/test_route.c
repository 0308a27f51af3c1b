/*
 * test_route.c - which paths a pattern stands for, and what it takes out of them.
 * Proves: R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "net/guard.h"

static const struct {
    const char *pattern, *path;
    bool matches;
    const char *first, *second;
} cases[] = {
    { "/", "/", true, "", "" },
    { "/mcp", "/mcp", true, "", "" },
    { "/mcp", "/mcp/", false, "", "" },
    { "/mcp", "/mc", false, "", "" },
    { "/mcp", "/MCP", false, "", "" },
    { "/mcp", "", false, "", "" },
    { "/api/asks/{id}", "/api/asks/k3f7", true, "k3f7", "" },
    { "/api/asks/{id}", "/api/asks/", false, "", "" },
    { "/api/asks/{id}", "/api/asks/a/b", false, "", "" },
    { "/api/asks/{id}", "/api/asks/{id}", true, "{id}", "" },
    { "/api/asks/{id}/answer", "/api/asks/k3f7/answer", true, "k3f7", "" },
    { "/api/asks/{id}/answer", "/api/asks//answer", false, "", "" },
    { "/api/asks/{id}/answer", "/api/asks/k3f7/answer/", false, "", "" },
    { "/a/{x}/b/{y}", "/a/1/b/2", true, "1", "2" },
    { "/static/*", "/static/app/main.js", true, "app/main.js", "" },
    { "/static/*", "/static/", true, "", "" },
    { "/static/*", "/static", false, "", "" },
    { "/choice/*", "/choices/x", false, "", "" },
};

static void test_patterns(void **state)
{
    struct route_values values;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (route_matches(cases[i].pattern, cases[i].path, &values) != cases[i].matches)
            fail_msg("%s and %s", cases[i].pattern, cases[i].path);
        if (!cases[i].matches)
            continue;
        assert_string_equal(values.of[0], cases[i].first);
        assert_string_equal(values.of[1], cases[i].second);
    }
}

static void test_long_parts(void **state)
{
    char path[8 + ROUTE_VALUE_BYTES + 1] = "/asks/";
    struct route_values values;

    (void)state;
    memset(path + 6, 'a', ROUTE_VALUE_BYTES - 1);
    assert_true(route_matches("/asks/{id}", path, &values));
    assert_int_equal(strlen(values.of[0]), ROUTE_VALUE_BYTES - 1);
    memset(path + 6, 'a', ROUTE_VALUE_BYTES);
    assert_false(route_matches("/asks/{id}", path, &values));
    assert_false(route_matches("/asks/*", path, &values));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_patterns),
                                        cmocka_unit_test(test_long_parts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
