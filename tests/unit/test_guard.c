/*
 * test_guard.c - the gate alone, on a real server: which check speaks first, whose table serves a
 * path, and what guessing tokens costs.
 * Proves: R12.1 R12.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"
#include "net/guard.h"

struct scene {
    struct stage stage;
    struct guard *guard;
    bool is_free; /* agents need no token */
};

static bool needs_token(void *context)
{
    return !((struct scene *)context)->is_free;
}

/* The tokens are "agent", "person" and "both". */
static bool find_token(void *context, const uint8_t *hash, struct guard_identity *ret_who)
{
    static const struct {
        const char *token;
        bool is_agent, is_person;
    } known[] = { { "agent", true, false }, { "person", false, true }, { "both", true, true } };

    (void)context;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        uint8_t own[HASH_BYTES];

        token_hash(known[i].token, own);
        if (memcmp(own, hash, sizeof own) == 0) {
            *ret_who = (struct guard_identity){ .is_agent = known[i].is_agent,
                                                .is_person = known[i].is_person };
            memcpy(ret_who->label, known[i].token, strlen(known[i].token));
            return true;
        }
    }
    return false;
}

/* "TABLE METHOD PATH VALUE TOKEN" */
static void serve(void *context, struct http_exchange *exchange, const struct guard_match *match)
{
    char *said = mem_format("%s %s %s %s %s", (const char *)context, match->route->method,
                            match->route->path, match->values[0], match->who->label);

    http_reply(exchange, 200, "text/plain", said, strlen(said));
    free(said);
}

static char first[] = "first", second[] = "second";
static const char json[] = "application/json";
static const struct guard_route first_rows[] = {
    { "GET", "/same", GUARD_ANYONE, 0, NULL, serve },
    { "GET", "/open", GUARD_OPEN, 0, NULL, serve },
    { "POST", "/mcp", GUARD_AGENT, 16, json, serve },
    { "GET", "/asks/{id}", GUARD_PERSON, 0, NULL, serve },
    { "POST", "/asks/{id}", GUARD_PERSON, 16, json, serve },
};
static const struct guard_route second_rows[] = {
    { "GET", "/same", GUARD_OPEN, 0, NULL, serve },
    { "POST", "/same", GUARD_OPEN, 16, NULL, serve },
    { "GET", "/asks/special", GUARD_OPEN, 0, NULL, serve },
    { "GET", "/files/*", GUARD_OPEN, 0, NULL, serve },
};

static int set_up(void **state)
{
    struct scene *scene = mem_new(sizeof *scene);
    const struct guard_options options = { scene, needs_token, find_token };
    struct http_options http = { 0 };

    scene->guard = guard_new(&options);
    guard_add_routes(scene->guard, first_rows, ARRAY_LEN(first_rows), first);
    guard_add_routes(scene->guard, second_rows, ARRAY_LEN(second_rows), second);
    http.handler = (struct http_handler){ .context = scene->guard,
                                          .admit = guard_admit,
                                          .serve = guard_serve,
                                          .on_reply = guard_on_reply };
    stage_open(&scene->stage, &http);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    stage_close(&scene->stage);
    guard_free(scene->guard);
    free(scene);
    return 0;
}

/* Sends one request; `lines` stand behind a good Host unless they bring one. */
static int ask(struct scene *scene, const char *request, const char *lines, const char *body,
               struct text *in)
{
    struct stage *stage = &scene->stage;
    struct text out = { 0 };
    int peer = peer_connect(stage);

    text_add_format(&out, "%s HTTP/1.1\r\n", request);
    if (!strstr(lines, "Host:"))
        text_add_format(&out, "Host: 127.0.0.1:%d\r\n", http_server_port(stage->server));
    text_add_format(&out, "Connection: close\r\n%s", lines);
    if (body)
        text_add_format(&out, "Content-Length: %zu\r\n", strlen(body));
    text_add_format(&out, "\r\n%s", body ? body : "");
    peer_say(peer, out.bytes);
    text_clear(in);
    peer_await_end(stage, peer, in);
    close(peer);
    text_release(&out);
    return peer_status(in);
}

#define AGENT  "Authorization: Bearer agent\r\n"
#define PERSON "Authorization: Bearer person\r\n"
#define BOTH   "Authorization: Bearer both\r\n"
#define JSON   "Content-Type: application/json\r\n"
#define ALIEN  "Host: evil.example\r\n"
#define PAGE   "Origin: http://evil.example\r\n"

/* Each request fails the check it is named after and all, or most, behind it. */
static void test_the_first_that_fails_speaks(void **state)
{
    static const struct {
        const char *request, *lines, *body;
        int status;
        const char *said;
    } cases[] = {
        { "PUT /none?token=x", ALIEN PAGE, NULL, 403, "foreign_host" },
        { "PUT /none?token=x", PAGE, NULL, 403, "foreign_origin" },
        { "GET /open", "Sec-Fetch-Site: cross-site\r\n", NULL, 403, "foreign_origin" },
        { "PUT /none?token=x", "", NULL, 400, "token_in_address" },
        { "PUT /none", "", NULL, 404, "not_found" },
        { "PUT /mcp", "", NULL, 401, "unauthorized" },
        { "PUT /mcp", PERSON, NULL, 403, "wrong_role" },
        { "PUT /asks/x", AGENT, NULL, 403, "wrong_role" },
        { "PUT /mcp", AGENT, NULL, 405, "method_not_allowed" },
        { "POST /mcp", AGENT "Content-Type: text/plain\r\n", "seventeen letters", 415,
          "unsupported_media_type" },
        { "POST /mcp", AGENT JSON, "seventeen letters", 413, "too_long" },
        { "POST /mcp", AGENT JSON, "sixteen letters!", 200, "first POST /mcp  agent" },
        { "POST /mcp", BOTH JSON, "{}", 200, "first POST /mcp  both" },
        { "GET /asks/7", PERSON, NULL, 200, "first GET /asks/{id} 7 person" },
        { "GET /open", "", NULL, 200, "first GET /open  " },
    };
    struct scene *scene = *state;
    struct text in = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int status = ask(scene, cases[i].request, cases[i].lines, cases[i].body, &in);

        if (status != cases[i].status || !strstr(text_string(&in), cases[i].said))
            fail_msg("%s %s: %s", cases[i].request, cases[i].lines, text_string(&in));
    }
    text_release(&in);
}

/* A path of one table hides the same path of a later one, with all its methods. */
static void test_the_first_table_has_the_path(void **state)
{
    struct scene *scene = *state;
    struct text in = { 0 };

    assert_int_equal(ask(scene, "GET /same", "", NULL, &in), 401); /* not the open one behind it */
    assert_int_equal(ask(scene, "GET /same", BOTH, NULL, &in), 200);
    assert_non_null(strstr(in.bytes, "first GET /same"));
    assert_int_equal(ask(scene, "POST /same", BOTH, "x", &in), 405);
    assert_non_null(strstr(in.bytes, "Allow: GET, HEAD\r\n"));
    assert_int_equal(ask(scene, "GET /asks/special", "", NULL, &in), 401);
    assert_int_equal(ask(scene, "GET /asks/special", PERSON, NULL, &in), 200);
    assert_non_null(strstr(in.bytes, "first GET /asks/{id} special"));
    assert_int_equal(ask(scene, "DELETE /asks/7", PERSON, NULL, &in), 405);
    assert_non_null(strstr(in.bytes, "Allow: GET, HEAD, POST\r\n"));
    assert_int_equal(ask(scene, "GET /files/a/b", "", NULL, &in), 200);
    assert_non_null(strstr(in.bytes, "second GET /files/* a/b"));
    for (size_t i = 0; i < ARRAY_LEN(first_rows); i++)
        assert_ptr_equal(guard_route_at(scene->guard, i), &first_rows[i]);
    for (size_t i = 0; i < ARRAY_LEN(second_rows); i++)
        assert_ptr_equal(guard_route_at(scene->guard, ARRAY_LEN(first_rows) + i), &second_rows[i]);
    assert_null(guard_route_at(scene->guard, ARRAY_LEN(first_rows) + ARRAY_LEN(second_rows)));
    text_release(&in);
}

static void test_guesses_are_slowed_and_nobody_else(void **state)
{
    struct scene *scene = *state;
    struct text in = { 0 };

    for (int i = 0; i < 10; i++)
        assert_int_equal(ask(scene, "GET /asks/7", "Authorization: Bearer guess\r\n", NULL, &in),
                         401);
    assert_non_null(strstr(in.bytes, "invalid_token"));
    assert_int_equal(ask(scene, "GET /asks/7", "Authorization: Bearer guess\r\n", NULL, &in), 429);
    assert_non_null(strstr(in.bytes, "Retry-After: "));
    assert_int_equal(ask(scene, "GET /asks/7", PERSON, NULL, &in), 200);
    /* who shows none did not guess */
    assert_int_equal(ask(scene, "GET /asks/7", "", NULL, &in), 401);
    assert_int_equal(ask(scene, "GET /open", "", NULL, &in), 200);
    text_release(&in);
}

static void test_agents_without_tokens(void **state)
{
    struct scene *scene = *state;
    struct text in = { 0 };

    scene->is_free = true;
    assert_int_equal(ask(scene, "POST /mcp", JSON, "{}", &in), 200);
    assert_int_equal(ask(scene, "POST /mcp", PERSON JSON, "{}", &in), 403);
    assert_int_equal(ask(scene, "GET /asks/7", "", NULL, &in), 401); /* only agents' routes */
    assert_int_equal(ask(scene, "GET /same", "", NULL, &in), 401);
    text_release(&in);
}

static void test_replies_are_counted_by_route(void **state)
{
    struct scene *scene = *state;
    struct text in = { 0 }, out = { 0 };

    ask(scene, "GET /open", "", NULL, &in);
    ask(scene, "GET /open", "", NULL, &in);
    ask(scene, "GET /asks/7", "", NULL, &in);
    ask(scene, "GET /none", "", NULL, &in);
    guard_write_metrics(scene->guard, &out);
    assert_non_null(strstr(out.bytes, "{method=\"GET\",route=\"/open\",status=\"2xx\"} 2\n"));
    assert_non_null(strstr(out.bytes, "{method=\"GET\",route=\"/asks/{id}\",status=\"4xx\"} 1\n"));
    assert_non_null(strstr(out.bytes, "{method=\"\",route=\"\",status=\"4xx\"} 1\n"));
    text_release(&in);
    text_release(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_that_fails_speaks),        TEST(test_the_first_table_has_the_path),
        TEST(test_guesses_are_slowed_and_nobody_else), TEST(test_agents_without_tokens),
        TEST(test_replies_are_counted_by_route),
    };

    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
