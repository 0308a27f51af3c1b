/* wire.c - messages of the wire to bytes and back. */
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"

int wire_number(void)
{
#ifdef SAYSO_CRASH_POINTS
    const char *pretended = getenv("SAYSO_WIRE");

    if (pretended)
        return (int)strtol(pretended, NULL, 10);
#endif
    return WIRE_NUMBER;
}

const char *wire_language(void)
{
    const char *language = getenv("CHOICE_LANG");

    return language && text_is_utf8(language, strlen(language)) ? language : NULL;
}

bool wire_parse(const char *line, size_t length, struct wire_message *ret_message, int *ret_code)
{
    struct jsonrpc_message message;
    struct json *root = NULL;
    struct json_piece result;

    *ret_code = JSONRPC_PARSE_ERROR;
    if (!jsonrpc_parse(line, length, &result, &root, NULL))
        return false;
    *ret_code = JSONRPC_INVALID_REQUEST;
    if (!jsonrpc_read(root, &message)) {
        json_free(root);
        return false;
    }
    *ret_message =
        (struct wire_message){ root,           message.method, message.id, message.params,
                               message.result, message.error,  result };
    return true;
}

void wire_release(struct wire_message *message)
{
    json_free(message->root);
    *message = (struct wire_message){ 0 };
}

void wire_add_result(struct text *out, const char *id_json, enum reply_kind kind,
                     const char *result_json)
{
    text_add_format(out,
                    kind == REPLY_PLAIN
                        ? "{\"jsonrpc\":\"2.0\",\"id\":%s%s,\"result\":"
                        : "{\"jsonrpc\":\"2.0\",\"id\":%s,\"reply\":\"%s\",\"result\":",
                    id_json, reply_kind_name(kind));
    text_add_text(out, result_json ? result_json : "{}");
    text_add_text(out, "}\n");
}

bool wire_read_kind(const struct json *root, enum reply_kind *ret_kind, struct error *err)
{
    *ret_kind = reply_kind_find(json_member_text(root, "reply"));
    return *ret_kind != REPLY_PLAIN ||
           error_set(err, ERROR_unavailable, "",
                     "the hub runs an older version that can't confirm answers: run 'sayso stop', "
                     "then repeat the same call; an answer is kept");
}

void wire_add_error(struct text *out, const char *id_json, int code, const char *message)
{
    char data[32];

    snprintf(data, sizeof data, "{\"wire\":%d}", wire_number());
    jsonrpc_add_error(out, id_json, code, message, data);
}

void wire_add_unread(struct text *out, const char *line, size_t length, int code)
{
    char *id_json = jsonrpc_find_id(line, length);

    wire_add_error(out, id_json ? id_json : "null", code,
                   code == JSONRPC_PARSE_ERROR ? "not JSON" : "not a JSON-RPC 2.0 message");
    free(id_json);
}

static void read_mistake(const struct json *json, const char *message, struct error *ret_err)
{
    const char *code = json_member_text(json, "code");
    const char *path = json_member_text(json, "path");
    enum error_code known = code ? error_find(code) : ERROR_NONE;

    known = known == ERROR_NONE ? ERROR_unavailable : known;
    if (message)
        error_set(ret_err, known, path ? path : "", "%s", message);
    else
        error_say_base(ret_err, known, path ? path : "", BASE_REASON_HUB_REFUSED, NULL);
    error_hear(ret_err, json);
}

void wire_read_failure(const struct json *error, struct error *ret_err)
{
    const struct json *data = json_member(error, "data"), *errors = json_member(data, "errors");
    struct error one;

    read_mistake(data, json_member_text(error, "message"), ret_err);
    ret_err->retry_after_s = json_member_integer(data, "retry_after_seconds", 0);
    for (size_t i = 1; i < json_length(errors); i++) { /* the first is this one */
        const struct json *another = json_item(errors, i);

        read_mistake(another, json_member_text(another, "message"), &one);
        error_add(ret_err, &one);
    }
}
