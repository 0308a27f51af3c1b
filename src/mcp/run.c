/*
 * run.c - requests beside tools/call that may be answered later: each becomes a call, so that it
 * can be cancelled, may need something of its client, and ends with its stream.
 */
#include "base/json.h"
#include "mcp/inside.h"

static void refuse_leaving(struct mcp_call *call)
{
    call_reply_error(call, JSONRPC_INTERNAL_ERROR, "the server is about to stop; ask again", NULL);
}

struct mcp_call *run_begin(struct mcp_request *request, const struct json *arguments,
                           bool is_at_desk)
{
    struct mcp *mcp = request->to.mcp;
    bool is_busy = mcp->call_count >= mcp->parts.most_calls;
    struct mcp_visit *visit = !is_busy && is_at_desk ? visit_get(request) : NULL;
    struct mcp_call *call;

    if (is_busy || (!visit && is_at_desk)) {
        mcp_reply_error(&request->to, JSONRPC_INTERNAL_ERROR,
                        "too many calls or names at once; wait for answers", NULL);
        return NULL;
    }
    call = call_begin(request, visit);
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
