/* reply.c - results and refusals as HTTP has them: statuses by one table, the rest as it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "fronts/rest/inside.h"
#include "net/http.h"

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

/* Ended without anybody's decision: there is nobody to name, and nothing left to decide. */
static bool has_run_out(const struct json *detail)
{
    const char *name = json_member_text(detail, "status");
    enum ask_state state = state_find(name);

    return state == STATE_TIMEOUT || state == STATE_AUTO_SUBMITTED || state == STATE_WITHDRAWN;
}

static int status_of(const struct error *err, const struct json *detail)
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

static void set_retry(struct call *call, int64_t seconds)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, seconds);
    http_set_header(call->exchange, "Retry-After", text);
}

/* The desk speaks of its own parameters; over HTTP some of them stand in the path and in headers,
 * and the peer does not know them by those names. */
static void translate(const struct call *call, struct error *err)
{
    const struct shape *body = call->operation->body;

    if (strcmp(err->path, "/answer_key") == 0)
        snprintf(err->message, sizeof err->message,
                 "this Idempotency-Key was used for another answer to this ask: make a new one");
    for (size_t i = 0; body && i < body->count; i++) {
        size_t length = strlen(body->members[i].name);

        if (strncmp(err->path + 1, body->members[i].name, length) == 0 &&
            (err->path[1 + length] == '\0' || err->path[1 + length] == '/'))
            return;
    }
    if (err->code != ERROR_unknown_property)
        err->path[0] = '\0';
}

static void write_error(struct text *out, const struct error *err, const char *parameter,
                        const char *detail_json)
{
    struct json_writer writer = json_object_to(out);

    json_write_object(&writer, "error");
    json_write_text(&writer, "code", error_name(err->code));
    error_write_message(err, &writer);
    if (err->path[0])
        json_write_text(&writer, "path", err->path);
    json_write_text_if(&writer, "parameter", parameter);
    if (err->retry_after_s > 0)
        json_write_integer(&writer, "retry_after_seconds", err->retry_after_s);
    error_write_list(err, &writer);
    if (detail_json)
        json_write_raw(&writer, "detail", detail_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
}

void reply_error(struct call *call, const struct error *err, const char *detail_json)
{
    struct text out = { 0 };
    struct error shown = *err;
    struct json *detail = NULL;
    bool is_ask = strncmp(call->operation->path, "/api/asks", strlen("/api/asks")) == 0;
    int status;

    if (detail_json && !json_parse(detail_json, strlen(detail_json), &detail, NULL))
        detail_json = NULL;
    status = status_of(err, is_ask ? detail : NULL); /* else it is about the ask behind it */
    if (detail && is_ask)
        reply_etag(call, json_member_integer(detail, "version", 0));
    translate(call, &shown);
    if (status == 503 && shown.retry_after_s == 0)
        shown.retry_after_s = REPLY_RETRY_S;
    if (shown.retry_after_s > 0)
        set_retry(call, shown.retry_after_s);
    write_error(&out, &shown, NULL, detail_json);
    reply_json(call, status, out.bytes, out.used);
    json_free(detail);
    text_release(&out);
}

void reply_bad_parameter(struct call *call, enum error_code code, const char *name,
                         const char *message)
{
    struct text out = { 0 };
    struct error err;

    error_set(&err, code, "", "%s", message);
    write_error(&out, &err, name, NULL);
    reply_json(call, 400, out.bytes, out.used);
    text_release(&out);
}

void reply_gone(struct call *call, const struct error *err)
{
    struct text out = { 0 };
    struct error shown = *err;

    translate(call, &shown);
    write_error(&out, &shown, NULL, NULL);
    reply_json(call, 410, out.bytes, out.used);
    text_release(&out);
}
