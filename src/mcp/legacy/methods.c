/*
 * methods.c - the legacy revisions, 2024-11-05 to 2025-11-25: a handshake, then methods.
 * A method before the handshake is served too: nothing here depends on it but the shape of results.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"

static void initialize(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    const struct json *client = json_member(request->params, "clientInfo");
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    mcp->negotiated = revision_negotiate(json_member_text(request->params, "protocolVersion"));
    free(mcp->client_name);
    free(mcp->client_version);
    mcp->client_name = mem_text(json_member_text(client, "name"));
    mcp->client_version = mem_text(json_member_text(client, "version"));
    mcp->abilities = ability_read(json_member(request->params, "capabilities"), mcp->negotiated);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "protocolVersion", revision_name(mcp->negotiated));
    json_write_raw(&writer, "capabilities", "{\"tools\":{},\"prompts\":{}}");
    content_write_server_info(&writer, "serverInfo", revision_has_structured(mcp->negotiated));
    json_write_text(&writer, "instructions", content_instructions);
    json_write_end_object(&writer);
    mcp_reply(&request->to, text_string(&out));
    text_release(&out);
}

static void ping(struct mcp_request *request)
{
    mcp_reply(&request->to, "{}");
}

static void write_tools(struct json_writer *writer, const struct mcp_request *request)
{
    json_write_object(writer, NULL);
    content_write_tools(writer, request->to.mcp->parts.tools, request->revision);
    json_write_end_object(writer);
}

static void list_tools(struct mcp_request *request)
{
    static struct content_made made[REVISION_COUNT];

    mcp_reply(&request->to, content_make(&made[request->revision], request, write_tools));
}

static void list_prompts(struct mcp_request *request)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    json_write_object(&writer, NULL);
    content_write_prompts(&writer);
    json_write_end_object(&writer);
    mcp_reply(&request->to, text_string(&out));
    text_release(&out);
}

static void get_prompt(struct mcp_request *request)
{
    const char *name = json_member_text(request->params, "name");
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    json_write_object(&writer, NULL);
    if (name && content_write_prompt(&writer, name)) {
        json_write_end_object(&writer);
        mcp_reply(&request->to, text_string(&out));
    } else {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        "there is no such prompt; prompts/list names them", NULL);
    }
    text_release(&out);
}

static const struct mcp_method methods[] = {
    { "initialize", initialize },     { "ping", ping },
    { "tools/list", list_tools },     { "tools/call", tool_call },
    { "prompts/list", list_prompts }, { "prompts/get", get_prompt },
};

void legacy_serve(struct mcp_request *request)
{
    mcp_serve(request, methods, ARRAY_LEN(methods), 200);
}
