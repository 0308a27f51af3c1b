/*
 * takeover.c - what another server of the same session began: a client that lost the stream of its
 * call comes back for it here, a form that was shown there is returned here. Whatever must be known
 * for that the client carries, sealed for its session: in the ids of events, in the ids of our
 * requests. The ask decides, as ever, so what comes twice or too late changes nothing.
 */
#include <inttypes.h>
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

static const char stream_binding[] = "stream", form_binding[] = "form";

static char *seal(const struct mcp *mcp, const char *binding, const char *state)
{
    return mcp->parts.seal ? mcp->parts.seal(mcp->parts.context, binding, state) : NULL;
}

static char *unseal(const struct mcp *mcp, const char *binding, const char *sealed)
{
    return mcp->parts.unseal ? mcp->parts.unseal(mcp->parts.context, binding, sealed) : NULL;
}

static int64_t utc_ms(const struct mcp *mcp)
{
    return mcp->parts.clock->utc_ms(mcp->parts.clock);
}

/* Streams of calls ------------------------------------------------------------------------------
 */

static bool is_told(const struct mcp_call *call)
{
    return call->to.stream && !call->to.batch && call->to.stream->ops->state &&
           call->revision != REVISION_2026_07_28;
}

void takeover_expect(struct mcp_call *call)
{
    if (is_told(call))
        call->to.stream->awaits_state = true;
}

static void write_state(const struct mcp_call *call, struct text *out)
{
    const struct mcp *mcp = call->to.mcp;
    struct json_writer writer = json_object_to(out);

    json_write_raw(&writer, "id", call->to.id_json);
    json_write_text(&writer, "ask", call->session_id);
    if (call->compat) {
        json_write_text(&writer, "tool", call->compat->tool->name);
        json_write_raw(&writer, "given", call->compat->given);
    } else if (call->tool) {
        json_write_text(&writer, "tool", call->tool->name);
    }
    json_write_integer(&writer, "began_ms",
                       utc_ms(mcp) - (mcp_boot_ms(mcp) - call->started_boot_ms));
    json_write_bool_if(&writer, "shown", call->shown || call->has_returned);
    if (call->progress) {
        json_write_object(&writer, "_meta");
        json_write_raw(&writer, "progressToken", call->progress->token_json);
        json_write_end_object(&writer);
    }
    json_write_end_object(&writer);
}

void takeover_send_stream(struct mcp_call *call)
{
    struct mcp_stream *stream = call->to.stream;

    if (!is_told(call))
        return;
    stream->call = call;
    stream->awaits_state = false;
    stream->ops->state(stream);
}

char *mcp_stream_state(const struct mcp_stream *stream)
{
    struct text state = { 0 };
    char *sealed;

    if (!stream->call)
        return NULL;
    write_state(stream->call, &state);
    sealed = seal(stream->call->to.mcp, stream_binding, text_string(&state));
    text_release(&state);
    return sealed;
}

/* How much of its time limit the client has used. While it shows our form some have none. */
static int64_t used_s(const struct mcp_call *call, const struct json *state)
{
    int64_t gone_s = (utc_ms(call->to.mcp) - json_member_integer(state, "began_ms", 0)) / 1000;

    return json_is_true(json_member(state, "shown")) || gone_s < 0 ? 0 : gone_s;
}

static void set_tool(struct mcp_call *call, const struct json *state)
{
    const char *name = json_member_text(state, "tool");
    const struct tool *tool =
        name ? tool_find(call->to.mcp->parts.features->tools, name, strlen(name)) : NULL;

    if (tool && tool->compat && json_member(state, "given"))
        call_set_compat(call, tool, json_member(state, "given"));
    else if (tool)
        call->tool = tool->ask;
}

static void begin_stream(struct mcp_stream *stream)
{
    if (stream->ops->waits)
        stream->ops->waits(stream);
}

/* The same call, under the same id, waiting for the same ask. */
static void wait_on(struct mcp_request *request, const struct json *state)
{
    struct mcp *mcp = request->to.mcp;
    struct hub_session *session =
        mcp->call_count < mcp->parts.max_calls ? hub_session_get(request) : NULL;
    struct mcp_stream *stream = request->to.stream;
    struct mcp_call *call;
    int64_t used, limit_s;

    if (!session) {
        begin_stream(stream);
        tool_refuse_busy(request);
        return;
    }
    call = call_begin(request, session);
    set_tool(call, state);
    text_put(call->session_id, sizeof call->session_id, json_member_text(state, "ask"));
    call->has_returned = json_is_true(json_member(state, "shown"));
    used = used_s(call, state);
    call->started_boot_ms -= used * 1000;
    takeover_send_stream(call);
    begin_stream(stream);
    limit_s = hold_limit_s(call);
    hold_begin(call, limit_s);
    tool_wait(call, used < limit_s ? limit_s - used : 0, NULL);
}

bool mcp_take_up(struct mcp *mcp, struct mcp_stream *stream, const char *sealed)
{
    struct mcp_request request = mcp_request_of(mcp, stream);
    char *written = unseal(mcp, stream_binding, sealed), *id_json;
    const char *ask;
    struct json *state = NULL;
    bool is_good;

    is_good = written && json_parse(written, strlen(written), &state, NULL);
    ask = is_good ? json_member_text(state, "ask") : NULL;
    is_good = ask && ask_id_is_valid(ask) && json_member(state, "id");
    if (is_good) {
        id_json = json_encode(json_member(state, "id"));
        request.to.id_json = id_json;
        request.params = state;
        mcp_open(&request.to);
        if (call_was_cancelled(mcp, id_json)) {
            begin_stream(stream);
            mcp_skip(&request.to); /* its client does not expect a response any more */
        } else {
            wait_on(&request, state);
        }
        free(id_json);
    }
    json_free(state);
    free(written);
    return is_good;
}

/* Forms -----------------------------------------------------------------------------------------
 */

char *takeover_seal_form(const struct mcp *mcp, const char *session_id, bool is_url)
{
    char *state = mem_format("%s %d %" PRId64, session_id, is_url, utc_ms(mcp));
    char *sealed = seal(mcp, form_binding, state);

    free(state);
    return sealed;
}

void takeover_take_response(struct mcp *mcp, const char *sealed,
                            const struct jsonrpc_message *message)
{
    struct mcp_request request = mcp_request_of(mcp, NULL);
    char *state = unseal(mcp, form_binding, sealed);
    struct form_return form = { 0 };
    struct hub_session *session;
    char *rest;

    if (state && strlen(state) > sizeof form.session_id) {
        text_put(form.session_id, sizeof form.session_id, state);
        form.is_url = strtol(state + sizeof form.session_id, &rest, 10) != 0;
        form.shown_ms = utc_ms(mcp) - strtoll(rest, NULL, 10);
        form.shown_ms = form.shown_ms < 0 ? 0 : form.shown_ms;
        session = ask_id_is_valid(form.session_id) ? hub_session_get(&request) : NULL;
        if (session)
            mcp_form_return(session, &form, message->error != NULL,
                            message->error ? message->error : message->result);
    }
    free(state);
}
