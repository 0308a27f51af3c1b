/*
 * methods.c - revision 2026-07-28: no handshake, no memory; each request brings version and
 * capabilities in _meta, each result says its kind. Source: MCP 2026-07-28, basic and server.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"
#include "mcp/modern/codes.h"
#include "mcp/modern/headers.h"

enum { MODERN_LIST_TTL_MS = 3600000 };

static struct json_writer begin_result(struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "resultType", "complete");
    return writer;
}

static void write_end(struct json_writer *writer, bool is_cacheable)
{
    if (is_cacheable) {
        json_write_integer(writer, "ttlMs", MODERN_LIST_TTL_MS);
        json_write_text(writer, "cacheScope", "public");
    }
    json_write_object(writer, "_meta");
    content_write_server_info(writer, META_PREFIX "serverInfo", false);
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static void end_result(struct mcp_request *request, struct json_writer *writer, bool is_cacheable)
{
    write_end(writer, is_cacheable);
    mcp_reply(&request->to, text_string(writer->out));
    text_release(writer->out);
}

static void write_discovery(struct json_writer *writer, const struct mcp_request *request)
{
    (void)request;
    *writer = begin_result(writer->out);
    json_write_list(writer, "supportedVersions");
    json_write_text(writer, NULL, revision_name(REVISION_2026_07_28));
    json_write_end_list(writer);
    json_write_raw(writer, "capabilities", "{\"tools\":{},\"prompts\":{}}");
    json_write_text(writer, "instructions", content_instructions);
    write_end(writer, true);
}

static void discover(struct mcp_request *request)
{
    static struct content_made made;

    mcp_reply(&request->to, content_make(&made, request, write_discovery));
}

static void write_tools(struct json_writer *writer, const struct mcp_request *request)
{
    *writer = begin_result(writer->out);
    content_write_tools(writer, request->to.mcp->parts.tools, request->revision);
    write_end(writer, true);
}

static void list_tools(struct mcp_request *request)
{
    static struct content_made made;

    mcp_reply(&request->to, content_make(&made, request, write_tools));
}

static void list_prompts(struct mcp_request *request)
{
    struct text out = { 0 };
    struct json_writer writer = begin_result(&out);

    content_write_prompts(&writer);
    end_result(request, &writer, true);
}

static void get_prompt(struct mcp_request *request)
{
    const char *name = json_member_text(request->params, "name");
    struct text out = { 0 };
    struct json_writer writer = begin_result(&out);

    if (name && content_write_prompt(&writer, name)) {
        end_result(request, &writer, false);
        return;
    }
    text_release(&out);
    mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                    "there is no such prompt; prompts/list names them", NULL);
}

/* Our lists never change, so there is nothing to honour: acknowledged as empty, and complete. */
static void listen(struct mcp_request *request)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    json_write_object(&writer, NULL);
    json_write_raw(&writer, "notifications", "{}");
    json_write_object(&writer, "_meta");
    json_write_raw(&writer, META_PREFIX "subscriptionId", request->to.id_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    mcp_notify(&request->to, "notifications/subscriptions/acknowledged", text_string(&out));
    text_clear(&out);
    writer = begin_result(&out);
    json_write_object(&writer, "_meta");
    json_write_raw(&writer, META_PREFIX "subscriptionId", request->to.id_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    mcp_reply(&request->to, text_string(&out));
    text_release(&out);
}

static const struct mcp_method methods[] = {
    { "server/discover", discover }, { "tools/list", list_tools },
    { "tools/call", tool_call },     { "prompts/list", list_prompts },
    { "prompts/get", get_prompt },   { "subscriptions/listen", listen },
};

static void refuse_version(struct mcp_request *request, const char *asked)
{
    struct text data = { 0 };
    struct json_writer writer = json_writer_to(&data);

    json_write_object(&writer, NULL);
    json_write_list(&writer, "supported");
    json_write_text(&writer, NULL, revision_name(REVISION_2026_07_28));
    json_write_end_list(&writer);
    json_write_text(&writer, "requested", asked);
    json_write_end_object(&writer);
    mcp_refuse(&request->to, MODERN_BAD_REQUEST, MODERN_UNSUPPORTED_VERSION,
               "this protocol version is not supported", text_string(&data));
    text_release(&data);
}

/* We log nothing to clients, but a level that is none is a broken envelope all the same. */
static bool is_log_level(const struct json *level)
{
    static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency" };
    const char *text = json_text(level);

    for (size_t i = 0; text && i < ARRAY_LEN(levels); i++) {
        if (strcmp(levels[i], text) == 0)
            return true;
    }
    return !level;
}

static bool refuse_envelope(struct mcp_request *request, const char *message)
{
    mcp_refuse(&request->to, MODERN_BAD_REQUEST, JSONRPC_INVALID_PARAMS, message, NULL);
    return false;
}

/* The envelope every modern request must bring. False: refused. */
static bool check_envelope(struct mcp_request *request)
{
    const struct json *meta = json_member(request->params, "_meta");
    const struct json *client = json_member(meta, META_PREFIX "clientInfo");
    const char *version = json_member_text(meta, META_PREFIX "protocolVersion");
    const struct json *capabilities = json_member(meta, META_PREFIX "clientCapabilities");

    if (!version || json_kind(capabilities) != KIND_OBJECT)
        return refuse_envelope(request, "_meta needs " META_PREFIX
                                        "protocolVersion (a text) and " META_PREFIX
                                        "clientCapabilities (an object)");
    if (!is_log_level(json_member(meta, META_PREFIX "logLevel")))
        return refuse_envelope(request, META_PREFIX "logLevel must be one of debug to emergency");
    request->client_name = json_member_text(client, "name");
    request->client_version = json_member_text(client, "version");
    request->abilities = ability_read(capabilities, REVISION_2026_07_28);
    return true;
}

static bool check_version(struct mcp_request *request)
{
    const struct json *meta = json_member(request->params, "_meta");
    const char *version = json_member_text(meta, META_PREFIX "protocolVersion");

    if (strcmp(version, revision_name(REVISION_2026_07_28)) == 0)
        return true;
    refuse_version(request, version);
    return false;
}

static bool check_headers(struct mcp_request *request)
{
    char message[HEADERS_MESSAGE_BYTES];

    if (!request->headers ||
        headers_match(request->headers, request->method, request->params, message))
        return true;
    mcp_refuse(&request->to, MODERN_BAD_REQUEST, MODERN_HEADER_MISMATCH, message, NULL);
    return false;
}

void modern_serve(struct mcp_request *request)
{
    request->revision = REVISION_2026_07_28;
    if (check_envelope(request) && check_headers(request) && check_version(request))
        mcp_serve(request, methods, ARRAY_LEN(methods), MODERN_NO_METHOD);
}
