/*
 * test_waiting_ask.c - what the hub keeps of one tools/call over HTTP that waits for a person,
 * counted in the cells that pools hand out and the places in tables and in the heap of alarms. Ten
 * thousand may wait at the same time. `bench/run --only http` measures the whole. Proves: P20
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "engine/state.h"
#include "http/mcp/peer.h"
#include "mcp/calls.h"
#include "net/http_server.h"

enum {
    WAITING = 10000,
    MAX_BYTES =
        860, /* 900 with what comes on top: pages of the poller, and those that are half full */
    CELL_STEP = 8, /* of pools */
};
static const char title[] = "Ask 10000", id_json[] = "10000";

/* A place for each of so many, in a list that doubles when it is full. */
static size_t places(size_t count)
{
    size_t room = 1;

    while (room < count)
        room *= 2;
    return room * sizeof(void *) / count;
}

static void test_bytes(void **state)
{
    const struct {
        const char *what;
        size_t bytes;
    } parts[] = {
        { "the ask and its title", offsetof(struct active_ask, title) + sizeof title },
        { "the call and its id", offsetof(struct mcp_call, id_json) + sizeof id_json },
        { "the stream", sizeof(struct stream) },
        { "the waiter", sizeof(struct waiter) },
        { "the connection", sizeof(struct http_connection) },
        { "the exchange", sizeof(struct http_exchange) },
        { "by id, by call, by tag", 3 * places(WAITING) },
        { "deadline and end of the wait", 2 * places(2 * WAITING) },
    };
    size_t sum = 0;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t bytes = (parts[i].bytes + CELL_STEP - 1) / CELL_STEP * CELL_STEP;

        print_message("  %zu bytes: %s\n", bytes, parts[i].what);
        sum += bytes;
    }
    print_message("  %zu bytes: a tools/call over HTTP that waits\n", sum);
    assert_in_range(sum, 1, MAX_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
