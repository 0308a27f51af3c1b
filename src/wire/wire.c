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

static bool is_id(const struct json *id)
{
    enum json_kind kind = json_kind(id);

    return kind == KIND_INTEGER || kind == KIND_TEXT;
}

bool wire_parse(const char *line, size_t length, struct wire_message *ret_message,
                enum wire_code *ret_code)
{
    struct wire_message message = { 0 };
    const char *version;

    *ret_code = WIRE_PARSE_ERROR;
    if (!json_parse(line, length, &message.root, NULL))
        return false;
    *ret_code = WIRE_INVALID_REQUEST;
    version = json_member_text(message.root, "jsonrpc");
    message.id = json_member(message.root, "id");
    message.method = json_member_text(message.root, "method");
    message.params = json_member(message.root, "params");
    message.result = json_member(message.root, "result");
    message.error = json_member(message.root, "error");
    if (json_kind(message.root) != KIND_OBJECT || !version || strcmp(version, "2.0") != 0 ||
        (message.id && !is_id(message.id)) ||
        (message.params && json_kind(message.params) != KIND_OBJECT) ||
        (!message.method && !message.result && !message.error)) {
        json_free(message.root);
        return false;
    }
    *ret_message = message;
    return true;
}

void wire_release(struct wire_message *message)
{
    json_free(message->root);
    *message = (struct wire_message){ 0 };
}

void wire_add_request(struct text *out, int64_t id, const char *method, const char *params_json)
{
    text_add_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"method\":\"%s\",\"params\":%s}\n",
                    (long long)id, method, params_json);
}

void wire_add_notification(struct text *out, const char *method, const char *params_json)
{
    text_add_format(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}\n", method,
                    params_json);
}

void wire_add_result(struct text *out, const char *id_json, const char *result_json)
{
    text_add_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    text_add_text(out, id_json);
    text_add_text(out, ",\"result\":");
    text_add_text(out, result_json);
    text_add_text(out, "}\n");
}

static void begin_error(struct json_writer *writer, const char *id_json, enum wire_code code,
                        const char *message)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "jsonrpc", "2.0");
    json_write_raw(writer, "id", id_json);
    json_write_object(writer, "error");
    json_write_integer(writer, "code", code);
    json_write_text(writer, "message", message);
}

static void end_error(struct json_writer *writer)
{
    json_write_end_object(writer);
    json_write_end_object(writer);
    text_add_char(writer->out, '\n');
}

void wire_add_error(struct text *out, const char *id_json, enum wire_code code, const char *message)
{
    struct json_writer writer = json_writer_to(out);

    begin_error(&writer, id_json, code, message);
    json_write_object(&writer, "data");
    json_write_integer(&writer, "wire", wire_number());
    json_write_end_object(&writer);
    end_error(&writer);
}

void wire_add_failure(struct text *out, const char *id_json, const struct error *err,
                      const char *detail_json)
{
    struct json_writer writer = json_writer_to(out);

    begin_error(&writer, id_json, WIRE_OURS, err->message);
    json_write_object(&writer, "data");
    json_write_text(&writer, "code", error_name(err->code));
    json_write_text(&writer, "path", err->path);
    if (err->retry_after_s > 0)
        json_write_integer(&writer, "retry_after_seconds", err->retry_after_s);
    if (detail_json)
        json_write_raw(&writer, "detail", detail_json);
    json_write_end_object(&writer);
    end_error(&writer);
}

void wire_read_failure(const struct json *error, struct error *ret_err)
{
    const struct json *data = json_member(error, "data");
    const char *code = json_member_text(data, "code");
    const char *path = json_member_text(data, "path");
    const char *message = json_member_text(error, "message");
    enum error_code known = code ? error_find(code) : ERROR_NONE;

    error_set(ret_err, known == ERROR_NONE ? ERROR_unavailable : known, path ? path : "", "%s",
              message ? message : "the hub refused");
    ret_err->retry_after_s = json_member_integer(data, "retry_after_seconds", 0);
}
