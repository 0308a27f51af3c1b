/* prompts.c - prompts/list and prompts/get. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "mcp/inside.h"
#include "mcp/offer.h"

static void write_arguments(struct json_writer *writer, const struct mcp_prompt *prompt)
{
    if (!prompt->argument_count)
        return;
    json_write_list(writer, "arguments");
    for (size_t i = 0; i < prompt->argument_count; i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "name", prompt->arguments[i].name);
        json_write_text(writer, "description", prompt->arguments[i].description);
        json_write_bool(writer, "required", prompt->arguments[i].is_needed);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

void prompts_list(struct mcp_request *request)
{
    const struct mcp_offer *offer = request->to.mcp->parts.offer;
    struct text out = { 0 };
    struct json_writer writer = result_begin(request->revision, &out);

    json_write_list(&writer, "prompts");
    for (size_t i = 0; i < offer->prompt_count; i++) {
        json_write_object(&writer, NULL);
        json_write_text(&writer, "name", offer->prompts[i].name);
        json_write_text(&writer, "description", offer->prompts[i].description);
        write_arguments(&writer, &offer->prompts[i]);
        json_write_end_object(&writer);
    }
    json_write_end_list(&writer);
    result_reply(request, &writer, CACHE_PUBLIC);
}

const struct mcp_prompt *prompts_find(const struct mcp_offer *offer, const char *name)
{
    for (size_t i = 0; name && i < offer->prompt_count; i++) {
        if (strcmp(offer->prompts[i].name, name) == 0)
            return &offer->prompts[i];
    }
    return NULL;
}

/* The name of one that is missing or no text; NULL: all are there. */
static const char *find_missing(const struct mcp_prompt *prompt, const struct json *arguments)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const char *name = prompt->arguments[i].name;

        if ((prompt->arguments[i].is_needed || json_member(arguments, name)) &&
            !json_member_text(arguments, name))
            return name;
    }
    return NULL;
}

void prompts_get(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    const struct mcp_prompt *prompt =
        prompts_find(mcp->parts.offer, json_member_text(request->params, "name"));
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
