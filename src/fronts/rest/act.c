/*
 * act.c - what a person does to an ask: the body, the path and the headers become the parameters of
 * one method; what comes of it is a receipt, or a refusal that says how the ask stands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "fronts/rest/inside.h"
#include "i18n/i18n.h"
#include "net/http.h"

/* A retry gets the receipt of the first time, byte for byte; that it is one stands in a header. */
static void write_receipt(struct text *out, const struct json *ack)
{
    struct json_writer writer = json_object_to(out);

    for (void *at = json_first(ack); at; at = json_next(ack, at)) {
        if (strcmp(json_key(at), "already") != 0)
            json_write_value(&writer, json_key(at), json_value(at));
    }
    json_write_end_object(&writer);
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct text out = { 0 };
    struct json *ack = NULL;
    struct error err = reply->err;

    if (err.code != ERROR_NONE || !json_parse(reply->json, strlen(reply->json), &ack, &err)) {
        reply_error(call, &err, reply->err.code != ERROR_NONE ? reply->json : NULL);
        return;
    }
    write_receipt(&out, ack);
    reply_etag(call, json_member_integer(ack, "version", 0));
    if (json_is_yes(json_member(ack, "already")))
        http_set_header(call->exchange, "Idempotency-Replayed", "true");
    json_free(ack);
    reply_json(call, 200, out.bytes, out.used);
    text_release(&out);
}

static bool takes(const struct operation *operation, const struct parameter *parameter)
{
    for (const struct parameter *const *at = operation->parameters; *at; at++) {
        if (*at == parameter)
            return true;
    }
    return false;
}

/* An empty body is an empty object, where nothing in it is needed. */
bool act_read_body(struct call *call, struct json **ret_body)
{
    size_t length;
    const char *bytes = http_body(call->exchange, &length);
    struct error err;

    if (length == 0) {
        bytes = "{}";
        length = 2;
    }
    *ret_body = NULL;
    if (json_parse(bytes, length, ret_body, &err) && json_check_range(*ret_body, &err) &&
        shape_check(call->operation->body, *ret_body, &err))
        return true;
    json_free(*ret_body);
    reply_error(call, &err, NULL);
    return false;
}

static void write_params(struct json_writer *writer, const struct call *call,
                         const struct json *body, int64_t version, const char *key)
{
    json_write_text(writer, "session_id", call->id);
    if (version != 0)
        json_write_integer(writer, "version", version);
    if (key) { /* a key is good for one ask: others may count from 1 too */
        char *own = mem_format("%s:%s", call->id, key);

        json_write_text(writer, "answer_key", own);
        free(own);
    }
    for (void *at = json_first(body); at; at = json_next(body, at))
        json_write_value(writer, json_key(at), json_value(at));
}

/* Before anything of the body is looked at: a condition that is not looked at must not seem so. */
bool act_read_conditions(struct call *call, int64_t *ret_version, const char **ret_key)
{
    *ret_version = 0;
    *ret_key = NULL;
    if (!takes(call->operation, &parameter_if_match) && http_header(call->exchange, "if-match")) {
        reply_bad_parameter(call, ERROR_unsupported_flag, parameter_if_match.name,
                            "this path knows no If-Match: leave it out");
        return false;
    }
    return query_if_match(call, ret_version) &&
           (!takes(call->operation, &parameter_key) || query_key(call, ret_key));
}

void serve_act(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;
    struct error err;

    if (!call->id[0]) {
        error_say(&err, ERROR_not_found, "", TEXT_REASON_NO_SUCH_ASK, NULL);
        reply_error(call, &err, NULL);
        return;
    }
    if (!act_read_conditions(call, &version, &key) || !act_read_body(call, &body))
        return;
    writer = json_object_to(&params);
    write_params(&writer, call, body, version, key);
    json_free(body);
    rest_call_method(call, call->operation->calls, &writer, &params, on_done, call);
}
