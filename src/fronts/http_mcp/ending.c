/*
 * ending.c - DELETE: the client ends its session. It is over here at once, and at every other hub
 * as soon as the store has it; not before that is the client told, so that no restart revives it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "core/limits.h"
#include "fronts/http_mcp/inside.h"
#include "net/http.h"

/* A DELETE that waits for the store. It outlives the front: the store answers in any case. */
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

static void reply(struct http_exchange *exchange, const struct desk_reply *reply)
{
    /* "this server does not let you end it", in the words of the revisions */
    if (reply->err.code == ERROR_rate_limited)
        http_reply(exchange, 405, "text/plain", "too many sessions were ended of late\n", 37);
    else if (reply->err.code != ERROR_NONE)
        http_reply(exchange, 503, "text/plain", "it could not be saved; end it again\n", 36);
    else
        http_reply(exchange, 200, NULL, "", 0);
}

static void on_noted(void *context, const struct desk_reply *noted)
{
    struct session_end *ending = context;
    struct http_exchange *exchange = ending->exchange;

    if (exchange) {
        http_on_fate(exchange, NULL, NULL);
        reply(exchange, noted);
    }
    if (ending->front)
        LIST_REMOVE(ending->front->endings, ending);
    free(ending);
}

void ending_begin(struct peer *peer, struct http_exchange *exchange)
{
    struct http_mcp *front = peer->front;
    char session[SESSION_ID_BYTES], token[TOKEN_BYTES];
    const struct http_mcp_note note = {
        .session = session,
        .token = token,
        .what = NOTE_ENDED,
        .value = "",
        .lifetime_ms = (int64_t)LIMIT_TIMEOUT_S * 1000,
    };
    bool is_elsewhere = peer->is_sealed && front->parts.note;
    struct session_end *ending;

    memcpy(session, peer->id, sizeof session);
    memcpy(token, peer->token, sizeof token);
    peer_free(peer);
    if (!is_elsewhere) {
        http_reply(exchange, 200, NULL, "", 0);
        return;
    }
    ending = mem_new(sizeof *ending);
    *ending = (struct session_end){ .front = front, .exchange = exchange };
    LIST_ADD(front->endings, ending);
    http_on_fate(exchange, on_fate, ending);
    front->parts.drop_notes(front->parts.context, session);
    front->parts.note(front->parts.context, &note, on_noted, ending);
}

void ending_forget_all(struct http_mcp *front)
{
    for (struct session_end *ending = front->endings; ending; ending = ending->next) {
        ending->front = NULL; /* it ends alone, when it was noted */
        ending->exchange = NULL;
    }
    front->endings = NULL;
}
