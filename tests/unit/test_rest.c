/*
 * test_rest.c - the description of /api is made of the routes: neither has what the other lacks.
 * And looks that wait: what is told while their ask is read from a far store. Proves: R10.4 R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/rest/call.h"
#include "http_fixture.h"

struct scene {
    struct loop *loop;
    struct rest *rest;
    struct guard *guard;
    struct json *document;
};

static int set_up(void **state)
{
    struct scene *scene = mem_new(sizeof *scene);
    struct rest_parts parts = { 0 };
    struct guard_options options = { 0 };
    struct text out = { 0 };

    scene->loop = parts.loop = loop_new();
    scene->rest = rest_new(&parts);
    scene->guard = guard_new(&options);
    rest_add_routes(scene->rest, scene->guard);
    openapi_write(&out);
    assert_true(json_parse(out.bytes, out.used, &scene->document, NULL));
    text_release(&out);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    json_free(scene->document);
    guard_free(scene->guard);
    rest_free(scene->rest);
    loop_free(scene->loop);
    free(scene);
    return 0;
}

static const struct json *find_described(const struct scene *scene, const char *method,
                                         const char *path)
{
    char lower[8] = "";

    for (size_t i = 0; method[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower((unsigned char)method[i]);
    return json_member(json_member(json_member(scene->document, "paths"), path), lower);
}

static void every_route_is_described(void **state)
{
    struct scene *scene = *state;
    const struct guard_route *route;
    size_t count = 0;

    for (; (route = guard_route_at(scene->guard, count)); count++) {
        const struct json *described = find_described(scene, route->method, route->path);
        const struct json *replies = json_member(described, "responses");

        if (!described)
            fail_msg("%s %s is not described", route->method, route->path);
        assert_int_equal(json_member(described, "requestBody") != NULL, route->body_bytes > 0);
        assert_int_equal(json_member(described, "security") != NULL, route->access == GUARD_OPEN);
        assert_int_equal(json_member(replies, "401") != NULL, route->access != GUARD_OPEN);
        assert_int_equal(json_member(replies, "403") != NULL,
                         route->access != GUARD_OPEN && route->access != GUARD_ANYONE);
        assert_int_equal(json_member(replies, "415") != NULL, route->body_type != NULL);
    }
    assert_int_equal(count, operation_count);
}

static void every_description_is_served(void **state)
{
    struct scene *scene = *state;
    const struct json *paths = json_member(scene->document, "paths");
    size_t described = 0;

    for (void *at = json_first(paths); at; at = json_next(paths, at))
        described += json_length(json_value(at));
    assert_int_equal(described, operation_count);
}

/* Who may do what with a conversation, said once more by hand. */
static enum guard_access access_to_conversations(const struct guard_route *route)
{
    static const char *const persons[] = { "/respond", "/cancel" };
    const char *end = strrchr(route->path, '/');

    if (strcmp(route->method, "GET") == 0)
        return GUARD_HOST_OR_PERSON;
    for (size_t i = 0; i < sizeof persons / sizeof *persons; i++) {
        if (strcmp(end, persons[i]) == 0)
            return GUARD_ANSWERER;
    }
    return GUARD_HOST;
}

/* The same of the rest: what is open, and what is for people alone. */
static void only_people_reach_asks(void **state)
{
    struct scene *scene = *state;
    const struct guard_route *route;

    for (size_t i = 0; (route = guard_route_at(scene->guard, i)); i++) {
        bool is_of_asks = strncmp(route->path, "/api/asks", 9) == 0;
        bool is_talk = strncmp(route->path, "/conversations", 14) == 0;
        bool is_check = strcmp(route->path, "/healthz") == 0 || strcmp(route->path, "/readyz") == 0;

        assert_int_equal(route->access, is_talk      ? access_to_conversations(route)
                                        : is_of_asks ? GUARD_PERSON
                                        : is_check   ? GUARD_OPEN
                                                     : GUARD_ANYONE);
    }
}

static void every_reference_leads_somewhere(void **state)
{
    static const char prefix[] = "\"#/components/schemas/";
    struct scene *scene = *state;
    const struct json *schemas = json_member(json_member(scene->document, "components"), "schemas");
    char *text = json_encode(scene->document);
    size_t count = 0;

    for (char *at = text; (at = strstr(at, prefix)); count++) {
        char *name = at + sizeof prefix - 1, *end = strchr(name, '"');

        *end = '\0';
        if (!json_member(schemas, name))
            fail_msg("no schema %s", name);
        at = end + 1;
    }
    assert_true(count > operation_count);
    free(text);
}

static void bodies_are_closed(void **state)
{
    static const struct {
        enum member_type shape;
        const char *body;
        enum error_code code;
        const char *path;
    } cases[] = {
        { SHAPE_ANSWER, "{'selected_ids':['a']}", ERROR_NONE, "" },
        { SHAPE_ANSWER, "{'custom_input':'','global_annotation':'x'}", ERROR_NONE, "" },
        { SHAPE_ANSWER, "{}", ERROR_missing_property, "" },
        { SHAPE_ANSWER, "{'global_annotation':'x'}", ERROR_missing_property, "" },
        { SHAPE_ANSWER, "{'selected_ids':['a'],'version':7}", ERROR_unknown_property, "/version" },
        { SHAPE_ANSWER, "{'session_id':'x'}", ERROR_unknown_property, "/session_id" },
        { SHAPE_ANSWER, "{'answer_key':'x','custom_input':'y'}", ERROR_unknown_property,
          "/answer_key" },
        { SHAPE_ANSWER, "{'a b':1}", ERROR_unknown_property, "" },
        { SHAPE_ANSWER, "[]", ERROR_bad_type, "" },
        { SHAPE_ANSWER, "'text'", ERROR_bad_type, "" },
        { SHAPE_NOTE, "{}", ERROR_NONE, "" },
        { SHAPE_NOTE, "{'note':'x'}", ERROR_unknown_property, "/note" },
        { SHAPE_SECONDS, "{}", ERROR_missing_property, "/seconds" },
        { SHAPE_SECONDS, "{'seconds':null}", ERROR_NONE, "" },
        { SHAPE_NOTHING, "{}", ERROR_NONE, "" },
        { SHAPE_NOTHING, "{'code':'123'}", ERROR_unknown_property, "/code" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *body = mem_text(cases[i].body);
        struct json *json = NULL;
        struct error err = { 0 };

        for (char *at = body; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        assert_true(json_parse(body, strlen(body), &json, NULL));
        if (shape_check(cases[i].shape, json, &err) != (cases[i].code == ERROR_NONE))
            fail_msg("%s", cases[i].body);
        assert_int_equal(err.code, cases[i].code);
        assert_string_equal(err.path, cases[i].path);
        json_free(json);
        free(body);
    }
}

static const char *say_why(void *context)
{
    return *(const char **)context;
}

static void expect(struct stage *stage, const char *path, const char *wanted)
{
    struct text in = { 0 }, request = { 0 };
    int peer = peer_connect(stage);

    text_add_format(&request, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", path,
                    http_server_port(stage->server));
    peer_say(peer, text_string(&request));
    if (!peer_await(stage, peer, &in, "}"))
        fail_msg("%s: no reply", path);
    if (!strstr(text_string(&in), wanted))
        fail_msg("%s: %s", path, text_string(&in));
    close(peer);
    text_release(&in);
    text_release(&request);
}

/* What is not ready is alive all the same. */
static void readiness_says_why_not(void **state)
{
    const char *why = NULL;
    struct guard_options gate = { 0 };
    struct guard *guard = guard_new(&gate);
    struct http_options options = {
        .handler = { guard, guard_admit, guard_serve, guard_on_reply },
    };
    struct rest_parts parts = { .context = &why, .not_ready = say_why };
    struct stage stage;
    struct rest *rest;

    (void)state;
    stage_open(&stage, &options);
    parts.loop = stage.loop;
    rest = rest_new(&parts);
    rest_add_routes(rest, guard);
    expect(&stage, "/readyz", "{\"status\":\"ok\"}");
    why = "draining";
    expect(&stage, "/readyz", "HTTP/1.1 503 ");
    expect(&stage, "/readyz", "\r\nRetry-After: 1\r\n");
    expect(&stage, "/readyz", "{\"status\":\"draining\"}");
    expect(&stage, "/healthz", "HTTP/1.1 200 OK");
    rest_free(rest);
    stage_close(&stage);
    guard_free(guard);
}

/* A service that only remembers who watches. */
struct far_desk {
    struct service service; /* first */
    void *context;
    void (*event)(void *context, const char *line, size_t length);
};

static struct session *far_enter(struct service *service, const struct identity *identity)
{
    struct far_desk *far = (struct far_desk *)service;

    far->context = identity->context;
    far->event = identity->event;
    return (struct session *)far;
}

static void far_call(struct service *service, struct session *session,
                     const struct request *request, reply_done *done, void *context)
{
    (void)service;
    (void)session;
    assert_int_equal(request->method, METHOD_ask_watch);
    (void)done;
    (void)context;
}

static void far_tell(struct far_desk *far, const char *id, int version)
{
    char line[200];
    int length =
        snprintf(line, sizeof line, "{\"params\":{\"ask\":{\"session_id\":\"%s\",\"version\":%d}}}",
                 id, version);

    assert_non_null(far->event);
    far->event(far->context, line, (size_t)length);
}

static void news_while_an_ask_is_read(void **state)
{
    static const struct service_ops ops = { .open = far_enter, .call = far_call };
    static const struct {
        int known, while_read, once_parked; /* 0: nothing is told */
        bool is_due;                        /* it looks again */
    } cases[] = {
        { 1, 0, 0, false }, { 1, 2, 0, true },  { 1, 1, 0, false },
        { 1, 0, 2, true },  { 1, 0, 1, false }, { 1, 1, 2, true },
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct far_desk far = { .service.ops = &ops };
        struct rest_parts parts = { .loop = scene->loop, .service = &far.service };
        struct rest *rest = rest_new(&parts);
        struct call call = { .rest = rest, .id = "aaaaaaaaaaaaaaaaaaaaaaaaaa", .may_wait = true };

        call.until_ms = loop_boot_ms() + 60000;
        poll_watch(&call);
        if (cases[i].while_read)
            far_tell(&far, call.id, cases[i].while_read);
        far_tell(&far, "bbbbbbbbbbbbbbbbbbbbbbbbbb", 7);
        assert_null(rest->due); /* one read at a time */
        poll_on_timer(rest);
        assert_null(rest->due);
        call.is_reading = false;
        call.version = cases[i].known; /* as the read had it */
        poll_park(&call);
        if (cases[i].once_parked)
            far_tell(&far, call.id, cases[i].once_parked);
        if (cases[i].is_due != (rest->due == &call))
            fail_msg("case %zu", i);
        poll_unpark(&call);
        assert_null(rest->due);
        assert_int_equal(rest->polls.count, 0);
        rest_free(rest);
    }
}

/* What a program over HTTP learns of each code; one that is new has to be decided here. */
static const int statuses[] = {
    [ERROR_missing_property] = 422,
    [ERROR_bad_type] = 422,
    [ERROR_bad_enum] = 422,
    [ERROR_bad_format] = 422,
    [ERROR_bad_unicode] = 422,
    [ERROR_nul_character] = 422,
    [ERROR_empty_text] = 422,
    [ERROR_too_short] = 422,
    [ERROR_too_long] = 422,
    [ERROR_too_few_options] = 422,
    [ERROR_too_many_options] = 422,
    [ERROR_too_few_questions] = 422,
    [ERROR_too_many_questions] = 422,
    [ERROR_too_many_defaults] = 422,
    [ERROR_out_of_range] = 422,
    [ERROR_min_exceeds_max] = 422,
    [ERROR_min_exceeds_options] = 422,
    [ERROR_duplicate_option_id] = 422,
    [ERROR_duplicate_default] = 422,
    [ERROR_duplicate_question] = 422,
    [ERROR_duplicate_key] = 422,
    [ERROR_default_not_in_options] = 422,
    [ERROR_ambiguous_label] = 422,
    [ERROR_reserved_label] = 422,
    [ERROR_label_count_mismatch] = 422,
    [ERROR_unsupported_flag] = 422,
    [ERROR_unsupported_schema] = 422,
    [ERROR_unknown_property] = 422,
    [ERROR_conflicting_arguments] = 409,
    [ERROR_not_found] = 404,
    [ERROR_sensitive_input_refused] = 422,
    [ERROR_no_recommended_option] = 422,
    [ERROR_no_human_channel] = 422,
    [ERROR_not_available_to_subagents] = 422,
    [ERROR_rate_limited] = 429,
    [ERROR_validation_failed] = 422,
    [ERROR_unavailable] = 503,
    [ERROR_storage_failed] = 503,
    [ERROR_already_answered] = 409,
    [ERROR_wrong_state] = 409,
    [ERROR_too_many_recommended] = 422,
    [ERROR_bad_json] = 400,
    [ERROR_wrong_role] = 403,
    [ERROR_not_allowed] = 403,
};

static void every_error_has_its_status(void **state)
{
    (void)state;
    assert_int_equal(ARRAY_LEN(statuses), ERROR_COUNT);
    for (size_t code = ERROR_NONE + 1; code < ARRAY_LEN(statuses); code++) {
        const struct error err = { .code = (enum error_code)code };

        if (rest_status_of(&err, NULL) != statuses[code])
            fail_msg("%s is %d, not %d", error_name(err.code), rest_status_of(&err, NULL),
                     statuses[code]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_description_is_served),
        cmocka_unit_test(only_people_reach_asks),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(bodies_are_closed),
        cmocka_unit_test(every_error_has_its_status),
        cmocka_unit_test(readiness_says_why_not),
        cmocka_unit_test(news_while_an_ask_is_read),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
