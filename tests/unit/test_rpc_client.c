/*
 * test_rpc_client.c - a hub that is played by the test dies, or says why it closes, at each point
 * of a call: what each policy makes again, and what it says otherwise. And who a client says it is
 * arrives as it was said. Proves: R5.5 R10.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "rpc/client.h"
#include "rpc/protocol.h"

#define ASK_ID "abcdefghijklmnopqrstuvwxyz"

enum { TURNS = 20, STEP_MS = 1000 };

static int64_t now_ms;

static int64_t clock_ms(void)
{
    return now_ms;
}

/* The hub, and the client at its other end. */
struct stage {
    char directory[64], path[96];
    int listener, peer; /* -1: no client is connected */
    struct client_identity who;
    struct client *client;
    struct json *line; /* the last that was read */
    int replies;
    struct client_reply reply; /* the last; its message is gone */
};

static void on_reply(void *context, const struct client_reply *reply)
{
    struct stage *stage = context;

    stage->replies++;
    stage->reply = *reply;
    stage->reply.message = NULL;
    stage->reply.json = NULL;
}

static int set_up(void **state)
{
    struct stage *stage = mem_new(sizeof *stage);
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(stage->directory, sizeof stage->directory, "/tmp/rpcXXXXXX");
    assert_non_null(mkdtemp(stage->directory));
    snprintf(stage->path, sizeof stage->path, "%s/hub", stage->directory);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", stage->path);
    stage->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    stage->peer = -1;
    assert_int_equal(bind(stage->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(stage->listener, 8), 0);
    stage->who =
        (struct client_identity){ .role = "person", .name = "t", .socket_path = stage->path };
    *state = stage;
    return 0;
}

static void hang_up(struct stage *stage)
{
    if (stage->peer >= 0)
        close(stage->peer);
    stage->peer = -1;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    client_free(stage->client);
    hang_up(stage);
    close(stage->listener);
    unlink(stage->path);
    rmdir(stage->directory);
    json_free(stage->line);
    free(stage);
    return 0;
}

static void begin(struct stage *stage, const struct client_policy *policy)
{
    client_free(stage->client);
    hang_up(stage);
    while ((stage->peer = accept(stage->listener, NULL, NULL)) >= 0)
        close(stage->peer);
    stage->client = client_new(&stage->who, policy, NULL, NULL, clock_ms);
    stage->replies = 0;
}

static void call(struct stage *stage, enum method method, const char *params, int64_t wait_ms,
                 const char *tag, bool is_bound)
{
    struct text text = { 0 };
    const struct request request = {
        .method = method, .text = &text, .wait_ms = wait_ms, .tag = tag, .is_bound = is_bound
    };

    text_add_text(&text, params);
    client_call(stage->client, &request, on_reply, stage);
    text_release(&text);
}

static void say(struct stage *stage, const char *line)
{
    assert_int_equal(send(stage->peer, line, strlen(line), MSG_NOSIGNAL), strlen(line));
    client_advance(stage->client);
}

/* The next line of the client as JSON; false: it says none. */
static bool read_line(struct stage *stage)
{
    char bytes[4096];
    size_t used = 0;

    json_free(stage->line);
    stage->line = NULL;
    for (int i = 0; i < TURNS && used + 1 < sizeof bytes;) {
        ssize_t got = recv(stage->peer, bytes + used, 1, MSG_DONTWAIT);

        if (got == 1 && bytes[used] == '\n')
            return json_parse(bytes, used, &stage->line, NULL);
        if (got == 1)
            used++;
        else
            i++;
        if (got != 1)
            client_advance(stage->client);
    }
    return false;
}

static bool is_line(const struct stage *stage, const char *method)
{
    const char *said = json_member_text(stage->line, "method");

    return said && strcmp(said, method) == 0;
}

static void reply_to_line(struct stage *stage, const char *rest)
{
    char line[1024];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,%s}\n",
             (long long)json_member_integer(stage->line, "id", -1), rest);
    say(stage, line);
}

/* Whether the client comes, as time goes by. */
static bool accept_client(struct stage *stage)
{
    hang_up(stage);
    for (int i = 0; i < TURNS && stage->peer < 0; i++) {
        client_advance(stage->client);
        stage->peer = accept4(stage->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        now_ms += STEP_MS / TURNS;
    }
    return stage->peer >= 0;
}

/* The same, and both have said hello. */
static bool meet(struct stage *stage)
{
    if (!accept_client(stage))
        return false;
    assert_true(read_line(stage) && is_line(stage, "hello"));
    reply_to_line(stage,
                  "\"result\":{\"wire\":1,\"version\":\"0\",\"role\":\"person\",\"features\":[]}");
    return true;
}

static void end_hub(struct stage *stage, const char *why)
{
    char line[128];

    if (why) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"hub/closing\",\"params\":{\"why\":\"%s\"}}\n",
                 why);
        say(stage, line);
    }
    hang_up(stage);
    client_advance(stage->client);
}

/* What becomes of a call that was sent, by how the hub ended: again, or this failure. */
static const struct row {
    const char *name;
    const struct client_policy *policy;
    const char *why;                       /* NULL: it died */
    enum finder_failure repeatable, other; /* FAILURE_NONE: it is made again */
} rows[] = {
    { "command", &client_for_command, NULL, FAILURE_NONE, FAILURE_LOST },
    { "command", &client_for_command, "retire", FAILURE_NONE, FAILURE_NONE },
    { "command", &client_for_command, "idle", FAILURE_NONE, FAILURE_NONE },
    { "command", &client_for_command, "stop", FAILURE_NONE, FAILURE_LOST },
    { "look", &client_for_look, NULL, FAILURE_NONE, FAILURE_LOST },
    { "end", &client_for_end, "idle", FAILURE_NONE, FAILURE_NONE },
    { "ask", &client_for_ask, NULL, FAILURE_NONE, FAILURE_NONE },
    { "ask", &client_for_ask, "retire", FAILURE_NONE, FAILURE_NONE },
    { "ask", &client_for_ask, "idle", FAILURE_NONE, FAILURE_NONE },
    { "ask", &client_for_ask, "stop", FAILURE_STOPPED, FAILURE_STOPPED },
    { "terminal", &client_for_terminal, NULL, FAILURE_NONE, FAILURE_NONE },
    { "terminal", &client_for_terminal, "retire", FAILURE_NONE, FAILURE_NONE },
    { "terminal", &client_for_terminal, "idle", FAILURE_NONE, FAILURE_NONE },
    { "terminal", &client_for_terminal, "stop", FAILURE_NONE, FAILURE_NONE },
    { "mcp", &client_for_mcp, NULL, FAILURE_NONE, FAILURE_NONE },
    { "mcp", &client_for_mcp, "retire", FAILURE_NONE, FAILURE_NONE },
    { "mcp", &client_for_mcp, "idle", FAILURE_NONE, FAILURE_NONE },
    { "mcp", &client_for_mcp, "stop", FAILURE_STOPPED, FAILURE_STOPPED },
};

/* The points at which the hub ends. */
enum point { BEFORE_HELLO, AFTER_HELLO, AFTER_CALL, POINTS };

static void try_row(struct stage *stage, const struct row *row, enum method method,
                    enum point point)
{
    bool is_repeatable = methods[method].flags & METHOD_REPEATABLE;
    enum finder_failure wanted = point == BEFORE_HELLO ? FAILURE_NONE
                                 : is_repeatable       ? row->repeatable
                                                       : row->other;
    bool is_again;

    begin(stage, row->policy);
    call(stage, method, "{}", -1, NULL, false);
    assert_true(point == BEFORE_HELLO ? accept_client(stage) : meet(stage));
    if (point == AFTER_CALL)
        assert_true(read_line(stage) && is_line(stage, methods[method].name));
    end_hub(stage, point == BEFORE_HELLO ? NULL : row->why);
    is_again = stage->replies == 0 && meet(stage) && read_line(stage) &&
               is_line(stage, methods[method].name);
    if (is_again)
        reply_to_line(stage, "\"result\":{}");
    if (is_again != (wanted == FAILURE_NONE) || stage->replies != 1 ||
        stage->reply.failure != wanted)
        fail_msg("%s, %s, %s, point %d: %s, %d replies, failure %d", row->name,
                 row->why ? row->why : "died", methods[method].name, (int)point,
                 is_again ? "again" : "not again", stage->replies, (int)stage->reply.failure);
}

static void test_each_policy_and_each_end(void **state)
{
    size_t tried = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int method = METHOD_ask_delivered; method < METHOD_COUNT; method++) {
            for (int point = 0; point < POINTS && methods[method].name; point++, tried++)
                try_row(*state, &rows[i], (enum method)method, (enum point)point);
        }
    }
    print_message("# counted: %zu ends of a hub\n", tried);
}

/* By the ask's id once it is known, and as it was where the next hub never heard of it. */
static void test_a_named_ask(void **state)
{
    struct stage *stage = *state;
    const struct json *params;

    begin(stage, &client_for_mcp);
    call(stage, METHOD_ask_create,
         "{\"tool\":\"x\",\"tag\":\"t1\",\"client\":{\"a\":1},\"wait_seconds\":60}", 60000, "t1",
         false);
    assert_true(meet(stage) && read_line(stage) && is_line(stage, "ask/create"));
    say(stage, "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":\"t1\","
               "\"session_id\":\"" ASK_ID "\"}}\n");
    now_ms += 20000;
    end_hub(stage, NULL);
    assert_true(meet(stage) && read_line(stage) && is_line(stage, "ask/wait"));
    params = json_member(stage->line, "params");
    assert_string_equal(json_member_text(params, "session_id"), ASK_ID);
    assert_null(json_member(params, "tool"));
    assert_int_equal(json_member_integer(json_member(params, "client"), "a", 0), 1);
    assert_in_range(json_member_integer(params, "wait_seconds", 0), 37, 40); /* what is left */
    reply_to_line(stage,
                  "\"error\":{\"code\":-32000,\"message\":\"\",\"data\":{\"code\":\"not_found\"}}");
    assert_true(read_line(stage) && is_line(stage, "ask/create"));
    assert_non_null(json_member(json_member(stage->line, "params"), "tool"));
    reply_to_line(stage, "\"reply\":\"final\",\"result\":{}");
    assert_int_equal(stage->replies, 1);
    assert_int_equal(stage->reply.kind, REPLY_FINAL);
}

/* What sealed state goes with reaches the next hub whole. */
static void test_a_bound_ask(void **state)
{
    struct stage *stage = *state;

    begin(stage, &client_for_mcp);
    call(stage, METHOD_ask_create, "{\"state\":\"s\",\"tag\":\"t2\"}", -1, "t2", true);
    assert_true(meet(stage) && read_line(stage));
    say(stage, "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":\"t2\","
               "\"session_id\":\"" ASK_ID "\"}}\n");
    end_hub(stage, NULL);
    assert_true(meet(stage) && read_line(stage) && is_line(stage, "ask/create"));
    assert_non_null(json_member(json_member(stage->line, "params"), "state"));
}

static void test_a_wait_that_is_long_over(void **state)
{
    struct stage *stage = *state;

    begin(stage, &client_for_mcp);
    call(stage, METHOD_ask_wait, "{\"session_id\":\"" ASK_ID "\",\"wait_seconds\":1}", 1000, NULL,
         false);
    assert_true(meet(stage) && read_line(stage));
    now_ms += 12000;
    end_hub(stage, NULL);
    assert_true(meet(stage));
    assert_int_equal(stage->replies, 1);
    assert_int_equal(stage->reply.failure, FAILURE_AGAIN);
}

static void test_a_hub_that_ends_again_and_again(void **state)
{
    struct stage *stage = *state;
    int met = 0;

    begin(stage, &client_for_command);
    call(stage, METHOD_ask_list, "{}", -1, NULL, false);
    while (stage->replies == 0 && met < 100 && meet(stage)) {
        met++;
        end_hub(stage, NULL);
    }
    assert_int_equal(met, 11);
    assert_int_equal(stage->reply.failure, FAILURE_AGAIN);
}

/* As one that makes room just then: the first call looks for the next one. */
static void test_a_hub_that_greets_and_goes(void **state)
{
    static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"wire\":1}}\n";
    struct stage *stage = *state;
    struct error err;

    begin(stage, &client_for_command);
    client_open(stage->client);
    client_advance(stage->client);
    stage->peer = accept(stage->listener, NULL, NULL);
    assert_true(stage->peer >= 0);
    assert_int_equal(send(stage->peer, hello, strlen(hello), MSG_NOSIGNAL), strlen(hello));
    hang_up(stage);
    assert_true(client_open_and_wait(stage->client, &err));
    assert_false(client_is_up(stage->client));
}

static void test_no_hub(void **state)
{
    struct stage *stage = *state;

    unlink(stage->path);
    begin(stage, &client_for_command);
    call(stage, METHOD_ask_list, "{}", -1, NULL, false);
    client_advance(stage->client);
    assert_int_equal(stage->replies, 1);
    assert_int_equal(stage->reply.failure, FAILURE_ABSENT);
    assert_non_null(strstr(stage->reply.err.message, "no hub is listening on /tmp/rpc"));
}

/* Each member of who we are goes there and comes back. */
static void test_identity(void **state)
{
    const struct client_identity agent = { .role = "agent",
                                           .name = "name",
                                           .as_name = "as",
                                           .directory = "/where",
                                           .client_version = "1.2",
                                           .transport = "stdio",
                                           .is_sub_agent = true };
    const struct client_identity person = { .role = "person",
                                            .channel = "terminal",
                                            .name = "sayso" };
    const struct client_identity *const all[] = { &agent, &person };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        const struct client_identity *who = all[i];
        struct text params = { 0 };
        struct json_writer writer = json_writer_to(&params);
        struct identity seen = { 0 };
        struct json *json = NULL;

        setenv("CHOICE_LANG", "zh", 1);
        client_identity_write(&writer, who);
        unsetenv("CHOICE_LANG");
        assert_true(json_parse(params.bytes, params.used, &json, NULL));
        assert_true(rpc_is_ours(json) && identity_read(json, &seen));
        assert_int_equal(seen.role, i ? ROLE_PERSON : ROLE_AGENT);
        assert_string_equal(seen.via, i ? "terminal" : "cli");
        assert_string_equal(seen.name, who->name);
        assert_string_equal(seen.version, i ? SAYSO_VERSION : "1.2");
        assert_int_equal(seen.is_sub_agent, who->is_sub_agent);
        if (i == 0) {
            assert_string_equal(seen.as_name, who->as_name);
            assert_string_equal(seen.directory, who->directory);
            assert_string_equal(seen.transport, who->transport);
            assert_string_equal(seen.language, "zh");
        } else {
            assert_null(seen.as_name);
            assert_null(seen.directory);
            assert_null(seen.transport);
            assert_null(seen.language);
        }
        json_free(json);
        text_release(&params);
    }
}

#define ON_STAGE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_each_policy_and_each_end),
        ON_STAGE(test_a_named_ask),
        ON_STAGE(test_a_bound_ask),
        ON_STAGE(test_a_wait_that_is_long_over),
        ON_STAGE(test_a_hub_that_ends_again_and_again),
        ON_STAGE(test_a_hub_that_greets_and_goes),
        ON_STAGE(test_no_hub),
        cmocka_unit_test(test_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
