/*
 * test_mcp_resources.c - asks as resources, seen from the protocol: what reaches the service and
 * what never does, what a change sets off and for whom, completions, and log messages.
 *
 * Proves: R10.1 R10.2 R10.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "mcp_fixture.h"

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define ID   "aaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LEFT ",\"remaining_ms\":90000}}"

struct scene {
    struct stage stage;
    struct stage_stream stream, standing;
};

static int set_up(void **state)
{
    struct scene *scene = mem_new(sizeof *scene);

    stage_open(&scene->stage, NULL);
    stage_shake_hands(&scene->stage, "2025-11-25", "{}");
    stage_stream_init(&scene->stream);
    stage_stream_init(&scene->standing);
    mcp_stand(scene->stage.mcp, &scene->standing.mcp);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    mcp_drop(scene->stage.mcp, &scene->stream.mcp);
    mcp_drop(scene->stage.mcp, &scene->standing.mcp);
    stage_stream_release(&scene->stream);
    stage_stream_release(&scene->standing);
    stage_close(&scene->stage);
    free(scene);
    return 0;
}

/* One request; what was said before is forgotten. */
static void take(struct scene *scene, const char *method, const char *params)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s}}",
                            method, params);

    mcp_confirm(scene->stage.mcp, &scene->stream.mcp);
    stage_stream_release(&scene->stream);
    stage_take(&scene->stage, &scene->stream, line);
    free(line);
}

static void ask(struct scene *scene)
{
    char *params = mem_format("\"name\":\"provide_choice\",\"arguments\":%s", stage_ask);

    take(scene, "tools/call", params);
    free(params);
}

static void reply(struct scene *scene, const char *json)
{
    const struct reply reply = { .json = json };

    stage_reply(&scene->stage, scene->stage.act_count - 1, &reply);
}

static void reply_missing(struct scene *scene)
{
    struct reply reply = { 0 };

    error_set(&reply.err, ERROR_not_found, "/session_id", "no ask has this ID");
    stage_reply(&scene->stage, scene->stage.act_count - 1, &reply);
}

static void demand_said(const struct stage_stream *stream, size_t index, const char *text)
{
    assert_true(index < stream->count);
    if (!strstr(stream->lines[index], text))
        fail_msg("%s is not in %s", text, stream->lines[index]);
}

static void lists_touch_nothing(void **state)
{
    struct scene *scene = *state;

    take(scene, "resources/list", "");
    demand_said(&scene->stream, 0, "\"uri\":\"sayso://asks\"");
    demand_said(&scene->stream, 0, "\"uri\":\"sayso://history\"");
    take(scene, "resources/templates/list", META);
    demand_said(&scene->stream, 0, "\"uriTemplate\":\"sayso://asks/{session_id}\"");
    demand_said(&scene->stream, 0, "\"ttlMs\":3600000,\"cacheScope\":\"public\"");
    take(scene, "resources/subscribe", "\"uri\":\"sayso://asks\"");
    demand_said(&scene->stream, 0, "\"result\":{}");
    take(scene, "completion/complete",
         "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"sayso://asks/{session_id}\"},"
         "\"argument\":{\"name\":\"session_id\",\"value\":\"\"}");
    demand_said(&scene->stream, 0, "\"values\":[],\"total\":0");
    assert_int_equal(scene->stage.looks + scene->stage.follows + scene->stage.act_count, 0);
}

static void reads_go_to_the_desk_and_back(void **state)
{
    struct scene *scene = *state;

    take(scene, "resources/read", "\"uri\":\"sayso://asks\"," META);
    assert_int_equal(scene->stage.looks, 1);
    assert_int_equal(scene->stream.count, 0);
    assert_int_equal(scene->stream.waits, 1);
    reply(scene, "{\"asks\":[]}");
    demand_said(&scene->stream, 0,
                "\"contents\":[{\"uri\":\"sayso://asks\",\"mimeType\":\"application/json\","
                "\"text\":\"{\\\"asks\\\":[]}\"}]");
    demand_said(&scene->stream, 0, "\"ttlMs\":0,\"cacheScope\":\"private\"");
}

static void what_is_not_there_is_told_by_its_uri(void **state)
{
    static const char *const strange[] = { "sayso://asks/x", "sayso://asks/", "sayso://other",
                                           "file:///etc/passwd", "sayso://asks/" ID "a" };
    struct scene *scene = *state;
    char params[256];

    for (size_t i = 0; i < ARRAY_LEN(strange); i++) {
        snprintf(params, sizeof params, "\"uri\":\"%s\"", strange[i]);
        take(scene, "resources/read", params);
        demand_said(&scene->stream, 0, "\"code\":-32002");
        take(scene, "resources/subscribe", params);
        demand_said(&scene->stream, 0, "\"code\":-32002");
        snprintf(params, sizeof params, "\"uri\":\"%s\"," META, strange[i]);
        take(scene, "resources/read", params);
        demand_said(&scene->stream, 0, "\"code\":-32602");
        snprintf(params, sizeof params, "\"data\":{\"uri\":\"%s\"}", strange[i]);
        demand_said(&scene->stream, 0, params);
    }
    assert_int_equal(scene->stage.looks, 0);
    take(scene, "resources/read", "\"uri\":\"sayso://asks/" ID "\"," META);
    reply_missing(scene);
    demand_said(&scene->stream, 0, "\"code\":-32602");
    demand_said(&scene->stream, 0, "\"data\":{\"uri\":\"sayso://asks/" ID "\"}");
    take(scene, "resources/read", "\"uri\":7");
    demand_said(&scene->stream, 0, "\"code\":-32602");
}

static void a_read_that_was_cancelled_is_not_answered(void **state)
{
    struct scene *scene = *state;

    take(scene, "resources/read", "\"uri\":\"sayso://history\"");
    stage_take(&scene->stage, &scene->stream,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":7}}");
    reply(scene, "{\"asks\":[]}");
    assert_int_equal(scene->stream.count, 0);
    assert_int_equal(scene->stage.cut_offs, 0); /* it says nothing about patience with people */
    assert_true(mcp_is_idle(scene->stage.mcp));
}

static void a_change_is_told_to_who_subscribed(void **state)
{
    struct scene *scene = *state;
    const char changed[] = "{\"jsonrpc\":\"2.0\",\"method\":\"mine/changed\",\"params\":{"
                           "\"session_id\":\"" ID "\",\"over\":false}}";

    take(scene, "resources/subscribe", "\"uri\":\"sayso://asks/" ID "\"");
    take(scene, "resources/subscribe", "\"uri\":\"sayso://asks/" ID "\""); /* once is enough */
    take(scene, "resources/subscribe", "\"uri\":\"sayso://history\"");
    assert_int_equal(scene->stage.follows, 0);
    ask(scene);
    assert_int_equal(scene->stage.follows, 1);
    stage_tell(&scene->stage, 0, changed);
    assert_int_equal(scene->standing.count, 1);
    demand_said(&scene->standing, 0,
                "\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":"
                "\"sayso://asks/" ID "\"}");
    mcp_stand(scene->stage.mcp, NULL); /* what happens from now on is told later, once */
    stage_tell(&scene->stage, 0, changed);
    stage_tell(&scene->stage, 0, changed);
    assert_int_equal(scene->standing.count, 1);
    mcp_stand(scene->stage.mcp, &scene->standing.mcp);
    assert_int_equal(scene->standing.count, 2);
    take(scene, "resources/unsubscribe", "\"uri\":\"sayso://asks/" ID "\"");
    stage_tell(&scene->stage, 0, changed);
    assert_int_equal(scene->standing.count, 2);
    stage_tell(&scene->stage, 0, "{\"method\":\"mine/following\",\"params\":{}}");
    demand_said(&scene->standing, 2, "sayso://history");
}

static void a_listen_lasts_as_long_as_its_stream(void **state)
{
    struct scene *scene = *state;
    const char over[] =
        "{\"method\":\"mine/changed\",\"params\":{\"session_id\":\"" ID "\",\"over\":true}}";
    struct stage_stream listening;

    stage_stream_init(&listening);
    stage_take(&scene->stage, &listening,
               "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{"
               "\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":["
               "\"sayso://history\",\"sayso://nothing\",5]}," META "}}");
    demand_said(&listening, 0,
                "\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{"
                "\"resourceSubscriptions\":[\"sayso://history\"]}");
    assert_int_equal(listening.waits, 1);
    take(scene, "resources/read", "\"uri\":\"sayso://history\"," META); /* a use */
    assert_int_equal(scene->stage.follows, 1);
    stage_tell(&scene->stage, 0, over);
    demand_said(&listening, 1, "\"uri\":\"sayso://history\"");
    demand_said(&listening, 1, "\"io.modelcontextprotocol/subscriptionId\":\"s\"");
    mcp_give_up(scene->stage.mcp, &listening.mcp);
    assert_int_equal(scene->stage.cut_offs, 0);
    stage_tell(&scene->stage, 0, over);
    assert_int_equal(listening.count, 2);
    stage_stream_release(&listening);
}

static void who_leaves_ends_what_is_open(void **state)
{
    struct scene *scene = *state;

    take(scene, "subscriptions/listen",
         "\"notifications\":{\"resourceSubscriptions\":[\"sayso://asks\"]}," META);
    mcp_dismiss(scene->stage.mcp);
    demand_said(&scene->stream, 1,
                "\"result\":{\"resultType\":\"complete\",\"_meta\":{"
                "\"io.modelcontextprotocol/subscriptionId\":7}}");
    take(scene, "resources/read", "\"uri\":\"sayso://asks\"");
    mcp_dismiss(scene->stage.mcp);
    demand_said(&scene->stream, 0, "\"code\":-32603");
}

static void ids_are_completed_once_there_is_something(void **state)
{
    struct scene *scene = *state;

    ask(scene);
    take(scene, "completion/complete",
         "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"collect_answer\"},"
         "\"argument\":{\"name\":\"session_id\",\"value\":\"aa\"}");
    reply(scene, "{\"asks\":[{\"session_id\":\"aab\"},{\"session_id\":\"aac\"}]}");
    demand_said(&scene->stream, 0,
                "\"completion\":{\"values\":[\"aab\",\"aac\"],\"total\":2,\"hasMore\":false}");
    take(scene, "completion/complete",
         "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"decision_policy\"},"
         "\"argument\":{\"name\":\"session_id\",\"value\":\"\"}");
    demand_said(&scene->stream, 0, "\"code\":-32602");
}

static void a_log_message_comes_to_who_wants_it(void **state)
{
    static const char created[] = "{\"method\":\"ask/created\",\"params\":{\"tag\":\"%s\","
                                  "\"session_id\":\"" ID "\"" LEFT;
    static const struct {
        const char *level, *meta;
        size_t messages;
    } rows[] = {
        { NULL, "", 0 }, /* a legacy client that never said so */
        { "info", "", 1 },
        { "warning", "", 0 },
        { "debug", "," META, 0 }, /* a modern request says it itself, or wants none */
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *params =
            mem_format("\"name\":\"provide_choice\",\"arguments\":%s%s", stage_ask, rows[i].meta);
        char level[64], line[256];

        snprintf(level, sizeof level, "\"level\":\"%s\"", rows[i].level ? rows[i].level : "");
        take(scene, "logging/setLevel", level);
        demand_said(&scene->stream, 0, rows[i].level ? "\"result\":{}" : "\"code\":-32602");
        take(scene, "tools/call", params);
        snprintf(line, sizeof line, created, scene->stage.acts[0].tag);
        stage_tell(&scene->stage, 0, line);
        assert_int_equal(scene->stream.count, rows[i].messages);
        if (rows[i].messages)
            demand_said(&scene->stream, 0,
                        "\"notifications/message\",\"params\":{\"level\":\"info\",\"logger\":"
                        "\"sayso\",\"data\":{\"event\":\"asked\",\"session_id\":\"" ID
                        "\",\"remaining_seconds\":90}}");
        stage_answer(&scene->stage, 0, true);
        free(params);
    }
}

static void subscriptions_are_bounded(void **state)
{
    struct scene *scene = *state;
    char params[64], first[64] = "";
    size_t taken = 0;

    for (int i = 0; i < 2000; i++) {
        snprintf(params, sizeof params, "\"uri\":\"sayso://asks/%c%c%c" ID "\"", 'a' + i % 26,
                 'a' + i / 26 % 26, 'a' + i / 676);
        memcpy(params + strlen(params) - 4, "\"", 2); /* as long as an id is */
        take(scene, "resources/subscribe", params);
        if (!strstr(scene->stream.lines[0], "\"result\":{}"))
            break;
        taken++;
        if (!first[0])
            memcpy(first, params, sizeof first);
    }
    assert_in_range(taken, 500, 1024);
    demand_said(&scene->stream, 0, "\"code\":-32603");
    take(scene, "resources/unsubscribe", first);
    take(scene, "resources/subscribe", params);
    demand_said(&scene->stream, 0, "\"result\":{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_touch_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_go_to_the_desk_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_told_by_its_uri, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_read_that_was_cancelled_is_not_answered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_change_is_told_to_who_subscribed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_listen_lasts_as_long_as_its_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_leaves_ends_what_is_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ids_are_completed_once_there_is_something, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_log_message_comes_to_who_wants_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(subscriptions_are_bounded, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
