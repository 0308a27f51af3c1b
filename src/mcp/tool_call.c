/*
 * tool_call.c - tools/call: checked here, asked at the desk, held (hold.c) until it is answered,
 * cancelled, or the client's patience ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/response.h"
#include "mcp/inside.h"
#include "mcp/tools/tool.h"

enum { CALLS_MOST = 4096, CALLS_RETRY_S = 1 };

void tool_write_result(struct text *out, enum mcp_revision revision, const char *structured_json,
                       bool is_error)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    if (revision == REVISION_2026_07_28)
        json_write_text(&writer, "resultType", "complete");
    json_write_list(&writer, "content");
    json_write_object(&writer, NULL);
    json_write_text(&writer, "type", "text");
    json_write_text(&writer, "text", structured_json);
    json_write_end_object(&writer);
    json_write_end_list(&writer);
    if (revision_has_structured(revision))
        json_write_raw(&writer, "structuredContent", structured_json);
    json_write_bool(&writer, "isError", is_error);
    if (revision == REVISION_2026_07_28) {
        json_write_object(&writer, "_meta");
        content_write_server_info(&writer, META_PREFIX "serverInfo", false);
        json_write_end_object(&writer);
    }
    json_write_end_object(&writer);
}

static void write_error(const struct error *err, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_object(&writer, "error");
    error_write(err, &writer);
    json_write_text(&writer, "message", err->message);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
}

static void reply_structured(struct mcp *mcp, const char *id_json, enum mcp_revision revision,
                             const char *structured_json, bool is_error)
{
    struct text out = { 0 };

    tool_write_result(&out, revision, structured_json, is_error);
    mcp_reply(mcp, id_json, text_string(&out));
    text_release(&out);
}

static void reply_failure(struct mcp *mcp, const char *id_json, enum mcp_revision revision,
                          const struct error *err)
{
    struct text out = { 0 };

    write_error(err, &out);
    reply_structured(mcp, id_json, revision, text_string(&out), true);
    text_release(&out);
}

static void free_call(struct mcp_call *call)
{
    call->visit->uses--;
    call->mcp->call_count--;
    free(call->id_json);
    free(call->token_json);
    free(call);
}

static void end_call(struct mcp_call *call)
{
    if (call->previous)
        call->previous->next = call->next;
    else
        call->mcp->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    free_call(call);
}

void tool_drop_calls(struct mcp *mcp)
{
    while (mcp->calls) {
        struct mcp_call *call = mcp->calls;

        mcp->calls = call->next;
        if (call->batch)
            mcp_drop_batch(call->batch);
        free_call(call);
    }
}

static void ignore(void *context, const struct desk_reply *reply)
{
    (void)context;
    (void)reply;
}

void tool_act(desk_act *chosen, struct mcp_visit *visit, const struct text *params, desk_done *done,
              void *context)
{
    struct json *json = NULL;

    if (json_parse(text_string(params), params->used, &json, NULL))
        chosen(visit->mcp->parts.desk, visit->visit, json, done ? done : ignore, context);
    json_free(json);
}

/* The response of a call; from now on the desk's own comes too late. */
static void reply_call(struct mcp_call *call, const struct desk_reply *reply)
{
    struct mcp *mcp = call->mcp;
    bool is_good = reply->err.code == ERROR_NONE;

    call->is_over = true;
    hold_end(call);
    if (is_good && reply->is_final && reply->session_id)
        delivery_add(call->batch ? &call->batch->deliveries : &mcp->deliveries, call->visit,
                     reply->session_id);
    mcp->batch = call->batch;
    call->batch = NULL;
    if (is_good)
        reply_structured(mcp, call->id_json, call->revision, reply->json, false);
    else
        reply_failure(mcp, call->id_json, call->revision, &reply->err);
    mcp->batch = NULL;
    mcp_flush(mcp);
}

/* Another call of this client, made with the same words, may wait for the same ask. */
static bool is_wanted(const struct mcp_call *call)
{
    for (const struct mcp_call *other = call->mcp->calls; other; other = other->next) {
        if (!other->is_over && other->visit == call->visit &&
            strcmp(other->session_id, call->session_id) == 0)
            return true;
    }
    return false;
}

static void detach(struct mcp_call *call)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call->session_id[0] || is_wanted(call))
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", call->session_id);
    json_write_end_object(&writer);
    tool_act(call->mcp->parts.desk->ops->detach, call->visit, &params, NULL, NULL);
    text_release(&params);
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct mcp_call *call = context;

    if (!call->is_over) {
        reply_call(call, reply);
    } else {
        if (reply->is_final) /* nobody took it: it must not count as being on its way */
            detach(call);
        if (call->batch)
            mcp_skip(call->mcp, call->batch);
    }
    end_call(call);
}

static void take_ask_event(struct mcp *mcp, const struct json *params)
{
    const char *tag = json_member_text(params, "tag");
    const char *id = json_member_text(params, "session_id");

    for (struct mcp_call *call = mcp->calls; call && id; call = call->next) {
        bool is_meant =
            tag ? strtoll(tag, NULL, 10) == call->tag : strcmp(call->session_id, id) == 0;
        int64_t left_ms = json_member_integer(params, "remaining_ms", -1);

        if (!is_meant)
            continue;
        snprintf(call->session_id, sizeof call->session_id, "%s", id);
        if (left_ms >= 0)
            call->deadline_boot_ms = mcp->parts.clock->boot_ms(mcp->parts.clock) + left_ms;
        if (tag && call->is_over) /* cancelled before we knew its name */
            detach(call);
    }
}

void tool_on_event(struct mcp_visit *visit, const char *line, size_t length)
{
    struct json *json = NULL;
    const char *method;

    if (!json_parse(line, length, &json, NULL))
        return;
    method = json_member_text(json, "method");
    if (method && strcmp(method, "client/hold") == 0)
        hold_take(visit, json_member(json, "params"));
    else
        take_ask_event(visit->mcp, json_member(json, "params"));
    json_free(json);
}

static struct mcp_call *begin_call(struct mcp_request *request, struct mcp_visit *visit,
                                   int64_t hold_s)
{
    struct mcp *mcp = request->mcp;
    struct mcp_call *call = mem_new(sizeof *call);

    call->mcp = mcp;
    call->visit = visit;
    visit->uses++;
    call->batch = mcp->batch;
    call->id_json = mem_text(request->id_json);
    call->revision = request->revision;
    call->tag = ++mcp->next_tag;
    call->next = mcp->calls;
    if (call->next)
        call->next->previous = call;
    mcp->calls = call;
    mcp->call_count++;
    hold_begin(call, hold_s, json_member(json_member(request->params, "_meta"), "progressToken"));
    return call;
}

static void refuse_busy(struct mcp_request *request)
{
    struct error err;

    error_set(&err, ERROR_rate_limited, "", "too many calls or names at once; wait for answers");
    err.retry_after_s = CALLS_RETRY_S;
    reply_failure(request->mcp, request->id_json, request->revision, &err);
}

static void ask(struct mcp_request *request, const struct tool *tool, const struct json *arguments,
                const struct tool_plan *plan)
{
    struct mcp *mcp = request->mcp;
    struct mcp_visit *visit = mcp->call_count < CALLS_MOST ? visit_get(request) : NULL;
    int64_t hold_s = visit ? hold_limit_s(visit) : 0;
    bool is_ask = plan->wish == TOOL_ASKS;
    char *arguments_json, tag[24];
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    struct mcp_call *call;

    if (!visit) {
        refuse_busy(request);
        return;
    }
    if (!is_ask && plan->wait_s < hold_s)
        hold_s = plan->wait_s;
    call = begin_call(request, visit, hold_s);
    call->tool = is_ask ? tool->ask : NULL;
    arguments_json = json_encode(arguments);
    json_write_object(&writer, NULL);
    if (is_ask) {
        snprintf(tag, sizeof tag, "%lld", (long long)call->tag);
        json_write_text(&writer, "tool", tool->name);
        json_write_raw(&writer, "arguments", arguments_json);
        json_write_text(&writer, "tag", tag);
    } else {
        memcpy(call->session_id, plan->session_id, sizeof call->session_id);
        json_write_text(&writer, "session_id", plan->session_id);
    }
    json_write_integer(&writer, "wait_seconds", hold_s);
    json_write_end_object(&writer);
    tool_act(is_ask ? mcp->parts.desk->ops->submit : mcp->parts.desk->ops->wait, visit, &params,
             on_done, call);
    text_release(&params);
    free(arguments_json);
}

static void refuse_tool(struct mcp_request *request, const char *name, size_t length)
{
    char shown[ARGUMENT_QUOTE_BYTES], message[ARGUMENT_QUOTE_BYTES + 64];

    arguments_quote(name, length, shown);
    snprintf(message, sizeof message, "there is no tool \"%s\"; tools/list names them", shown);
    mcp_reply_error(request->mcp, request->id_json, JSONRPC_INVALID_PARAMS, message, NULL);
}

void tool_call(struct mcp_request *request)
{
    const struct json *named = json_member(request->params, "name");
    const struct json *arguments = json_member(request->params, "arguments");
    const char *name = json_text(named);
    const struct tool *tool = name ? tool_find(name, json_length(named)) : NULL;
    struct tool_plan plan = { 0 };
    struct json *empty = NULL;
    struct error err;

    if (!tool) {
        refuse_tool(request, name ? name : "", name ? json_length(named) : 0);
        return;
    }
    if (arguments && json_kind(arguments) != KIND_OBJECT) {
        mcp_reply_error(request->mcp, request->id_json, JSONRPC_INVALID_PARAMS,
                        "arguments must be an object", NULL);
        return;
    }
    if (!arguments && json_parse("{}", 2, &empty, NULL))
        arguments = empty;
    if (!tool_plan(tool, arguments, &plan, &err))
        reply_failure(request->mcp, request->id_json, request->revision, &err);
    else if (plan.wish == TOOL_ANSWERED)
        reply_structured(request->mcp, request->id_json, request->revision,
                         text_string(&plan.result), false);
    else
        ask(request, tool, arguments, &plan);
    text_release(&plan.result);
    json_free(empty);
}

/* The client gave up: no response any more, the ask stays and says that nobody waits. An id we do
 * not know is a stray, which clients were seen to send. */
void tool_cancel(struct mcp *mcp, const struct json *request_id, const char *reason)
{
    char *id_json = request_id ? json_encode(request_id) : NULL;

    for (struct mcp_call *call = mcp->calls; call && id_json; call = call->next) {
        if (strcmp(call->id_json, id_json) != 0 || call->is_over)
            continue;
        call->is_over = true;
        hold_end(call);
        detach(call);
        hold_report_cut_off(call, reason);
        break;
    }
    free(id_json);
}

void tool_reply_pending(struct mcp_call *call)
{
    const struct response_facts facts = {
        .shape = call->tool ? call->tool->response : NULL,
        .session_id = call->session_id,
        .state = STATE_PENDING,
        .interface = INTERFACE_AUTO,
    };
    struct text out = { 0 };
    struct desk_reply reply = { .session_id = call->session_id };

    if (call->session_id[0]) {
        response_write(&facts, &out);
        reply.json = text_string(&out);
    } else {
        error_set(
            &reply.err, ERROR_unavailable, "",
            "the hub does not answer; repeat the same call to go on, sayso status tells more");
    }
    reply_call(call, &reply);
    text_release(&out);
}
