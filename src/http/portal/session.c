/* session.c - one peer that is connected: what WebSockets add to the wire. */
#include "http/portal/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/text.h"
#include "http/portal/shown.h"
#include "i18n/i18n.h"

static struct session *session_of(const struct wire_peer *peer)
{
    return (struct session *)peer;
}

static struct text *begin(struct wire_peer *peer)
{
    return &session_of(peer)->web->line;
}

static void end(struct wire_peer *peer)
{
    struct text *line = begin(peer);

    if (line->used > 0)
        ws_send(session_of(peer)->peer, line->bytes, line->used - 1);
    text_release(line);
    ws_peer_stir(session_of(peer)->peer);
}

static size_t behind(const struct wire_peer *peer)
{
    return ws_peer_behind(session_of(peer)->peer);
}

/* All pages are told the same one after the other: it is encoded for the first of them. */
static void tell(struct wire_peer *peer, const char *line, size_t length)
{
    struct web *web = session_of(peer)->web;

    if (!ws_frame_is(web->newest, line, length)) {
        ws_frame_release(web->newest);
        web->newest = ws_frame_new(line, length);
    }
    ws_send_frame(session_of(peer)->peer, web->newest);
}

static bool greet(struct wire_peer *peer, enum method method, const struct json *params,
                  const char *id_json)
{
    struct session *session = session_of(peer);
    bool proves = method == METHOD_hub_prove && !session->guest;

    if (method == METHOD_hello)
        hello_take(session, params, id_json);
    else if (proves)
        hello_prove(session, params, id_json);
    return method == METHOD_hello || proves;
}

/* Of what the hub does itself its status alone is for tokens. */
static void do_hub(struct wire_peer *peer, enum method method, const char *id_json)
{
    const struct web_parts *parts = &session_of(peer)->web->parts;
    struct text status = { 0 };

    (void)method;
    parts->write_status(parts->context, &status);
    wire_peer_reply(peer, id_json, text_string(&status));
    text_release(&status);
}

/* A page gets what may be shown of an ask beside the ask itself. */
static bool add_shown(const struct wire_peer *peer, enum method method, struct text *out,
                      const char *id_json, const char *result_json)
{
    struct text shown = { 0 };

    if (method != METHOD_ask_get || session_of(peer)->guest)
        return false;
    shown_add(result_json, &shown);
    jsonrpc_add_result(out, id_json, text_string(&shown));
    text_release(&shown);
    return true;
}

/* The hub's words in the languages that pages speak: `said`. A page brings the commonest words
 * along; those of 200 refusals it need not. */
static void add_said(const struct error *err, struct json_writer *data)
{
    struct text words = { 0 };

    json_write_object(data, "said");
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        text_clear(&words);
        if (error_write_in(err, (enum language)language, &words))
            json_write_text_n(data, language_tag((enum language)language), text_string(&words),
                              words.used);
    }
    json_write_end_object(data);
    text_release(&words);
}

const struct wire_carrier session_carrier = {
    .most_calls = 1024,
    .begin = begin,
    .end = end,
    .behind = behind,
    .tell = tell,
    .greet = greet,
    .do_hub = do_hub,
    .add_more = add_shown,
    .add_words = add_said,
};

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return ws_peer_process(((struct session *)context)->peer, ret_uid, ret_pid);
}

enum guard_door session_door(const struct session *session)
{
    return ws_peer_is_local(session->peer) ? GUARD_LOCAL : GUARD_PUBLIC;
}

void session_enter(struct session *session, struct desk_visitor *visitor)
{
    struct desk *desk = session->web->parts.desk;

    visitor->uid = -1;
    visitor->tty = "";
    visitor->context = session;
    visitor->event = wire_peer_event;
    visitor->locate = locate;
    session->wire.visit = desk->ops->open(desk, visitor);
    snprintf(session->token_id, sizeof session->token_id, "%s", visitor->token_id);
    ws_peer_know(session->peer);
}

/* Whatever it was, a page that does not read is not read from. */
static void take_message(void *owner, const char *text, size_t length)
{
    struct session *session = owner;

    wire_peer_take(&session->wire, text, length);
    if (wire_peer_is_full(&session->wire))
        ws_peer_pause(session->peer, true);
}

static void on_drained(void *owner)
{
    struct session *session = owner;

    wire_peer_catch_up(&session->wire);
    if (session->wire.look_count < WIRE_LOOKS)
        ws_peer_pause(session->peer, false);
}

static void *open_session(void *context, struct ws_peer *peer)
{
    struct web *web = context;
    struct session *session;

    if (web->is_leaving || (web->is_off && !web->arriving)) /* its upgrade was under way */
        return NULL;
    session = pool_new(sizeof *session);
    session->wire.carrier = &web->carrier;
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

    LIST_REMOVE(session->web->sessions, session);
    wire_peer_leave(&session->wire);
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
