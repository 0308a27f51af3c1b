/* protocol.c - messages of the wire to bytes and back. */
#include "rpc/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "rpc/service.h"

int rpc_number(void)
{
#ifdef SAYSO_CRASH_POINTS
    const char *pretended = getenv("SAYSO_WIRE");

    if (pretended)
        return (int)strtol(pretended, NULL, 10);
#endif
    return RPC_NUMBER;
}

const char *rpc_language(void)
{
    const char *language = getenv("CHOICE_LANG");

    return language && text_is_utf8(language, strlen(language)) ? language : NULL;
}

static bool parse(const char *line, size_t length, struct rpc_message *ret_message, int *ret_code,
                  struct error *err)
{
    struct jsonrpc_message message;
    struct json *root = NULL;
    struct json_piece result;

    *ret_message = (struct rpc_message){ 0 };
    *ret_code = JSONRPC_PARSE_ERROR;
    if (!jsonrpc_parse(line, length, &result, &root, err))
        return false;
    *ret_code = JSONRPC_INVALID_REQUEST;
    if (!jsonrpc_read(root, &message)) {
        json_free(root);
        return false;
    }
    *ret_message = (struct rpc_message){ root,           message.method, message.id, message.params,
                                         message.result, message.error,  result };
    return true;
}

bool rpc_parse(const char *line, size_t length, struct rpc_message *ret_message, int *ret_code)
{
    return parse(line, length, ret_message, ret_code, NULL);
}

bool rpc_hear(const char *line, size_t length, struct rpc_message *ret_message, struct error *err)
{
    int code;

    *err = (struct error){ 0 };
    if (parse(line, length, ret_message, &code, err) &&
        !(ret_message->error && json_kind(ret_message->id) == KIND_NULL))
        return true;
    rpc_release(ret_message);
    if (!error_is_no_memory(err))
        error_set(err, ERROR_unavailable, "", "the server at this socket is not a sayso hub");
    return false;
}

void rpc_release(struct rpc_message *message)
{
    json_free(message->root);
    *message = (struct rpc_message){ 0 };
}

static const char *const reply_names[] = {
    [REPLY_PLAIN] = "",    [REPLY_FINAL] = "final", [REPLY_PENDING] = "pending",
    [REPLY_TOLD] = "told", [REPLY_INPUT] = "input",
};

const char *reply_kind_name(enum reply_kind kind)
{
    return reply_names[kind];
}

enum reply_kind reply_kind_find(const char *name)
{
    size_t kind = text_index(name, reply_names, ARRAY_LEN(reply_names));

    return kind < ARRAY_LEN(reply_names) ? (enum reply_kind)kind : REPLY_PLAIN;
}

void rpc_add_result(struct text *out, const char *id_json, enum reply_kind kind,
                    const char *result_json)
{
    text_add_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    text_add_text(out, id_json);
    text_add_text(out, kind == REPLY_PLAIN ? "" : ",\"reply\":\"");
    text_add_text(out, reply_kind_name(kind));
    text_add_text(out, kind == REPLY_PLAIN ? ",\"result\":" : "\",\"result\":");
    text_add_text(out, result_json ? result_json : "{}");
    text_add_text(out, "}\n");
}

bool rpc_read_kind(const struct json *root, enum reply_kind *ret_kind, struct error *err)
{
    *ret_kind = reply_kind_find(json_member_text(root, "reply"));
    return *ret_kind != REPLY_PLAIN ||
           error_set(err, ERROR_unavailable, "",
                     "the hub runs an older version that can't confirm answers: run 'sayso stop', "
                     "then repeat the same call; an answer is kept");
}

void rpc_add_error(struct text *out, const char *id_json, int code, const char *message)
{
    char data[32];

    snprintf(data, sizeof data, "{\"wire\":%d}", rpc_number());
    jsonrpc_add_error(out, id_json, code, message, data);
}

void rpc_add_unread(struct text *out, const char *line, size_t length, int code)
{
    char *id_json = jsonrpc_find_id(line, length);

    rpc_add_error(out, id_json ? id_json : "null", code,
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

void rpc_read_failure(const struct json *error, struct error *ret_err)
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

enum {
    IDENTITY_NAME_BYTES = 200,
    IDENTITY_PATH_BYTES = 4096,
    IDENTITY_TRANSPORT_BYTES = 16,
};

bool rpc_is_ours(const struct json *params)
{
    int64_t wire = json_member_integer(params, "wire", 0);

    return wire >= 1 && (wire == rpc_number() || wire == rpc_number() - 1);
}

/* A name that ends in the middle is not the name that was given. */
static bool has_nul(const struct json *params)
{
    for (void *at = json_first(params); at; at = json_next(params, at)) {
        const char *text = json_text(json_value(at));

        if (text && strlen(text) != json_length(json_value(at)))
            return true;
    }
    return false;
}

static bool is_transport(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length <= IDENTITY_TRANSPORT_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz") == length;
}

bool identity_read(const struct json *params, struct identity *identity)
{
    /* web, api and client are spoken for by the hub's own fronts, never by a local claim */
    static const char *const channels[] = { "cli", "terminal" };
    const char *role = json_member_text(params, "role");
    const char *channel = json_member_text(params, "channel");
    const char *name = json_member_text(params, "name");
    const char *as_name = json_member_text(params, "as");
    const char *directory = json_member_text(params, "directory");
    const char *transport = json_member_text(params, "transport");
    const char *version = json_member_text(params, "client_version");
    size_t via = channel ? text_index(channel, channels, ARRAY_LEN(channels)) : 0;

    if (!version)
        version = json_member_text(params, "version");
    if (has_nul(params) || !role || via == ARRAY_LEN(channels) ||
        (strcmp(role, "agent") != 0 && strcmp(role, "person") != 0) ||
        (name && strlen(name) > IDENTITY_NAME_BYTES) ||
        (as_name && strlen(as_name) > IDENTITY_NAME_BYTES) ||
        (version && strlen(version) > IDENTITY_NAME_BYTES) ||
        (transport && !is_transport(transport)) ||
        (directory && strlen(directory) > IDENTITY_PATH_BYTES))
        return false;
    identity->role = strcmp(role, "agent") == 0 ? ROLE_AGENT : ROLE_PERSON;
    identity->via = channels[via];
    identity->name = name ? name : "unnamed";
    identity->version = version;
    identity->as_name = as_name;
    identity->directory = directory;
    identity->language = json_member_text(params, "language");
    identity->transport = transport;
    identity->is_sub_agent = json_is_true(json_member(params, "sub_agent"));
    return true;
}

void rpc_write_welcome(struct json_writer *writer, const char *role)
{
    json_write_object(writer, NULL);
    json_write_integer(writer, "wire", rpc_number());
    json_write_text(writer, "version", SAYSO_VERSION);
    json_write_text(writer, "role", role);
    json_write_list(writer, "features");
    json_write_end_list(writer);
}
