/*
 * wire.h - JSON-RPC 2.0, one message a line, between the hub and its local clients (docs/wire.md).
 * The first message of a connection is `hello`; it binds the role. Unknown members are ignored,
 * unknown methods are answered with -32601. A hub serves its own wire number and the one before.
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct json;

enum { WIRE_NUMBER = 1, WIRE_HELLO_LIMIT_MS = 5000 };

/* JSON-RPC's own codes, and the one under which ours of the closed list travel in error.data. */
enum wire_code {
    WIRE_PARSE_ERROR = -32700,
    WIRE_INVALID_REQUEST = -32600,
    WIRE_METHOD_NOT_FOUND = -32601,
    WIRE_INVALID_PARAMS = -32602,
    WIRE_OURS = -32000,
    WIRE_NUMBER_REFUSED = -32001, /* hello: the wire numbers do not fit; data.wire is the hub's */
    WIRE_NOT_YOURS = -32002,      /* the method is not for this role */
};

/* The number this process speaks: WIRE_NUMBER, or in test builds what SAYSO_WIRE says. */
int wire_number(void);

struct wire_message {
    struct json *root;  /* owned; everything below is borrowed from it */
    const char *method; /* NULL: a response */
    const struct json *id, *params, *result, *error;
};
/* False: not JSON, or not a JSON-RPC message; *ret_code says which. */
bool wire_parse(const char *line, size_t length, struct wire_message *ret_message,
                enum wire_code *ret_code);
void wire_release(struct wire_message *message);

/* Each appends one whole line. `id_json` is the request's id as JSON. */
void wire_add_request(struct text *out, int64_t id, const char *method, const char *params_json);
void wire_add_notification(struct text *out, const char *method, const char *params_json);
void wire_add_result(struct text *out, const char *id_json, const char *result_json);
void wire_add_error(struct text *out, const char *id_json, enum wire_code code,
                    const char *message);
/* An error of the closed list; `detail_json` (who won, …) may be NULL. */
void wire_add_failure(struct text *out, const char *id_json, const struct error *err,
                      const char *detail_json);
/* The other way round; an error that is not of the closed list becomes `unavailable`. */
void wire_read_failure(const struct json *error, struct error *ret_err);

#endif
