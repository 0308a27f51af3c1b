/*
 * come_back.c - a person may take longer than a client waits for one response. A modern client is
 * then told to come back: an `input_required` result with nothing but the state that the desk
 * sealed for it. It makes the same call again with that, by itself, and waits on for the same ask
 * (R5.7). Source: MCP 2026-07-28, basic/patterns/mrtr.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"
#include "mcp/tools/tool.h"

/* One text for whatever is wrong with it: which it is helps only who tries states out. */
static const char bad_state[] = "this requestState is not ours, was altered, belongs to another "
                                "call or is too old; call again without it";

static bool are_responses(const struct mcp_request *request)
{
    const struct json *responses = json_member(request->params, "inputResponses");

    return request->revision != REVISION_2026_07_28 || !responses ||
           json_kind(responses) == KIND_OBJECT;
}

bool come_back_read(struct mcp_request *request, const struct tool_plan *plan,
                    const char **ret_state)
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
    if (plan->wish != TOOL_ASKS || !text || strlen(text) != json_length(state)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, bad_state, NULL);
        return false;
    }
    *ret_state = text;
    return true;
}

void come_back_write(const struct mcp_call *call, const char *state, struct json_writer *writer)
{
    json_write_bool_if(writer, "comes_back", call->revision == REVISION_2026_07_28);
    if (state) /* an empty one is a bad one, and none at all another call */
        json_write_text(writer, "state", state);
}

void come_back_learn(struct mcp_call *call, const struct json *params)
{
    const char *state = json_member_text(params, "state");

    if (!state)
        return;
    free(call->come_back);
    call->come_back = mem_text(state);
}

bool come_back_reply(struct mcp_call *call, const struct desk_reply *reply)
{
    if (reply->err.code == ERROR_bad_format && strcmp(reply->err.path, "/state") == 0) {
        call_reply_error(call, JSONRPC_INVALID_PARAMS, bad_state, NULL);
        return true;
    }
    /* what the agent must read (a terminal's command, what the person asks back) it is told */
    if (!call->come_back || reply->err.code != ERROR_NONE || reply->kind != REPLY_PENDING)
        return false;
    input_reply(call, NULL, call->come_back);
    return true;
}
