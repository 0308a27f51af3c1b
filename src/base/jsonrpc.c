#include "base/jsonrpc.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"

static const char *skip_mark(const char *bytes, size_t length)
{
    return bytes + (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
}

bool jsonrpc_parse(const char *bytes, size_t length, struct json_piece *ret_result,
                   struct json **ret_value, struct error *err)
{
    const char *begin = skip_mark(bytes, length);

    return json_parse_message(begin, length - (size_t)(begin - bytes), "result", ret_result,
                              ret_value, err);
}

static bool is_id(const struct json *id)
{
    enum json_kind kind = json_kind(id);

    return kind == KIND_INTEGER || kind == KIND_TEXT;
}

/* May stand in an error: its sender has it somewhere. */
static bool is_answerable(const struct json *id)
{
    return is_id(id) || json_kind(id) == KIND_REAL || json_kind(id) == KIND_HUGE;
}

/* A NUL would cut the name short, and what is left may be a method's. */
static const char *whole_text(const struct json *text)
{
    const char *bytes = json_text(text);

    return bytes && strlen(bytes) == json_length(text) ? bytes : NULL;
}

static bool is_text(const struct json *text, const char *wanted)
{
    return whole_text(text) && strcmp(whole_text(text), wanted) == 0;
}

/* What could not be read is answered with an error whose id is null. */
static bool is_unread_error(const struct jsonrpc_message *message)
{
    return message->error && !message->method && json_kind(message->id) == KIND_NULL;
}

bool jsonrpc_read(const struct json *value, struct jsonrpc_message *ret_message)
{
    const struct json *id = json_member(value, "id"), *method = json_member(value, "method");
    struct jsonrpc_message message = {
        .id = id,
        .method = whole_text(method),
        .params = json_member(value, "params"),
        .result = json_member(value, "result"),
        .error = json_member(value, "error"),
    };

    *ret_message = (struct jsonrpc_message){ .id = is_answerable(id) ? id : NULL };
    if (json_kind(value) != KIND_OBJECT || !is_text(json_member(value, "jsonrpc"), "2.0") ||
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

/* Of text that may not be JSON: a string, one sign of JSON, or what is between two of them. */
static const char *skip_token(const char *at, const char *end)
{
    static const char signs[] = "\"{}[]:, \t\r\n";

    if (*at++ == '"') {
        while (at < end && *at != '"')
            at += *at == '\\' && at + 1 < end ? 2 : 1;
        return at < end ? at + 1 : end;
    }
    if (!strchr(signs, at[-1]))
        while (at < end && !memchr(signs, *at, sizeof signs))
            at++;
    return at;
}

char *jsonrpc_find_id(const char *bytes, size_t length)
{
    const char *end = bytes + length, *at, *after, *key = NULL, *key_end = NULL;
    bool has_method = false, has_outcome = false, is_good = true;
    struct json *name = NULL, *id = NULL; /* `name`: of the value that comes now */
    struct text closers = { 0 };          /* of what is open; any other closer is not counted */
    char *id_json = NULL;

    for (at = skip_mark(bytes, length); at < end && is_good; at = after) {
        after = skip_token(at, end);
        if (*at && strchr(" \t\r\n", *at))
            continue;
        if (closers.used == 0 && *at != '{')
            break;
        if (name && is_text(name, "id")) /* the end may have cut it */
            is_good = !id && after < end && json_parse(at, (size_t)(after - at), &id, NULL) &&
                      is_answerable(id);
        json_free(name);
        name = NULL;
        if (closers.used == 1 && *at == ':' && key && /* "\u0069d" is "id" */
            json_parse(key, (size_t)(key_end - key), &name, NULL)) {
            has_method |= is_text(name, "method");
            has_outcome |= is_text(name, "result") || is_text(name, "error");
        }
        key = *at == '"' ? at : NULL;
        key_end = after;
        if (*at == '{' || *at == '[')
            text_add_char(&closers, *at == '{' ? '}' : ']');
        else if (*at == closers.bytes[closers.used - 1] && --closers.used == 0)
            break;
    }
    if (is_good && id && (has_method || !has_outcome))
        id_json = json_encode(id);
    json_free(name);
    json_free(id);
    text_release(&closers);
    return id_json;
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
    struct json_writer writer = json_object_to(out);

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
