/*
 * tool_call.c - tools/call: checked here, asked at the desk, held as long as the client has
 * patience, kept alive by progress. The desk answers `pending` when the hold limit is reached, so
 * a slow person is never a failed call (R5.7).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"
#include "mcp/tools/tool.h"

static const int64_t PROGRESS_EVERY_MS = 15000;

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
    json_write_text(&writer, "code", error_name(err->code));
    json_write_text(&writer, "path", err->path);
    json_write_text(&writer, "message", err->message);
    if (err->retry_after_s > 0)
        json_write_integer(&writer, "retry_after_seconds", err->retry_after_s);
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

static void end_call(struct mcp_call *call)
{
    if (call->previous)
        call->previous->next = call->next;
    else
        call->mcp->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    free(call->id_json);
    free(call->token_json);
    free(call);
}

void tool_drop_calls(struct mcp *mcp)
{
    while (mcp->calls)
        end_call(mcp->calls);
}

/* One act of the desk with parameters written by us. */
static void act(desk_act *chosen, struct mcp_visit *visit, const struct text *params,
                desk_done *done, void *context)
{
    struct json *json = NULL;

    if (json_parse(text_string(params), params->used, &json, NULL))
        chosen(visit->mcp->parts.desk, visit->visit, json, done, context);
    json_free(json);
}

static void ignore(void *context, const struct desk_reply *reply)
{
    (void)context;
    (void)reply;
}

/* Written to the client while its call was open: from now on nobody else gets this answer. */
static void confirm_delivery(struct mcp_visit *visit, const char *session_id)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    json_write_list(&writer, "session_ids");
    json_write_text(&writer, NULL, session_id);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    act(visit->mcp->parts.desk->ops->delivered, visit, &params, ignore, NULL);
    text_release(&params);
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct mcp_call *call = context;
    struct mcp *mcp = call->mcp;
    char delivered[27] = "";

    if (!call->is_cancelled) {
        mcp->batch = call->batch;
        if (reply->err.code != ERROR_NONE)
            reply_failure(mcp, call->id_json, call->revision, &reply->err);
        else
            reply_structured(mcp, call->id_json, call->revision, reply->json, false);
        mcp->batch = NULL;
        mcp_flush(mcp);
        if (reply->err.code == ERROR_NONE && reply->is_final && reply->session_id)
            snprintf(delivered, sizeof delivered, "%s", reply->session_id);
    }
    if (call->is_cancelled && call->batch)
        mcp_skip(mcp, call->batch);
    if (delivered[0])
        confirm_delivery(call->visit, delivered);
    end_call(call);
}

static void on_event(void *context, const char *line, size_t length)
{
    struct mcp_visit *visit = context;

    tool_on_event(visit->mcp, line, length);
}

void tool_on_event(struct mcp *mcp, const char *line, size_t length)
{
    struct json *json = NULL;
    const struct json *params;
    const char *tag, *id;

    if (!json_parse(line, length, &json, NULL))
        return;
    params = json_member(json, "params");
    tag = json_member_text(params, "tag");
    id = json_member_text(params, "session_id");
    for (struct mcp_call *call = mcp->calls; call && id; call = call->next) {
        bool is_meant =
            tag ? strtoll(tag, NULL, 10) == call->tag : strcmp(call->session_id, id) == 0;
        int64_t left_ms = json_member_integer(params, "remaining_ms", -1);

        if (!is_meant)
            continue;
        snprintf(call->session_id, sizeof call->session_id, "%s", id);
        if (left_ms >= 0)
            call->deadline_boot_ms = mcp->parts.clock->boot_ms(mcp->parts.clock) + left_ms;
    }
    json_free(json);
}

static struct mcp_visit *visit_of(struct mcp_request *request)
{
    struct mcp *mcp = request->mcp;
    const char *name = request->client_name ? request->client_name : "unnamed";
    struct desk_visitor visitor = {
        .role = ROLE_AGENT,
        .via = "",
        .uid = mcp->parts.uid,
        .pid = mcp->parts.pid,
        .tty = "",
        .name = name,
        .version = request->client_version,
        .as_name = mcp->parts.as_name,
        .directory = mcp->parts.directory,
        .is_sub_agent = mcp->parts.is_sub_agent,
        .event = on_event,
    };
    struct mcp_visit *visit;

    for (visit = mcp->visits; visit; visit = visit->next) {
        if (strcmp(visit->name, name) == 0)
            return visit;
    }
    visit = mem_new(sizeof *visit);
    visit->mcp = mcp;
    visit->name = mem_text(name);
    visitor.context = visit;
    visit->visit = mcp->parts.desk->ops->enter(mcp->parts.desk, &visitor);
    visit->next = mcp->visits;
    mcp->visits = visit;
    return visit;
}

static void arm(struct mcp *mcp)
{
    int64_t next = -1;

    for (const struct mcp_call *call = mcp->calls; call; call = call->next) {
        if (call->next_progress_boot_ms && (next < 0 || call->next_progress_boot_ms < next))
            next = call->next_progress_boot_ms;
    }
    mcp->parts.clock->wake_at(mcp->parts.clock, next);
}

static struct mcp_call *begin_call(struct mcp_request *request)
{
    struct mcp *mcp = request->mcp;
    struct mcp_call *call = mem_new(sizeof *call);
    const struct json *token = json_member(json_member(request->params, "_meta"), "progressToken");

    call->mcp = mcp;
    call->visit = visit_of(request);
    call->batch = mcp->batch;
    call->id_json = mem_text(request->id_json);
    call->revision = request->revision;
    call->tag = ++mcp->next_tag;
    call->started_boot_ms = mcp->parts.clock->boot_ms(mcp->parts.clock);
    if (token && !mcp->batch) { /* 0 is a token too */
        call->token_json = json_encode(token);
        call->next_progress_boot_ms = call->started_boot_ms + PROGRESS_EVERY_MS;
    }
    call->next = mcp->calls;
    if (call->next)
        call->next->previous = call;
    mcp->calls = call;
    arm(mcp);
    return call;
}

static void ask(struct mcp_request *request, const struct tool *tool, const struct json *arguments,
                const struct tool_plan *plan)
{
    struct mcp *mcp = request->mcp;
    struct mcp_call *call = begin_call(request);
    int64_t hold_s = mcp->parts.hold_limit_s(mcp->parts.context, call->visit->name);
    bool is_ask = plan->wish == TOOL_ASKS;
    char *arguments_json = json_encode(arguments);
    char tag[24];
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    if (is_ask) {
        snprintf(tag, sizeof tag, "%lld", (long long)call->tag);
        json_write_text(&writer, "tool", tool->name);
        json_write_raw(&writer, "arguments", arguments_json);
        json_write_text(&writer, "tag", tag);
        json_write_integer(&writer, "wait_seconds", hold_s);
    } else {
        memcpy(call->session_id, plan->session_id, sizeof call->session_id);
        json_write_text(&writer, "session_id", plan->session_id);
        json_write_integer(&writer, "wait_seconds", plan->wait_s < hold_s ? plan->wait_s : hold_s);
    }
    json_write_end_object(&writer);
    act(is_ask ? mcp->parts.desk->ops->submit : mcp->parts.desk->ops->wait, call->visit, &params,
        on_done, call);
    text_release(&params);
    free(arguments_json);
}

static void refuse_tool(struct mcp_request *request, const char *name)
{
    char shown[ARGUMENT_QUOTE_BYTES], message[ARGUMENT_QUOTE_BYTES + 64];

    arguments_quote(name, strlen(name), shown);
    snprintf(message, sizeof message, "there is no tool \"%s\"; tools/list names them", shown);
    mcp_reply_error(request->mcp, request->id_json, JSONRPC_INVALID_PARAMS, message, NULL);
}

void tool_call(struct mcp_request *request)
{
    const char *name = json_member_text(request->params, "name");
    const struct json *arguments = json_member(request->params, "arguments");
    const struct tool *tool = name ? tool_find(name) : NULL;
    struct tool_plan plan = { 0 };
    struct json *empty = NULL;
    struct error err;

    if (!tool) {
        refuse_tool(request, name ? name : "");
        return;
    }
    if (arguments && json_kind(arguments) != KIND_OBJECT) {
        mcp_reply_error(request->mcp, request->id_json, JSONRPC_INVALID_PARAMS,
                        "arguments must be an object", NULL);
        return;
    }
    if (!arguments && json_parse("{}", 2, &empty, NULL))
        arguments = empty;
    if (!tool->plan(arguments, &plan, &err))
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
void tool_cancel(struct mcp *mcp, const struct json *request_id)
{
    char *id_json = request_id ? json_encode(request_id) : NULL;

    for (struct mcp_call *call = mcp->calls; call && id_json; call = call->next) {
        if (strcmp(call->id_json, id_json) != 0 || call->is_cancelled)
            continue;
        call->is_cancelled = true;
        call->next_progress_boot_ms = 0;
        if (call->session_id[0]) {
            struct text params = { 0 };
            struct json_writer writer = json_writer_to(&params);

            json_write_object(&writer, NULL);
            json_write_text(&writer, "session_id", call->session_id);
            json_write_end_object(&writer);
            act(mcp->parts.desk->ops->detach, call->visit, &params, ignore, NULL);
            text_release(&params);
        }
        break;
    }
    free(id_json);
}

static void send_progress(struct mcp_call *call, int64_t now)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    int64_t waited_s = (now - call->started_boot_ms) / 1000;
    int64_t left_s = (call->deadline_boot_ms - now) / 1000;
    char message[96];

    if (waited_s <= call->last_progress_s)
        waited_s = call->last_progress_s + 1; /* it must rise */
    call->last_progress_s = waited_s;
    if (call->deadline_boot_ms && left_s >= 0)
        snprintf(message, sizeof message, "waiting for the person, %lld:%02lld left",
                 (long long)left_s / 60, (long long)left_s % 60);
    else
        snprintf(message, sizeof message, "waiting for the person");
    json_write_object(&writer, NULL);
    json_write_raw(&writer, "progressToken", call->token_json);
    json_write_integer(&writer, "progress", waited_s);
    if (revision_has_annotations(call->revision))
        json_write_text(&writer, "message", message);
    json_write_end_object(&writer);
    mcp_notify(call->mcp, "notifications/progress", text_string(&params));
    text_release(&params);
}

void tool_on_time(struct mcp *mcp)
{
    int64_t now = mcp->parts.clock->boot_ms(mcp->parts.clock);

    for (struct mcp_call *call = mcp->calls; call; call = call->next) {
        if (call->next_progress_boot_ms && call->next_progress_boot_ms <= now) {
            send_progress(call, now);
            call->next_progress_boot_ms = now + PROGRESS_EVERY_MS;
        }
    }
    arm(mcp);
}
