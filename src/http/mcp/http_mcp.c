/*
 * http_mcp.c - see http_mcp.h. What is asked of /mcp, in the order of checks that clients expect:
 * the gate came first, then the message, its era, its session, its headers.
 */
#include "http/mcp/http_mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "core/limits.h"
#include "http/mcp/peer.h"
#include "mcp/entry.h"
#include "net/guard.h"
#include "net/http.h"

static const char json_type[] = "application/json";

static const struct legacy_refusal no_session_id = {
    400, LEGACY_BAD_REQUEST, "Mcp-Session-Id is missing; initialize gives one"
};
static const struct legacy_refusal unknown_session = {
    404, LEGACY_NO_SESSION, "there is no such session; initialize again"
};
static const struct legacy_refusal too_many_sessions = {
    429, LEGACY_BAD_REQUEST, "too many sessions are in use; end one with DELETE"
};
static const struct legacy_refusal no_sessions = {
    405, LEGACY_BAD_REQUEST, "2026-07-28 has neither sessions nor a stream to GET"
};
static const struct legacy_refusal second_stream = { 409, LEGACY_BAD_REQUEST,
                                                     "this session has its stream already" };
/* The one answer beside a stream that the revisions know; clients then stop asking. */
static const struct legacy_refusal unknown_event = {
    405, LEGACY_BAD_REQUEST, "Last-Event-ID names nothing that is still kept; call again"
};

static struct mcp_headers read_headers(const struct http_exchange *exchange)
{
    return (struct mcp_headers){
        .protocol_version = http_header(exchange, "mcp-protocol-version"),
        .method = http_header(exchange, "mcp-method"),
        .name = http_header(exchange, "mcp-name"),
        .accept = http_header(exchange, "accept"),
    };
}

/* As the client reads it: by its session, else by what it says itself. */
static enum mcp_revision find_revision(const struct peer *peer, const struct mcp_headers *headers)
{
    return peer ? mcp_negotiated(peer->mcp) : revision_negotiate(headers->protocol_version);
}

static void refuse(struct http_exchange *exchange, const struct legacy_refusal *refusal,
                   const struct peer *peer, const struct json *value)
{
    const struct mcp_headers headers = read_headers(exchange);
    struct text line = { 0 };

    entry_write_error(value, find_revision(peer, &headers), refusal->code, refusal->message, &line);
    http_reply(exchange, refusal->status, json_type, line.bytes, line.used);
    text_release(&line);
}

/* The session that a request names; NULL: none, or none that is this token's. */
static struct peer *find_session(struct http_mcp *front, const struct http_exchange *exchange,
                                 const struct guard_match *match, bool *ret_is_full)
{
    const char *id = http_header(exchange, "mcp-session-id");

    *ret_is_full = false;
    return id ? peer_find_session(front, match->who, id, ret_is_full) : NULL;
}

static void refuse_session(struct http_exchange *exchange, bool is_full, const struct json *value)
{
    bool is_named = http_header(exchange, "mcp-session-id") != NULL;
    const struct legacy_refusal *unfound = is_full ? &too_many_sessions : &unknown_session;

    refuse(exchange, is_named ? unfound : &no_session_id, NULL, value);
}

static void open_session(struct http_mcp *front, struct http_exchange *exchange,
                         const struct guard_match *match, const struct mcp_headers *headers,
                         const struct json *value)
{
    const struct legacy_refusal *refusal = legacy_check_initialize(headers);
    char *id = NULL;
    struct peer *peer =
        refusal ? NULL : peer_new_session(front, match->who, json_member(value, "params"), &id);

    if (!peer) {
        refuse(exchange, refusal ? refusal : &too_many_sessions, NULL, value);
        return;
    }
    http_set_header(exchange, "Mcp-Session-Id", id);
    free(id);
    stream_serve(peer, exchange, headers, value);
}

static void serve_session(struct peer *peer, bool is_full, struct http_exchange *exchange,
                          const struct mcp_headers *headers, const struct json *value)
{
    const struct legacy_refusal *refusal = peer ? legacy_check_post(headers) : NULL;

    if (!peer)
        refuse_session(exchange, is_full, value);
    else if (refusal)
        refuse(exchange, refusal, peer, value);
    else
        stream_serve(peer, exchange, headers, value);
}

static void on_post(void *context, struct http_exchange *exchange, const struct guard_match *match)
{
    struct http_mcp *front = context;
    const struct mcp_headers headers = read_headers(exchange);
    bool is_full;
    struct peer *peer = find_session(front, exchange, match, &is_full);
    size_t length;
    const char *body = http_body(exchange, &length);
    struct entry entry;

    entry_read(body, length, &headers, find_revision(peer, &headers), &entry);
    if (entry.way == ENTRY_REFUSED)
        http_reply(exchange, entry.status, json_type, entry.line.bytes, entry.line.used);
    else if (entry.way == ENTRY_MODERN)
        stream_serve(peer_get_modern(front, match->who), exchange, &headers, entry.value);
    else if (entry.way == ENTRY_OPENS)
        open_session(front, exchange, match, &headers, entry.value);
    else
        serve_session(peer, is_full, exchange, &headers, entry.value);
    entry_release(&entry);
}

/* GET and DELETE are about sessions, which modern clients have none of. NULL: refused. */
static struct peer *find_for(struct http_mcp *front, struct http_exchange *exchange,
                             const struct guard_match *match,
                             const struct legacy_refusal *(*check)(const struct mcp_headers *))
{
    const struct mcp_headers headers = read_headers(exchange);
    bool is_full;
    struct peer *peer = find_session(front, exchange, match, &is_full);
    const struct legacy_refusal *refusal = check(&headers);

    if (revision_is_modern_header(headers.protocol_version)) {
        http_set_header(exchange, "Allow", "POST");
        refuse(exchange, &no_sessions, NULL, NULL);
        return NULL;
    }
    if (!peer)
        refuse_session(exchange, is_full, NULL);
    else if (refusal)
        refuse(exchange, refusal, peer, NULL);
    return refusal ? NULL : peer;
}

static void on_get(void *context, struct http_exchange *exchange, const struct guard_match *match)
{
    struct peer *peer = find_for(context, exchange, match, legacy_check_get);
    const char *last = http_header(exchange, "last-event-id");

    if (!peer || (last && stream_take_up(peer, exchange, last)))
        return;
    if (last && !stream_is_standing(last)) {
        http_set_header(exchange, "Allow", "POST, DELETE");
        refuse(exchange, &unknown_event, peer, NULL);
    } else if (peer->standing && peer->standing->exchange)
        refuse(exchange, &second_stream, peer, NULL);
    else
        stream_stand(peer, exchange); /* what was missed elsewhere is told on it */
}

/* A DELETE that waits for the store: the session is over here immediately, and at every other hub
 * as soon as the store has it. Only then is the client told, so that no restart revives it. It
 * outlives the front: the store answers in any case. */
struct session_end {
    struct session_end *next, *previous;
    struct http_mcp *front;         /* NULL: it is gone, and the exchange with it */
    struct http_exchange *exchange; /* NULL: its client is */
};

static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct session_end *ending = context;

    (void)exchange;
    (void)fate;
    ending->exchange = NULL;
}

static void reply_ended(struct http_exchange *exchange, const struct reply *reply)
{
    /* "this server does not let you end it", in the words of the revisions */
    if (reply->err.code == ERROR_rate_limited)
        http_reply(exchange, 405, "text/plain", "too many sessions were ended of late\n", 37);
    else if (reply->err.code != ERROR_NONE)
        http_reply(exchange, 503, "text/plain", "it could not be saved; end it again\n", 36);
    else
        http_reply(exchange, 200, NULL, "", 0);
}

static void on_noted(void *context, const struct reply *noted)
{
    struct session_end *ending = context;
    struct http_exchange *exchange = ending->exchange;

    if (exchange) {
        http_on_fate(exchange, NULL, NULL);
        reply_ended(exchange, noted);
    }
    if (ending->front)
        LIST_REMOVE(ending->front->endings, ending);
    free(ending);
}

static void end_session(struct peer *peer, struct http_exchange *exchange)
{
    struct http_mcp *front = peer->front;
    char session[SESSION_ID_BYTES], token[TOKEN_ID_BYTES];
    const struct engine_session_state note = {
        .session = session,
        .token = token,
        .what = NOTE_ENDED,
        .value = "",
        .lifetime_ms = (int64_t)LIMIT_TIMEOUT_S * 1000,
    };
    bool is_other_hubs = peer->is_sealed;
    struct session_end *ending;

    memcpy(session, peer->id, sizeof session);
    memcpy(token, peer->token, sizeof token);
    peer_free(peer);
    if (!is_other_hubs) {
        http_reply(exchange, 200, NULL, "", 0);
        return;
    }
    ending = mem_new(sizeof *ending);
    *ending = (struct session_end){ .front = front, .exchange = exchange };
    LIST_ADD(front->endings, ending);
    http_on_fate(exchange, on_fate, ending);
    front->parts.drop_state(front->parts.engine, session);
    front->parts.note(front->parts.engine, &note, on_noted, ending);
}

static void on_delete(void *context, struct http_exchange *exchange,
                      const struct guard_match *match)
{
    struct peer *peer = find_for(context, exchange, match, legacy_check_version);

    if (peer)
        end_session(peer, exchange);
}

static const struct guard_route routes[] = {
    { "POST", "/mcp", GUARD_AGENT, LIMIT_RPC_LINE_BYTES, "application/json", on_post },
    { "GET", "/mcp", GUARD_AGENT, 0, NULL, on_get },
    { "DELETE", "/mcp", GUARD_AGENT, 0, NULL, on_delete },
};

void http_mcp_add_routes(struct http_mcp *front, struct guard *guard)
{
    guard_add_routes(guard, routes, ARRAY_LEN(routes), front);
}

struct http_mcp *http_mcp_new(const struct http_mcp_parts *parts)
{
    struct http_mcp *front = mem_new(sizeof *front);

    front->parts = *parts;
    front->by_id = TABLE_OF(peer, link, id);
    front->timer = loop_timer_new(parts->loop, peer_on_time, front);
    return front;
}

void http_mcp_free(struct http_mcp *front)
{
    if (!front)
        return;
    while (front->first)
        peer_free(front->first);
    for (struct session_end *ending = front->endings; ending; ending = ending->next) {
        ending->front = NULL; /* it ends alone, when it was noted */
        ending->exchange = NULL;
    }
    table_release(&front->by_id);
    loop_timer_free(front->timer);
    free(front);
}

void http_mcp_flush(struct http_mcp *front)
{
    if (!front->is_confirming)
        return;
    front->is_confirming = false;
    for (struct peer *peer = front->first; peer; peer = peer->next)
        mcp_tell_confirmed(peer->mcp);
}

void http_mcp_forget_token(struct http_mcp *front, const char *token)
{
    struct peer *next;

    for (struct peer *peer = front->first; peer; peer = next) {
        next = peer->next;
        if (strcmp(peer->token, token) == 0)
            peer_free(peer);
    }
}

void http_mcp_dismiss(struct http_mcp *front)
{
    for (struct peer *peer = front->first; peer; peer = peer->next) {
        mcp_dismiss(peer->mcp);
        stream_finish_standing(peer);
    }
}
