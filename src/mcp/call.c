/*
 * call.c - the calls under way: found by their tag, cancelled by their id, given up with their
 * stream, kept alive by progress, and answered by us where the desk hangs.
 */
#include "mcp/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"

static const int64_t PROGRESS_EVERY_MS = 15000;
static const int64_t DESK_GRACE_MS = 2000; /* to say `pending` by itself */
/* Wake-ups are this far apart: thousands of calls cost a look each, not a wake-up each. */
static const int64_t WAKE_STEP_MS = 250;

void call_wake_at(struct mcp *mcp, int64_t boot_ms)
{
    boot_ms = (boot_ms + WAKE_STEP_MS - 1) / WAKE_STEP_MS * WAKE_STEP_MS;
    if (mcp->wake_boot_ms && mcp->wake_boot_ms <= boot_ms)
        return;
    mcp->wake_boot_ms = boot_ms;
    mcp->parts.clock->wake_at(mcp->parts.clock, boot_ms);
}

static void want_progress(struct mcp_call *call, const struct json *token)
{
    bool is_token = json_kind(token) == KIND_INTEGER || json_kind(token) == KIND_TEXT;

    if (is_token && !call->to.batch) /* 0 is a token too */
        call->token_json = json_encode(token);
}

struct mcp_call *call_begin(struct mcp_request *request, struct mcp_visit *visit)
{
    struct mcp *mcp = request->to.mcp;
    struct mcp_call *call = mem_new(sizeof *call);

    call->to = request->to;
    call->to.id_json = mem_text(request->to.id_json);
    call->to.stream->call_count++;
    call->visit = visit;
    if (visit)
        visit->uses++;
    call->revision = request->revision;
    call->abilities = request->abilities;
    call->tag = ++mcp->next_tag;
    call->started_boot_ms = mcp->parts.clock->boot_ms(mcp->parts.clock);
    want_progress(call, json_member(json_member(request->params, "_meta"), "progressToken"));
    call->next = mcp->calls;
    if (call->next)
        call->next->previous = call;
    mcp->calls = call;
    mcp->call_count++;
    table_insert(&mcp->by_tag, &call->by_tag);
    return call;
}

struct mcp_call *call_find(struct mcp *mcp, int64_t tag)
{
    struct table_link *link = table_find(&mcp->by_tag, &tag);

    return link ? TABLE_THING(mcp_call, by_tag, link) : NULL;
}

/* Nobody waits for its response any more; the desk may still owe its reply. */
static void leave_stream(struct mcp_call *call)
{
    if (call->to.stream)
        call->to.stream->call_count--;
    call->to.stream = NULL;
    call->to.batch = NULL;
    call->next_progress_boot_ms = call->hold_until_boot_ms = 0;
}

void call_end(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;

    question_drop_of(call);
    leave_stream(call);
    if (call->previous)
        call->previous->next = call->next;
    else
        mcp->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    table_remove(&mcp->by_tag, &call->by_tag);
    mcp->call_count--;
    if (call->visit)
        call->visit->uses--;
    json_free(call->responses);
    free(call->to.id_json);
    free(call->token_json);
    free(call->binding);
    free(call->state);
    free(call);
}

/* What the desk owes a reply for stays until that comes; the others are gone. */
static void abandon(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;
    int64_t tag = call->tag;

    question_drop_of(call);
    leave_stream(call);
    if (call->gone)
        call->gone(call->context);
    call->gone = NULL;
    if (call->is_at_desk)
        tool_detach(call); /* which may be the end of it */
    call = call_find(mcp, tag);
    if (call && !call->is_at_desk)
        call_end(call);
}

/* The client gave up: no response any more, the ask stays and says that nobody waits. An id we do
 * not know is a stray, which clients were seen to send. */
void call_cancel(struct mcp *mcp, const struct json *request_id)
{
    char *id_json = request_id ? json_encode(request_id) : NULL;

    for (struct mcp_call *call = mcp->calls; call && id_json; call = call->next) {
        struct mcp_to to = call->to;

        if (!to.stream || strcmp(to.id_json, id_json) != 0)
            continue;
        abandon(call);
        mcp_skip(&to);
        break;
    }
    free(id_json);
}

/* One that answers on this stream; giving up one may be the end of others, so who goes through
 * them begins anew each time. */
static struct mcp_call *find_on(struct mcp *mcp, const struct mcp_stream *stream, bool is_away)
{
    struct mcp_call *call = stream->call_count ? mcp->calls : NULL;

    while (call && (call->to.stream != stream || call->is_away != is_away))
        call = call->next;
    return call;
}

static void drop_calls(struct mcp *mcp, struct mcp_stream *stream, bool is_away)
{
    struct mcp_call *call;

    while ((call = find_on(mcp, stream, is_away))) {
        if (call->to.batch)
            mcp_drop_batch(call->to.batch);
        abandon(call);
    }
}

void mcp_drop(struct mcp *mcp, struct mcp_stream *stream)
{
    drop_calls(mcp, stream, false);
    drop_calls(mcp, stream, true);
    delivery_return(stream->deliveries);
    delivery_drop(&stream->deliveries);
}

void mcp_pause(struct mcp *mcp, struct mcp_stream *stream)
{
    struct mcp_call *call;

    while ((call = find_on(mcp, stream, false))) {
        call->is_away = true;
        if (call->is_at_desk)
            tool_detach(call);
    }
    delivery_return(stream->deliveries);
}

void mcp_resume(struct mcp *mcp, struct mcp_stream *stream)
{
    struct mcp_call *call;

    while ((call = find_on(mcp, stream, true))) {
        call->is_away = false;
        if (call->visit && !call->is_at_desk)
            tool_wait_again(call);
    }
}

void call_drop_all(struct mcp *mcp)
{
    while (mcp->calls) {
        struct mcp_call *call = mcp->calls;

        if (call->to.batch)
            mcp_drop_batch(call->to.batch);
        if (call->gone)
            call->gone(call->context);
        call_end(call);
    }
}

void mcp_dismiss(struct mcp *mcp)
{
    struct mcp_call *next;

    for (struct mcp_call *call = mcp->calls; call; call = next) {
        next = call->next;
        if (call->gone)
            call->gone(call->context);
        call->gone = NULL;
        if (call->to.stream)
            tool_reply_without_desk(call);
    }
}

/* As tools see it ---------------------------------------------------------------------------- */

bool call_has(const struct mcp_call *call, unsigned abilities)
{
    return (call->abilities & abilities) == abilities;
}

enum mcp_revision call_revision(const struct mcp_call *call)
{
    return call->revision;
}

const struct json *call_responses(const struct mcp_call *call)
{
    return call->responses;
}

const char *call_state(const struct mcp_call *call)
{
    return call->state;
}

void call_on_gone(struct mcp_call *call, void (*gone)(void *context), void *context)
{
    call->gone = gone;
    call->context = context;
}

struct mcp_to call_let_go(struct mcp_call *call)
{
    struct mcp_to to = call->to;

    question_drop_of(call);
    call->to.id_json = NULL;
    leave_stream(call);
    if (!call->is_at_desk)
        call_end(call);
    return to;
}

void call_reply_result(struct mcp_call *call, const char *result_json)
{
    struct mcp_to to = call_let_go(call);

    mcp_reply(&to, result_json);
    free(to.id_json);
}

void call_reply(struct mcp_call *call, const char *structured_json, bool is_error)
{
    struct text out = { 0 };

    tool_write_result(&out, call->revision, structured_json, is_error);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

void call_reply_error(struct mcp_call *call, int code, const char *message, const char *data_json)
{
    struct mcp_to to = call_let_go(call);

    mcp_reply_error(&to, code, message, data_json);
    free(to.id_json);
}

void call_notify(struct mcp_call *call, const char *method, const char *params_json)
{
    if (call->to.stream)
        mcp_notify(call->to.stream, method, params_json);
}

void call_part(struct mcp_call *call, int retry_ms)
{
    struct mcp_stream *stream = call->to.stream;

    if (stream && stream->ops->part)
        stream->ops->part(stream, retry_ms);
}

/* Time --------------------------------------------------------------------------------------- */

void call_progress(struct mcp_call *call, int64_t progress, int64_t total, const char *message)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call->token_json || !call->to.stream)
        return;
    json_write_object(&writer, NULL);
    json_write_raw(&writer, "progressToken", call->token_json);
    json_write_integer(&writer, "progress", progress);
    if (total)
        json_write_integer(&writer, "total", total);
    if (revision_has_annotations(call->revision))
        json_write_text_if(&writer, "message", message);
    json_write_end_object(&writer);
    mcp_notify(call->to.stream, "notifications/progress", text_string(&params));
    text_release(&params);
}

/* How long the person has had, in seconds, and how long is left. */
static void tell_waiting(struct mcp_call *call, int64_t now)
{
    int64_t waited_s = (now - call->started_boot_ms) / 1000;
    int64_t left_s = (call->deadline_boot_ms - now) / 1000;
    char message[96];

    if (waited_s <= call->last_progress)
        waited_s = call->last_progress + 1; /* it must rise */
    call->last_progress = waited_s;
    if (call->deadline_boot_ms && left_s >= 0)
        snprintf(message, sizeof message, "waiting for the person, %lld:%02lld left",
                 (long long)left_s / 60, (long long)left_s % 60);
    else
        snprintf(message, sizeof message, "waiting for the person");
    call_progress(call, waited_s, 0, message);
}

void call_hold(struct mcp_call *call, int64_t hold_ms)
{
    struct mcp *mcp = call->to.mcp;
    int64_t now = mcp->parts.clock->boot_ms(mcp->parts.clock);

    call->hold_until_boot_ms = now + hold_ms;
    if (call->token_json) {
        call->next_progress_boot_ms = now + PROGRESS_EVERY_MS;
        call_wake_at(mcp, call->next_progress_boot_ms);
    }
    call_wake_at(mcp, call->hold_until_boot_ms + DESK_GRACE_MS);
}

/* What is due of one call. Returns when it wants the next look; 0: never. */
static int64_t look_at(struct mcp_call *call, int64_t now)
{
    int64_t patience = call->hold_until_boot_ms + DESK_GRACE_MS;

    if (!call->hold_until_boot_ms || call->is_away || !call->to.stream)
        return 0;
    if (patience <= now) {
        tool_reply_without_desk(call);
        return 0;
    }
    if (!call->next_progress_boot_ms)
        return patience;
    if (call->next_progress_boot_ms <= now) {
        tell_waiting(call, now);
        call->next_progress_boot_ms = now + PROGRESS_EVERY_MS;
    }
    return call->next_progress_boot_ms < patience ? call->next_progress_boot_ms : patience;
}

void call_detach_soon(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;

    call->detaches_soon = true;
    call_wake_at(mcp, mcp->parts.clock->boot_ms(mcp->parts.clock) + 1);
}

/* Detaching one may be the end of others, so who goes through them begins anew each time. */
static void detach_due(struct mcp *mcp)
{
    struct mcp_call *call = mcp->calls;

    while (call) {
        bool is_due = call->detaches_soon;

        call->detaches_soon = false;
        if (is_due && (!call->to.stream || call->is_away))
            tool_detach(call);
        call = is_due ? mcp->calls : call->next;
    }
}

void call_on_time(struct mcp *mcp)
{
    int64_t now = mcp->parts.clock->boot_ms(mcp->parts.clock), soonest = 0;
    struct mcp_call *next;

    mcp->wake_boot_ms = 0;
    detach_due(mcp);
    question_on_time(mcp, now);
    for (struct mcp_call *call = mcp->calls; call; call = next) {
        int64_t wanted;

        next = call->next;
        wanted = look_at(call, now);
        if (wanted && (!soonest || wanted < soonest))
            soonest = wanted;
    }
    if (soonest)
        call_wake_at(mcp, soonest);
    else if (!mcp->wake_boot_ms)
        mcp->parts.clock->wake_at(mcp->parts.clock, -1);
}
