/*
 * session.c - one peer that is connected: who it is, by its first message, and what WebSockets add
 * to the wire. A page says a token of a person, a device's signature, or the code of a link, which
 * becomes one of the two. A code is good only in the hands of this user's own processes, because
 * addresses stand in lists of processes that everybody can read.
 */
#include "http/portal/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/text.h"
#include "http/portal/shown.h"
#include "i18n/i18n.h"
#include "net/frames.h"
#include "net/http.h"
#include "rpc/protocol.h"

enum { SECRET_BYTES = 128, NONCE_BYTES = 64, KEY_BYTES = 87, SIGNATURE_BYTES = 86 };

/* A code on its way to the service; outlives its page if that goes in the meantime. */
struct sign_in {
    struct portal_session *session; /* NULL: gone */
    struct web *web;
    char *id_json; /* owned */
    char *name;    /* owned */
};

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return ws_peer_process(((struct portal_session *)context)->peer, ret_uid, ret_pid);
}

static enum guard_side session_side(const struct portal_session *session)
{
    return ws_peer_is_local(session->peer) ? GUARD_LOCAL : GUARD_PUBLIC;
}

/* From now on it acts as this peer, who has a token; what only the connection knows of it is
 * filled in. */
static void session_enter(struct portal_session *session, struct identity *identity)
{
    struct service *service = session->web->parts.service;

    identity->uid = -1;
    identity->tty = "";
    identity->context = session;
    identity->event = rpc_peer_event;
    identity->locate = locate;
    session->wire.session = service->ops->open(service, identity);
    snprintf(session->token_id, sizeof session->token_id, "%s", identity->token_id);
    ws_peer_know(session->peer);
}

static void refuse(struct portal_session *session, const char *id_json, const char *code,
                   const char *message, int64_t retry_s)
{
    struct rpc_peer *peer = &session->wire;
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);

    json_write_text(&writer, "code", code);
    if (retry_s > 0)
        json_write_integer(&writer, "retry_after_seconds", retry_s);
    json_write_end_object(&writer);
    if (id_json)
        jsonrpc_add_error(peer->carrier->begin(peer), id_json, RPC_NOT_SIGNED_IN, message,
                          text_string(&data));
    peer->carrier->end(peer);
    text_release(&data);
    ws_peer_close(session->peer, WS_CLOSE_POLICY, code);
}

/* `made`: what the code became, with its secret; NULL: nothing new. */
static void welcome(struct portal_session *session, const struct guard_identity *who,
                    const char *name, const struct json *made, const char *id_json)
{
    struct identity identity = {
        .role = ROLE_PERSON,
        .via = "web",
        .name = name,
        .token = who->label,
        .token_id = who->token,
    };
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    session_enter(session, &identity);
    rpc_write_welcome(&writer, "person");
    json_write_text(&writer, "tab", who->token);
    json_write_text_if(&writer, "token", json_member_text(made, "token"));
    json_write_text_if(&writer, "proof_key", json_member_text(made, "proof_key"));
    json_write_end_object(&writer);
    rpc_peer_reply(&session->wire, id_json, text_string(&out));
    if (out.bytes)
        explicit_bzero(out.bytes, out.used);
    text_release(&out);
}

static void end_sign_in(struct sign_in *sign_in)
{
    if (sign_in->session)
        sign_in->session->sign_in = NULL;
    free(sign_in->id_json);
    free(sign_in->name);
    free(sign_in);
}

/* Only wrong codes are counted and slowed: a right one always works. */
static void refuse_guess(struct portal_session *session, const char *id_json, const char *message)
{
    int64_t wait_s = guard_note_guess(session->web->parts.guard, session_side(session));

    refuse(session, id_json, wait_s ? "rate_limited" : "code_spent",
           wait_s ? "too many wrong codes: run sayso open for a new link, which works at any time"
                  : message,
           wait_s);
}

static void on_signed_in(void *context, const struct reply *reply)
{
    struct sign_in *sign_in = context;
    struct portal_session *session = sign_in->session;
    struct guard_identity who = { .is_person = true };
    struct json *token = NULL;

    if (session && reply->err.code == ERROR_not_found) {
        refuse_guess(session, sign_in->id_json, reply->err.message);
    } else if (session && reply->err.code != ERROR_NONE) {
        refuse(session, sign_in->id_json, error_name(reply->err.code), reply->err.message, 0);
    } else if (session && json_parse(reply->json, strlen(reply->json), &token, NULL)) {
        snprintf(who.token, sizeof who.token, "%s", json_member_text(token, "id"));
        snprintf(who.label, sizeof who.label, "%s", json_member_text(token, "label"));
        sign_in->web->signed_in++;
        welcome(session, &who, sign_in->name, token, sign_in->id_json);
        json_free(token);
    }
    end_sign_in(sign_in);
}

/* One of another user of this machine is not whom the link was made for. Where the machine can't
 * say whose it is, it comes from another one through a relay. */
static bool is_own_user(const struct portal_session *session)
{
    int64_t uid;

    return !ws_peer_user(session->peer, &uid) || uid == 0 || uid == (int64_t)geteuid();
}

static void try_code(struct portal_session *session, const char *code, const char *key,
                     const char *name, const char *id_json)
{
    const struct web_parts *parts = &session->web->parts;
    struct sign_in *sign_in;
    char browser[KEY_BYTES + 16];

    if (session_side(session) == GUARD_PUBLIC) { /* a remote peer's user is unknown */
        refuse(session, id_json, "unauthorized",
               "links of sayso open are good on the hub's own machine: sign in with a token "
               "(sayso token new --kind person)",
               0);
        return;
    }
    if (!is_own_user(session)) { /* the code is not looked at, so this is no guess */
        refuse(session, id_json, "unauthorized", "this link is another user's", 0);
        return;
    }
    sign_in = mem_new(sizeof *sign_in);
    sign_in->session = session;
    sign_in->web = session->web;
    sign_in->id_json = id_json ? mem_text(id_json) : NULL;
    sign_in->name = mem_text(name);
    session->sign_in = sign_in;
    snprintf(browser, sizeof browser, "%d %s", ws_peer_port(session->peer), key ? key : "");
    parts->sign_in(parts->engine, code, name, key ? browser : NULL, on_signed_in, sign_in);
}

/* A text of at most so many bytes without NUL; NULL: absent or not that. */
static const char *read_text(const struct json *params, const char *key, size_t max)
{
    const struct json *given = json_member(params, key);
    const char *text = json_text(given);

    return text && strlen(text) == json_length(given) && strlen(text) <= max ? text : NULL;
}

/* The challenge is this connection's, for the few seconds before hello, and for one attempt. */
static void try_device(struct portal_session *session, const struct json *params, const char *id,
                       const char *name, const char *id_json)
{
    const struct web_parts *parts = &session->web->parts;
    struct device_proof shown = { .id = id,
                                  .port = ws_peer_port(session->peer),
                                  .challenge = session->challenge,
                                  .signature = read_text(params, "signature", SIGNATURE_BYTES) };
    struct guard_identity who;
    bool is_known = shown.signature && session->challenge[0] &&
                    session_side(session) == GUARD_LOCAL && is_own_user(session) &&
                    parts->know_device(parts->engine, &shown, &who);
    int64_t retry_s = is_known ? 0 : guard_note_guess(parts->guard, session_side(session));

    session->challenge[0] = '\0';
    if (is_known)
        welcome(session, &who, name, NULL, id_json);
    else
        refuse(session, id_json, retry_s ? "rate_limited" : "unauthorized",
               retry_s ? "too many wrong signatures: try later"
                       : "this browser is not signed in any more: run sayso open",
               retry_s);
}

static void try_token(struct portal_session *session, const char *token, const char *name,
                      const char *id_json)
{
    struct guard_identity who;
    int64_t retry_s;

    if (!guard_knows(session->web->parts.guard, session_side(session), token, &who, &retry_s))
        refuse(session, id_json, retry_s ? "rate_limited" : "unauthorized",
               retry_s ? "too many unknown tokens: try later"
                       : "this tab is not signed in: run sayso open",
               retry_s);
    else if (!who.is_person)
        refuse(session, id_json, "wrong_role", "agents' tokens cannot answer", 0);
    else
        welcome(session, &who, name, NULL, id_json);
}

/* Clients of other machines, `sayso mcp --hub https://…` and the commands, bring their token to the
 * gate and speak the wire of the unix socket on a WebSocket. The token says which role they have
 * and whose they are; what hello says beside it are claims, as everywhere. */

static void refuse_remote_client(struct portal_session *session, const char *id_json, int code,
                                 const char *message)
{
    rpc_peer_refuse(&session->wire, id_json, code, message);
    ws_peer_close(session->peer, WS_CLOSE_POLICY, "hello was refused");
}

static void remote_client_enter(struct portal_session *session, const struct json *params,
                                const char *id_json)
{
    struct identity identity = { .token = session->token_holder->label,
                                 .token_id = session->token_holder->token,
                                 .may_answer = session->token_holder->may_answer };

    if (!identity_read(params, &identity)) {
        refuse_remote_client(session, id_json, JSONRPC_INVALID_PARAMS,
                             "hello needs role agent or person, a known channel and short names");
        return;
    }
    if (!(identity.role == ROLE_AGENT ? session->token_holder->is_agent
                                      : session->token_holder->is_person)) {
        refuse_remote_client(
            session, id_json, RPC_NOT_YOURS,
            identity.role == ROLE_AGENT
                ? "this token is a person's and cannot ask: use an agent's (sayso token new)"
                : "this token is an agent's and cannot answer: use a person's (sayso token new "
                  "--kind person)");
        return;
    }
    identity.is_sub_agent |= session->token_holder->is_sub_agent;
    session_enter(session, &identity);
    rpc_peer_welcome(&session->wire, id_json, identity.role);
}

static void hello_take(struct portal_session *session, const struct json *params,
                       const char *id_json)
{
    const char *role = json_member_text(params, "role");
    const char *token = read_text(params, "token", SECRET_BYTES);
    const char *code = read_text(params, "code", SECRET_BYTES);
    const char *device = read_text(params, "device", SECRET_BYTES);
    const char *said = read_text(params, "name", WEB_NAME_BYTES);
    const char *name = said && *said ? said : "browser";
    const char *key = read_text(params, "key", KEY_BYTES);

    if (session->wire.session || session->sign_in) {
        rpc_peer_refuse(&session->wire, id_json, JSONRPC_INVALID_REQUEST,
                        "hello was said already; a connection has one role");
        return;
    }
    if (!rpc_is_ours(params)) {
        rpc_peer_refuse(&session->wire, id_json, RPC_NUMBER_REFUSED,
                        "unsupported protocol version");
        ws_peer_close(session->peer, WS_CLOSE_POLICY, "another wire number");
    } else if (session->token_holder) {
        remote_client_enter(session, params, id_json);
    } else if (!role || strcmp(role, "person") != 0 || !!token + !!code + !!device != 1) {
        refuse(session, id_json, "unauthorized",
               "hello needs role person and either the tab's token, a device's signature or the "
               "code of a link",
               0);
    } else if (code) {
        try_code(session, code, key && strlen(key) == KEY_BYTES ? key : NULL, name, id_json);
    } else if (device) {
        try_device(session, params, device, name, id_json);
    } else {
        try_token(session, token, name, id_json);
    }
}

/* Another user's program may have taken the port while no hub was there, and a page that is still
 * open comes back to it. So the page asks for this first, and says neither its token nor anything
 * else to a program that cannot give it. The port is part of it: a proof of ours that was fetched
 * elsewhere is worth nothing here (C5). */
static void hello_prove(struct portal_session *session, const struct json *params,
                        const char *id_json)
{
    const struct web_parts *parts = &session->web->parts;
    const char *tab = read_text(params, "tab", SECRET_BYTES);
    const char *nonce = read_text(params, "nonce", NONCE_BYTES);
    struct text proof = { 0 }, out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    static const char form[] = "sayso hub %d %s"; /* not for people */
    char text[NONCE_BYTES + 32];

    snprintf(text, sizeof text, form, ws_peer_port(session->peer), nonce ? nonce : "");
    if (!tab || !nonce || !*nonce || !parts->prove(parts->engine, tab, text, &proof)) {
        refuse(session, id_json, "unauthorized", "this tab is not signed in: run sayso open", 0);
        return;
    }
    random_id(session->challenge);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "proof", text_string(&proof));
    json_write_text(&writer, "challenge", session->challenge);
    json_write_end_object(&writer);
    rpc_peer_reply(&session->wire, id_json, text_string(&out));
    text_release(&proof);
    text_release(&out);
}

/* A request that becomes a WebSocket. */
struct arrival {
    struct web *web;
    struct guard_identity who;
    bool is_upgraded; /* else it is refused */
};

/* The connection is taken over in the same moment. */
static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct arrival *arrival = context;

    (void)exchange;
    if (fate == HTTP_ROOM)
        return;
    if (fate == HTTP_TAKEN && arrival->is_upgraded) {
        arrival->web->arriving = mem_new(sizeof arrival->who);
        *arrival->web->arriving = arrival->who;
    }
    free(arrival);
}

void serve_remote_client(void *context, struct http_exchange *exchange,
                         const struct guard_match *match)
{
    struct web *web = context;
    struct arrival *arrival;

    if (web->is_leaving) {
        guard_refuse(exchange, 503, "unavailable", "the hub is about to go; try again");
        return;
    }
    arrival = mem_new(sizeof *arrival);
    arrival->web = web;
    arrival->who = *match->who;
    http_on_fate(exchange, on_fate, arrival);
    arrival->is_upgraded = ws_server_upgrade(web->server, exchange, false);
}

/* The wire on it. */

static struct portal_session *session_of(const struct rpc_peer *peer)
{
    return (struct portal_session *)peer;
}

static struct text *begin(struct rpc_peer *peer)
{
    return &session_of(peer)->web->line;
}

static void end(struct rpc_peer *peer)
{
    struct text *line = begin(peer);

    if (line->used > 0)
        ws_send(session_of(peer)->peer, line->bytes, line->used - 1);
    text_release(line);
    ws_peer_stir(session_of(peer)->peer);
}

static size_t behind(const struct rpc_peer *peer)
{
    return ws_peer_behind(session_of(peer)->peer);
}

/* All pages are told the same one after the other: it is encoded for the first of them. */
static void tell(struct rpc_peer *peer, const char *line, size_t length)
{
    struct web *web = session_of(peer)->web;

    if (!ws_frame_is(web->newest, line, length)) {
        ws_frame_release(web->newest);
        web->newest = ws_frame_new(line, length);
    }
    ws_send_frame(session_of(peer)->peer, web->newest);
}

static bool greet(struct rpc_peer *peer, enum method method, const struct json *params,
                  const char *id_json)
{
    struct portal_session *session = session_of(peer);
    bool proves = method == METHOD_hub_prove && !session->token_holder;

    if (method == METHOD_hello)
        hello_take(session, params, id_json);
    else if (proves)
        hello_prove(session, params, id_json);
    return method == METHOD_hello || proves;
}

/* Of what the hub does itself its status alone is for tokens. */
static void do_hub(struct rpc_peer *peer, enum method method, const char *id_json)
{
    const struct web_parts *parts = &session_of(peer)->web->parts;
    struct text status = { 0 };

    (void)method;
    parts->write_status(parts->context, &status);
    rpc_peer_reply(peer, id_json, text_string(&status));
    text_release(&status);
}

/* A page gets what may be shown of an ask beside the ask itself. */
static bool add_shown(const struct rpc_peer *peer, enum method method, struct text *out,
                      const char *id_json, const char *result_json)
{
    struct text shown = { 0 };

    if (method != METHOD_ask_get || session_of(peer)->token_holder)
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

const struct rpc_carrier session_carrier = {
    .max_calls = 1024,
    .begin = begin,
    .end = end,
    .behind = behind,
    .tell = tell,
    .greet = greet,
    .do_hub = do_hub,
    .add_more = add_shown,
    .add_words = add_said,
};

/* Whatever it was, a page that does not read is not read from. */
static void take_message(void *owner, const char *text, size_t length)
{
    struct portal_session *session = owner;

    rpc_peer_take(&session->wire, text, length);
    if (rpc_peer_is_full(&session->wire))
        ws_peer_pause(session->peer, true);
}

static void on_drained(void *owner)
{
    struct portal_session *session = owner;

    rpc_peer_catch_up(&session->wire);
    if (session->wire.read_count < RPC_READS_MAX)
        ws_peer_pause(session->peer, false);
}

static void *open_session(void *context, struct ws_peer *peer)
{
    struct web *web = context;
    struct portal_session *session;

    if (web->is_leaving || (web->is_off && !web->arriving)) /* its upgrade was under way */
        return NULL;
    session = pool_new(sizeof *session);
    session->wire.carrier = &web->carrier;
    session->web = web;
    session->peer = peer;
    session->token_holder = web->arriving;
    web->arriving = NULL;
    LIST_ADD(web->sessions, session);
    return session;
}

static void close_session(void *owner)
{
    struct portal_session *session = owner;

    LIST_REMOVE(session->web->sessions, session);
    rpc_peer_leave(&session->wire);
    if (session->sign_in) /* what is under way comes to nothing */
        session->sign_in->session = NULL;
    free(session->token_holder);
    pool_free(session, sizeof *session);
}

const struct ws_handler session_handler = {
    .opened = open_session,
    .message = take_message,
    .drained = on_drained,
    .closed = close_session,
};
