/*
 * hold.c - calls that are held open: as long as the client has patience, kept alive by progress.
 * The desk answers `pending` when the hold limit is reached, so a slow person is never a failed
 * call (R5.7); where the desk itself hangs, we do.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/patience.h"
#include "mcp/inside.h"

static const int64_t PROGRESS_EVERY_MS = 15000;
static const int64_t DESK_GRACE_MS = 2000; /* to say `pending` by itself */

/* What is configured, or less where the client is known to give up earlier. */
int64_t hold_limit_s(const struct mcp_visit *visit)
{
    const struct mcp_parts *parts = &visit->mcp->parts;
    int64_t limit_s = parts->hold_limit_s(parts->context, visit->name);
    int64_t learnt_s = (visit->hold_ms + 999) / 1000;

    return learnt_s > 0 && learnt_s < limit_s ? learnt_s : limit_s;
}

static bool is_sooner(int64_t boot_ms, int64_t than)
{
    return boot_ms != 0 && (than < 0 || boot_ms < than);
}

static void arm(struct mcp *mcp)
{
    int64_t next = -1;

    for (const struct mcp_call *call = mcp->calls; call; call = call->next) {
        if (is_sooner(call->next_progress_boot_ms, next))
            next = call->next_progress_boot_ms;
        if (is_sooner(call->patience_boot_ms, next))
            next = call->patience_boot_ms;
    }
    mcp->parts.clock->wake_at(mcp->parts.clock, next);
}

static void want_progress(struct mcp_call *call, const struct json *token)
{
    bool is_token = json_kind(token) == KIND_INTEGER || json_kind(token) == KIND_TEXT;

    if (!is_token || call->batch) /* 0 is a token too */
        return;
    call->token_json = json_encode(token);
    call->next_progress_boot_ms = call->started_boot_ms + PROGRESS_EVERY_MS;
}

void hold_begin(struct mcp_call *call, int64_t hold_s, const struct json *progress_token)
{
    struct clock *clock = call->mcp->parts.clock;

    call->started_boot_ms = clock->boot_ms(clock);
    call->patience_boot_ms = call->started_boot_ms + hold_s * 1000 + DESK_GRACE_MS;
    want_progress(call, progress_token);
    arm(call->mcp);
}

void hold_end(struct mcp_call *call)
{
    call->next_progress_boot_ms = call->patience_boot_ms = 0;
}

/* This client gives up earlier than its limit says: calls that are open already must be answered
 * in time too, be the desk there or not. */
void hold_take(struct mcp_visit *visit, const struct json *params)
{
    visit->hold_ms = json_member_integer(params, "hold_ms", 0);
    for (struct mcp_call *call = visit->mcp->calls; call; call = call->next) {
        int64_t end_boot_ms = call->started_boot_ms + visit->hold_ms + DESK_GRACE_MS;

        if (call->visit == visit && visit->hold_ms > 0 && end_boot_ms < call->patience_boot_ms)
            call->patience_boot_ms = end_boot_ms;
    }
    arm(visit->mcp);
}

/* After how long a client gives up teaches how long its calls may be held. */
void hold_report_cut_off(const struct mcp_call *call, const char *reason)
{
    struct clock *clock = call->mcp->parts.clock;
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "held_ms", clock->boot_ms(clock) - call->started_boot_ms);
    json_write_bool_if(&writer, "timed_out", patience_is_time_up(reason));
    json_write_end_object(&writer);
    tool_act(call->mcp->parts.desk->ops->cut_off, call->visit, &params, NULL, NULL);
    text_release(&params);
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

void hold_on_time(struct mcp *mcp)
{
    int64_t now = mcp->parts.clock->boot_ms(mcp->parts.clock);

    for (struct mcp_call *call = mcp->calls; call; call = call->next) {
        if (call->patience_boot_ms && call->patience_boot_ms <= now)
            tool_reply_pending(call);
        if (call->next_progress_boot_ms && call->next_progress_boot_ms <= now) {
            send_progress(call, now);
            call->next_progress_boot_ms = now + PROGRESS_EVERY_MS;
        }
    }
    arm(mcp);
}
