/*
 * test_http_address.c - how many connections without a token come from one address: those of this
 * machine and of a load balancer are not counted.
 * Proves: R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http_server.h"

enum { MAX = 256 };

static struct sockaddr_storage peer_at(const char *address)
{
    struct sockaddr_storage peer = { 0 };
    struct sockaddr_in *four = (void *)&peer;
    struct sockaddr_in6 *six = (void *)&peer;

    peer.ss_family = strchr(address, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(
        inet_pton(peer.ss_family, address,
                  peer.ss_family == AF_INET ? (void *)&four->sin_addr : (void *)&six->sin6_addr),
        1);
    return peer;
}

static bool enter(struct http_server *server, const char *address, struct http_address **ret_left)
{
    struct sockaddr_storage peer = peer_at(address);

    return http_address_enter(server, &peer, ret_left);
}

static struct http_server *server_new(bool has_tls)
{
    struct http_server *server = mem_new(sizeof *server);

    if (has_tls)
        server->tls = (const struct tls_context *)(const void *)server; /* only whether there is */
    http_addresses_init(server);
    return server;
}

static void test_one_address_is_full(void **state)
{
    static const struct {
        const char *comes, *same, *other;
    } rows[] = {
        { "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2" },
        { "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1" },
    };

    (void)state;
    for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
        struct http_server *server = server_new(true);
        struct http_address *left[MAX], *other, *one_more;

        for (int i = 0; i < MAX; i++)
            assert_true(enter(server, rows[row].comes, &left[i]));
        assert_false(enter(server, rows[row].comes, &one_more));
        assert_false(enter(server, rows[row].same, &one_more));
        assert_true(enter(server, rows[row].other, &other));
        http_address_leave(&left[7]);
        assert_null(left[7]);
        http_address_leave(&left[7]); /* it showed a token, then closed */
        assert_true(enter(server, rows[row].same, &left[7]));
        assert_false(enter(server, rows[row].comes, &one_more));
        for (int i = 0; i < MAX; i++)
            http_address_leave(&left[i]);
        http_address_leave(&other);
        assert_int_equal(server->addresses.count, 0);
        table_release(&server->addresses);
        free(server);
    }
}

static void test_who_is_not_counted(void **state)
{
    static const char *const own[] = { "127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1" };
    struct http_server *server = server_new(true), *plain = server_new(false);
    struct http_address *left;

    (void)state;
    for (int i = 0; i <= MAX; i++) {
        for (size_t at = 0; at < ARRAY_LEN(own); at++) {
            assert_true(enter(server, own[at], &left));
            assert_null(left);
        }
        assert_true(enter(plain, "192.0.2.1", &left)); /* a balancer's */
        assert_null(left);
    }
    table_release(&server->addresses);
    table_release(&plain->addresses);
    free(server);
    free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_address_is_full),
        cmocka_unit_test(test_who_is_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
