#include "mcp/entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/jsonrpc.h"
#include "mcp/mcp.h"

enum { ENTRY_BAD_REQUEST = 400, ENTRY_HEADER_MISMATCH = -32020 };

static void write_error(char *take_id_json, enum mcp_revision in_force, int code,
                        const char *message, struct text *out)
{
    bool omits = revision_omits_unknown_id(in_force);

    jsonrpc_add_error(out, take_id_json || omits ? take_id_json : "null", code, message, NULL);
    free(take_id_json);
}

void entry_write_error(const struct json *value, enum mcp_revision in_force, int code,
                       const char *message, struct text *out)
{
    struct jsonrpc_message read = { 0 };
    bool is_request;

    jsonrpc_read(value, &read);
    /* the id of a response names a request of ours: an error with it would answer no request */
    is_request = read.id && !jsonrpc_is_response(value);
    write_error(is_request ? json_encode(read.id) : NULL, in_force, code, message, out);
}

static void refuse(struct entry *entry, int code, const char *message)
{
    entry->way = ENTRY_REFUSED;
    entry->status = ENTRY_BAD_REQUEST;
    entry_write_error(entry->value, entry->in_force, code, message, &entry->line);
}

static bool is_claimed(const struct json *message)
{
    return revision_is_claimed(json_member(message, "params"));
}

/* Batches are part of one legacy revision: whether of this session's, it will say itself. */
static void sort_batch(struct entry *entry, const struct mcp_headers *headers)
{
    bool has_modern = revision_is_modern_header(headers->protocol_version);

    for (size_t i = 0; i < json_length(entry->value); i++)
        has_modern = has_modern || is_claimed(json_item(entry->value, i));
    entry->way = ENTRY_SESSION;
    if (has_modern || json_length(entry->value) == 0)
        refuse(entry, JSONRPC_INVALID_REQUEST,
               "batches are only part of revision 2025-03-26, and never empty");
}

static void sort_message(struct entry *entry, const struct mcp_headers *headers)
{
    bool is_modern = revision_is_modern_header(headers->protocol_version);
    struct jsonrpc_message message;

    if (!jsonrpc_read(entry->value, &message))
        refuse(entry, JSONRPC_INVALID_REQUEST, "not a JSON-RPC 2.0 message");
    else if (!message.method && is_modern)
        refuse(entry, JSONRPC_INVALID_REQUEST,
               "2026-07-28 has no requests of ours, so there are no responses to them");
    else if ((is_modern && !message.id) || (message.method && is_claimed(entry->value)))
        entry->way = ENTRY_MODERN;
    else if (!is_modern)
        entry->way = message.method && message.id && strcmp(message.method, "initialize") == 0
                         ? ENTRY_OPENS
                         : ENTRY_SESSION;
    else if (strcmp(message.method, "initialize") == 0)
        refuse(entry, ENTRY_HEADER_MISMATCH,
               "MCP-Protocol-Version names a revision that has no initialize");
    else
        refuse(entry, JSONRPC_INVALID_PARAMS,
               "params._meta must name the protocol version and the client's capabilities");
}

void entry_read(const char *bytes, size_t length, const struct mcp_headers *headers,
                enum mcp_revision in_force, struct entry *ret_entry)
{
    struct error err;

    *ret_entry =
        (struct entry){ .way = ENTRY_REFUSED, .status = ENTRY_BAD_REQUEST, .in_force = in_force };
    if (!jsonrpc_parse(bytes, length, NULL, &ret_entry->value, &err))
        write_error(jsonrpc_find_id(bytes, length), in_force, JSONRPC_PARSE_ERROR, err.message,
                    &ret_entry->line);
    else if (json_kind(ret_entry->value) == KIND_LIST)
        sort_batch(ret_entry, headers);
    else
        sort_message(ret_entry, headers);
}

void entry_release(struct entry *entry)
{
    json_free(entry->value);
    text_release(&entry->line);
    *entry = (struct entry){ 0 };
}
