/*
 * rest.c - see rest.h: the routes of the table at the guard, and the life of one exchange. Results
 * and refusals as HTTP has them: statuses by one table, the rest as it is. And what is for those
 * who look after the hub: alive, ready, figures; and the front page of /api.
 */
#include "http/rest/rest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "http/rest/call.h"
#include "i18n/i18n.h"
#include "net/http.h"

static void reply_status(struct call *call, int status, const char *what)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "status", what);
    json_write_end_object(&writer);
    reply_json(call, status, out.bytes, out.used);
    text_release(&out);
}

void serve_health(struct call *call)
{
    reply_status(call, 200, "ok");
}

void serve_readiness(struct call *call)
{
    const struct rest_parts *parts = &call->rest->parts;
    const char *why_not = parts->not_ready(parts->context);

    if (why_not)
        http_set_header(call->exchange, "Retry-After", "1");
    reply_status(call, why_not ? 503 : 200, why_not ? why_not : "ok");
}

void serve_metrics(struct call *call)
{
    const struct rest_parts *parts = &call->rest->parts;
    struct text out = { 0 };

    metrics_write_head(&out, "sayso_build_info", "gauge", "Which program this is.");
    metrics_write_value(&out, "sayso_build_info", "version", SAYSO_VERSION, 1);
    metrics_write_one(&out, "sayso_uptime_seconds", "gauge", "Since this hub began.",
                      (loop_boot_ms() - call->rest->began_ms) / 1000);
    http_write_metrics(call->exchange, &out);
    parts->write_metrics(parts->context, &out);
    rest_call_reply(call, 200, call->operation->reply_type, out.bytes, out.used);
    text_release(&out);
}

void serve_index(struct call *call)
{
    static const char index[] = "{\"version\":\"" SAYSO_VERSION "\",\"asks\":\"/api/asks\","
                                "\"conversations\":\"/conversations\","
                                "\"openapi\":\"/api/openapi.json\"}";

    reply_json(call, 200, index, strlen(index));
}

enum { REPLY_RETRY_S = 1 };

/* What has no row is about the body: 422. */
static const struct {
    enum error_code code;
    int status;
} statuses[] = {
    { ERROR_bad_json, 400 },    { ERROR_not_found, 404 },      { ERROR_already_answered, 409 },
    { ERROR_wrong_state, 409 }, { ERROR_rate_limited, 429 },   { ERROR_conflicting_arguments, 409 },
    { ERROR_unavailable, 503 }, { ERROR_storage_failed, 503 }, { ERROR_wrong_role, 403 },
    { ERROR_not_allowed, 403 },
};

/* Ended without a decision: there is no person to name, and nothing left to decide. */
static bool has_run_out(const struct json *detail)
{
    const char *name = json_member_text(detail, "status");
    enum ask_state state = state_find(name);

    return state == STATE_TIMEOUT || state == STATE_AUTO_SUBMITTED || state == STATE_WITHDRAWN;
}

int rest_status_of(const struct error *err, const struct json *detail)
{
    if (has_run_out(detail))
        return 410;
    if (err->code == ERROR_wrong_state && strcmp(err->path, "/version") == 0)
        return 412;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        if (statuses[i].code == err->code)
            return statuses[i].status;
    }
    return 422;
}

void reply_json(struct call *call, int status, const char *json, size_t length)
{
    rest_call_reply(call, status, "application/json", json, length);
}

void reply_etag(struct call *call, int64_t version)
{
    char etag[32];

    snprintf(etag, sizeof etag, "\"%" PRId64 "\"", version);
    http_set_header(call->exchange, "ETag", etag);
}

/* The service speaks of its own parameters; over HTTP some of them stand in the path and in
 * headers, and the peer does not know them by those names. */
static void translate(const struct call *call, struct error *err)
{
    const struct member *row = call->operation->body ? shape_find(call->operation->body) : NULL;

    if (strcmp(err->path, "/answer_key") == 0)
        snprintf(err->message, sizeof err->message,
                 "this Idempotency-Key was used for another answer to this ask: make a new one");
    while (row && (row = shape_next(row))) {
        size_t length = strlen(row->name);

        if (strncmp(err->path + 1, row->name, length) == 0 &&
            (err->path[1 + length] == '\0' || err->path[1 + length] == '/'))
            return;
    }
    if (err->code != ERROR_unknown_property)
        err->path[0] = '\0';
}

static void refuse(struct call *call, int status, const struct error *err, const char *parameter,
                   const char *detail_json)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_object(&writer, "error");
    json_write_text(&writer, "code", error_name(err->code));
    error_write_message(err, &writer);
    if (err->path[0])
        json_write_text(&writer, "path", err->path);
    json_write_text_if(&writer, "parameter", parameter);
    if (err->retry_after_s > 0)
        json_write_integer(&writer, "retry_after_seconds", err->retry_after_s);
    error_write_list(err, NULL, &writer);
    if (detail_json)
        json_write_raw(&writer, "detail", detail_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    reply_json(call, status, out.bytes, out.used);
    text_release(&out);
}

static bool is_of_asks(const struct call *call)
{
    return strncmp(call->operation->path, "/api/asks", strlen("/api/asks")) == 0;
}

void reply_error(struct call *call, const struct error *err, const char *detail_json)
{
    struct error shown = *err;
    struct json *detail = NULL;
    bool is_ask = is_of_asks(call);
    int status;

    if (detail_json && !json_parse(detail_json, strlen(detail_json), &detail, NULL))
        detail_json = NULL;
    status = rest_status_of(err, is_ask ? detail : NULL); /* else it is about the ask behind it */
    if (detail && is_ask)
        reply_etag(call, json_member_integer(detail, "version", 0));
    translate(call, &shown);
    if (status == 503 && shown.retry_after_s == 0)
        shown.retry_after_s = REPLY_RETRY_S;
    if (shown.retry_after_s > 0)
        http_set_header(call->exchange, "Retry-After", TEXT_NUMBER(shown.retry_after_s));
    refuse(call, status, &shown, NULL, detail_json);
    json_free(detail);
}

void reply_bad_parameter(struct call *call, enum error_code code, const char *name,
                         const char *message)
{
    struct error err;

    error_set(&err, code, "", "%s", message);
    refuse(call, 400, &err, name, NULL);
}

bool call_knows_id(struct call *call)
{
    struct error err;

    if (call->id[0])
        return true;
    if (is_of_asks(call))
        error_say(&err, ERROR_not_found, "", TEXT_REASON_NO_SUCH_ASK, NULL);
    else
        error_set(&err, ERROR_not_found, "", "no conversation has this id");
    reply_error(call, &err, NULL);
    return false;
}

void reply_gone(struct call *call, const struct error *err)
{
    struct error shown = *err;

    translate(call, &shown);
    refuse(call, 410, &shown, NULL, NULL);
}

enum { REST_BODY_BYTES = 1048576 };

static void end_call(struct call *call)
{
    struct service *service = call->rest->parts.service;

    poll_unpark(call);
    listening_free(call->listening);
    if (call->session)
        service->ops->close(service, call->session);
    free(call);
}

/* The peer left before it was replied to. What it decided is kept; a retry with its key finds it.
 */
static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    (void)exchange;
    if (fate == HTTP_ROOM)
        listening_go_on(context);
    else
        end_call(context);
}

void rest_call_reply(struct call *call, int status, const char *type, const char *body,
                     size_t length)
{
    http_on_fate(call->exchange, NULL, NULL); /* whether it arrives is the peer's business */
    http_reply(call->exchange, status, type, body, length);
    end_call(call);
}

struct session *rest_enter(struct rest *rest, struct identity *identity)
{
    struct service *service = rest->parts.service;

    identity->role = ROLE_PERSON;
    identity->via = "api";
    identity->uid = -1;
    identity->tty = "";
    identity->name = "rest";
    return service->ops->open(service, identity);
}

bool rest_locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return http_peer(((struct call *)context)->exchange, ret_uid, ret_pid);
}

void rest_call_method(struct call *call, enum method method, struct json_writer *writer,
                      struct text *take_params, reply_done *done, void *context)
{
    struct service *service = call->rest->parts.service;
    const struct request request = { .method = method, .text = take_params };
    struct identity identity = {
        .token = call->label, .token_id = call->token_id, .context = call, .locate = rest_locate
    };

    json_write_end_object(writer);
    if (!call->session)
        call->session = rest_enter(call->rest, &identity);
    service->ops->call(service, call->session, &request, done, context);
    text_release(take_params);
}

static void serve(void *context, struct http_exchange *exchange, const struct guard_match *match)
{
    struct rest *rest = context;
    struct call *call = mem_new(sizeof *call);

    call->rest = rest;
    call->exchange = exchange;
    call->operation = &operations[match->route - rest->routes];
    if (ask_id_is_valid(match->values[0]))
        memcpy(call->id, match->values[0], sizeof call->id);
    memcpy(call->label, match->who->label, sizeof call->label);
    memcpy(call->token_id, match->who->token, sizeof call->token_id);
    call->is_person = match->who->is_person;
    call->is_sub_agent = match->who->is_sub_agent;
    call->may_answer = match->who->may_answer;
    http_on_fate(exchange, on_fate, call);
    if (query_check(call))
        call->operation->serve(call);
}

struct rest *rest_new(const struct rest_parts *parts)
{
    struct rest *rest = mem_new(sizeof *rest);

    rest->parts = *parts;
    rest->polls = TABLE_OF(call, link, id);
    rest->timer = loop_timer_new(parts->loop, poll_on_timer, rest);
    rest->timer_ms = -1;
    rest->listening_timer = loop_timer_new(parts->loop, listenings_on_timer, rest);
    rest->began_ms = loop_boot_ms();
    rest->routes = mem_new(operation_count * sizeof *rest->routes);
    for (size_t i = 0; i < operation_count; i++)
        rest->routes[i] = (struct guard_route){
            .method = operations[i].method,
            .path = operations[i].path,
            .access = operations[i].access,
            .body_bytes = operations[i].body ? REST_BODY_BYTES : 0,
            .body_type = operations[i].body ? "application/json" : NULL,
            .serve = serve,
        };
    return rest;
}

void rest_free(struct rest *rest)
{
    if (!rest)
        return;
    loop_timer_free(rest->timer);
    loop_timer_free(rest->listening_timer);
    table_release(&rest->polls);
    text_release(&rest->document);
    free(rest->routes);
    free(rest);
}

void rest_add_routes(struct rest *rest, struct guard *guard)
{
    guard_add_routes(guard, rest->routes, operation_count, rest);
}
