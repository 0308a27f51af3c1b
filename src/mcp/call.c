/*
 * call.c - the calls under way: found by their tag, cancelled by their id, given up with their
 * stream; and as tools see them. Requests beside tools/call that may be answered later are calls
 * too: they can be cancelled, may need something of their client, and end with their stream.
 */
#include "mcp/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"
#include "mcp/calls.h"

enum { CANCELLED_ID_BYTES = 256 };

static void want_progress(struct mcp_call *call, const struct json *token)
{
    bool is_token = json_kind(token) == KIND_INTEGER || json_kind(token) == KIND_TEXT;

    char *token_json;

    if (!is_token || call->to.batch) /* 0 is a token too */
        return;
    token_json = json_encode(token);
    call->progress = mem_new(sizeof *call->progress + strlen(token_json) + 1);
    memcpy(call->progress->token_json, token_json, strlen(token_json) + 1);
    free(token_json);
}

struct call_work *call_work(struct mcp_call *call)
{
    if (!call->work)
        call->work = mem_new(sizeof *call->work);
    return call->work;
}

static void free_work(struct call_work *work)
{
    if (!work)
        return;
    json_free(work->responses);
    free(work->binding);
    free(work->state);
    free(work->subject);
    free(work);
}

/* Tells the code that works on this call that the client no longer wants the answer. */
static void tell_gone(struct mcp_call *call)
{
    void (*gone)(void *context) = call->work ? call->work->gone : NULL;

    if (!gone)
        return;
    call->work->gone = NULL;
    gone(call->work->context);
}

static void remember_cancelled(struct mcp *mcp, const char *id_json)
{
    char **place = &mcp->cancelled[mcp->cancelled_next++ % CANCELLED_KEPT];

    free(*place);
    *place = mem_text(id_json);
}

static void forget_cancelled(struct mcp *mcp, const char *id_json)
{
    for (size_t i = 0; i < CANCELLED_KEPT; i++) {
        if (mcp->cancelled[i] && strcmp(mcp->cancelled[i], id_json) == 0) {
            free(mcp->cancelled[i]);
            mcp->cancelled[i] = NULL;
        }
    }
}

bool call_was_cancelled(const struct mcp *mcp, const char *id_json)
{
    for (size_t i = 0; i < CANCELLED_KEPT; i++) {
        if (mcp->cancelled[i] && strcmp(mcp->cancelled[i], id_json) == 0)
            return true;
    }
    return false;
}

static size_t call_bytes(size_t id_bytes)
{
    return offsetof(struct mcp_call, id_json) + id_bytes;
}

struct mcp_call *call_begin(struct mcp_request *request, struct hub_session *session)
{
    struct mcp *mcp = request->to.mcp;
    size_t id_bytes = strlen(request->to.id_json) + 1;
    struct mcp_call *call = pool_new(call_bytes(id_bytes));

    call->to = request->to;
    memcpy(call->id_json, request->to.id_json, id_bytes);
    call->to.id_json = call->id_json;
    forget_cancelled(mcp, call->id_json); /* a client may use an id again */
    call->to.stream->call_count++;
    call->session = session;
    if (session)
        session->uses++;
    call->revision = (uint8_t)request->revision;
    call->abilities = (uint8_t)request->abilities;
    call->level = (uint8_t)request->level;
    call->tag = ++mcp->next_tag;
    call->started_boot_ms = mcp_boot_ms(mcp);
    want_progress(call, json_member(json_member(request->params, "_meta"), "progressToken"));
    LIST_ADD(mcp->calls, call);
    mcp->call_count++;
    table_insert(&mcp->by_tag, &call->by_tag);
    return call;
}

void call_set_compat(struct mcp_call *call, const struct tool *tool, const struct json *given)
{
    call->compat = mem_new(sizeof *call->compat);
    *call->compat = (struct compat_call){ tool, json_encode(given) };
}

struct mcp_call *call_find(struct mcp *mcp, int64_t tag)
{
    struct table_link *link = table_find(&mcp->by_tag, &tag);

    return link ? TABLE_THING(mcp_call, by_tag, link) : NULL;
}

/* The client no longer waits for the response; the service may still owe its reply. */
static void leave_stream(struct mcp_call *call)
{
    if (call->to.stream) {
        call->to.stream->call_count--;
        if (call->to.stream->call == call)
            call->to.stream->call = NULL;
    }
    call->to.stream = NULL;
    call->to.batch = NULL;
    hold_end(call);
}

static void drop_questions(struct mcp_call *call)
{
    if (call->to.mcp->questions)
        question_drop_of(call);
}

void call_end(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;

    drop_questions(call);
    leave_stream(call);
    LIST_REMOVE(mcp->calls, call);
    table_remove(&mcp->by_tag, &call->by_tag);
    mcp->call_count--;
    if (call->session)
        call->session->uses--;
    free_work(call->work);
    free(call->progress);
    free(call->resume);
    if (call->compat)
        free(call->compat->given);
    free(call->compat);
    pool_free(call, call_bytes(strlen(call->id_json) + 1));
}

/* What the service owes a reply for stays until that comes; the others are gone. */
static void abandon(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;
    int64_t tag = call->tag;

    drop_questions(call);
    leave_stream(call);
    tell_gone(call);
    if (call->needs_session)
        tool_detach(call); /* which may be the end of it */
    call = call_find(mcp, tag);
    if (call && !call->needs_session)
        call_end(call);
}

/* The client gave up: it gets no response. The ask stays and says that no client waits. An unknown
 * id is a stray; clients were seen to send them. */
static bool cancel(struct mcp *mcp, const char *id_json, const char *reason)
{
    for (struct mcp_call *call = mcp->calls; call; call = call->next) {
        struct mcp_to to = call->to;

        if (!to.stream || strcmp(to.id_json, id_json) != 0)
            continue;
        hold_report_cut_off(call, reason);
        abandon(call);
        mcp_skip(&to);
        return true;
    }
    return false;
}

/* If the request is not ours, another server of this session may have it. That server is told, or
 * its answer would go to no one. */
void call_cancel(struct mcp *mcp, const struct json *request_id, const char *reason)
{
    char *id_json = request_id ? json_encode(request_id) : NULL;
    char *shortened = reason ? hub_session_short_name(reason) : mem_text("");

    if (id_json && strlen(id_json) <= CANCELLED_ID_BYTES)
        remember_cancelled(mcp, id_json);
    if (id_json && !cancel(mcp, id_json, reason) && strlen(id_json) <= CANCELLED_ID_BYTES)
        session_state(mcp, NOTE_CANCELLED, id_json, shortened);
    free(shortened);
    free(id_json);
}

void call_take_state(struct mcp *mcp, const char *id_json, const char *reason)
{
    if (!reason)
        return;
    remember_cancelled(mcp, id_json);
    cancel(mcp, id_json, reason);
}

/* The first call that answers on this stream. Giving up one call may end others, so the caller
 * starts over after each. */
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
    if (mcp->standing == stream)
        mcp->standing = NULL;
    delivery_return(stream->deliveries);
    delivery_drop(&stream->deliveries);
}

void mcp_give_up(struct mcp *mcp, struct mcp_stream *stream)
{
    const struct mcp_call *call = stream->call_count ? mcp->calls : NULL;

    for (; call; call = call->next) {
        if (call->to.stream == stream)
            hold_report_cut_off(call, NULL);
    }
    mcp_drop(mcp, stream);
}

void mcp_pause(struct mcp *mcp, struct mcp_stream *stream)
{
    struct mcp_call *call;

    while ((call = find_on(mcp, stream, false))) {
        call->is_away = true;
        if (call->needs_session)
            tool_detach(call);
    }
    delivery_return(stream->deliveries);
}

void mcp_resume(struct mcp *mcp, struct mcp_stream *stream)
{
    struct mcp_call *call;

    while ((call = find_on(mcp, stream, true))) {
        call->is_away = false;
        if (call->session && !call->needs_session)
            tool_wait_again(call);
    }
}

void call_drop_all(struct mcp *mcp)
{
    struct mcp_call *next;

    for (struct mcp_call *call = mcp->calls; call; call = next) {
        next = call->next;
        if (call->to.batch)
            mcp_drop_batch(call->to.batch);
        tell_gone(call);
        call_end(call);
    }
}

void mcp_dismiss(struct mcp *mcp)
{
    struct mcp_call *next;

    for (struct mcp_call *call = mcp->calls; call; call = next) {
        next = call->next;
        tell_gone(call);
        if (!call->to.stream)
            continue;
        if (call->work && call->work->leave)
            call->work->leave(call);
        else
            tool_reply_pending(call);
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
    return call->work ? call->work->responses : NULL;
}

const char *call_state(const struct mcp_call *call)
{
    return call->work ? call->work->state : NULL;
}

void call_on_gone(struct mcp_call *call, void (*gone)(void *context), void *context)
{
    call_work(call)->gone = gone;
    call->work->context = context;
}

struct mcp_to call_let_go(struct mcp_call *call)
{
    struct mcp_to to = call->to;

    drop_questions(call);
    leave_stream(call);
    return to;
}

void call_settle(struct mcp_call *call)
{
    if (!call->needs_session)
        call_end(call);
}

void call_reply_result(struct mcp_call *call, const char *result_json)
{
    struct mcp_to to = call_let_go(call);

    mcp_reply(&to, result_json);
    call_settle(call);
}

void call_reply_error(struct mcp_call *call, int code, const char *message)
{
    struct mcp_to to = call_let_go(call);

    mcp_reply_error(&to, code, message, NULL);
    call_settle(call);
}

void call_part(struct mcp_call *call, int retry_ms)
{
    struct mcp_stream *stream = call->to.stream;

    if (stream && stream->ops->part)
        stream->ops->part(stream, retry_ms);
}

void call_progress(struct mcp_call *call, int64_t progress, int64_t total, const char *message)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call->progress || !call->to.stream)
        return;
    json_write_object(&writer, NULL);
    json_write_raw(&writer, "progressToken", call->progress->token_json);
    json_write_integer(&writer, "progress", progress);
    if (total)
        json_write_integer(&writer, "total", total);
    if (revision_has_annotations(call->revision))
        json_write_text_if(&writer, "message", message);
    mcp_notify(&call->to, "notifications/progress", &writer);
}

void call_detach_soon(struct mcp_call *call)
{
    struct mcp *mcp = call->to.mcp;

    call->detaches_soon = true;
    hold_wake_at(mcp, mcp_boot_ms(mcp) + 1);
}

/* Detaching one call may end others, so the walk starts over after each. */
void call_detach_due(struct mcp *mcp)
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

static void refuse_leaving(struct mcp_call *call)
{
    call_reply_error(call, JSONRPC_INTERNAL_ERROR, "the server is about to stop; ask again");
}

struct mcp_call *run_begin(struct mcp_request *request, const struct json *arguments,
                           bool needs_session)
{
    struct mcp *mcp = request->to.mcp;
    bool is_busy = mcp->call_count >= mcp->parts.max_calls;
    struct hub_session *session = !is_busy && needs_session ? hub_session_get(request) : NULL;
    struct mcp_call *call;

    if (is_busy || (!session && needs_session)) {
        mcp_reply_error(&request->to, JSONRPC_INTERNAL_ERROR,
                        "too many concurrent calls; wait for some to finish", NULL);
        return NULL;
    }
    call = call_begin(request, session);
    call_work(call)->leave = refuse_leaving;
    if (request->revision == REVISION_2026_07_28 && !input_read(request, arguments, call))
        return NULL;
    return call;
}

void run_settle(struct mcp *mcp, int64_t tag)
{
    struct mcp_call *call = call_find(mcp, tag);

    if (call && call->to.stream && call->to.stream->ops->waits)
        call->to.stream->ops->waits(call->to.stream);
}

bool call_logs(const struct mcp_call *call, enum mcp_level level)
{
    enum mcp_level min = call->revision == REVISION_2026_07_28 ? call->level : call->to.mcp->level;

    return level >= min && !call->to.batch && call->to.stream;
}
