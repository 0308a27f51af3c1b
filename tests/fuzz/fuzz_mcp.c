/*
 * fuzz_mcp.c - whatever lines a client sends, each answer is one line of valid JSON-RPC to a
 * request that was made, and only good asks reach the service. Covers rpc, eras, batches and tool
 * arguments.
 *
 * Proves: P14
 *
 * The input is lines for the server. A line that begins with ! is an act of the world instead: the
 * service tells a name (c), answers finally (a), not yet (p) or with an error (e), the deadline
 * moves (r), an ask of the client's changed (m), or who knows what (f), time goes by (t), output is
 * written (w), a line was too long (l); the client is to show a form (s) or an address (d), not any
 * more (u), or by the reply to its call (i, j); it is away (x), is back (y), its stream is gone
 * (z).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/tools/arguments.h"
#include "mcp/mcp.h"
#include "mcp/mcp_features.h"
#include "rpc/service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORLD_ACTS = 64, WORLD_VISITS = 64, WORLD_STEP_MS = 16000 };

struct session {
    bool is_here;
    void *context;
    void (*event)(void *context, const char *line, size_t length);
};

/* An act the service has not answered. */
struct act {
    struct session *session;
    reply_done *done;
    void *context;
    char tag[24];
    char session_id[27];
};

static struct world {
    struct clock clock; /* first: a clock is the world */
    struct service service;
    int64_t now_ms;
    struct session sessions[WORLD_VISITS];
    size_t session_count;
    struct act acts[WORLD_ACTS];
    size_t act_count;
    size_t asked, answered; /* requests that came in, responses that went out */
    size_t finals, delivered;
    int64_t next_id;
} world;

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static int64_t world_now_ms(struct clock *clock)
{
    (void)clock;
    return world.now_ms;
}

static void world_wake_at(struct clock *clock, int64_t boot_ms)
{
    (void)clock;
    (void)boot_ms;
}

static struct session *world_enter(struct service *service, const struct identity *identity)
{
    struct session *session = &world.sessions[world.session_count % WORLD_VISITS];

    (void)service;
    demand(identity->role == ROLE_AGENT && identity->name && identity->name[0]);
    demand(strlen(identity->name) <= 128 && text_is_utf8(identity->name, strlen(identity->name)));
    world.session_count++;
    demand(!session->is_here); /* a session in use is never overwritten */
    *session = (struct session){ true, identity->context, identity->event };
    return session;
}

static void drop_act(size_t index)
{
    memmove(&world.acts[index], &world.acts[index + 1],
            (--world.act_count - index) * sizeof world.acts[0]);
}

static void world_leave(struct service *service, struct session *session)
{
    (void)service;
    demand(session->is_here);
    session->is_here = false;
    for (size_t i = world.act_count; i-- > 0;) {
        if (world.acts[i].session == session)
            drop_act(i);
    }
}

static void answer(size_t index, const struct reply *reply)
{
    struct act act = world.acts[index];

    drop_act(index);
    act.done(act.context, reply);
}

static void keep_act(struct session *session, reply_done *done, void *context, const char *tag,
                     const char *session_id)
{
    struct reply busy = { 0 };
    struct act *act;

    demand(session->is_here);
    if (world.act_count == WORLD_ACTS) {
        error_set(&busy.err, ERROR_rate_limited, "", "busy");
        done(context, &busy);
        return;
    }
    act = &world.acts[world.act_count++];
    *act = (struct act){ .session = session, .done = done, .context = context };
    snprintf(act->tag, sizeof act->tag, "%s", tag ? tag : "");
    snprintf(act->session_id, sizeof act->session_id, "%s", session_id ? session_id : "");
}

static void world_submit(struct service *service, struct session *session,
                         const struct json *params, reply_done *done, void *context)
{
    const char *tool = json_member_text(params, "tool");
    struct ask_call call;
    struct error err;

    (void)service;
    demand(tool && ask_tool_find(tool) && json_member_text(params, "tag"));
    demand(arguments_check(ask_tool_find(tool), json_member(params, "arguments"), &call, &err));
    demand(!call.session_id[0] && json_member_integer(params, "wait_seconds", -1) >= 0);
    ask_call_release(&call);
    keep_act(session, done, context, json_member_text(params, "tag"), NULL);
}

static void world_wait(struct service *service, struct session *session, const struct json *params,
                       reply_done *done, void *context)
{
    const char *id = json_member_text(params, "session_id");
    int64_t wait_s = json_member_integer(params, "wait_seconds", -1);

    (void)service;
    demand(id && strlen(id) == 26 && wait_s >= 0 && wait_s <= 60);
    keep_act(session, done, context, NULL, id);
}

static void reply_empty(reply_done *done, void *context)
{
    struct reply reply = { .json = "{}" };

    done(context, &reply);
}

static void world_delivered(struct service *service, struct session *session,
                            const struct json *params, reply_done *done, void *context)
{
    (void)service;
    demand(session->is_here);
    world.delivered += json_length(json_member(params, "session_ids"));
    demand(world.delivered <= world.finals);
    reply_empty(done, context);
}

static void world_detach(struct service *service, struct session *session,
                         const struct json *params, reply_done *done, void *context)
{
    (void)service;
    demand(session->is_here && json_member_text(params, "session_id"));
    reply_empty(done, context);
}

static void world_cut_off(struct service *service, struct session *session,
                          const struct json *params, reply_done *done, void *context)
{
    (void)service;
    demand(session->is_here && json_member_integer(params, "held_ms", -1) >= 0);
    reply_empty(done, context);
}

/* What a client's own form returned: flat, and about an ask that has a name. */
static void world_returned(struct service *service, struct session *session,
                           const struct json *params, reply_done *done, void *context)
{
    const struct json *content = json_member(params, "content");
    const char *id = json_member_text(params, "session_id");

    (void)service;
    demand(session->is_here && id && strlen(id) == 26);
    demand(!content || json_kind(content) == KIND_OBJECT);
    for (void *at = json_first(content); at; at = json_next(content, at))
        demand(json_kind(json_value(at)) != KIND_OBJECT);
    reply_empty(done, context);
}

/* A look at one's own asks, or the wish to hear of changes. */
static void world_mine(struct service *service, struct session *session, const struct json *params,
                       reply_done *done, void *context)
{
    (void)service;
    demand(json_kind(params) == KIND_OBJECT);
    keep_act(session, done, context, NULL, json_member_text(params, "session_id"));
}

static void world_call(struct service *service, struct session *session,
                       const struct request *request, reply_done *done, void *context)
{
    static void (*const handlers[METHOD_COUNT])(struct service *, struct session *,
                                                const struct json *, reply_done *, void *) = {
        [METHOD_ask_create] = world_submit,       [METHOD_ask_wait] = world_wait,
        [METHOD_ask_delivered] = world_delivered, [METHOD_ask_detach] = world_detach,
        [METHOD_client_cut_off] = world_cut_off,  [METHOD_client_result] = world_returned,
        [METHOD_client_failed] = world_returned,  [METHOD_mine_list] = world_mine,
        [METHOD_mine_get] = world_mine,           [METHOD_mine_follow] = world_mine,
    };
    struct json *params = NULL;

    demand(json_parse(request->text->bytes, request->text->used, &params, NULL));
    handlers[request->method](service, session, params, done, context);
    json_free(params);
}

static const struct service_ops world_ops = {
    .open = world_enter,
    .close = world_leave,
    .call = world_call,
};

/* Output ------------------------------------------------------------------------------------- */

static void check_response(const struct json *message)
{
    const struct json *error = json_member(message, "error"), *id = json_member(message, "id");

    demand((error != NULL) != (json_member(message, "result") != NULL));
    if (error)
        demand(json_member_integer(error, "code", 0) < -30000 &&
               json_member_text(error, "message"));
    if (json_kind(id) == KIND_INTEGER || json_kind(id) == KIND_TEXT)
        world.answered++;
    else /* an id that is a number of another kind is refused with itself */
        demand(error && (json_kind(id) == KIND_NULL || json_kind(id) == KIND_REAL ||
                         json_kind(id) == KIND_HUGE));
}

static void check_message(const struct json *message)
{
    const char *version = json_member_text(message, "jsonrpc");

    demand(version && strcmp(version, "2.0") == 0);
    if (!json_member_text(message, "method")) {
        check_response(message);
        return;
    }
    if (json_member(message, "id")) /* all that we ask a client for */
        demand(strcmp(json_member_text(message, "method"), "elicitation/create") == 0);
    demand(json_kind(json_member(message, "params")) == KIND_OBJECT);
}

static void check_line(const char *line, size_t length)
{
    struct json *value = NULL;

    demand(json_parse(line, length, &value, NULL));
    if (json_kind(value) != KIND_LIST)
        check_message(value);
    else
        demand(json_length(value) > 0);
    for (size_t i = 0; json_kind(value) == KIND_LIST && i < json_length(value); i++)
        check_response(json_item(value, i));
    json_free(value);
    demand(world.answered <= world.asked);
}

static void world_take(struct mcp_stream *stream, const struct mcp_message *message)
{
    (void)stream;
    demand(message->length > 0 && message->line[message->length - 1] == '\n');
    demand(!memchr(message->line, '\n', message->length - 1));
    check_line(message->line, message->length - 1);
}
static const struct mcp_stream_ops stream_ops = { .message = world_take };

static int64_t world_hold_s(void *context, const char *client_name, bool has_progress)
{
    (void)context;
    return (int64_t)strlen(client_name) + has_progress;
}

/* Input -------------------------------------------------------------------------------------- */

static bool is_id(const struct json *id)
{
    return json_kind(id) == KIND_INTEGER || json_kind(id) == KIND_TEXT;
}

/* As many as may be answered by their id. */
static void count_requests(const char *line, size_t length)
{
    struct json *value = NULL;

    if (!jsonrpc_parse(line, length, NULL, &value, NULL)) {
        world.asked++; /* its id may have been readable all the same */
        return;
    }
    if (is_id(json_member(value, "id")))
        world.asked++;
    for (size_t i = 0; json_kind(value) == KIND_LIST && i < json_length(value); i++)
        world.asked += is_id(json_member(json_item(value, i), "id"));
    json_free(value);
}

static void tell_event(const char *method, const struct act *act)
{
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{%s%s%s\"session_id\":\"%s\","
             "\"remaining_ms\":90000}}",
             method, act->tag[0] ? "\"tag\":\"" : "", act->tag, act->tag[0] ? "\"," : "",
             act->session_id);
    act->session->event(act->session->context, line, strlen(line));
}

static void name_ask(struct act *act)
{
    if (!act->session_id[0])
        snprintf(act->session_id, sizeof act->session_id, "%026lld", (long long)++world.next_id);
}

static void act_answer(const char *status, bool is_final)
{
    char json[256];
    struct reply reply = { .json = json, .kind = is_final ? REPLY_FINAL : REPLY_PENDING };
    char id[27];

    name_ask(&world.acts[0]);
    memcpy(id, world.acts[0].session_id, sizeof id);
    snprintf(json, sizeof json,
             "{\"action_status\":\"%s\",\"session_id\":\"%s\",\"selection\":{},\"explicit\":true}",
             status, id);
    reply.session_id = id;
    world.finals += is_final;
    answer(0, &reply);
}

/* As the service hands it out; the same words go into an event and into a reply. */
static const char *form_members(void)
{
    static const char asked[] =
        "{\"title\":\"Deploy\",\"prompt\":\"Which target shall be taken?\",\"selection_mode\":"
        "\"hybrid\",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":true}]}";
    static struct text members;
    struct json *arguments = NULL;
    struct ask_call call;
    struct error err;

    if (members.used)
        return text_string(&members);
    demand(json_parse(asked, strlen(asked), &arguments, NULL));
    demand(arguments_check(ask_tool_find("provide_choice"), arguments, &call, &err));
    text_add_text(&members, "\"language\":\"en\",\"notes\":true,\"state\":\"v1.sealed\",\"form\":");
    form_encode(&call.form, &members);
    ask_call_release(&call);
    json_free(arguments);
    return text_string(&members);
}

static const char address[] = ",\"url\":\"http://127.0.0.1:7297/choice/x\"";

static void tell_form(struct act *act, const char *more)
{
    char line[2048];

    name_ask(act);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"client/present\",\"params\":{\"session_id\":\"%s\","
             "\"remaining_ms\":90000,%s%s}}",
             act->session_id, form_members(), more);
    act->session->event(act->session->context, line, strlen(line));
}

static void act_need_input(const char *more)
{
    char json[2048], id[27];
    struct reply reply = { .json = json, .kind = REPLY_INPUT, .session_id = id };

    name_ask(&world.acts[0]);
    memcpy(id, world.acts[0].session_id, sizeof id);
    snprintf(json, sizeof json, "{\"session_id\":\"%s\",\"input_required\":{%s%s}}", id,
             form_members(), more);
    answer(0, &reply);
}

static void act_error(void)
{
    struct reply reply = { 0 };

    error_set(&reply.err, ERROR_unavailable, "", "the hub is away");
    reply.err.retry_after_s = 3;
    answer(0, &reply);
}

static void act_of_world(struct mcp *mcp, struct mcp_stream *stream, char what)
{
    if (what == 't')
        world.now_ms += WORLD_STEP_MS;
    if (what == 't')
        mcp_on_time(mcp);
    if (what == 'w')
        mcp_confirm(mcp, stream);
    if (what == 'l')
        mcp_refuse_long_line(mcp, stream, "", 0);
    if (what == 'x') /* the client is away, */
        mcp_pause(mcp, stream);
    if (what == 'y') /* is back, */
        mcp_resume(mcp, stream);
    if (what == 'z') /* and is gone */
        mcp_drop(mcp, stream);
    if (world.act_count == 0)
        return;
    if (what == 'c') {
        name_ask(&world.acts[0]);
        tell_event("ask/created", &world.acts[0]);
    } else if (what == 'r') {
        tell_event("ask/retimed", &world.acts[0]);
    } else if (what == 'm') {
        tell_event("mine/changed", &world.acts[0]);
    } else if (what == 'f') {
        tell_event("mine/following", &world.acts[0]);
    } else if (what == 's' || what == 'd') {
        tell_form(&world.acts[0], what == 'd' ? address : "");
    } else if (what == 'u') {
        tell_event("client/withdraw", &world.acts[0]);
    } else if (what == 'i' || what == 'j') {
        act_need_input(what == 'j' ? address : "");
    } else if (what == 'a') {
        act_answer("selected", true);
    } else if (what == 'p') {
        act_answer("pending", false);
    } else if (what == 'e') {
        act_error();
    }
}

static void take_line(struct mcp *mcp, struct mcp_stream *stream, const char *line, size_t length)
{
    if (length == 2 && line[0] == '!') {
        act_of_world(mcp, stream, line[1]);
        return;
    }
    count_requests(line, length);
    mcp_take_line(mcp, stream, line, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *end = bytes + size;
    struct mcp_parts parts = {
        .service = &world.service,
        .clock = &world.clock,
        .directory = "/",
        .max_calls = 4096,
        .hold_limit_s = world_hold_s,
        .features = mcp_compat_features(), /* the product's and more */
    };
    struct mcp_stream stream = { .ops = &stream_ops };
    struct mcp *mcp;

    world = (struct world){
        .clock = { .boot_ms = world_now_ms, .utc_ms = world_now_ms, .wake_at = world_wake_at },
        .service = { &world_ops },
        .now_ms = 1
    };
    mcp = mcp_new(&parts);
    mcp_stand(mcp, &stream);
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t length = (size_t)((newline ? newline : end) - bytes);
        char *line = mem_text_n(bytes, length); /* its own block, so that reading past it shows */

        take_line(mcp, &stream, line, length);
        free(line);
        bytes += length + 1;
    }
    mcp_drop(mcp, &stream);
    mcp_free(mcp);
    for (size_t i = 0; i < WORLD_VISITS; i++)
        demand(!world.sessions[i].is_here);
    return 0;
}
