/* remote_call.c - see remote_call.h. */
#include "wire/remote_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/spare.h"
#include "base/text.h"
#include "core/limits.h"
#include "loop/loop.h"

void remote_calls_init(struct remote_calls *calls)
{
    *calls = (struct remote_calls){ .by_id = TABLE_OF(remote_call, by_id, id),
                                    .by_tag = TABLE_OF(remote_call, by_tag, tag) };
}

void remote_calls_release(struct remote_calls *calls)
{
    while (calls->first) {
        struct remote_call *call = calls->first;

        remote_calls_take(calls, call);
        remote_call_free(call);
    }
    table_release(&calls->by_id);
    table_release(&calls->by_tag);
}

struct remote_call *remote_calls_add(struct remote_calls *calls, const struct request *request,
                                     desk_done *done, void *context)
{
    const struct text *params = request->text;
    struct remote_call *call = spare_new(sizeof *call + params->used + 1);
    bool waits = methods[request->method].flags & METHOD_WAITS;

    *call = (struct remote_call){
        .previous = calls->last,
        .method = request->method,
        .until_boot_ms = waits && request->wait_ms >= 0 ? loop_boot_ms() + request->wait_ms : -1,
        .done = done,
        .context = context,
        .length = params->used,
    };
    memcpy(call->params_json, text_string(params), params->used + 1);
    if (request->tag && !request->is_bound)
        text_put(call->tag, sizeof call->tag, request->tag);
    if (call->tag[0])
        table_insert(&calls->by_tag, &call->by_tag);
    if (call->previous)
        call->previous->next = call;
    else
        calls->first = call;
    calls->last = call;
    return call;
}

void remote_calls_take(struct remote_calls *calls, struct remote_call *call)
{
    if (call->id)
        table_remove(&calls->by_id, &call->by_id);
    if (call->tag[0])
        table_remove(&calls->by_tag, &call->by_tag);
    if (call->previous)
        call->previous->next = call->next;
    else
        calls->first = call->next;
    if (call->next)
        call->next->previous = call->previous;
    else
        calls->last = call->previous;
}

void remote_call_free(struct remote_call *call)
{
    spare_free(call, sizeof *call + call->length + 1);
}

struct remote_call *remote_calls_find(const struct remote_calls *calls, int64_t id)
{
    struct table_link *link = table_find(&calls->by_id, &id);

    return link ? TABLE_THING(remote_call, by_id, link) : NULL;
}

void remote_calls_name(struct remote_calls *calls, const char *tag, const char *session_id)
{
    char key[sizeof((struct remote_call *)0)->tag] = "";
    size_t tag_bytes = strlen(tag), id_bytes = strlen(session_id);

    if (tag_bytes == 0 || tag_bytes >= sizeof key)
        return;
    memcpy(key, tag, tag_bytes + 1);
    for (struct table_link *link = table_find(&calls->by_tag, key); link;
         link = table_find_next(&calls->by_tag, link)) {
        struct remote_call *call = TABLE_THING(remote_call, by_tag, link);

        if (id_bytes < sizeof call->session_id)
            memcpy(call->session_id, session_id, id_bytes + 1);
    }
}

/* What is left of a wait after a hub died in the middle of it. */
static int64_t wait_left_s(const struct remote_call *call)
{
    int64_t left_ms = call->until_boot_ms - loop_boot_ms();

    if (call->until_boot_ms < 0)
        return -1;
    return left_ms > 0 ? (left_ms + 999) / 1000 : 0;
}

static void write_member(struct json_writer *writer, const char *key, const struct json *member)
{
    char *json = member ? json_encode(member) : NULL;

    if (json)
        json_write_raw(writer, key, json);
    free(json);
}

/* Always with what its client can show. */
static void write_again(const struct remote_call *call, const struct json *params, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    if (call->session_id[0]) {
        json_write_text(&writer, "session_id", call->session_id);
        write_member(&writer, "client", json_member(params, "client"));
        json_write_bool_if(&writer, "comes_back", json_is_yes(json_member(params, "comes_back")));
    } else {
        for (void *at = json_first(params); at; at = json_next(params, at)) {
            if (strcmp(json_key(at), "wait_seconds") != 0)
                write_member(&writer, json_key(at), json_value(at));
        }
    }
    if (call->session_id[0] || json_member(params, "wait_seconds"))
        json_write_integer(&writer, "wait_seconds", wait_left_s(call));
    json_write_end_object(&writer);
}

/* Under an id that is new: the reply to an older one is nobody's. */
static bool send(struct remote_calls *calls, struct remote_call *call, const char *params_json,
                 struct text *out)
{
    enum method method = call->session_id[0] ? METHOD_ask_wait : call->method;
    size_t before = out->used;

    if (call->id)
        table_remove(&calls->by_id, &call->by_id);
    call->id = ++calls->last_id;
    table_insert(&calls->by_id, &call->by_id);
    jsonrpc_add_request(out, call->id, methods[method].name, params_json);
    if (out->used - before - 1 <= LIMIT_WIRE_LINE_BYTES)
        return true;
    out->used = before;
    return false;
}

bool remote_call_send(struct remote_calls *calls, struct remote_call *call, struct text *out)
{
    return send(calls, call, call->params_json, out);
}

bool remote_call_send_again(struct remote_calls *calls, struct remote_call *call, struct text *out)
{
    struct json *params = NULL;
    struct text words = { 0 };
    bool ok;

    if (!json_parse(call->params_json, call->length, &params, NULL))
        return remote_call_send(calls, call, out);
    write_again(call, params, &words);
    ok = send(calls, call, text_string(&words), out);
    text_release(&words);
    json_free(params);
    return ok;
}
