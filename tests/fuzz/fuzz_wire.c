/*
 * fuzz_wire.c - bytes as a peer of the wire might send them, line by line: what is accepted is a
 * message, and each part of it survives being written and read again.
 * Proves: P14
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "rpc/protocol.h"
#include "rpc/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* One line, and nothing but its end is a line end. */
static struct rpc_message read_back(const struct text *out)
{
    struct rpc_message message;
    int code;

    demand(out->used > 0 && memchr(out->bytes, '\n', out->used) == out->bytes + out->used - 1);
    demand(rpc_parse(out->bytes, out->used - 1, &message, &code));
    return message;
}

static bool is_plain(const char *method)
{
    return method[strspn(method, "abcdefghijklmnopqrstuvwxyz_/")] == '\0';
}

static void check_call(const struct rpc_message *message)
{
    char *params = message->params ? json_encode(message->params) : NULL;
    struct text out = { 0 };
    struct rpc_message again;
    int64_t id = 0;

    if (json_integer_of(message->id, &id))
        jsonrpc_add_request(&out, id, message->method, params ? params : "{}");
    else
        jsonrpc_add_notification(&out, message->method, params ? params : "{}");
    again = read_back(&out);
    demand(strcmp(again.method, message->method) == 0);
    demand(!params || json_same(again.params, message->params));
    rpc_release(&again);
    text_release(&out);
    free(params);
}

static void check_result(const struct rpc_message *message)
{
    char *id = message->id ? json_encode(message->id) : NULL,
         *result = json_encode(message->result);
    struct text out = { 0 };
    struct rpc_message again;

    if (id) {
        jsonrpc_add_result(&out, id, result);
        again = read_back(&out);
        demand(json_same(again.id, message->id) && json_same(again.result, message->result));
        rpc_release(&again);
    }
    text_release(&out);
    free(result);
    free(id);
}

/* A cut in the middle of a character is where a stranger's words are too long for us. */
static bool is_whole(const struct error *err)
{
    return text_is_utf8(err->path, strlen(err->path)) &&
           text_is_utf8(err->message, strlen(err->message));
}

static void check_failure(const struct json *error)
{
    struct error err, same;
    struct text out = { 0 };
    struct rpc_message again;

    memset(&err, 'x', sizeof err);
    rpc_read_failure(error, &err);
    demand(err.code > ERROR_NONE && err.code < ERROR_COUNT);
    demand(strnlen(err.path, sizeof err.path) < sizeof err.path);
    demand(strnlen(err.message, sizeof err.message) < sizeof err.message);
    if (!is_whole(&err))
        return;
    rpc_add_failure(&out, "1", &err, "{}", NULL);
    again = read_back(&out);
    rpc_read_failure(again.error, &same);
    demand(same.code == err.code && strcmp(same.path, err.path) == 0);
    demand(strcmp(same.message, err.message) == 0);
    demand(same.retry_after_s == (err.retry_after_s > 0 ? err.retry_after_s : 0));
    rpc_release(&again);
    text_release(&out);
}

static void check_line(const char *line, size_t length)
{
    struct rpc_message message = { 0 };
    int code = RPC_OURS;

    if (!rpc_parse(line, length, &message, &code)) {
        demand(code == JSONRPC_PARSE_ERROR || code == JSONRPC_INVALID_REQUEST);
        demand(!message.root);
        return;
    }
    demand(message.method || message.result || message.error);
    if (message.method && is_plain(message.method))
        check_call(&message);
    if (message.result)
        check_result(&message);
    if (message.error)
        check_failure(message.error);
    rpc_release(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);

        check_line(at, length);
        at += length + 1;
    }
    return 0;
}
