/*
 * peer.c - who is on the other side of /mcp. A legacy client has a session, bound to its token; a
 * modern one has nothing but the token. Both are kept while they are in use and for some time
 * after, and how many there are is bounded. A session that is kept no longer, or was begun at
 * another hub, is built again from its id, which says all that was said when it was opened.
 */
#include "http/mcp/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/limits.h"
#include "mcp/mcp_features.h"
#include "net/guard.h"
#include "net/http.h"
#include "settings/settings.h"

enum {
    PEERS_MAX = 4096,
    PEERS_OF_TOKEN = 256,
    PEER_CALLS = 65536, /* how many asks may be pending is a setting; this is only memory */
    PEER_IDLE_MS = 1800000,
};
/* as long as an id is good */
static const int64_t SESSION_STATE_MS = (int64_t)LIMIT_TIMEOUT_S * 1000;
static const int64_t SESSION_STATE_PASSING_MS = 600000;
static const char session_binding[] = "session";

static int64_t peer_boot_ms(struct clock *clock)
{
    (void)clock;
    return loop_boot_ms();
}

static int64_t peer_utc_ms(struct clock *clock)
{
    const struct http_mcp_parts *parts = &((struct peer *)clock)->front->parts;

    return parts->utc_ms(parts->engine);
}

void peer_wake_at(struct http_mcp *front, int64_t boot_ms)
{
    if (front->armed_boot_ms && front->armed_boot_ms <= boot_ms)
        return;
    front->armed_boot_ms = boot_ms;
    loop_timer_at(front->timer, boot_ms);
}

static void peer_wants_wake(struct clock *clock, int64_t boot_ms)
{
    struct peer *peer = (struct peer *)clock;

    peer->wake_boot_ms = boot_ms < 0 ? 0 : boot_ms;
    if (peer->wake_boot_ms)
        peer_wake_at(peer->front, boot_ms);
}

static const char *tools(void *context)
{
    return settings_text(((struct peer *)context)->front->parts.settings, SETTING_TOOLS);
}

/* The address that `sayso install` writes says how long its client waits. */
static int64_t hold_limit_s(void *context, const char *client_name, bool has_progress)
{
    const struct peer *peer = context;
    const char *timeout = peer->serving ? http_parameter(peer->serving, "client_timeout") : NULL;

    return settings_hold_limit_s(peer->front->parts.settings, client_name, has_progress,
                                 timeout ? strtoll(timeout, NULL, 10) : 0);
}

static bool is_gated(void *context, const char *tool, const struct json *input)
{
    const struct gate_call call = { .tool = tool, .input = input };

    return settings_gate(((struct peer *)context)->front->parts.settings, &call).kind != GATE_NONE;
}

static bool offers_modern(void *context, const char *client_name)
{
    const struct peer *peer = context;

    return settings_offers_modern(peer->front->parts.settings, client_name);
}

/* What one session carries is of no use to another of the same token. */
static char *bind_to(const struct peer *peer, const char *binding)
{
    return peer->is_session ? mem_format("%s %s", peer->id, binding) : mem_text(binding);
}

static char *seal(void *context, const char *binding, const char *state)
{
    const struct peer *peer = context;
    const struct http_mcp_parts *parts = &peer->front->parts;
    char *bound = bind_to(peer, binding);
    char *sealed = parts->seal(parts->engine, peer->token, bound, state);

    free(bound);
    return sealed;
}

static char *unseal(void *context, const char *binding, const char *sealed)
{
    const struct peer *peer = context;
    const struct http_mcp_parts *parts = &peer->front->parts;
    char *bound = bind_to(peer, binding);
    char *state = parts->unseal(parts->engine, peer->token, bound, sealed);

    free(bound);
    return state;
}

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    const struct peer *peer = context;

    return peer->serving && http_peer(peer->serving, ret_uid, ret_pid);
}

static void note(void *context, const char *what, const char *value)
{
    const struct peer *peer = context;
    const struct http_mcp_parts *parts = &peer->front->parts;
    const struct engine_session_state note = {
        .session = peer->id,
        .token = peer->token,
        .what = what,
        .value = value,
        .lifetime_ms = mcp_state_is_passing(what) ? SESSION_STATE_PASSING_MS : SESSION_STATE_MS,
    };

    if (peer->is_sealed)
        parts->note(parts->engine, &note, NULL, NULL);
}

static void unlink_peer(struct peer *peer)
{
    struct http_mcp *front = peer->front;

    if (front->last == peer)
        front->last = peer->previous;
    LIST_REMOVE(front->first, peer);
}

static void link_first(struct peer *peer)
{
    struct http_mcp *front = peer->front;

    LIST_ADD(front->first, peer);
    if (!peer->next)
        front->last = peer;
}

void peer_confirm(struct peer *peer, struct mcp_stream *stream)
{
    mcp_confirm_soon(peer->mcp, stream);
    peer->front->is_confirming = true;
}

void peer_free(struct peer *peer)
{
    while (peer->streams)
        stream_free(peer->streams);
    unlink_peer(peer);
    table_remove(&peer->front->by_id, &peer->link);
    peer->front->peer_count--;
    mcp_free(peer->mcp);
    free(peer);
}

static struct peer *peer_new(struct http_mcp *front, const struct guard_identity *who,
                             const char *id)
{
    struct peer *peer = mem_new(sizeof *peer);
    struct mcp_parts parts = {
        .service = front->parts.service,
        .clock = &peer->clock,
        .uid = geteuid(),
        .token = who->token[0] ? peer->label : NULL,
        .token_id = peer->token,
        .is_sub_agent = who->is_sub_agent,
        .is_hub = true,
        .transport = "http",
        .locate = locate,
        .max_calls = PEER_CALLS,
        .features = front->parts.features                                   ? front->parts.features
                    : settings_is_on(front->parts.settings, SETTING_COMPAT) ? mcp_compat_features()
                                                                            : NULL,
        .context = peer,
        .hold_limit_s = hold_limit_s,
        .is_gated = is_gated,
        .offers_modern = offers_modern,
        .tools = tools,
        .seal = seal,
        .unseal = unseal,
        .note = note,
    };

    peer->clock = (struct clock){ peer_boot_ms, peer_utc_ms, peer_wants_wake, 0 };
    peer->front = front;
    snprintf(peer->id, sizeof peer->id, "%s", id);
    snprintf(peer->token, sizeof peer->token, "%s", who->token);
    snprintf(peer->label, sizeof peer->label, "%s", who->label);
    peer->mcp = mcp_new(&parts);
    peer->used_boot_ms = loop_boot_ms();
    link_first(peer);
    table_insert(&front->by_id, &peer->link);
    front->peer_count++;
    return peer;
}

static void use(struct peer *peer)
{
    peer->used_boot_ms = loop_boot_ms();
    unlink_peer(peer);
    link_first(peer);
}

static struct peer *find(struct http_mcp *front, const char *id)
{
    char key[SESSION_ID_BYTES] = "";
    struct table_link *link;

    if (strlen(id) >= sizeof key)
        return NULL;
    snprintf(key, sizeof key, "%s", id);
    link = table_find(&front->by_id, key);
    return link ? TABLE_THING(peer, link, link) : NULL;
}

static bool is_over(const struct peer *peer)
{
    return !peer->streams && loop_boot_ms() - peer->used_boot_ms > PEER_IDLE_MS;
}

/* Those that were used least recently are last. */
static void drop_idle(struct http_mcp *front)
{
    struct peer *before;

    for (struct peer *peer = front->last; peer && is_over(peer); peer = before) {
        before = peer->previous;
        peer_free(peer);
    }
}

/* Something is still to be said to it, or it may come back for something. */
static bool is_busy(const struct peer *peer)
{
    const struct stream *stream = peer->streams;

    while (stream && stream->is_finished)
        stream = stream->next;
    return stream != NULL;
}

/* Makes room for one more; false where all of this token's, or all there are, are in use. */
static bool make_room(struct http_mcp *front, const char *token)
{
    size_t of_token = 0;
    struct peer *oldest = NULL, *oldest_of_token = NULL;

    drop_idle(front);
    for (struct peer *peer = front->first; peer; peer = peer->next) {
        bool is_same = strcmp(peer->token, token) == 0;

        of_token += is_same;
        if (is_busy(peer))
            continue;
        oldest = peer;
        if (is_same)
            oldest_of_token = peer;
    }
    if (of_token >= PEERS_OF_TOKEN)
        oldest = oldest_of_token;
    else if (front->peer_count < PEERS_MAX)
        return true;
    if (oldest)
        peer_free(oldest);
    return oldest != NULL;
}

struct peer *peer_get_modern(struct http_mcp *front, const struct guard_identity *who)
{
    struct peer *peer = find(front, who->token);

    if (peer) {
        use(peer);
        return peer;
    }
    drop_idle(front);
    return peer_new(front, who, who->token); /* bounded by the number of tokens */
}

static struct peer *new_session(struct http_mcp *front, const struct guard_identity *who,
                                const char *id, const struct mcp_session *session)
{
    struct peer *peer = make_room(front, who->token) ? peer_new(front, who, id) : NULL;

    if (!peer)
        return NULL;
    peer->is_session = true;
    mcp_set_session(peer->mcp, session);
    return peer;
}

/* The session as its client carries it; NULL where nothing can be sealed: then this hub alone
 * knows it. */
static char *seal_session(struct http_mcp *front, const char *token, const char *id,
                          const struct mcp_session *session)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    char *sealed;

    json_write_text(&writer, "id", id);
    mcp_write_session(session, &writer);
    json_write_end_object(&writer);
    sealed = front->parts.seal(front->parts.engine, token, session_binding, text_string(&out));
    text_release(&out);
    return sealed;
}

struct peer *peer_new_session(struct http_mcp *front, const struct guard_identity *who,
                              const struct json *params, char **ret_id)
{
    struct mcp_session session;
    char id[SESSION_ID_BYTES];
    struct peer *peer;

    mcp_read_session(params, &session);
    random_id(id);
    peer = new_session(front, who, id, &session);
    if (!peer)
        return NULL;
    *ret_id = seal_session(front, peer->token, id, &session);
    peer->is_sealed = *ret_id != NULL;
    if (!*ret_id)
        *ret_id = mem_text(id);
    return peer;
}

static void take_note(void *context, const char *what, const char *value)
{
    mcp_take_state(((struct peer *)context)->mcp, what, value);
}

static void look_for_end(void *context, const char *what, const char *value)
{
    bool *is_ended = context;

    (void)value;
    *is_ended = *is_ended || strcmp(what, NOTE_ENDED) == 0;
}

static bool is_ended(const struct http_mcp *front, const char *id)
{
    bool is = false;

    front->parts.each_state(front->parts.engine, id, look_for_end, &is);
    return is;
}

/* Begun at another hub, or here before we were started, or put aside to make room. */
static struct peer *rebuild(struct http_mcp *front, const struct guard_identity *who,
                            const char *id, const struct json *written, bool *ret_is_full)
{
    struct mcp_session session;
    struct peer *peer;

    if (is_ended(front, id))
        return NULL;
    mcp_parse_session(written, &session);
    peer = new_session(front, who, id, &session);
    *ret_is_full = !peer;
    if (!peer)
        return NULL;
    peer->is_sealed = true;
    front->parts.each_state(front->parts.engine, id, take_note, peer);
    return peer;
}

static struct peer *find_own(struct http_mcp *front, const struct guard_identity *who,
                             const char *id, bool is_sealed)
{
    struct peer *peer = find(front, id);

    if (!peer || !peer->is_session || peer->is_sealed != is_sealed ||
        strcmp(peer->token, who->token) != 0)
        return NULL;
    use(peer);
    return peer;
}

struct peer *peer_find_session(struct http_mcp *front, const struct guard_identity *who,
                               const char *id, bool *ret_is_full)
{
    const struct http_mcp_parts *parts = &front->parts;
    char *payload = parts->unseal(parts->engine, who->token, session_binding, id);
    struct json *written = NULL;
    struct peer *peer = NULL;
    const char *inside;

    *ret_is_full = false;
    if (!payload)
        return find_own(front, who, id, false);
    if (json_parse(payload, strlen(payload), &written, NULL)) {
        inside = json_member_text(written, "id");
        if (inside && strlen(inside) == SESSION_ID_BYTES - 1) {
            peer = find_own(front, who, inside, true);
            peer = peer ? peer : rebuild(front, who, inside, written, ret_is_full);
        }
    }
    json_free(written);
    free(payload);
    return peer;
}

void http_mcp_take_state(struct http_mcp *front, const char *session, const char *what,
                         const char *value)
{
    struct peer *peer = find(front, session);

    if (!peer || !peer->is_sealed)
        return;
    if (strcmp(what, NOTE_ENDED) == 0)
        peer_free(peer);
    else
        mcp_take_state(peer->mcp, what, value);
}

/* Streams whose clients did not come back in time. Returns when the next one is due; 0: none. */
static int64_t drop_lost(struct peer *peer, int64_t now)
{
    int64_t soonest = 0;
    struct stream *next;

    for (struct stream *stream = peer->streams; stream; stream = next) {
        int64_t until = stream->is_streaming ? stream->away_until_boot_ms : 0;

        next = stream->next;
        if (until && until <= now)
            stream_free(stream);
        else if (until && (!soonest || until < soonest))
            soonest = until;
    }
    return soonest;
}

void peer_on_time(void *context)
{
    struct http_mcp *front = context;
    int64_t now = loop_boot_ms();

    front->armed_boot_ms = 0;
    drop_idle(front);
    for (struct peer *peer = front->first; peer; peer = peer->next) {
        int64_t lost = drop_lost(peer, now);

        if (peer->wake_boot_ms && peer->wake_boot_ms <= now) {
            peer->wake_boot_ms = 0;
            mcp_on_time(peer->mcp);
        }
        if (peer->wake_boot_ms)
            peer_wake_at(front, peer->wake_boot_ms);
        if (lost)
            peer_wake_at(front, lost);
    }
}
