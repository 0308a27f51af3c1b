/*
 * hold.c - calls that are held open: as long as the client has patience, kept alive by progress.
 * The service answers `pending` when the hold limit is reached, so a slow person is never a failed
 * call (R5.7); where the service itself hangs, we do.
 *
 * A person may take longer than a client waits for one response. A modern client is then told to
 * come back: an `input_required` result with nothing but the state that the service sealed for it.
 * It makes the same call again with that, by itself, and waits on for the same ask. Source: MCP
 * 2026-07-28, basic/patterns/mrtr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/ask.h"
#include "mcp/calls.h"
#include "mcp/tools/tool.h"

static const int64_t PROGRESS_EVERY_MS = 10000;
static const int64_t HOLD_GRACE_MS = 2000; /* to say `pending` by itself */
/* Wake-ups are this far apart: thousands of calls cost a look each, not a wake-up each. */
static const int64_t WAKE_STEP_MS = 250;

/* What is configured, or less where the client is known to give up earlier: then its progress
 * doesn't keep its calls alive either. */
int64_t hold_limit_s(const struct mcp_call *call)
{
    const struct hub_session *session = call->session;
    const struct mcp_parts *parts = &session->mcp->parts;
    int64_t learnt_s = (session->hold_ms + 999) / 1000;
    bool has_progress = call->progress && learnt_s == 0;
    int64_t limit_s = parts->hold_limit_s(parts->context, session->name, has_progress);

    return learnt_s > 0 && learnt_s < limit_s ? learnt_s : limit_s;
}

void hold_wake_at(struct mcp *mcp, int64_t boot_ms)
{
    boot_ms = (boot_ms + WAKE_STEP_MS - 1) / WAKE_STEP_MS * WAKE_STEP_MS;
    if (mcp->wake_boot_ms && mcp->wake_boot_ms <= boot_ms)
        return;
    mcp->wake_boot_ms = boot_ms;
    mcp->parts.clock->wake_at(mcp->parts.clock, boot_ms);
}

void hold_begin(struct mcp_call *call, int64_t hold_s)
{
    hold_until(call, call->started_boot_ms + hold_s * 1000);
    if (call->progress) {
        call->progress->next_boot_ms = mcp_boot_ms(call->to.mcp) + PROGRESS_EVERY_MS;
        hold_wake_at(call->to.mcp, call->progress->next_boot_ms);
    }
}

/* A call that another server began may have been over before this machine was on. */
void hold_until(struct mcp_call *call, int64_t boot_ms)
{
    call->hold_until_boot_ms = boot_ms > 0 ? boot_ms : 1;
    hold_wake_at(call->to.mcp, call->hold_until_boot_ms + HOLD_GRACE_MS);
}

void hold_end(struct mcp_call *call)
{
    call->hold_until_boot_ms = 0;
    if (call->progress)
        call->progress->next_boot_ms = 0;
}

/* This client gives up earlier than its limit says: calls that are open already must be answered
 * in time too, be the service there or not. */
void hold_take(struct hub_session *session, const struct json *params)
{
    session->hold_ms = json_member_span(params, "hold_ms", 0);
    for (struct mcp_call *call = session->mcp->calls; call; call = call->next) {
        int64_t end_boot_ms = call->started_boot_ms + session->hold_ms;

        if (call->session == session && session->hold_ms > 0 &&
            end_boot_ms < call->hold_until_boot_ms)
            hold_until(call, end_boot_ms);
    }
}

/* After how long a client gives up teaches how long its calls may be held. */
void hold_report_cut_off(const struct mcp_call *call, const char *reason)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call->session || call->work) /* only what waits for a person teaches anything */
        return;
    json_write_object(&writer, NULL);
    json_write_integer(&writer, "held_ms", mcp_boot_ms(call->to.mcp) - call->started_boot_ms);
    json_write_bool_if(&writer, "timed_out", client_timeout_is_time_up(reason));
    tool_act(METHOD_client_cut_off, call->session, &writer, NULL, NULL);
}

/* How long the person has had, in seconds, and how long is left. */
static void tell_waiting(struct mcp_call *call, int64_t now)
{
    int64_t waited_s = (now - call->started_boot_ms) / 1000;
    int64_t left_s = (call->deadline_boot_ms - now) / 1000;
    char message[96];

    if (waited_s <= call->progress->last)
        waited_s = call->progress->last + 1; /* it must rise */
    call->progress->last = waited_s;
    if (call->deadline_boot_ms && left_s >= 0)
        snprintf(message, sizeof message, "waiting for the user (%lld:%02lld left)",
                 (long long)left_s / 60, (long long)left_s % 60);
    else
        snprintf(message, sizeof message, "waiting for the user");
    call_progress(call, waited_s, 0, message);
}

/* What is due of one call. Returns when it wants the next look; 0: never. */
static int64_t look_at(struct mcp_call *call, int64_t now)
{
    int64_t limit = call->hold_until_boot_ms + HOLD_GRACE_MS;
    struct call_progress *progress = call->progress;

    if (!call->hold_until_boot_ms || call->is_away || !call->to.stream)
        return 0;
    if (limit <= now) {
        tool_reply_pending(call);
        return 0;
    }
    if (!progress || !progress->next_boot_ms)
        return limit;
    if (progress->next_boot_ms <= now) {
        tell_waiting(call, now);
        progress->next_boot_ms = now + PROGRESS_EVERY_MS;
    }
    return progress->next_boot_ms < limit ? progress->next_boot_ms : limit;
}

void hold_on_time(struct mcp *mcp)
{
    int64_t now = mcp_boot_ms(mcp), soonest = 0;
    struct mcp_call *next;

    mcp->wake_boot_ms = 0;
    call_detach_due(mcp);
    for (struct mcp_call *call = mcp->calls; call; call = next) {
        int64_t wanted;

        next = call->next;
        wanted = look_at(call, now);
        if (wanted && (!soonest || wanted < soonest))
            soonest = wanted;
    }
    if (soonest)
        hold_wake_at(mcp, soonest);
    else if (!mcp->wake_boot_ms)
        mcp->parts.clock->wake_at(mcp->parts.clock, -1);
}

/* One text for whatever is wrong with it: which it is helps only who tries states out. */
static const char bad_state[] = "this requestState is not ours, was altered, belongs to another "
                                "call or is too old; call again without it";

static bool are_responses(const struct mcp_request *request)
{
    const struct json *responses = json_member(request->params, "inputResponses");

    return request->revision != REVISION_2026_07_28 || !responses ||
           json_kind(responses) == KIND_OBJECT;
}

bool resume_read(struct mcp_request *request, const struct tool_plan *plan, const char **ret_state)
{
    const struct json *state = json_member(request->params, "requestState");
    const char *text = json_text(state);

    *ret_state = NULL;
    if (!are_responses(request)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, "inputResponses must be an object",
                        NULL);
        return false;
    }
    if (!state || request->revision != REVISION_2026_07_28)
        return true;
    if (plan->action != TOOL_ASKS || !text || strlen(text) != json_length(state)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, bad_state, NULL);
        return false;
    }
    *ret_state = text;
    return true;
}

void resume_write(const struct mcp_call *call, const char *state, struct json_writer *writer)
{
    json_write_bool_if(writer, "comes_back", call->revision == REVISION_2026_07_28);
    if (state) /* an empty one is a bad one, and none at all another call */
        json_write_text(writer, "state", state);
}

void resume_learn(struct mcp_call *call, const struct json *params)
{
    const char *state = json_member_text(params, "state");

    if (!state)
        return;
    free(call->resume);
    call->resume = mem_text(state);
}

bool resume_reply(struct mcp_call *call, const struct reply *reply)
{
    if (reply->err.code == ERROR_bad_format && strcmp(reply->err.path, "/state") == 0) {
        call_reply_error(call, JSONRPC_INVALID_PARAMS, bad_state);
        return true;
    }
    /* what the agent must read (a terminal's command, what the person asks back) it is told */
    if (!call->resume || reply->err.code != ERROR_NONE || reply->kind != REPLY_PENDING)
        return false;
    input_reply(call, NULL, call->resume);
    return true;
}
