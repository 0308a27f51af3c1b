/*
 * protocol.h - JSON-RPC 2.0, one message a line, between the hub and its local clients
 * (docs/wire.md). The first message of a connection is `hello`; it binds the role. Unknown members
 * are ignored, unknown methods are answered with -32601. A hub serves its own wire number and the
 * one before.
 */
#ifndef RPC_PROTOCOL_H
#define RPC_PROTOCOL_H
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/jsonrpc.h"
#include "base/text.h"
#include "core/outcome.h"

struct identity;

enum { RPC_NUMBER = 1, RPC_HELLO_LIMIT_MS = 5000 };

/* Beside JSON-RPC's own codes; ours of the closed list travel in error.data under RPC_OURS. */
enum rpc_code {
    RPC_OURS = -32000,
    RPC_NUMBER_REFUSED = -32001, /* hello: the wire numbers do not fit; data.wire is the hub's */
    RPC_NOT_YOURS = -32002,      /* the method is not for this role */
    RPC_NOT_SIGNED_IN = -32003,  /* hello of a page: data.code says why */
};

/* The number this process speaks: RPC_NUMBER, or in test builds what SAYSO_WIRE says. */
int rpc_number(void);
/* CHOICE_LANG of this process, an agent's side, for the asks it makes; NULL: not set. */
const char *rpc_language(void);

struct rpc_message {
    struct json *root;  /* owned; everything below is borrowed from it */
    const char *method; /* NULL: a response */
    const struct json *id, *params, *result, *error;
    struct json_piece result_json; /* of the line */
};
/* False: not JSON, or not a JSON-RPC message; *ret_code says which. */
bool rpc_parse(const char *line, size_t length, struct rpc_message *ret_message, int *ret_code);
/* What a hub says; `err` tells whether there was no memory, or it is none. */
bool rpc_hear(const char *line, size_t length, struct rpc_message *ret_message, struct error *err);
void rpc_release(struct rpc_message *message);

/* As jsonrpc_add_result, with what kind of reply it is beside the result. */
void rpc_add_result(struct text *out, const char *id_json, enum reply_kind kind,
                    const char *result_json);
const char *reply_kind_name(enum reply_kind kind); /* "" for REPLY_PLAIN */
enum reply_kind reply_kind_find(const char *name); /* REPLY_PLAIN: none of them, or NULL */
/* The other way round, for ask/create and ask/wait. False: unsaid, so the result is no answer. */
bool rpc_read_kind(const struct json *root, enum reply_kind *ret_kind, struct error *err);
/* As jsonrpc_add_error, with our wire number in data. */
void rpc_add_error(struct text *out, const char *id_json, int code, const char *message);
/* The same about a line that rpc_parse refused with this code; its id is found where it can be. */
void rpc_add_unread(struct text *out, const char *line, size_t length, int code);
/* Out of a reply's error; one that is not of the closed list becomes `unavailable`. */
void rpc_read_failure(const struct json *error, struct error *ret_err);

/* What a hello says about who comes, whatever it came through. */

bool rpc_is_ours(const struct json *params); /* the number it speaks */
/* Role, channel and names; false: something is missing or too long. The texts live as long as
 * `params`. */
bool identity_read(const struct json *params, struct identity *identity);
/* The result of a hello that was accepted; its object stays open. */
void rpc_write_welcome(struct json_writer *writer, const char *role);

#endif
