/* jsonrpc.c - see jsonrpc.h. */
#include "base/jsonrpc.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"

static bool is_id(const struct json *id)
{
    enum json_kind kind = json_kind(id);

    return kind == KIND_INTEGER || kind == KIND_TEXT;
}

/* A NUL would cut the name short, and what is left may be a method's. */
static const char *whole_text(const struct json *text)
{
    const char *bytes = json_text(text);

    return bytes && strlen(bytes) == json_length(text) ? bytes : NULL;
}

/* What could not be read is answered with an error whose id is null. */
static bool is_unread_error(const struct jsonrpc_message *message)
{
    return message->error && !message->method && json_kind(message->id) == KIND_NULL;
}

bool jsonrpc_read(const struct json *value, struct jsonrpc_message *ret_message)
{
    const char *version = whole_text(json_member(value, "jsonrpc"));
    const struct json *id = json_member(value, "id"), *method = json_member(value, "method");
    struct jsonrpc_message message = {
        .id = id,
        .method = whole_text(method),
        .params = json_member(value, "params"),
        .result = json_member(value, "result"),
        .error = json_member(value, "error"),
    };

    *ret_message = (struct jsonrpc_message){ .id = is_id(id) ? id : NULL };
    if (json_kind(value) != KIND_OBJECT || !version || strcmp(version, "2.0") != 0 ||
        (id && !is_id(id) && !is_unread_error(&message)) || (method && !message.method) ||
        (message.params && json_kind(message.params) != KIND_OBJECT) ||
        (!message.method && !message.result && !message.error))
        return false;
    *ret_message = message;
    return true;
}

bool jsonrpc_is_response(const struct json *value)
{
    return json_kind(value) == KIND_OBJECT && !json_member(value, "method") &&
           (json_member(value, "result") || json_member(value, "error"));
}

static void add_parts(struct text *out, const char *const *parts)
{
    for (; *parts; parts++)
        text_add_text(out, *parts);
}

void jsonrpc_add_request(struct text *out, int64_t id, const char *method, const char *params_json)
{
    char room[TEXT_INTEGER_BYTES];

    add_parts(out, (const char *const[]){ "{\"jsonrpc\":\"2.0\",\"id\":", text_of_integer(id, room),
                                          ",\"method\":\"", method, "\",\"params\":", params_json,
                                          "}\n", NULL });
}

void jsonrpc_add_notification(struct text *out, const char *method, const char *params_json)
{
    add_parts(out, (const char *const[]){ "{\"jsonrpc\":\"2.0\",\"method\":\"", method,
                                          "\",\"params\":", params_json, "}\n", NULL });
}

void jsonrpc_add_result(struct text *out, const char *id_json, const char *result_json)
{
    add_parts(out, (const char *const[]){ "{\"jsonrpc\":\"2.0\",\"id\":", id_json,
                                          ",\"result\":", result_json, "}\n", NULL });
}

void jsonrpc_add_error(struct text *out, const char *id_json, int code, const char *message,
                       const char *data_json)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    if (id_json)
        json_write_raw(&writer, "id", id_json);
    json_write_object(&writer, "error");
    json_write_integer(&writer, "code", code);
    json_write_text(&writer, "message", message);
    if (data_json)
        json_write_raw(&writer, "data", data_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    text_add_char(out, '\n');
}
