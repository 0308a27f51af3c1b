/*
 * asks.c - what the product offers: its tools and prompts, and as resources the client's own asks,
 * open and over. Another client's ask is treated as if it did not exist.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/ask.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"
#include "mcp/tools/tool.h"

enum {
    ASKS_OPEN_MAX = 200,
    ASKS_HISTORY_MAX = 100,
    ASKS_COMPLETED_MAX = 101
}; /* the last: one more than is shown */
static const char json_type[] = "application/json";
static const char open_uri[] = "sayso://asks", history_uri[] = "sayso://history";
static const char one_begin[] = "sayso://asks/";

static const char policy_about[] = "When and how to ask the user.";
static const char policy_text[] =
    "Before you go on, decide whether the person must decide. Ask with provide_choice if there "
    "are more than two viable paths, if the next step can't be undone, or if configuration is "
    "missing. In the prompt say what the task is, what you found, what follows from each option, "
    "and why you cannot choose alone; recommend at least one option. Never take silence, a "
    "cancellation or a time-out for consent.";

static void run_policy(struct mcp_call *call, const struct json *arguments)
{
    (void)arguments;
    call_reply_prompt_text(call, policy_about, policy_text);
}

static const char collect_about[] = "Fetches the answer to an earlier ask.";

static void run_collect(struct mcp_call *call, const struct json *arguments)
{
    const char *id = json_member_text(arguments, "session_id");
    char *text;

    if (!ask_id_is_valid(id)) {
        call_reply_error(call, JSONRPC_INVALID_PARAMS,
                         "session_id must be the id that an ask returned");
        return;
    }
    text = mem_format("Call get_answer with session_id %s. If the user has answered, follow their "
                      "decision. If it is pending, say so; do not ask again.",
                      id);
    call_reply_prompt_text(call, collect_about, text);
    free(text);
}

static const struct mcp_prompt_argument collect_arguments[] = {
    { "session_id", "The id of the ask.", true },
};
static const struct mcp_prompt prompts[] = {
    { "decision_policy", policy_about, NULL, 0, run_policy },
    { "collect_answer", collect_about, collect_arguments, ARRAY_LEN(collect_arguments),
      run_collect },
};

static const struct mcp_resource resources[] = {
    { open_uri, "asks", "Pending asks", "Your pending asks.", json_type },
    { history_uri, "history", "Earlier asks", "Your asks that are over, the newest first.",
      json_type },
};
static const struct mcp_resource templates[] = {
    { "sayso://asks/{session_id}", "ask", "One ask",
      "One ask of yours: what was asked, how it stands, and its result once it is over.",
      json_type },
};

/* The id in the uri of one ask; NULL: it is none. */
static const char *id_of(const char *uri)
{
    const char *id =
        strncmp(uri, one_begin, sizeof one_begin - 1) == 0 ? uri + sizeof one_begin - 1 : NULL;

    return id && ask_id_is_valid(id) ? id : NULL;
}

static bool has_resource(const char *uri)
{
    return strcmp(uri, open_uri) == 0 || strcmp(uri, history_uri) == 0 || id_of(uri);
}

/* Reads from the service ------------------------------------------------------------------------
 */

/* A list, or one by its id. */
struct look {
    enum method method;
    reply_done *done;
    const char *session_id, *which, *prefix; /* NULL: not said */
    int64_t limit;
};

static void look(struct mcp_call *call, const struct look *look)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    json_write_text_if(&writer, "session_id", look->session_id);
    json_write_text_if(&writer, "which", look->which);
    json_write_text_if(&writer, "prefix", look->prefix);
    if (look->limit)
        json_write_integer(&writer, "limit", look->limit);
    call->needs_session = true;
    hub_session_use(call->session);
    tool_act(look->method, call->session, &writer, look->done, call);
}

/* The service has replied. False: the client no longer wants the reply, and the call is gone. */
static bool is_back(struct mcp_call *call)
{
    call->needs_session = false;
    if (call->to.stream)
        return true;
    call_end(call);
    return false;
}

static void on_read(void *context, const struct reply *reply)
{
    struct mcp_call *call = context;
    struct call_contents contents = { call->work->subject, json_type, reply->json, NULL };

    if (!is_back(call))
        return;
    if (reply->err.code == ERROR_NONE)
        call_reply_contents(call, &contents);
    else if (reply->err.code == ERROR_not_found)
        call_reply_no_resource(call, call->work->subject);
    else
        call_reply_error(call, JSONRPC_INTERNAL_ERROR, reply->err.message);
}

static void read_resource(struct mcp_call *call, const char *uri)
{
    struct look wanted = { .method = METHOD_mine_list, .done = on_read };

    if (!has_resource(uri)) {
        call_reply_no_resource(call, uri);
        return;
    }
    if (id_of(uri)) {
        wanted.method = METHOD_mine_get;
        wanted.session_id = id_of(uri);
    } else if (strcmp(uri, open_uri) == 0) {
        wanted.which = "active";
        wanted.limit = ASKS_OPEN_MAX;
    } else {
        wanted.which = "completed";
        wanted.limit = ASKS_HISTORY_MAX;
    }
    call_work(call)->subject = mem_text(uri);
    look(call, &wanted);
}

/* The ids that begin with what was typed, the newest first. */
static void on_listed(void *context, const struct reply *reply)
{
    struct mcp_call *call = context;
    const char *values[ASKS_COMPLETED_MAX];
    struct json *json = NULL;
    const struct json *asks;
    size_t count = 0;

    if (!is_back(call))
        return;
    if (reply->err.code == ERROR_NONE && reply->json)
        json_parse(reply->json, strlen(reply->json), &json, NULL);
    asks = json_member(json, "asks");
    for (size_t i = 0; i < json_length(asks) && count < ARRAY_LEN(values); i++) {
        const char *id = json_member_text(json_item(asks, i), "session_id");

        if (id)
            values[count++] = id;
    }
    call_reply_values(call, values, count);
    json_free(json);
}

/* Completion starts nothing: it asks the service only after this session has used it, or where it
 * is in this process. */
static void complete_id(struct mcp_call *call, const struct completion_request *completion)
{
    const struct mcp_parts *parts = &call->to.mcp->parts;
    struct look wanted = { .method = METHOD_mine_list,
                           .done = on_listed,
                           .which = "all",
                           .prefix = completion->value,
                           .limit = ASKS_COMPLETED_MAX };

    if (call->session->is_used || parts->is_hub)
        look(call, &wanted);
    else
        call_reply_values(call, NULL, 0);
}

/* Changes ------------------------------------------------------------------------------------ */

/* The service answers only when it tells no more; then the next use asks again. */
static void on_unfollowed(void *context, const struct reply *reply)
{
    struct hub_session *session = context;

    (void)reply;
    session->is_followed = false;
}

static void follow(struct hub_session *session)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    tool_act(METHOD_mine_follow, session, &writer, on_unfollowed, session);
}

void asks_take_event(struct hub_session *session, const char *method, const struct json *params)
{
    const char *id = json_member_text(params, "session_id");
    char *uri;

    if (strcmp(method, "mine/following") == 0) { /* earlier changes may have been missed */
        subscribe_tell(session, NULL);
        return;
    }
    if (strcmp(method, "mine/changed") != 0 || !id)
        return;
    uri = mem_format("%s%s", one_begin, id);
    subscribe_tell(session, uri);
    subscribe_tell(session, open_uri);
    if (json_is_true(json_member(params, "over")))
        subscribe_tell(session, history_uri);
    free(uri);
}

const struct mcp_features mcp_product_features = {
    .tools = tool_rows,
    .prompts = prompts,
    .prompt_count = ARRAY_LEN(prompts),
    .resources = resources,
    .resource_count = ARRAY_LEN(resources),
    .templates = templates,
    .template_count = ARRAY_LEN(templates),
    .needs_session = true,
    .level = LEVEL_NONE,
    .has_resource = has_resource,
    .read = read_resource,
    .follow = follow,
    .complete = complete_id,
};
