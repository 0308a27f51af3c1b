/*
 * subscribe.c - who wants to hear that a resource changed: a legacy session until it unsubscribes,
 * told on its standing stream; a modern client as long as its subscriptions/listen is open, told on
 * that. Nothing is started for it: before the service was used there is nothing of ours to hear of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"

enum { SUBSCRIPTIONS_MAX = 1024, LISTEN_MAX = 64 };

struct mcp_subscription {
    struct mcp_subscription *next;
    struct hub_session *session; /* whose resources are meant; NULL: no session's */
    struct mcp_call *call;       /* the listen it came with; NULL: a legacy one */
    char *uri;                   /* owned */
    bool is_missed;              /* it changed while no stream was open */
};

static void unlink_at(struct mcp *mcp, struct mcp_subscription **at)
{
    struct mcp_subscription *subscription = *at;

    *at = subscription->next;
    mcp->subscription_count--;
    if (subscription->session) {
        subscription->session->uses--;
        subscription->session->subscription_count--;
    }
    free(subscription->uri);
    free(subscription);
}

void subscribe_drop_all(struct mcp *mcp)
{
    while (mcp->subscriptions)
        unlink_at(mcp, &mcp->subscriptions);
}

/* Those of a session by their uri, those of a listen all together. */
static void drop_of(struct mcp *mcp, const struct mcp_call *call, const char *uri)
{
    for (struct mcp_subscription **at = &mcp->subscriptions; *at;) {
        if ((*at)->call == call && (!uri || strcmp((*at)->uri, uri) == 0))
            unlink_at(mcp, at);
        else
            at = &(*at)->next;
    }
}

static void add(struct mcp *mcp, struct hub_session *session, struct mcp_call *call,
                const char *uri)
{
    struct mcp_subscription *subscription = mem_new(sizeof *subscription);

    drop_of(mcp, call, uri);
    subscription->uri = mem_text(uri);
    subscription->call = call;
    subscription->session = session;
    if (session) {
        session->uses++;
        session->subscription_count++;
    }
    subscription->next = mcp->subscriptions;
    mcp->subscriptions = subscription;
    mcp->subscription_count++;
}

void subscribe_follow(struct hub_session *session)
{
    const struct mcp *mcp = session->mcp;

    if (session->is_followed || !session->subscription_count || !mcp->parts.features->follow ||
        !(session->is_used || mcp->parts.is_hub))
        return;
    session->is_followed = true;
    mcp->parts.features->follow(session);
}

/* Whose resources a request is about. False: there are too many. */
static bool find_session(struct mcp_request *request, struct hub_session **ret_session)
{
    struct mcp *mcp = request->to.mcp;
    bool needs = mcp->parts.features->needs_session;

    *ret_session = NULL;
    if (mcp->subscription_count + LISTEN_MAX > SUBSCRIPTIONS_MAX)
        return false;
    *ret_session = needs ? hub_session_get(request) : NULL;
    return *ret_session || !needs;
}

static void refuse(struct mcp_request *request)
{
    mcp_reply_error(&request->to, JSONRPC_INTERNAL_ERROR, "too many subscriptions; end some", NULL);
}

void subscribe(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    const char *uri = resources_read_uri(request);
    struct hub_session *session;

    if (!uri)
        return;
    if (!mcp->parts.features->has_resource(uri)) {
        resources_refuse(request, uri);
        return;
    }
    if (!find_session(request, &session)) {
        refuse(request);
        return;
    }
    add(mcp, session, NULL, uri);
    if (session)
        subscribe_follow(session);
    session_state(mcp, NOTE_SUBSCRIBED, uri, "");
    mcp_reply(&request->to, "{}");
}

void unsubscribe(struct mcp_request *request)
{
    const char *uri = resources_read_uri(request);

    if (!uri)
        return;
    drop_of(request->to.mcp, NULL, uri);
    session_state(request->to.mcp, NOTE_SUBSCRIBED, uri, NULL);
    mcp_reply(&request->to, "{}");
}

static bool has(const struct mcp *mcp, const char *uri)
{
    const struct mcp_subscription *at = mcp->subscriptions;

    while (at && (at->call || strcmp(at->uri, uri) != 0))
        at = at->next;
    return at != NULL;
}

/* By a request that another server of this session got. The client was not told of changes before
 * we heard of it, so its next stream is told of one. */
void subscribe_take_state(struct mcp *mcp, const char *uri, const char *value)
{
    struct mcp_request request = mcp_request_of(mcp, NULL);
    struct hub_session *session;

    if (!value) {
        drop_of(mcp, NULL, uri);
        return;
    }
    if (has(mcp, uri) || !find_session(&request, &session))
        return;
    add(mcp, session, NULL, uri);
    mcp->subscriptions->is_missed = !mcp->standing;
    if (session)
        subscribe_follow(session);
}

static void write_id(struct json_writer *writer, const char *id_json)
{
    json_write_object(writer, "_meta");
    json_write_raw(writer, META_PREFIX "subscriptionId", id_json);
    json_write_end_object(writer);
}

static void tell(struct mcp *mcp, struct mcp_subscription *subscription)
{
    const struct mcp_to standing = { .mcp = mcp, .stream = mcp->standing };
    const struct mcp_to *to = subscription->call ? &subscription->call->to : &standing;
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    subscription->is_missed = !to->stream;
    if (!to->stream)
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "uri", subscription->uri);
    if (subscription->call)
        write_id(&writer, subscription->call->to.id_json);
    mcp_notify(to, "notifications/resources/updated", &writer);
}

void subscribe_tell(struct hub_session *session, const char *uri)
{
    struct mcp *mcp = session->mcp;

    for (struct mcp_subscription *at = mcp->subscriptions; at; at = at->next) {
        if (at->session == session && (!uri || strcmp(at->uri, uri) == 0))
            tell(mcp, at);
    }
}

void mcp_stand(struct mcp *mcp, struct mcp_stream *stream)
{
    mcp->standing = stream;
    for (struct mcp_subscription *at = mcp->subscriptions; stream && at; at = at->next) {
        if (!at->call && at->is_missed)
            tell(mcp, at);
    }
}

/* subscriptions/listen ----------------------------------------------------------------------- */

static void end_listen(struct mcp_call *call)
{
    struct text out = { 0 };
    struct json_writer writer = result_begin(call->revision, &out);

    drop_of(call->to.mcp, call, NULL);
    write_id(&writer, call->to.id_json);
    json_write_end_object(&writer);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

static void on_gone(void *context)
{
    struct mcp_call *call = context;

    drop_of(call->to.mcp, call, NULL);
}

/* What of it can be honoured: resources that there are. Our lists never change. */
static size_t add_wanted(struct mcp_call *call, struct hub_session *session,
                         const struct json *uris)
{
    struct mcp *mcp = call->to.mcp;
    size_t count = 0;

    for (size_t i = 0; i < json_length(uris) && count < LISTEN_MAX; i++) {
        const struct json *uri = json_item(uris, i);

        if (json_text(uri) && strlen(json_text(uri)) == json_length(uri) &&
            mcp->parts.features->has_resource(json_text(uri))) {
            add(mcp, session, call, json_text(uri));
            count++;
        }
    }
    return count;
}

static void acknowledge(struct mcp_call *call, bool has_resources)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_object(&writer, "notifications");
    if (has_resources) {
        json_write_list(&writer, "resourceSubscriptions");
        for (const struct mcp_subscription *at = call->to.mcp->subscriptions; at; at = at->next) {
            if (at->call == call)
                json_write_text(&writer, NULL, at->uri);
        }
        json_write_end_list(&writer);
    }
    json_write_end_object(&writer);
    write_id(&writer, call->to.id_json);
    mcp_notify(&call->to, "notifications/subscriptions/acknowledged", &writer);
}

/* Where there is nothing to honour it is acknowledged as empty, and complete. */
void listen_to(struct mcp_request *request)
{
    const struct json *wanted = json_member(request->params, "notifications");
    const struct json *uris = json_member(wanted, "resourceSubscriptions");
    struct mcp *mcp = request->to.mcp;
    struct hub_session *session;
    struct mcp_call *call;
    bool has_any;

    if (!find_session(request, &session)) {
        refuse(request);
        return;
    }
    call = call_begin(request, NULL);
    call_work(call)->leave = end_listen;
    call_on_gone(call, on_gone, call);
    has_any = json_kind(uris) == KIND_LIST && add_wanted(call, session, uris) > 0;
    acknowledge(call, has_any);
    if (!has_any) {
        end_listen(call);
        return;
    }
    if (session)
        subscribe_follow(session);
    run_settle(mcp, call->tag);
}
