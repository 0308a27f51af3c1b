/*
 * test_origin.c - Host, Origin, Sec-Fetch-Site, Authorization and Content-Type as pages, proxies
 * and attackers send them.
 * Proves: R7.1, R12.1, A1, A2, A4, A5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/http.h"
#include "net/origin.h"

enum { PORT = 7297 };

static const char *const good_hosts[] = { "127.0.0.1:7297", "[::1]:7297", "localhost:7297" };
static const char *const bad_hosts[] = {
    NULL,
    "",
    ":7297",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:7298",
    "127.0.0.1:72970",
    "127.0.0.1:07297",
    "127.0.0.1:+7297",
    "127.0.0.1:7297 ",
    " 127.0.0.1:7297",
    "127.0.0.1:7297.",
    "127.0.0.1.:7297",
    "127.0.0.1:7297:7297",
    "127.0.0.1:7297/",
    "127.0.0.1:7297@evil.example",
    "evil@127.0.0.1:7297",
    "127.0.0.1.evil.example",
    "127.0.0.1.evil.example:7297",
    "evil127.0.0.1:7297",
    "localhost.evil.example:7297",
    "localhost",
    "evil.example:7297",
    "127.0.0.2:7297",
    "127.1:7297",
    "0.0.0.0:7297",
    "2130706433:7297",
    "0x7f000001:7297",
    "::1:7297",
    "[::1]",
    "[::1]7297",
    "[0:0:0:0:0:0:0:1]:7297",
    "[::ffff:127.0.0.1]:7297",
    "[::1%25lo]:7297",
    "127.0.0.1:7297,evil.example",
    "127.0.0.1\t:7297",
    "localh\xc3\xb6st:7297",
};

static void test_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good_hosts); i++)
        assert_true(origin_is_our_host(good_hosts[i], PORT));
    for (size_t i = 0; i < ARRAY_LEN(bad_hosts); i++) {
        if (origin_is_our_host(bad_hosts[i], PORT))
            fail_msg("taken for ours: '%s'", bad_hosts[i]);
    }
    assert_true(origin_is_our_host("localhost", 80)); /* browsers leave this port out */
    assert_true(origin_is_our_host("localhost:80", 80));
    assert_false(origin_is_our_host("localhost:", 80));
}

static void test_origin(void **state)
{
    static const char *const foreign[] = {
        "",
        "null",
        "http://evil.example",
        "http://evil.example:7297",
        "http://127.0.0.1",
        "http://127.0.0.1:7298",
        "https://127.0.0.1:7297",
        "HTTP://127.0.0.1:7297",
        "http:/127.0.0.1:7297",
        "http:127.0.0.1:7297",
        "//127.0.0.1:7297",
        "127.0.0.1:7297",
        "http://127.0.0.1:7297/",
        "http://127.0.0.1:7297?x",
        "http://evil.example@127.0.0.1:7297",
        "http://127.0.0.1:7297@evil.example",
        "http://127.0.0.1:7297 http://evil.example",
        "http://localhost.evil.example:7297",
        "file://",
        "chrome-extension://abcdefgh",
        "http://[::1]:7297.",
    };
    char origin[64];

    (void)state;
    assert_true(origin_is_ours(NULL, PORT));
    for (size_t i = 0; i < ARRAY_LEN(good_hosts); i++) {
        snprintf(origin, sizeof origin, "http://%s", good_hosts[i]);
        assert_true(origin_is_ours(origin, PORT));
    }
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        if (origin_is_ours(foreign[i], PORT))
            fail_msg("taken for ours: '%s'", foreign[i]);
    }
}

static void test_fetch_site(void **state)
{
    (void)state;
    assert_true(origin_is_from_our_page(NULL));
    assert_true(origin_is_from_our_page("same-origin"));
    assert_true(origin_is_from_our_page("none"));
    assert_false(origin_is_from_our_page("same-site")); /* another port of this address */
    assert_false(origin_is_from_our_page("cross-site"));
    assert_false(origin_is_from_our_page(""));
    assert_false(origin_is_from_our_page("none, cross-site"));
}

static void test_bearer(void **state)
{
    static const struct {
        const char *sent, *token;
    } cases[] = {
        { "Bearer sayso_a_x-Y_9", "sayso_a_x-Y_9" },
        { "bearer abc", "abc" },
        { "BEARER   abc", "abc" },
        { NULL, NULL },
        { "", NULL },
        { "Bearer", NULL },
        { "Bearer ", NULL },
        { "Bearer\tabc", NULL },
        { "Bearerabc", NULL },
        { "Bearer abc ", NULL },
        { "Bearer abc def", NULL },
        { "Bearer abc,def", NULL },
        { "Bearer \"abc\"", NULL },
        { "Bearer abc=", NULL },
        { "Basic abc", NULL },
        { "abc", NULL },
    };
    char longest[8 + ORIGIN_TOKEN_BYTES + 1] = "Bearer ";

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *token = origin_bearer(cases[i].sent);

        if (cases[i].token)
            assert_string_equal(token, cases[i].token);
        else if (token)
            fail_msg("taken for a token: '%s'", cases[i].sent);
    }
    memset(longest + 7, 'a', ORIGIN_TOKEN_BYTES - 1);
    assert_non_null(origin_bearer(longest));
    memset(longest + 7, 'a', ORIGIN_TOKEN_BYTES);
    assert_null(origin_bearer(longest));
}

static void test_type(void **state)
{
    static const char json[] = "application/json";

    (void)state;
    assert_true(origin_is_type("application/json", json));
    assert_true(origin_is_type("Application/JSON", json));
    assert_true(origin_is_type("application/json;charset=utf-8", json));
    assert_true(origin_is_type("application/json ; charset=utf-8", json));
    assert_false(origin_is_type(NULL, json));
    assert_false(origin_is_type("", json));
    assert_false(origin_is_type("application/jsonp", json));
    assert_false(origin_is_type("application/json, text/plain", json));
    assert_false(origin_is_type("text/plain; application/json", json));
}

/* A listener for other machines: by its public name, or by the address that was come to. */
static void test_public(void **state)
{
    static const struct {
        const char *url, *value;
        bool is_host, is_origin;
    } cases[] = {
        { "https://sayso.example.org", "sayso.example.org", true, false },
        { "https://sayso.example.org", "SAYSO.example.org", true, false },
        { "https://sayso.example.org", "sayso.example.org:443", true, false },
        { "https://sayso.example.org:443/", "sayso.example.org", true, false },
        { "https://sayso.example.org", "sayso.example.org:7443", false, false },
        { "https://sayso.example.org:7443", "sayso.example.org:7443", true, false },
        { "https://sayso.example.org:7443", "sayso.example.org", false, false },
        { "https://sayso.example.org", "evil.sayso.example.org", false, false },
        { "https://sayso.example.org", "sayso.example.org.evil.example", false, false },
        { "https://sayso.example.org", "localhost", false, false },
        { "https://sayso.example.org", "127.0.0.1:7443", false, false },
        { "https://sayso.example.org", "", false, false },
        { "https://sayso.example.org", "10.0.0.5:7443", true, false },
        { "https://sayso.example.org", "10.0.0.5", false, false },
        { "https://sayso.example.org", "10.0.0.5:7444", false, false },
        { "https://sayso.example.org", "https://sayso.example.org", false, true },
        { "https://sayso.example.org", "http://sayso.example.org", false, false },
        { "https://sayso.example.org", "https://sayso.example.org:7443", false, false },
        { "https://sayso.example.org", "https://evil.example", false, false },
        { "https://sayso.example.org", "https://10.0.0.5:7443", false, true },
        { "https://sayso.example.org", "http://10.0.0.5:7443", false, false },
        { "https://sayso.example.org", "null", false, false },
        { "", "", false, false },
        { "", ":0", false, false },
        { "", "sayso.example.org", false, false },
        { "", "10.0.0.5:7443", true, false },
        { "", "https://", false, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_virtual_host virtual_host = { .host = "", .has_tls = true };

        assert_true(!cases[i].url[0] || origin_read_url(cases[i].url, &virtual_host));
        if (origin_is_host_of(&virtual_host, "10.0.0.5:7443", cases[i].value) != cases[i].is_host)
            fail_msg("Host %s at %s", cases[i].value, cases[i].url);
        if (origin_is_of(&virtual_host, "10.0.0.5:7443", cases[i].value) != cases[i].is_origin)
            fail_msg("Origin %s at %s", cases[i].value, cases[i].url);
        assert_false(origin_is_host_of(&virtual_host, NULL, NULL));
        assert_true(origin_is_of(&virtual_host, NULL, NULL)); /* not a browser's */
    }
}

static void test_public_port(void **state)
{
    struct http_virtual_host virtual_host = { .host = "" };

    (void)state;
    assert_true(origin_read_url("https://a.example", &virtual_host));
    assert_int_equal(virtual_host.public_port, 443);
    assert_true(origin_read_url("http://a.example/", &virtual_host));
    assert_int_equal(virtual_host.public_port, 80);
    assert_true(origin_read_url("https://a.example:8443", &virtual_host));
    assert_int_equal(virtual_host.public_port, 8443);
    assert_string_equal(virtual_host.origin, "https://a.example:8443");
    assert_string_equal(virtual_host.host, "a.example:8443");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_public),     cmocka_unit_test(test_public_port),
        cmocka_unit_test(test_host),       cmocka_unit_test(test_origin),
        cmocka_unit_test(test_fetch_site), cmocka_unit_test(test_bearer),
        cmocka_unit_test(test_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
