/*
 * test_wire_server.c - the hub's side of a connection whose other end goes away.
 * Proves: R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "make_directory.h"
#include "remove_tree.h"
#include "rpc/server.h"
#include "rpc/service.h"

enum { LIMIT_MS = 60000 };

struct place {
    struct service service; /* first */
    char directory[64], path[96];
    struct loop *loop;
    struct rpc_server *server;
    struct identity identity; /* the one who is there */
    int entered, left, confirmed;
};

static struct session *enter(struct service *service, const struct identity *identity)
{
    struct place *place = (struct place *)service;

    place->identity = *identity;
    place->entered++;
    return (struct session *)place;
}

static void leave(struct service *service, struct session *session)
{
    (void)session;
    ((struct place *)service)->left++;
}

static void call(struct service *service, struct session *session, const struct request *request,
                 reply_done *done, void *context)
{
    (void)session;
    assert_int_equal(request->method, METHOD_ask_delivered);
    ((struct place *)service)->confirmed++;
    done(context, &(struct reply){ .json = "{}" });
}

static const struct service_ops ops = { .open = enter, .close = leave, .call = call };

static void write_status(void *context, struct text *out)
{
    (void)context;
    text_add_text(out, "{}");
}

static void on_wish(void *context, enum shutdown action)
{
    (void)context;
    (void)action;
}

static void before_sleep(void *context)
{
    rpc_server_flush(((struct place *)context)->server);
}

static int set_up(void **state)
{
    struct place *place = mem_new(sizeof *place);
    const struct rpc_host host = { place, write_status, on_wish };
    struct error err;

    place->service.ops = &ops;
    assert_non_null(make_directory(place->directory, sizeof place->directory, "sayso-wire"));
    snprintf(place->path, sizeof place->path, "%s/hub.sock", place->directory);
    place->loop = loop_new();
    assert_true(rpc_server_open(place->loop, &place->service, place->path, -1, &host,
                                &place->server, &err));
    loop_before_sleep(place->loop, before_sleep, place);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    rpc_server_free(place->server);
    loop_free(place->loop);
    remove_tree(place->directory);
    free(place);
    return 0;
}

static int come(const struct place *place, const char *lines)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", place->path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, lines, strlen(lines)), strlen(lines));
    return fd;
}

static bool has_entered(void *context)
{
    return ((struct place *)context)->entered > 0;
}

static bool has_left(void *context)
{
    return ((struct place *)context)->left > 0;
}

/* The hub has something to write before it reads: what the peer said last is heard all the same. */
static void test_the_last_words_of_a_peer(void **state)
{
    static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{"
                                "\"wire\":1,\"role\":\"agent\",\"name\":\"a\"}}\n";
    static const char words[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ask/delivered\","
                                "\"params\":{\"session_ids\":[]}}\n";
    struct place *place = *state;
    int fd = come(place, hello);

    assert_true(loop_run_until(place->loop, has_entered, place, loop_boot_ms() + LIMIT_MS));
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
    close(fd);
    place->identity.event(place->identity.context, "{}", 2);
    rpc_server_flush(place->server);
    assert_true(loop_run_until(place->loop, has_left, place, loop_boot_ms() + LIMIT_MS));
    assert_int_equal(place->confirmed, 1);
    assert_int_equal(rpc_server_peer_count(place->server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_last_words_of_a_peer, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
