/*
 * tool_call.c - tools/call: checked here, asked at the service, held as long as the client has
 * patience. The service answers `pending` when the hold limit is reached, so
 * a slow person is never a failed call (R5.7); where the service itself hangs, we do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/response.h"
#include "mcp/calls.h"
#include "mcp/compat/compat.h"
#include "mcp/mcp_features.h"
#include "mcp/tools/tool.h"

enum { CALLS_RETRY_S = 1 };

/* `structured_json` NULL: there is nothing but the text. */
static void write_result(struct text *out, enum mcp_revision revision, const char *text,
                         const char *structured_json, bool is_error)
{
    struct json_writer writer = result_begin(revision, out);

    json_write_list(&writer, "content");
    content_write_text(&writer, NULL, text);
    json_write_end_list(&writer);
    if (structured_json && revision_has_structured(revision))
        json_write_raw(&writer, "structuredContent", structured_json);
    json_write_bool(&writer, "isError", is_error);
    result_end(&writer, revision, CACHE_NONE);
}

void tool_write_result(struct text *out, enum mcp_revision revision, const char *structured_json,
                       bool is_error)
{
    write_result(out, revision, structured_json, structured_json, is_error);
}

/* As the other server would have said it. */
static void write_compat(struct text *out, enum mcp_revision revision,
                         const struct compat_call *call, const char *result_json)
{
    struct text structured = { 0 };
    struct compat_reply reply = { .name = call->tool->name };
    struct json *given = NULL, *result = NULL;

    if (json_parse(call->given, strlen(call->given), &given, NULL) &&
        json_parse(result_json, strlen(result_json), &result, NULL)) {
        reply.given = given;
        reply.ending = outcome_read(result);
        reply.result = result;
        reply.writer = json_object_to(&structured);
        call->tool->compat->present(&reply);
        json_write_end_object(&reply.writer);
    }
    if (reply.text.used)
        write_result(out, revision, text_string(&reply.text), NULL, false);
    else
        write_result(out, revision, text_string(&structured),
                     structured.used ? text_string(&structured) : NULL, false);
    text_release(&reply.text);
    text_release(&structured);
    json_free(given);
    json_free(result);
}

static void write_failure(struct text *out, enum mcp_revision revision, const struct error *err)
{
    struct text structured = { 0 };
    struct json_writer writer = json_object_to(&structured);

    json_write_object(&writer, "error");
    error_write(err, NULL, &writer);
    error_write_message(err, &writer);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    tool_write_result(out, revision, text_string(&structured), true);
    text_release(&structured);
}

static void reply_failure(const struct mcp_request *request, const struct error *err)
{
    struct text out = { 0 };

    write_failure(&out, request->revision, err);
    mcp_reply(&request->to, text_string(&out));
    text_release(&out);
}

void tool_act(enum method method, struct hub_session *session, struct json_writer *params,
              reply_done *done, void *context)
{
    const struct request request = { .method = method, .text = params->out };
    struct service *service = session->mcp->parts.service;

    json_write_end_object(params);
    service->ops->call(service, session->session, &request, done ? done : reply_ignore, context);
    text_release(params->out);
}

void tool_act_on(enum method method, struct hub_session *session, const char *session_id)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    json_write_text(&writer, "session_id", session_id);
    tool_act(method, session, &writer, NULL, NULL);
}

/* The response of a call; it is gone afterwards, unless the service owes a reply, which comes too
 * late. */
static void reply_call(struct mcp_call *call, const struct reply *reply)
{
    struct mcp_batch *batch = call->to.batch;
    enum mcp_revision revision = call->revision;
    bool is_good = reply->err.code == ERROR_NONE;
    bool is_over = is_good && reply->kind == REPLY_FINAL;
    const char *json = is_over && DELIBERATE_FAULT(front_loses_result) ? "{}" : reply->json;
    struct text out = { 0 };

    if (is_over && call->has_opened)
        mcp_form_finish(call);
    else if (call->compat && call->compat->tool->hold_s)
        tool_act_on(METHOD_ask_withdraw, call->session, call->session_id);
    if (is_over && reply->session_id)
        delivery_add(batch ? &batch->deliveries : &call->to.stream->deliveries, call->session,
                     reply->session_id, !call->compat);
    if (is_good && call->compat && reply->json)
        write_compat(&out, revision, call->compat, reply->json);
    else if (is_good)
        tool_write_result(&out, revision, json, false);
    else
        write_failure(&out, revision, &reply->err);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

/* Another call of this client, made with the same words, may wait for the same ask. */
static bool is_wanted(const struct mcp_call *call)
{
    for (const struct mcp_call *other = call->to.mcp->calls; other; other = other->next) {
        if (other->to.stream && !other->is_away && other->session == call->session &&
            strcmp(other->session_id, call->session_id) == 0)
            return true;
    }
    return false;
}

void tool_detach(struct mcp_call *call)
{
    if (!call->session_id[0] || is_wanted(call))
        return;
    call->is_let_go = call->needs_session;
    tool_act_on(METHOD_ask_detach, call->session, call->session_id);
}

static void on_done(void *context, const struct reply *reply)
{
    struct mcp_call *call = context;
    struct mcp_stream *stream = call->to.stream;
    bool is_away = call->is_away, is_let_go = call->is_let_go;
    bool is_over = reply->kind == REPLY_FINAL;

    call->needs_session = call->is_let_go = false;
    if (reply->session_id) /* the reply may name the ask before an event does */
        text_put(call->session_id, sizeof call->session_id, reply->session_id);
    if (stream && !is_over && reply->err.code == ERROR_NONE && (is_away || is_let_go)) {
        if (!is_away) /* it was back before the service had said so */
            tool_wait_again(call);
        return; /* `pending` would not arrive: the call waits again when the client is back */
    }
    if (stream && reply->kind == REPLY_INPUT && mcp_form_need_input(call, reply->json))
        return;
    if (stream) {
        if (!resume_reply(call, reply))
            reply_call(call, reply);
    } else {
        if (is_over) /* not taken: it must not count as being on its way */
            tool_detach(call);
        call_end(call);
    }
    if (stream && is_away)
        delivery_return(stream->deliveries);
}

static void log_news(struct mcp_call *call, const char *event, const char *url, int64_t left_ms)
{
    struct text data = { 0 };
    struct json_writer writer = json_writer_to(&data);

    if (!call_logs(call, LEVEL_INFO))
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "event", event);
    json_write_text(&writer, "session_id", call->session_id);
    json_write_text_if(&writer, "url", url);
    if (left_ms >= 0)
        json_write_integer(&writer, "remaining_seconds", (left_ms + 999) / 1000);
    json_write_end_object(&writer);
    call_log(call, LEVEL_INFO, text_string(&data));
    text_release(&data);
}

/* The ask of this call has a name and a deadline. */
static void learn(struct mcp_call *call, const char *event, const struct json *params)
{
    int64_t left_ms = json_member_span(params, "remaining_ms", -1);

    if (left_ms >= 0)
        call->deadline_boot_ms = mcp_boot_ms(call->to.mcp) + left_ms;
    log_news(call, event, json_member_text(params, "url"), left_ms);
}

/* Where the person answers, and with what the answer is collected should this call not live to
 * bring it. */
static void tell_asked(struct mcp_call *call, const char *url)
{
    struct text message = { 0 };

    text_add_format(&message, "waiting for the user: session_id %s%s%s", call->session_id,
                    url ? ", " : "", url ? url : "");
    call_progress(call, 0, 0, text_string(&message));
    text_release(&message);
}

/* Asks of a hub are shown at addresses that end with their ids: thousands of them need not be kept.
 */
static void learn_url(struct mcp *mcp, const char *id, const char *url)
{
    size_t length = url ? strlen(url) : 0, id_length = strlen(id);
    bool is_of_id = length > id_length && strcmp(url + length - id_length, id) == 0;

    if (is_of_id && mcp->ask_url && strncmp(mcp->ask_url, url, length - id_length) == 0)
        return;
    free(mcp->ask_url);
    mcp->ask_url = is_of_id ? mem_text_n(url, length - id_length) : NULL;
}

static void take_created(struct mcp *mcp, const struct json *params)
{
    const char *tag = json_member_text(params, "tag");
    const char *id = json_member_text(params, "session_id");
    struct mcp_call *call = tag ? call_find(mcp, strtoll(tag, NULL, 10)) : NULL;

    if (!call || !id)
        return;
    text_put(call->session_id, sizeof call->session_id, id);
    takeover_send_stream(call);
    learn(call, "asked", params);
    learn_url(mcp, id, json_member_text(params, "url"));
    tell_asked(call, json_member_text(params, "url"));
    resume_learn(call, params);
    if (!call->to.stream || call->is_away)
        call_detach_soon(call);
}

static void take_retimed(struct mcp *mcp, const struct json *params)
{
    const char *id = json_member_text(params, "session_id");

    for (struct mcp_call *call = id ? mcp->calls : NULL; call; call = call->next) {
        if (strcmp(call->session_id, id) == 0)
            learn(call, "deadline", params);
    }
}

void tool_on_event(void *context, const char *method, const struct json *params)
{
    struct hub_session *session = context;

    if (strcmp(method, "ask/created") == 0)
        take_created(session->mcp, params);
    else if (strcmp(method, "ask/retimed") == 0)
        take_retimed(session->mcp, params);
    else if (strcmp(method, "client/hold") == 0)
        hold_take(session, params);
    else if (strcmp(method, "client/present") == 0)
        mcp_form_present(session, params);
    else if (strcmp(method, "client/withdraw") == 0)
        mcp_form_withdraw(session, params);
    else if (strncmp(method, "mine/", 5) == 0)
        asks_take_event(session, method, params);
}

void tool_refuse_busy(struct mcp_request *request)
{
    struct error err;

    error_set(&err, ERROR_rate_limited, "", "too many concurrent calls; wait for some to finish");
    err.retry_after_s = CALLS_RETRY_S;
    reply_failure(request, &err);
}

/* What it can show of forms, where it can show any. */
static void write_client(struct json_writer *writer, const struct mcp_call *call)
{
    if (call_has(call, ABILITY_FORM) || call_has(call, ABILITY_URL))
        mcp_form_write_client(writer, call);
}

/* Sends it to the service. If the service does not answer immediately, a person is awaited. */
static void send_to_hub(struct mcp_call *call, const struct request *request)
{
    struct mcp *mcp = call->to.mcp;
    struct service *service = mcp->parts.service;
    int64_t tag = call->tag;

    call->needs_session = true;
    hub_session_use(call->session);
    service->ops->call(service, call->session->session, request, on_done, call);
    run_settle(mcp, tag);
}

void tool_wait(struct mcp_call *call, int64_t wait_s, const struct tool_plan *plan)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    const struct request request = { .method = METHOD_ask_wait,
                                     .text = &params,
                                     .wait_ms = wait_s * 1000 };

    json_write_text(&writer, "session_id", call->session_id);
    json_write_integer(&writer, "wait_seconds", wait_s);
    if (plan && plan->wants_launch)
        json_write_text(&writer, "interface", interface_name(INTERFACE_TERMINAL));
    if (plan && plan->explanation.used)
        json_write_text_n(&writer, "explanation", plan->explanation.bytes, plan->explanation.used);
    /* a modern form has no end that it would outlive, and one form is enough */
    if (call->revision != REVISION_2026_07_28 && !call->has_returned)
        write_client(&writer, call);
    json_write_end_object(&writer);
    send_to_hub(call, &request);
    text_release(&params);
}

/* The client is back, with what is left of its patience. */
void tool_wait_again(struct mcp_call *call)
{
    int64_t left_ms = call->hold_until_boot_ms - mcp_boot_ms(call->to.mcp);

    tool_wait(call, left_ms > 0 ? left_ms / 1000 : 0, NULL);
}

static void submit(struct mcp_call *call, const struct tool *tool,
                   const struct mcp_request *request, const struct tool_plan *plan, int64_t hold_s,
                   const char *state)
{
    char tag[TEXT_INTEGER_BYTES];
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    const struct request wanted = { .method = METHOD_ask_create,
                                    .text = &params,
                                    .wait_ms = hold_s * 1000,
                                    .tag = text_of_integer(call->tag, tag),
                                    .is_bound = state };

    json_write_text(&writer, "tool", tool->name);
    json_write_value(&writer, "arguments", plan->arguments);
    json_write_text(&writer, "tag", wanted.tag);
    json_write_integer(&writer, "wait_seconds", hold_s);
    write_client(&writer, call);
    resume_write(call, state, &writer);
    if (state)
        mcp_form_write_returned(&writer, request->params);
    json_write_end_object(&writer);
    send_to_hub(call, &wanted);
    text_release(&params);
}

/* `theirs` is the tool of another server that was called, with `given`; NULL: it is ours. */
static void ask(struct mcp_request *request, const struct tool *tool, const struct tool_plan *plan,
                const struct tool *theirs, const struct json *given)
{
    struct mcp *mcp = request->to.mcp;
    struct hub_session *session =
        mcp->call_count < mcp->parts.max_calls ? hub_session_get(request) : NULL;
    struct mcp_call *call;
    const char *state;
    int64_t hold_s;

    if (!session) {
        tool_refuse_busy(request);
        return;
    }
    if (!resume_read(request, plan, &state))
        return;
    call = call_begin(request, session);
    hold_s = theirs && theirs->hold_s ? theirs->hold_s : hold_limit_s(call);
    if (plan->action == TOOL_COLLECTS && plan->wait_s >= 0 && plan->wait_s < hold_s)
        hold_s = plan->wait_s;
    if (theirs)
        call_set_compat(call, theirs, given);
    hold_begin(call, hold_s);
    if (plan->action == TOOL_ASKS) {
        call->tool = tool->ask;
        takeover_expect(call);
        submit(call, tool, request, plan, hold_s, state);
    } else {
        memcpy(call->session_id, plan->session_id, sizeof call->session_id);
        if (hold_s > 0)
            takeover_send_stream(call);
        tool_wait(call, hold_s, plan);
    }
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
    struct reply reply = { .kind = REPLY_PENDING, .session_id = call->session_id };

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

static void run(struct mcp_request *request, const struct tool *tool, const struct json *arguments)
{
    struct mcp *mcp = request->to.mcp;
    struct mcp_call *call;
    int64_t tag;

    if (mcp->call_count >= mcp->parts.max_calls) {
        tool_refuse_busy(request);
        return;
    }
    call = call_begin(request, NULL);
    tag = call->tag;
    if (request->revision == REVISION_2026_07_28 && !input_read(request, arguments, call))
        return;
    tool->run(tool, call, arguments);
    run_settle(mcp, tag);
}

static void refuse_tool(struct mcp_request *request, const char *name, size_t length)
{
    char shown[ARGUMENT_QUOTE_BYTES], message[ARGUMENT_QUOTE_BYTES + 64];

    arguments_quote(name, length, shown);
    snprintf(message, sizeof message, "there is no tool \"%s\"; tools/list names them", shown);
    mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, message, NULL);
}

static void call_ours(struct mcp_request *request, const struct tool *tool,
                      const struct json *arguments, const struct tool *theirs,
                      const struct json *given)
{
    struct tool_plan plan = { 0 };
    struct text out = { 0 };
    struct error err;

    if (tool->run) {
        run(request, tool, arguments);
    } else if ((tool->ask &&
                !ask_tool_allows(tool->ask, request->to.mcp->parts.is_sub_agent, &err)) ||
               !tool_plan(tool, arguments, &plan, &err)) {
        reply_failure(request, &err);
    } else if (plan.action == TOOL_ANSWERED) {
        tool_write_result(&out, request->revision, text_string(&plan.result), false);
        mcp_reply(&request->to, text_string(&out));
    } else {
        ask(request, tool, &plan, theirs, given);
    }
    text_release(&out);
    text_release(&plan.result);
    text_release(&plan.explanation);
    json_free(plan.arguments);
}

static void call_theirs(struct mcp_request *request, const struct tool *tool,
                        const struct json *arguments)
{
    struct text ours = { 0 };
    struct json *translated = NULL, *owner;
    struct error err;
    struct compat_ask ask = { .name = tool->name,
                              .writer = json_object_to(&ours),
                              .err = &err,
                              .is_gated = request->to.mcp->parts.is_gated,
                              .context = request->to.mcp->parts.context };
    bool is_good;

    owner = arguments_without_absent(tool->ask ? tool->ask->arguments : NULL,
                                     tool->ask ? tool->ask->argument_count : 0, arguments);
    ask.given = owner ? owner : arguments;
    is_good = tool->compat->translate(&ask);
    json_write_end_object(&ask.writer);
    if (!is_good || (ask.tool && !json_parse(text_string(&ours), ours.used, &translated, &err)))
        reply_failure(request, &err);
    else if (ask.tool)
        call_ours(request, tool_find(tool_rows, ask.tool, strlen(ask.tool)), translated, tool,
                  ask.given);
    else
        call_ours(request, tool, ask.given, NULL, NULL);
    json_free(translated);
    json_free(owner);
    text_release(&ours);
}

void tool_call(struct mcp_request *request)
{
    const struct json *named = json_member(request->params, "name");
    const struct json *arguments = json_member(request->params, "arguments");
    const char *name = json_text(named);
    const struct tool *tool =
        name ? tool_find(request->to.mcp->parts.features->tools, name, json_length(named)) : NULL;
    struct json *empty = NULL;

    if (!tool) {
        refuse_tool(request, name ? name : "", name ? json_length(named) : 0);
        return;
    }
    if (arguments && json_kind(arguments) != KIND_OBJECT) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, "arguments must be an object", NULL);
        return;
    }
    if (!arguments && json_parse("{}", 2, &empty, NULL))
        arguments = empty;
    if (tool->compat)
        call_theirs(request, tool, arguments);
    else
        call_ours(request, tool, arguments, NULL, NULL);
    json_free(empty);
}
