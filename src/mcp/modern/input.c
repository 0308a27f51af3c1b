/*
 * input.c - input_required: a call that needs something of its client is answered with what, and
 * the client calls again with that and with the state we gave it. The state is the client's to
 * keep, so it is sealed: for this principal, this tool and these arguments, and for a time.
 * Source: MCP 2026-07-28, basic/patterns/mrtr.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"
#include "mcp/modern/codes.h"

/* What a state is good for: the same call again. */
static char *binding_of(const struct mcp_request *request, const struct json *arguments)
{
    const struct json *uri = json_member(request->params, "uri");
    const struct json *name = uri ? uri : json_member(request->params, "name");
    char *name_json = name ? json_encode(name) : mem_text("");
    char *arguments_json = arguments ? json_encode_canonical(arguments) : mem_text("");
    char *binding = mem_format("%s %s %s", request->method, name_json, arguments_json);

    free(name_json);
    free(arguments_json);
    return binding;
}

static bool refuse(struct mcp_call *call, const char *message)
{
    call_reply_error(call, JSONRPC_INVALID_PARAMS, message, NULL);
    return false;
}

bool input_read(struct mcp_request *request, const struct json *arguments, struct mcp_call *call)
{
    const struct mcp_parts *parts = &request->to.mcp->parts;
    const struct json *responses = json_member(request->params, "inputResponses");
    const struct json *sealed = json_member(request->params, "requestState");
    struct call_work *work;

    if (responses && json_kind(responses) != KIND_OBJECT)
        return refuse(call, "inputResponses must be an object");
    if (sealed && (!json_text(sealed) || strlen(json_text(sealed)) != json_length(sealed)))
        return refuse(call, "requestState must be the text an earlier result gave");
    work = call_work(call);
    work->binding = binding_of(request, arguments);
    if (sealed) {
        work->state =
            parts->unseal ? parts->unseal(parts->context, work->binding, json_text(sealed)) : NULL;
        if (!work->state)
            return refuse(call, "this requestState is not ours, was altered, belongs to another "
                                "call or is too old; call again without it");
    }
    work->responses = responses ? json_keep(responses) : NULL;
    return true;
}

void input_reply(struct mcp_call *call, const char *requests_json, const char *sealed)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "resultType", "input_required");
    if (requests_json)
        json_write_raw(&writer, "inputRequests", requests_json);
    json_write_text_if(&writer, "requestState", sealed);
    json_write_object(&writer, "_meta");
    content_write_server_info(&writer, META_PREFIX "serverInfo", false);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

void call_need_input(struct mcp_call *call, const char *requests_json, const char *state)
{
    const struct mcp_parts *parts = &call->to.mcp->parts;
    const char *binding = call->work ? call->work->binding : NULL;
    char *sealed = state && parts->seal ? parts->seal(parts->context, binding, state) : NULL;

    input_reply(call, requests_json, sealed);
    free(sealed);
}

/* A legacy client has no code for it: its request was not one we can serve. */
void call_reply_unable(struct mcp_call *call, unsigned abilities)
{
    bool is_modern = call->revision == REVISION_2026_07_28;
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);
    struct mcp_to to = call_let_go(call);

    ability_write(&writer, "requiredCapabilities", abilities);
    json_write_end_object(&writer);
    mcp_refuse(
        &to, MODERN_BAD_REQUEST, is_modern ? MODERN_MISSING_CAPABILITY : JSONRPC_INVALID_REQUEST,
        "this cannot be done without a capability the client did not declare", text_string(&data));
    text_release(&data);
    call_settle(call);
}
