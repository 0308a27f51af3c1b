/*
 * result.c - the frame of every result: 2026-07-28 wants to hear its kind first and, last, how long
 * it is good, for whom, and who says so. Legacy results have no frame.
 */
#include "base/json_writer.h"
#include "mcp/inside.h"

enum { RESULT_LIST_TTL_MS = 3600000 };

struct json_writer result_begin(enum mcp_revision revision, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    if (revision == REVISION_2026_07_28)
        json_write_text(&writer, "resultType", "complete");
    return writer;
}

void result_end(struct json_writer *writer, enum mcp_revision revision, enum call_cache cache)
{
    if (revision == REVISION_2026_07_28) {
        if (cache != CACHE_NONE) {
            json_write_integer(writer, "ttlMs", cache == CACHE_PUBLIC ? RESULT_LIST_TTL_MS : 0);
            json_write_text(writer, "cacheScope", cache == CACHE_PUBLIC ? "public" : "private");
        }
        json_write_object(writer, "_meta");
        content_write_server_info(writer, META_PREFIX "serverInfo", false);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

void result_reply(struct mcp_request *request, struct json_writer *writer, enum call_cache cache)
{
    result_end(writer, request->revision, cache);
    mcp_reply(&request->to, text_string(writer->out));
    text_release(writer->out);
}

struct json_writer call_begin_result(const struct mcp_call *call, struct text *out)
{
    return result_begin(call->revision, out);
}

void call_end_result(struct mcp_call *call, struct json_writer *writer, enum call_cache cache)
{
    result_end(writer, call->revision, cache);
    call_reply_result(call, text_string(writer->out));
    text_release(writer->out);
}
