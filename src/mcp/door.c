/* door.c - see door.h. */
#include "mcp/door.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "mcp/mcp.h"

enum { DOOR_BAD_REQUEST = 400, DOOR_HEADER_MISMATCH = -32020 };

void door_write_error(const struct json *value, const struct mcp_headers *headers, int code,
                      const char *message, struct text *out)
{
    const char *version = headers->protocol_version;
    bool omits = !version || !revision_is_legacy_name(version) ||
                 revision_omits_unknown_id(revision_negotiate(version));
    struct jsonrpc_message read = { 0 };
    char *id_json;

    jsonrpc_read(value, &read);
    id_json = read.id ? json_encode(read.id) : NULL;
    jsonrpc_add_error(out, id_json || omits ? id_json : "null", code, message, NULL);
    free(id_json);
}

static void refuse(struct door *door, const struct mcp_headers *headers, int code,
                   const char *message)
{
    door->way = DOOR_REFUSED;
    door->status = DOOR_BAD_REQUEST;
    door_write_error(door->value, headers, code, message, &door->line);
}

static bool is_claimed(const struct json *message)
{
    return revision_is_claimed(json_member(message, "params"));
}

/* Batches are part of one legacy revision: whether of this session's, it will say itself. */
static void sort_batch(struct door *door, const struct mcp_headers *headers)
{
    bool has_modern = revision_is_modern_header(headers->protocol_version);

    for (size_t i = 0; i < json_length(door->value); i++)
        has_modern = has_modern || is_claimed(json_item(door->value, i));
    door->way = DOOR_SESSION;
    if (has_modern || json_length(door->value) == 0)
        refuse(door, headers, JSONRPC_INVALID_REQUEST,
               "batches are only part of revision 2025-03-26, and never empty");
}

static void sort_message(struct door *door, const struct mcp_headers *headers)
{
    bool is_modern = revision_is_modern_header(headers->protocol_version);
    struct jsonrpc_message message;

    if (!jsonrpc_read(door->value, &message))
        refuse(door, headers, JSONRPC_INVALID_REQUEST, "not a JSON-RPC 2.0 message");
    else if (!message.method && is_modern)
        refuse(door, headers, JSONRPC_INVALID_REQUEST,
               "2026-07-28 has no requests of ours, so there are no responses to them");
    else if (message.method && is_claimed(door->value))
        door->way = DOOR_MODERN;
    else if (!is_modern)
        door->way = message.method && message.id && strcmp(message.method, "initialize") == 0
                        ? DOOR_OPENS
                        : DOOR_SESSION;
    else if (!message.id)
        door->way = DOOR_MODERN;
    else if (strcmp(message.method, "initialize") == 0)
        refuse(door, headers, DOOR_HEADER_MISMATCH,
               "MCP-Protocol-Version names a revision that has no initialize");
    else
        refuse(door, headers, JSONRPC_INVALID_PARAMS,
               "params._meta must name the protocol version and the client's capabilities");
}

void door_read(const char *bytes, size_t length, const struct mcp_headers *headers,
               struct door *ret_door)
{
    struct error err;

    *ret_door = (struct door){ .way = DOOR_REFUSED };
    if (!json_parse(bytes, length, &ret_door->value, &err))
        refuse(ret_door, headers, JSONRPC_PARSE_ERROR, err.message);
    else if (json_kind(ret_door->value) == KIND_LIST)
        sort_batch(ret_door, headers);
    else
        sort_message(ret_door, headers);
}

void door_release(struct door *door)
{
    json_free(door->value);
    text_release(&door->line);
    *door = (struct door){ 0 };
}
