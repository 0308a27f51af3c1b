/* mcp.c - lines to requests and back; which era serves a message. See mcp.h. */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "mcp/inside.h"

/* Of one batch; each message in it may be answered by a hundred times its size. */
enum { MCP_BATCH_MOST = 64 };

struct mcp *mcp_new(const struct mcp_parts *parts)
{
    struct mcp *mcp = mem_new(sizeof *mcp);

    mcp->parts = *parts;
    mcp->negotiated = REVISION_2025_11_25;
    return mcp;
}

void mcp_free(struct mcp *mcp)
{
    if (!mcp)
        return;
    tool_drop_calls(mcp);
    delivery_drop(&mcp->deliveries);
    visit_leave_all(mcp);
    text_release(&mcp->out);
    free(mcp->client_name);
    free(mcp->client_version);
    free(mcp);
}

void mcp_flush(struct mcp *mcp)
{
    if (mcp->out.used)
        mcp->parts.write(mcp->parts.context, mcp->out.bytes, mcp->out.used);
    text_clear(&mcp->out);
}

/* Closes a batch that has all its responses; one of notifications alone is answered by nothing. */
static void settle_batch(struct mcp *mcp, struct mcp_batch *batch)
{
    if (--batch->open > 0)
        return;
    if (batch->items.used) {
        text_add_char(&mcp->out, '[');
        text_add(&mcp->out, batch->items.bytes, batch->items.used);
        text_add_text(&mcp->out, "]\n");
    }
    delivery_move(&batch->deliveries, &mcp->deliveries);
    text_release(&batch->items);
    free(batch);
}

void mcp_skip(struct mcp *mcp, struct mcp_batch *batch)
{
    settle_batch(mcp, batch);
    mcp_flush(mcp);
}

void mcp_drop_batch(struct mcp_batch *batch)
{
    if (--batch->open > 0)
        return;
    delivery_drop(&batch->deliveries);
    text_release(&batch->items);
    free(batch);
}

static void put_response(struct mcp *mcp, struct text *line)
{
    struct mcp_batch *batch = mcp->batch;

    if (!batch) {
        text_add(&mcp->out, line->bytes, line->used);
    } else {
        if (batch->items.used)
            text_add_char(&batch->items, ',');
        text_add(&batch->items, line->bytes, line->used - 1);
        settle_batch(mcp, batch);
    }
    text_release(line);
}

void mcp_reply(struct mcp *mcp, const char *id_json, const char *result_json)
{
    struct text line = { 0 };

    jsonrpc_add_result(&line, id_json, result_json);
    put_response(mcp, &line);
}

void mcp_reply_error(struct mcp *mcp, const char *id_json, int code, const char *message,
                     const char *data_json)
{
    struct text line = { 0 };

    jsonrpc_add_error(&line, id_json, code, message, data_json);
    put_response(mcp, &line);
}

void mcp_notify(struct mcp *mcp, const char *method, const char *params_json)
{
    jsonrpc_add_notification(&mcp->out, method, params_json);
}

/* `id` NULL: it could not be read. */
static void refuse(struct mcp *mcp, const struct json *id, int code, const char *message)
{
    char *id_json = id ? json_encode(id) : NULL;

    if (!id_json && !revision_omits_unknown_id(mcp->negotiated))
        id_json = mem_text("null");
    if (mcp->batch)
        mcp->batch->open++;
    mcp_reply_error(mcp, id_json, code, message, NULL);
    free(id_json);
}

void mcp_refuse_long_line(struct mcp *mcp)
{
    refuse(mcp, NULL, JSONRPC_INVALID_REQUEST, "a message has at most 1048576 bytes");
    mcp_flush(mcp);
}

void mcp_serve(struct mcp_request *request, const struct mcp_method *methods, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(methods[i].name, request->method) == 0) {
            methods[i].call(request);
            return;
        }
    }
    mcp_reply_error(request->mcp, request->id_json, JSONRPC_METHOD_NOT_FOUND, "no such method",
                    NULL);
}

static void serve(struct mcp *mcp, const struct jsonrpc_message *message)
{
    struct mcp_request request = {
        .mcp = mcp,
        .method = message->method,
        .id = message->id,
        .params = message->params,
        .revision = mcp->negotiated,
        .client_name = mcp->client_name,
        .client_version = mcp->client_version,
    };

    request.id_json = json_encode(message->id);
    if (mcp->batch)
        mcp->batch->open++;
    if (revision_is_claimed(message->params))
        modern_serve(&request);
    else
        legacy_serve(&request);
    free(request.id_json);
}

static void take_notification(struct mcp *mcp, const struct jsonrpc_message *message)
{
    /* the others tell of things we do not keep: initialized, roots, progress of ours */
    if (strcmp(message->method, "notifications/cancelled") == 0)
        tool_cancel(mcp, json_member(message->params, "requestId"));
}

/* The handshake is never part of a batch, and 2026-07-28 has none. */
static bool may_be_batched(const struct jsonrpc_message *message)
{
    return strcmp(message->method, "initialize") != 0 && !revision_is_claimed(message->params);
}

static void take_message(struct mcp *mcp, const struct json *value)
{
    struct jsonrpc_message message;

    if (jsonrpc_is_response(value))
        return; /* we send no requests, so it is nobody's */
    if (!jsonrpc_read(value, &message))
        refuse(mcp, message.id, JSONRPC_INVALID_REQUEST, "not a JSON-RPC 2.0 message");
    else if (!message.id)
        take_notification(mcp, &message);
    else if (mcp->batch && !may_be_batched(&message))
        refuse(mcp, message.id, JSONRPC_INVALID_REQUEST, "this may not be part of a batch");
    else
        serve(mcp, &message);
}

static void take_batch(struct mcp *mcp, const struct json *list)
{
    struct mcp_batch *batch;

    if (mcp->negotiated != REVISION_2025_03_26) {
        refuse(mcp, NULL, JSONRPC_INVALID_REQUEST, "batches are only part of revision 2025-03-26");
        return;
    }
    if (json_length(list) == 0 || json_length(list) > MCP_BATCH_MOST) {
        refuse(mcp, NULL, JSONRPC_INVALID_REQUEST, "a batch has 1 to 64 messages");
        return;
    }
    batch = mem_new(sizeof *batch);
    batch->open = 1;
    for (size_t i = 0; i < json_length(list); i++) {
        mcp->batch = batch;
        take_message(mcp, json_item(list, i));
    }
    mcp->batch = NULL;
    settle_batch(mcp, batch);
}

void mcp_take_line(struct mcp *mcp, const char *line, size_t length)
{
    struct json *value = NULL;
    struct error err;

    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length == 0)
        return;
    if (!json_parse(line, length, &value, &err))
        refuse(mcp, NULL, JSONRPC_PARSE_ERROR, err.message);
    else if (json_kind(value) == KIND_LIST)
        take_batch(mcp, value);
    else
        take_message(mcp, value);
    json_free(value);
    mcp_flush(mcp);
}

void mcp_on_written(struct mcp *mcp)
{
    delivery_confirm(mcp);
}

void mcp_on_time(struct mcp *mcp)
{
    tool_on_time(mcp);
    mcp_flush(mcp);
}
