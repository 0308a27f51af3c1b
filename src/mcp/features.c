/*
 * features.c - what a server has beside tools: prompts, resources, what completes their arguments,
 * and log messages. Those go to clients that want them: from the level a legacy client set, or the
 * one a modern request names; without that a modern client gets none.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"

static void write_arguments(struct json_writer *writer, const struct mcp_prompt *prompt)
{
    if (!prompt->argument_count)
        return;
    json_write_list(writer, "arguments");
    for (size_t i = 0; i < prompt->argument_count; i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "name", prompt->arguments[i].name);
        json_write_text(writer, "description", prompt->arguments[i].description);
        json_write_bool(writer, "required", prompt->arguments[i].is_required);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

void prompts_list(struct mcp_request *request)
{
    const struct mcp_features *features = request->to.mcp->parts.features;
    struct text out = { 0 };
    struct json_writer writer = result_begin(request->revision, &out);

    json_write_list(&writer, "prompts");
    for (size_t i = 0; i < features->prompt_count; i++) {
        json_write_object(&writer, NULL);
        json_write_text(&writer, "name", features->prompts[i].name);
        json_write_text(&writer, "description", features->prompts[i].description);
        write_arguments(&writer, &features->prompts[i]);
        json_write_end_object(&writer);
    }
    json_write_end_list(&writer);
    result_reply(request, &writer, CACHE_PUBLIC);
}

static const struct mcp_prompt *find_prompt(const struct mcp_features *features, const char *name)
{
    for (size_t i = 0; name && i < features->prompt_count; i++) {
        if (strcmp(features->prompts[i].name, name) == 0)
            return &features->prompts[i];
    }
    return NULL;
}

/* The name of one that is missing or no text; NULL: all are there. */
static const char *find_missing(const struct mcp_prompt *prompt, const struct json *arguments)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const char *name = prompt->arguments[i].name;

        if ((prompt->arguments[i].is_required || json_member(arguments, name)) &&
            !json_member_text(arguments, name))
            return name;
    }
    return NULL;
}

void prompts_get(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    const struct mcp_prompt *prompt =
        find_prompt(mcp->parts.features, json_member_text(request->params, "name"));
    const struct json *arguments = json_member(request->params, "arguments");
    const char *missing = prompt ? find_missing(prompt, arguments) : NULL;
    char message[128];
    struct mcp_call *call;
    int64_t tag;

    if (!prompt || missing) {
        snprintf(message, sizeof message, "the prompt needs the argument \"%s\", a text",
                 missing ? missing : "");
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        prompt ? message : "there is no such prompt; prompts/list names them",
                        NULL);
        return;
    }
    call = run_begin(request, arguments, false);
    if (!call)
        return;
    tag = call->tag;
    prompt->run(call, arguments);
    run_settle(mcp, tag);
}

void call_reply_prompt(struct mcp_call *call, const char *description, const char *messages_json)
{
    struct text out = { 0 };
    struct json_writer writer = call_begin_result(call, &out);

    json_write_text_if(&writer, "description", description);
    json_write_raw(&writer, "messages", messages_json);
    call_end_result(call, &writer, CACHE_NONE);
}

void call_reply_prompt_text(struct mcp_call *call, const char *description, const char *text)
{
    struct text messages = { 0 };
    struct json_writer writer = json_writer_to(&messages);

    json_write_list(&writer, NULL);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "role", "user");
    content_write_text(&writer, "content", text);
    json_write_end_object(&writer);
    json_write_end_list(&writer);
    call_reply_prompt(call, description, text_string(&messages));
    text_release(&messages);
}

enum { NO_RESOURCE_LEGACY = -32002 };

static void reply_rows(struct mcp_request *request, const char *key, const char *uri_key,
                       const struct mcp_resource *rows, size_t count)
{
    struct text out = { 0 };
    struct json_writer writer = result_begin(request->revision, &out);

    json_write_list(&writer, key);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&writer, NULL);
        json_write_text(&writer, uri_key, rows[i].uri);
        json_write_text(&writer, "name", rows[i].name);
        if (revision_has_structured(request->revision))
            json_write_text_if(&writer, "title", rows[i].title);
        json_write_text(&writer, "description", rows[i].description);
        json_write_text(&writer, "mimeType", rows[i].mime_type);
        json_write_end_object(&writer);
    }
    json_write_end_list(&writer);
    result_reply(request, &writer, CACHE_PUBLIC);
}

void resources_list(struct mcp_request *request)
{
    const struct mcp_features *features = request->to.mcp->parts.features;

    reply_rows(request, "resources", "uri", features->resources, features->resource_count);
}

void resources_list_templates(struct mcp_request *request)
{
    const struct mcp_features *features = request->to.mcp->parts.features;

    reply_rows(request, "resourceTemplates", "uriTemplate", features->templates,
               features->template_count);
}

const char *resources_read_uri(struct mcp_request *request)
{
    const struct json *uri = json_member(request->params, "uri");

    if (json_text(uri) && strlen(json_text(uri)) == json_length(uri))
        return json_text(uri);
    mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS, "uri must be a text", NULL);
    return NULL;
}

/* The modern revision has no code of its own for it; the uri says what was looked for. */
static void reply_missing(const struct mcp_to *to, enum mcp_revision revision, const char *uri)
{
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);

    json_write_text(&writer, "uri", uri);
    json_write_end_object(&writer);
    mcp_reply_error(to,
                    revision == REVISION_2026_07_28 ? JSONRPC_INVALID_PARAMS : NO_RESOURCE_LEGACY,
                    "there is no such resource", text_string(&data));
    text_release(&data);
}

void resources_refuse(struct mcp_request *request, const char *uri)
{
    reply_missing(&request->to, request->revision, uri);
}

void call_reply_no_resource(struct mcp_call *call, const char *uri)
{
    enum mcp_revision revision = call->revision;
    struct mcp_to to = call_let_go(call);

    reply_missing(&to, revision, uri);
    call_settle(call);
}

void call_reply_contents(struct mcp_call *call, const struct call_contents *contents)
{
    struct text out = { 0 };
    struct json_writer writer = call_begin_result(call, &out);

    json_write_list(&writer, "contents");
    json_write_object(&writer, NULL);
    json_write_text(&writer, "uri", contents->uri);
    json_write_text(&writer, "mimeType", contents->mime_type);
    json_write_text_if(&writer, "text", contents->text);
    json_write_text_if(&writer, "blob", contents->blob);
    json_write_end_object(&writer);
    json_write_end_list(&writer);
    call_end_result(call, &writer, CACHE_PRIVATE);
}

void resources_read(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    const char *uri = resources_read_uri(request);
    struct mcp_call *call =
        uri ? run_begin(request, NULL, mcp->parts.features->needs_session) : NULL;
    int64_t tag;

    if (!call)
        return;
    tag = call->tag;
    mcp->parts.features->read(call, uri);
    run_settle(mcp, tag);
}

enum { COMPLETE_MAX = 100 }; /* by the revisions */

static const struct mcp_resource *find_template(const struct mcp_features *features,
                                                const char *uri)
{
    for (size_t i = 0; uri && i < features->template_count; i++) {
        if (strcmp(features->templates[i].uri, uri) == 0)
            return &features->templates[i];
    }
    return NULL;
}

static bool has_argument(const struct completion_request *completion)
{
    char named[64];

    for (size_t i = 0; completion->prompt && i < completion->prompt->argument_count; i++) {
        if (strcmp(completion->prompt->arguments[i].name, completion->argument) == 0)
            return true;
    }
    snprintf(named, sizeof named, "{%s}", completion->argument);
    return completion->template && strstr(completion->template->uri, named);
}

static bool read_completion(const struct mcp_request *request,
                            struct completion_request *completion)
{
    const struct mcp_features *features = request->to.mcp->parts.features;
    const struct json *ref = json_member(request->params, "ref");
    const struct json *argument = json_member(request->params, "argument");
    const char *type = json_member_text(ref, "type");

    completion->argument = json_member_text(argument, "name");
    completion->value = json_member_text(argument, "value");
    if (type && strcmp(type, "ref/prompt") == 0)
        completion->prompt = find_prompt(features, json_member_text(ref, "name"));
    else if (type && strcmp(type, "ref/resource") == 0)
        completion->template = find_template(features, json_member_text(ref, "uri"));
    return (completion->prompt || completion->template) && completion->argument &&
           completion->value && has_argument(completion);
}

void complete(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    struct completion_request completion = { 0 };
    struct mcp_call *call;
    int64_t tag;

    if (!read_completion(request, &completion)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        "ref must name a prompt or a resource template, argument one of its "
                        "arguments and the text typed so far",
                        NULL);
        return;
    }
    call = run_begin(request, NULL, mcp->parts.features->needs_session);
    if (!call)
        return;
    tag = call->tag;
    mcp->parts.features->complete(call, &completion);
    run_settle(mcp, tag);
}

void call_reply_values(struct mcp_call *call, const char *const *values, size_t count)
{
    struct text out = { 0 };
    struct json_writer writer = call_begin_result(call, &out);

    json_write_object(&writer, "completion");
    json_write_list(&writer, "values");
    for (size_t i = 0; i < count && i < COMPLETE_MAX; i++)
        json_write_text(&writer, NULL, values[i]);
    json_write_end_list(&writer);
    if (count <= COMPLETE_MAX) /* else who asked stopped counting */
        json_write_integer(&writer, "total", (int64_t)count);
    json_write_bool(&writer, "hasMore", count > COMPLETE_MAX);
    json_write_end_object(&writer);
    call_end_result(call, &writer, CACHE_NONE);
}

static const char *const names[LEVEL_NONE] = {
    [LEVEL_DEBUG] = "debug",     [LEVEL_INFO] = "info",           [LEVEL_NOTICE] = "notice",
    [LEVEL_WARNING] = "warning", [LEVEL_ERROR] = "error",         [LEVEL_CRITICAL] = "critical",
    [LEVEL_ALERT] = "alert",     [LEVEL_EMERGENCY] = "emergency",
};

bool logging_read_level(const char *name, enum mcp_level *ret_level)
{
    size_t level = text_index(name, names, ARRAY_LEN(names));

    if (level < ARRAY_LEN(names))
        *ret_level = (enum mcp_level)level;
    return level < ARRAY_LEN(names);
}

void logging_set_level(struct mcp_request *request)
{
    const char *name = json_member_text(request->params, "level");

    if (!logging_read_level(name, &request->to.mcp->level)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        "level must be one of debug to emergency", NULL);
        return;
    }
    session_state(request->to.mcp, NOTE_LEVEL, "", name);
    mcp_reply(&request->to, "{}");
}

void logging_take_state(struct mcp *mcp, const char *rest, const char *value)
{
    (void)rest;
    if (!logging_read_level(value, &mcp->level))
        mcp->level = mcp->parts.features->level;
}

void call_log(struct mcp_call *call, enum mcp_level level, const char *data_json)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call_logs(call, level))
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "level", names[level]);
    json_write_text(&writer, "logger", "sayso");
    json_write_raw(&writer, "data", data_json);
    mcp_notify(&call->to, "notifications/message", &writer);
}
