/*
 * hub_session.c - who the client is at the service: one session for each name and version it gives
 * itself; and which results have reached it. A modern client may say another name with every
 * request, so what is kept of them is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "mcp/calls.h"

enum {
    SESSION_NAME_BYTES = 128,
    HUB_SESSIONS_KEPT = 8,
    HUB_SESSIONS_MAX = 64,
};

static void leave(struct hub_session *session)
{
    struct service *service = session->mcp->parts.service;

    service->ops->close(service, session->session);
    free(session->name);
    free(session->version);
    free(session);
}

void hub_session_leave_all(struct mcp *mcp)
{
    while (mcp->sessions) {
        struct hub_session *session = mcp->sessions;

        mcp->sessions = session->next;
        leave(session);
    }
}

/* Names without a call, once there are several. Returns how many are left. */
static size_t leave_unused(struct mcp *mcp)
{
    size_t count = 0;

    for (struct hub_session **at = &mcp->sessions; *at;) {
        struct hub_session *session = *at;

        if (session->uses > 0 || count < HUB_SESSIONS_KEPT) {
            count++;
            at = &session->next;
        } else {
            *at = session->next;
            leave(session);
        }
    }
    return count;
}

/* The beginning of a long name will do, cut between characters. */
char *hub_session_short_name(const char *name)
{
    const char *end = name + strlen(name), *at = name;

    while (at < end) {
        const char *next = at;

        if (text_decode(&next, end) < 0 || next - name > SESSION_NAME_BYTES)
            break;
        at = next;
    }
    return at > name ? mem_text_n(name, (size_t)(at - name)) : mem_text("unnamed");
}

static void on_event(void *context, const char *line, size_t length)
{
    struct json *json = NULL;

    if (json_parse(line, length, &json, NULL) && json_member_text(json, "method"))
        tool_on_event(context, json_member_text(json, "method"), json_member(json, "params"));
    json_free(json);
}

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    const struct mcp_parts *parts = &((struct hub_session *)context)->mcp->parts;

    return parts->locate(parts->context, ret_uid, ret_pid);
}

static struct hub_session *enter(struct mcp_request *request, char *take_name, char *take_version)
{
    struct mcp *mcp = request->to.mcp;
    struct hub_session *session = mem_new(sizeof *session);
    struct identity identity = {
        .role = ROLE_AGENT,
        .via = "",
        .uid = mcp->parts.uid,
        .pid = mcp->parts.pid,
        .tty = "",
        .name = take_name,
        .version = take_version,
        .as_name = mcp->parts.as_name,
        .directory = mcp->parts.directory,
        .token = mcp->parts.token,
        .token_id = mcp->parts.token_id,
        .transport = mcp->parts.transport,
        .is_sub_agent = mcp->parts.is_sub_agent,
        .context = session,
        .event = on_event,
        .message = tool_on_event,
        .locate = mcp->parts.locate ? locate : NULL,
    };

    session->mcp = mcp;
    session->name = take_name;
    session->version = take_version;
    session->session = mcp->parts.service->ops->open(mcp->parts.service, &identity);
    session->next = mcp->sessions;
    mcp->sessions = session;
    return session;
}

/* What is learned of a client is learned of its version. */
static struct hub_session *find_session(const struct mcp *mcp, const char *name,
                                        const char *version)
{
    struct hub_session *session = mcp->sessions;

    while (session && (strcmp(session->name, name) != 0 || !session->version != !version ||
                       (version && strcmp(session->version, version) != 0)))
        session = session->next;
    return session;
}

struct hub_session *hub_session_get(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    char *name = hub_session_short_name(request->client_name ? request->client_name : "");
    char *version =
        request->client_version ? hub_session_short_name(request->client_version) : NULL;
    struct hub_session *session = find_session(mcp, name, version);

    if (!session && leave_unused(mcp) < HUB_SESSIONS_MAX)
        return enter(request, name, version);
    free(name);
    free(version);
    return session;
}

void hub_session_use(struct hub_session *session)
{
    session->is_used = true;
    if (session->subscription_count)
        subscribe_follow(session);
}

void delivery_add(struct mcp_delivery **list, struct hub_session *session, const char *session_id,
                  bool has_notices)
{
    struct mcp_delivery *delivery = mem_new(sizeof *delivery);

    text_put(delivery->session_id, sizeof delivery->session_id, session_id);
    delivery->session = session;
    delivery->has_notices = has_notices;
    session->uses++;
    delivery->next = *list;
    *list = delivery;
}

void delivery_move(struct mcp_delivery **from, struct mcp_delivery **to)
{
    while (*from) {
        struct mcp_delivery *delivery = *from;

        *from = delivery->next;
        delivery->next = *to;
        *to = delivery;
    }
}

/* The next identical call gets these answers, at any server; they may still arrive here as well. */
void delivery_return(const struct mcp_delivery *list)
{
    for (; list; list = list->next)
        tool_act_on(METHOD_ask_detach, list->session, list->session_id);
}

void delivery_drop(struct mcp_delivery **list)
{
    while (*list) {
        struct mcp_delivery *delivery = *list;

        *list = delivery->next;
        delivery->session->uses--;
        free(delivery);
    }
}

static void confirm_session(struct hub_session *session, struct mcp_delivery **list)
{
    struct text params = { 0 }, noticed = { 0 };
    struct json_writer writer = json_object_to(&params), notices = json_writer_to(&noticed);
    int count = 0;

    json_write_list(&notices, NULL);
    json_write_list(&writer, "session_ids");
    while (*list && count < LIMIT_DELIVERED) {
        struct mcp_delivery *delivery = *list;

        if (delivery->session != session) {
            list = &delivery->next;
            continue;
        }
        count++;
        json_write_text(&writer, NULL, delivery->session_id);
        if (delivery->has_notices)
            json_write_text(&notices, NULL, delivery->session_id);
        *list = delivery->next;
        session->uses--;
        free(delivery);
    }
    json_write_end_list(&writer);
    json_write_end_list(&notices);
    json_write_raw(&writer, "with_notices", text_string(&noticed));
    tool_act(METHOD_ask_delivered, session, &writer, NULL, NULL);
    text_release(&noticed);
}

void delivery_confirm(struct mcp_delivery **list)
{
    while (*list)
        confirm_session((*list)->session, list);
}
