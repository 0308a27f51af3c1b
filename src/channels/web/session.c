/* session.c - one page that is connected: messages to acts of the desk, replies and events back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "channels/web/inside.h"
#include "channels/web/shown.h"
#include "i18n/i18n.h"
#include "wire/methods.h"
#include "wire/wire.h"

/* A request under way at the desk; after the page left nobody else frees it. */
struct call {
    struct call *next, *previous;
    struct session *session;
    char *id_json; /* NULL: a notification, nobody wants the reply */
    bool is_get;   /* what may be shown of the ask goes along */
    bool is_look;
};

static void end_call(struct call *call)
{
    LIST_REMOVE(call->session->calls, call);
    call->session->call_count--;
    call->session->look_count -= call->is_look;
    free(call->id_json);
    free(call);
}

static void drop_calls(struct session *session)
{
    struct call *next;

    for (struct call *call = session->calls; call; call = next) {
        next = call->next;
        end_call(call);
    }
}

void session_send(struct session *session, struct text *take_line)
{
    ws_send(session->peer, take_line->bytes, take_line->used - 1);
    text_release(take_line);
}

void session_reply_error(struct session *session, const char *id_json, int code,
                         const char *message)
{
    struct text line = { 0 };

    if (!id_json)
        return;
    wire_add_error(&line, id_json, code, message);
    session_send(session, &line);
}

static void add_shown(struct text *line, const char *id_json, const char *reply_json)
{
    struct text out = { 0 };

    shown_add(reply_json, &out);
    jsonrpc_add_result(line, id_json, text_string(&out));
    text_release(&out);
}

/* The wire's failure, with the hub's words in the languages that pages speak: `said`. A page brings
 * the commonest words along; those of 200 refusals it need not. */
static void add_failure(struct text *line, const char *id_json, const struct desk_reply *reply)
{
    struct text data = { 0 }, words = { 0 };
    struct json_writer writer = json_writer_to(&data);

    json_write_object(&writer, NULL);
    error_write(&reply->err, &writer);
    if (reply->json)
        json_write_raw(&writer, "detail", reply->json);
    json_write_object(&writer, "said");
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        text_clear(&words);
        if (i18n_reason_in((enum language)language, &words, reply->err.message))
            json_write_text_n(&writer, language_tag((enum language)language), text_string(&words),
                              words.used);
    }
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    jsonrpc_add_error(line, id_json, wire_code_of(&reply->err), reply->err.message,
                      text_string(&data));
    text_release(&data);
    text_release(&words);
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct text line = { 0 };

    if (call->id_json) {
        if (reply->err.code != ERROR_NONE)
            add_failure(&line, call->id_json, reply);
        else if (call->is_get)
            add_shown(&line, call->id_json, reply->json);
        else
            wire_add_result(&line, call->id_json, reply->kind, reply->json);
        session_send(call->session, &line);
    }
    ws_peer_stir(call->session->peer); /* it may be read from again, answered or not */
    end_call(call);
}

/* All pages are told the same one after the other: it is encoded for the first of them. */
void session_event(void *context, const char *line, size_t length)
{
    struct session *session = context;
    struct web *web = session->web;

    if (ws_peer_behind(session->peer) > WEB_EVENT_BYTES) {
        session->needs_resync = true;
        return;
    }
    if (!ws_frame_is(web->newest, line, length)) {
        ws_frame_release(web->newest);
        web->newest = ws_frame_new(line, length);
    }
    ws_send_frame(session->peer, web->newest);
}

bool session_locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return ws_peer_process(((struct session *)context)->peer, ret_uid, ret_pid);
}

enum guard_door session_door(const struct session *session)
{
    return ws_peer_is_local(session->peer) ? GUARD_LOCAL : GUARD_PUBLIC;
}

void session_enter(struct session *session, const struct desk_visitor *visitor)
{
    struct desk *desk = session->web->parts.desk;

    session->visit = desk->ops->enter(desk, visitor);
    session->role = (uint8_t)visitor->role;
    snprintf(session->token_id, sizeof session->token_id, "%s", visitor->token_id);
    ws_peer_know(session->peer);
}

static void act(struct session *session, size_t which, const struct json *params,
                const char *id_json)
{
    struct desk *desk = session->web->parts.desk;
    struct call *call;

    if (session->call_count >= WEB_CALLS) {
        session_reply_error(session, id_json, JSONRPC_INVALID_REQUEST,
                            "too many calls under way: wait for some of them");
        return;
    }
    call = mem_new(sizeof *call);
    call->session = session;
    call->id_json = id_json ? mem_text(id_json) : NULL;
    call->is_get = which == DESK_ACT(get) && !session->guest;
    call->is_look = wire_is_look(which);
    LIST_ADD(session->calls, call);
    session->call_count++;
    session->look_count += call->is_look;
    desk_serve(desk, session->visit, which, params, on_done, call);
}

/* What the hub does itself: of that its status alone is for tokens. */
static void take_hub(struct session *session, size_t which, const struct json *params,
                     const char *id_json)
{
    const struct web_parts *parts = &session->web->parts;
    struct desk_reply refusal = { 0 };
    struct text status = { 0 }, line = { 0 };

    if (!id_json)
        return;
    if (!desk_may(parts->desk, session->visit, which, params, &refusal.err)) {
        add_failure(&line, id_json, &refusal);
    } else {
        parts->write_status(parts->context, &status);
        jsonrpc_add_result(&line, id_json, text_string(&status));
    }
    session_send(session, &line);
    text_release(&status);
}

static void dispatch(struct session *session, const struct wire_message *message,
                     const char *id_json)
{
    size_t which = 0;
    bool is_method = wire_find_method(message->method, &which);

    if (which == DESK_HUB_HELLO)
        hello_take(session, message->params, id_json);
    else if (which == DESK_HUB_PROVE && !session->guest)
        hello_prove(session, message->params, id_json);
    else if (!session->visit)
        session_reply_error(session, id_json, JSONRPC_INVALID_REQUEST, "say hello first");
    else if (!is_method || which == DESK_HUB_PROVE)
        session_reply_error(session, id_json, JSONRPC_METHOD_NOT_FOUND, "no such method");
    else if (which < DESK_HUB_ACTS)
        take_hub(session, which, message->params, id_json);
    else
        act(session, which, message->params, id_json);
}

/* Whatever it was, a page that does not read is not read from. */
static void take_message(void *owner, const char *text, size_t length)
{
    struct session *session = owner;
    struct wire_message message = { 0 };
    struct text line = { 0 };
    char *id_json = NULL;
    int code;

    if (!wire_parse(text, length, &message, &code)) {
        wire_add_unread(&line, text, length, code);
        session_send(session, &line);
    } else if (message.id) {
        id_json = json_encode(message.id);
    }
    if (id_json && strlen(id_json) > WEB_ID_BYTES)
        session_reply_error(session, id_json, JSONRPC_INVALID_REQUEST, "the id is too long");
    else if (message.method) /* we send no requests, so a response is nobody's */
        dispatch(session, &message, id_json);
    free(id_json);
    wire_release(&message);
    if (ws_peer_behind(session->peer) > WEB_OUT_BYTES || session->look_count >= WIRE_LOOKS)
        ws_peer_pause(session->peer, true);
}

static void on_drained(void *owner)
{
    static const char resync[] = "{\"jsonrpc\":\"2.0\",\"method\":\"resync\",\"params\":{}}";
    struct session *session = owner;

    if (session->needs_resync) {
        session->needs_resync = false;
        ws_send(session->peer, resync, strlen(resync));
    }
    if (session->look_count < WIRE_LOOKS)
        ws_peer_pause(session->peer, false);
}

static void *open_session(void *context, struct ws_peer *peer)
{
    struct web *web = context;
    struct session *session;

    if (web->is_leaving || (web->is_off && !web->arriving)) /* its upgrade was under way */
        return NULL;
    session = pool_new(sizeof *session);
    session->web = web;
    session->peer = peer;
    session->guest = web->arriving;
    web->arriving = NULL;
    LIST_ADD(web->sessions, session);
    return session;
}

static void close_session(void *owner)
{
    struct session *session = owner;
    struct web *web = session->web;
    struct desk *desk = web->parts.desk;

    LIST_REMOVE(web->sessions, session);
    if (session->visit)
        desk->ops->leave(desk, session->visit);
    drop_calls(session);
    hello_forget(session);
    free(session->guest);
    pool_free(session, sizeof *session);
}

const struct ws_handler session_handler = {
    .opened = open_session,
    .message = take_message,
    .drained = on_drained,
    .closed = close_session,
};
