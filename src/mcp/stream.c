/*
 * stream.c - what goes out: responses, alone or collected into a batch, notifications and requests
 * of ours, each on the stream of what it is about; and when a stream has had its last word. The
 * frame of a result: 2026-07-28 wants to hear its kind first and, last, how long it is good, for
 * whom, and who says so; legacy results have none.
 */
#include <stdlib.h>

#include "base/json_writer.h"
#include "mcp/calls.h"

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

enum { STATUS_OK = 200, LINE_KEPT_BYTES = 65536 };

/* The memory of one line serves the next, unless it was a long one. */
static void send_line(struct mcp_stream *stream, enum mcp_kind kind, int status, struct text *line)
{
    const struct mcp_message message = {
        .kind = kind,
        .status = status,
        .line = line->bytes,
        .length = line->used,
    };

    if (stream)
        stream->ops->message(stream, &message);
    if (line->capacity > LINE_KEPT_BYTES)
        text_release(line);
    else
        text_clear(line);
}

static void settle_stream(struct mcp_stream *stream)
{
    if (stream && --stream->open == 0 && stream->ops->finished)
        stream->ops->finished(stream);
}

/* Closes a batch that has all its responses; one of notifications alone is answered by nothing. */
static void settle_batch(const struct mcp_to *to)
{
    struct mcp_batch *batch = to->batch;
    struct text *line = &to->mcp->line;

    if (--batch->open > 0)
        return;
    if (to->stream)
        delivery_move(&batch->deliveries, &to->stream->deliveries);
    if (batch->items.used) {
        text_add_char(line, '[');
        text_add(line, batch->items.bytes, batch->items.used);
        text_add_text(line, "]\n");
        send_line(to->stream, MCP_RESPONSE, STATUS_OK, line);
    }
    delivery_drop(&batch->deliveries);
    text_release(&batch->items);
    free(batch);
    settle_stream(to->stream);
}

void mcp_open(const struct mcp_to *to)
{
    if (to->batch)
        to->batch->open++;
    else
        to->stream->open++;
}

void mcp_skip(const struct mcp_to *to)
{
    if (to->batch)
        settle_batch(to);
    else
        settle_stream(to->stream);
}

void mcp_drop_batch(struct mcp_batch *batch)
{
    if (--batch->open > 0)
        return;
    delivery_drop(&batch->deliveries);
    text_release(&batch->items);
    free(batch);
}

static void put_response(const struct mcp_to *to, int status, struct text *line)
{
    if (!to->batch) {
        send_line(to->stream, MCP_RESPONSE, status, line);
        settle_stream(to->stream);
        return;
    }
    if (to->batch->items.used)
        text_add_char(&to->batch->items, ',');
    text_add(&to->batch->items, line->bytes, line->used - 1);
    text_clear(line);
    settle_batch(to);
}

void mcp_reply(const struct mcp_to *to, const char *result_json)
{
    struct text *line = &to->mcp->line;

    jsonrpc_add_result(line, to->id_json, result_json);
    put_response(to, STATUS_OK, line);
}

void mcp_refuse(const struct mcp_to *to, int status, int code, const char *message,
                const char *data_json)
{
    struct text *line = &to->mcp->line;

    jsonrpc_add_error(line, to->id_json, code, message, data_json);
    put_response(to, status, line);
}

void mcp_reply_error(const struct mcp_to *to, int code, const char *message, const char *data_json)
{
    mcp_refuse(to, STATUS_OK, code, message, data_json);
}

void mcp_notify(const struct mcp_to *to, const char *method, struct json_writer *params)
{
    struct text *line = &to->mcp->line;

    json_write_end_object(params);
    jsonrpc_add_notification(line, method, text_string(params->out));
    send_line(to->stream, MCP_NOTIFICATION, STATUS_OK, line);
    text_release(params->out);
}

void mcp_ask_client(const struct mcp_to *to, const char *id, const char *method,
                    const char *params_json)
{
    struct text *line = &to->mcp->line;

    text_add_text(line, "{\"jsonrpc\":\"2.0\",\"id\":\"");
    text_add_text(line, id);
    text_add_text(line, "\",\"method\":\"");
    text_add_text(line, method);
    text_add_text(line, "\",\"params\":");
    text_add_text(line, params_json);
    text_add_text(line, "}\n");
    send_line(to->stream, MCP_REQUEST, STATUS_OK, line);
}
