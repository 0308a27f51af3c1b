/*
 * conversations.c - conversations over HTTP (R3.4, docs/conversations.md): a request becomes one
 * act of the desk, and what comes of it the reply. The gate has looked who comes; whose a
 * conversation is, is the desk's to say, and one that is not theirs is unknown.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "http/rest/call.h"
#include "net/http.h"

struct desk_visit *conversation_visit(struct call *call,
                                      void (*event)(void *context, const char *line, size_t length))
{
    struct desk *desk = call->rest->parts.desk;
    const struct desk_visitor visitor = {
        .role = call->is_person ? ROLE_PERSON : ROLE_AGENT,
        .via = "api",
        .uid = -1,
        .tty = "",
        .name = call->label,
        .token = call->label,
        .token_id = call->token_id,
        .is_sub_agent = call->is_sub_agent,
        .may_answer = call->may_answer,
        .context = call,
        .event = event,
        .locate = rest_locate,
    };

    if (!call->visit)
        call->visit = desk->ops->open(desk, &visitor);
    return call->visit;
}

bool conversation_knows_id(struct call *call)
{
    struct error err;

    if (call->id[0])
        return true;
    error_set(&err, ERROR_not_found, "", "no conversation has this id");
    reply_error(call, &err, NULL);
    return false;
}

struct json_writer conversation_params(const struct call *call, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    if (call->id[0])
        json_write_text(&writer, "conversation", call->id);
    return writer;
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct json *state = NULL;

    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, reply->json);
        return;
    }
    if (json_parse(reply->json, strlen(reply->json), &state, NULL)) {
        reply_etag(call, json_member_integer(state, "version", 0));
        if (json_is_yes(json_member(state, "already")))
            http_set_header(call->exchange, "Idempotency-Replayed", "true");
        json_free(state);
    }
    reply_json(call, 200, reply->json, strlen(reply->json));
}

static void bring(struct call *call, struct json_writer *writer, struct text *take_params,
                  desk_done *done)
{
    conversation_visit(call, NULL);
    rest_call_method(call, call->operation->calls, writer, take_params, done, call);
}

void serve_conversation_new(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;

    if (!act_read_conditions(call, &version, &key) || !act_read_body(call, &body))
        return;
    writer = conversation_params(call, &params);
    json_write_value(&writer, "sub_agent", json_member(body, "sub_agent"));
    json_write_text_if(&writer, "key", key);
    json_free(body);
    bring(call, &writer, &params, on_done);
}

void serve_conversation_list(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    int64_t limit;

    if (!query_integer(call, PARAMETER_PAGE, 50, &limit))
        return;
    writer = conversation_params(call, &params);
    json_write_integer(&writer, "limit", limit);
    json_write_text_if(&writer, "before", http_parameter(call->exchange, "before"));
    bring(call, &writer, &params, look_listed);
}

void serve_conversation_get(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;

    if (!conversation_knows_id(call))
        return;
    writer = conversation_params(call, &params);
    bring(call, &writer, &params, on_done);
}

void serve_conversation_say(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;

    if (!conversation_knows_id(call) || !act_read_conditions(call, &version, &key) ||
        !act_read_body(call, &body))
        return;
    writer = conversation_params(call, &params);
    json_write_text(&writer, "event", call->operation->said);
    json_write_integer(&writer, "version", version);
    json_write_value(&writer, "body", body);
    json_free(body);
    bring(call, &writer, &params, on_done);
}
