/*
 * test_mcp_hold.c - how long a call is held for the client that makes it: with progress where that
 * was measured to extend its limit, and without where it turns out not to.
 * Proves: R2.4 R5.7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/known_clients.h"
#include "mcp_fixture.h"

static const char ask_id[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa";

static const struct {
    const char *name;
    int64_t silent_s, told_s;
} clients[] = {
    { "opencode", 50, 630 },     { "qwen-cli-mcp-client-sayso", 280, 630 },
    { "copilot-cli", 170, 630 }, { "codex-mcp-client", 280, 280 },
    { "claude-code", 110, 110 }, { "gemini-cli-mcp-client", 580, 580 },
    { "@cline/core", 56, 56 },   { "unknown", 50, 50 },
};

struct held {
    struct stage stage;
    struct stage_stream stream;
};

static int64_t hold_limit_s(void *context, const char *client_name, bool has_progress)
{
    (void)context;
    return known_client_hold_s(client_name, has_progress, 0);
}

static void begin(struct held *held, const char *name)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                            "\"clientInfo\":{\"name\":\"%s\",\"version\":\"1\"}}}",
                            name);

    stage_open(&held->stage, &(struct mcp_parts){ .hold_limit_s = hold_limit_s });
    stage_stream_init(&held->stream);
    stage_take(&held->stage, &held->stream, line);
    free(line);
}

static void end(struct held *held)
{
    stage_part(&held->stage, &held->stream);
    stage_close(&held->stage);
}

/* For how long the service is asked to hold it. */
static int64_t call_for(struct held *held, const char *tool, const char *arguments,
                        bool wants_progress)
{
    static int id;
    char *line =
        mem_format("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                   "%s\"name\":\"%s\",\"arguments\":%s}}",
                   ++id, wants_progress ? "\"_meta\":{\"progressToken\":7}," : "", tool, arguments);

    stage_take(&held->stage, &held->stream, line);
    free(line);
    return held->stage.acts[held->stage.act_count - 1].wait_s;
}

static int64_t collect_for(struct held *held, const char *tool, const char *more,
                           bool wants_progress)
{
    char *arguments = mem_format("{\"session_id\":\"%s\"%s}", ask_id, more);
    int64_t wait_s = call_for(held, tool, arguments, wants_progress);

    free(arguments);
    return wait_s;
}

static void each_client_is_waited_for_as_it_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        struct held held;

        begin(&held, clients[i].name);
        assert_int_equal(call_for(&held, "provide_choice", stage_ask, false), clients[i].silent_s);
        assert_int_equal(call_for(&held, "provide_choice", stage_ask, true), clients[i].told_s);
        assert_int_equal(collect_for(&held, "get_answer", "", false), clients[i].silent_s);
        assert_int_equal(collect_for(&held, "get_answer", "", true), clients[i].told_s);
        assert_int_equal(collect_for(&held, "provide_choice", "", true), clients[i].told_s);
        end(&held);
    }
}

/* The published range stays, and what was asked for is never exceeded. */
static void explicit_waits_are_kept(void **state)
{
    struct held held;

    (void)state;
    begin(&held, "opencode");
    for (int with_progress = 0; with_progress < 2; with_progress++) {
        assert_int_equal(collect_for(&held, "get_answer", ",\"wait_seconds\":0", with_progress), 0);
        assert_int_equal(collect_for(&held, "get_answer", ",\"wait_seconds\":30", with_progress),
                         30);
        assert_int_equal(
            collect_for(&held, "provide_choice", ",\"wait_seconds\":30", with_progress), 30);
    }
    assert_int_equal(collect_for(&held, "get_answer", ",\"wait_seconds\":60", true), 60);
    assert_int_equal(collect_for(&held, "get_answer", ",\"wait_seconds\":60", false), 50);
    end(&held);
}

/* However late the answer comes: so many turns of the model, one more where they don't fit. */
static void ten_minutes_cost_few_turns(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        for (int with_progress = 0; with_progress < 2; with_progress++) {
            int64_t limit_s = with_progress ? clients[i].told_s : clients[i].silent_s;
            int64_t waited_s, turns = 1;
            struct held held;

            begin(&held, clients[i].name);
            waited_s = call_for(&held, "provide_choice", stage_ask, with_progress);
            for (; waited_s < 600; turns++)
                waited_s += collect_for(&held, "get_answer", "", with_progress);
            if (turns > (600 + limit_s - 1) / limit_s + 1)
                fail_msg("%s: %d turns", clients[i].name, (int)turns);
            end(&held);
        }
    }
}

static size_t progress_in(struct held *held, int64_t ms)
{
    size_t before = held->stream.count, told = 0;

    stage_pass(&held->stage, ms);
    for (size_t i = before; i < held->stream.count; i++)
        told += strstr(held->stream.lines[i], "notifications/progress") != NULL;
    return told;
}

static void progress_comes_every_ten_seconds(void **state)
{
    struct held held;

    (void)state;
    begin(&held, "opencode");
    call_for(&held, "provide_choice", stage_ask, true);
    assert_int_equal(progress_in(&held, 9999), 0);
    assert_int_equal(progress_in(&held, 1), 1);
    assert_int_equal(progress_in(&held, 50000), 5);
    end(&held);
}

/* A client of this name, version and transport gave up once all the same: from then on it is held
 * for its silent limit, and calls that are open end before it gives up on them. */
static void progress_that_does_not_hold_is_not_relied_on(void **state)
{
    struct held held;

    (void)state;
    begin(&held, "opencode");
    assert_int_equal(call_for(&held, "provide_choice", stage_ask, true), 630);
    stage_tell_hold(&held.stage, 0, 54000);
    assert_int_equal(collect_for(&held, "get_answer", "", true), 50);
    stage_tell_hold(&held.stage, 0, 20000);
    assert_int_equal(collect_for(&held, "get_answer", "", true), 20);
    stage_tell_hold(&held.stage, 0, 0); /* forgotten: the setting was set */
    assert_int_equal(collect_for(&held, "get_answer", "", true), 630);
    end(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_client_is_waited_for_as_it_waits),
        cmocka_unit_test(explicit_waits_are_kept),
        cmocka_unit_test(ten_minutes_cost_few_turns),
        cmocka_unit_test(progress_comes_every_ten_seconds),
        cmocka_unit_test(progress_that_does_not_hold_is_not_relied_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
