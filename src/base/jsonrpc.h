/*
 * jsonrpc.h - JSON-RPC 2.0 messages: reading their shape and writing them as one line each.
 */
#ifndef BASE_JSONRPC_H
#define BASE_JSONRPC_H
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

enum jsonrpc_code {
    JSONRPC_PARSE_ERROR = -32700,
    JSONRPC_INVALID_REQUEST = -32600,
    JSONRPC_METHOD_NOT_FOUND = -32601,
    JSONRPC_INVALID_PARAMS = -32602,
    JSONRPC_INTERNAL_ERROR = -32603,
};

/* Everything is borrowed from the value it was read from. */
struct jsonrpc_message {
    const char *method; /* NULL: a response */
    const struct json *id, *params, *result, *error;
};
/* As json_parse_message for `result`; a byte order mark in front is skipped (RFC 8259, 8.1). */
bool jsonrpc_parse(const char *bytes, size_t length, struct json_piece *ret_result,
                   struct json **ret_value, struct error *err);
/* False: not a JSON-RPC 2.0 message; then only `id` is set, where one can be read. An id is an
 * integer or a text, params an object; an error about any other number has that number as id. */
bool jsonrpc_read(const struct json *value, struct jsonrpc_message *ret_message);

/* The id of a message that is not JSON or was cut, as JSON; the caller frees it. NULL: it has none,
 * or more than one, or is a response. The sender of a request waits for an answer with its id. */
char *jsonrpc_find_id(const char *bytes, size_t length);

/* Looks like an answer, even a broken one: to answer it would start an endless exchange. */
bool jsonrpc_is_response(const struct json *value);

/* Each appends one whole line. `id_json` is the request's id as JSON. */
void jsonrpc_add_request(struct text *out, int64_t id, const char *method, const char *params_json);
void jsonrpc_add_notification(struct text *out, const char *method, const char *params_json);
void jsonrpc_add_result(struct text *out, const char *id_json, const char *result_json);
/* `data_json` may be NULL; `id_json` too, for a request that could not be read. */
void jsonrpc_add_error(struct text *out, const char *id_json, int code, const char *message,
                       const char *data_json);

#endif
