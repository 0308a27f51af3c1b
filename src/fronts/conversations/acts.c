/*
 * acts.c - conversations over HTTP (R3.4, docs/conversations.md): a request becomes one act of the
 * desk, and what comes of it the reply. The gate has looked who comes; whose a conversation is, is
 * the desk's to say, and one that is not theirs is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "fronts/rest/inside.h"
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
    };

    if (!call->visit)
        call->visit = desk->ops->enter(desk, &visitor);
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

struct json *conversation_params(const struct call *call, const char *members_json)
{
    struct text out = { 0 };
    struct json *params = NULL;

    text_add_text(&out, "{");
    if (call->id[0])
        text_add_format(&out, "\"conversation\":\"%s\"%s", call->id, *members_json ? "," : "");
    text_add_text(&out, members_json);
    text_add_text(&out, "}");
    json_parse(out.bytes, out.used, &params, NULL);
    text_release(&out);
    return params;
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

static void bring(struct call *call, const char *members_json, desk_done *done)
{
    struct desk *desk = call->rest->parts.desk;
    struct json *params = conversation_params(call, members_json);

    desk_act_at(desk, call->operation->act)(desk, conversation_visit(call, NULL), params, done,
                                            call);
    json_free(params);
}

void serve_conversation_new(struct call *call)
{
    struct text members = { 0 };
    struct json_writer writer = json_writer_to(&members);
    struct json *body;
    const char *key;
    int64_t version;
    char *given;

    if (!act_read_conditions(call, &version, &key) || !act_read_body(call, &body))
        return;
    given = json_member(body, "sub_agent") ? json_encode(json_member(body, "sub_agent")) : NULL;
    json_write_object(&writer, NULL);
    if (given)
        json_write_raw(&writer, "sub_agent", given);
    if (key)
        json_write_text(&writer, "key", key);
    json_write_end_object(&writer);
    members.bytes[members.used - 1] = '\0'; /* the members alone */
    bring(call, members.bytes + 1, on_done);
    text_release(&members);
    free(given);
    json_free(body);
}

static void on_listed(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct json *list = NULL;
    const char *next;

    if (reply->err.code == ERROR_bad_format) {
        reply_bad_parameter(call, ERROR_bad_format, parameter_before.name, reply->err.message);
        return;
    }
    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, NULL);
        return;
    }
    if (json_parse(reply->json, strlen(reply->json), &list, NULL)) {
        next = json_member_text(list, "next");
        if (next)
            query_write_next(call, next);
    }
    json_free(list);
    reply_json(call, 200, reply->json, strlen(reply->json));
}

void serve_conversation_list(struct call *call)
{
    struct text members = { 0 };
    struct json_writer writer = json_writer_to(&members);
    const char *before;
    int64_t limit;

    if (!query_integer(call, &parameter_page, 50, &limit))
        return;
    json_write_object(&writer, NULL);
    json_write_integer(&writer, "limit", limit);
    before = http_parameter(call->exchange, parameter_before.name);
    if (before)
        json_write_text(&writer, "before", before);
    json_write_end_object(&writer);
    members.bytes[members.used - 1] = '\0';
    bring(call, members.bytes + 1, on_listed);
    text_release(&members);
}

void serve_conversation_get(struct call *call)
{
    if (conversation_knows_id(call))
        bring(call, "", on_done);
}

void serve_conversation_say(struct call *call)
{
    struct text members = { 0 };
    struct json *body;
    const char *key;
    int64_t version;
    char *said;

    if (!conversation_knows_id(call) || !act_read_conditions(call, &version, &key) ||
        !act_read_body(call, &body))
        return;
    said = json_encode(body);
    text_add_format(&members, "\"event\":\"%s\",\"version\":%lld,\"body\":", call->operation->said,
                    (long long)version);
    text_add_text(&members, said);
    bring(call, text_string(&members), on_done);
    text_release(&members);
    free(said);
    json_free(body);
}
