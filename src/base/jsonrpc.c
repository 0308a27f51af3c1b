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

bool jsonrpc_read(const struct json *value, struct jsonrpc_message *ret_message)
{
    struct jsonrpc_message message = { 0 };
    const char *version = json_member_text(value, "jsonrpc");

    if (json_kind(value) != KIND_OBJECT || !version || strcmp(version, "2.0") != 0)
        return false;
    message.id = json_member(value, "id");
    message.method = json_member_text(value, "method");
    message.params = json_member(value, "params");
    message.result = json_member(value, "result");
    message.error = json_member(value, "error");
    if ((message.id && !is_id(message.id)) ||
        (message.params && json_kind(message.params) != KIND_OBJECT) ||
        (!message.method && !message.result && !message.error))
        return false;
    *ret_message = message;
    return true;
}

static void add_parts(struct text *out, const char *const *parts)
{
    for (; *parts; parts++)
        text_add_text(out, *parts);
}

void jsonrpc_add_request(struct text *out, int64_t id, const char *method, const char *params_json)
{
    text_add_format(out,
                    "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"method\":\"%s\",\"params\":", (long long)id,
                    method);
    add_parts(out, (const char *const[]){ params_json, "}\n", NULL });
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
