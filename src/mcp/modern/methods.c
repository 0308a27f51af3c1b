/*
 * methods.c - revision 2026-07-28: no handshake, no memory; each request brings version and
 * capabilities in _meta, each result says its kind. Source: MCP 2026-07-28, basic and server.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"
#include "mcp/modern/codes.h"
#include "mcp/modern/headers.h"

static void write_discovery(struct json_writer *writer, const struct mcp_request *request)
{
    *writer = result_begin(request->revision, writer->out);
    json_write_list(writer, "supportedVersions");
    json_write_text(writer, NULL, revision_name(REVISION_2026_07_28));
    json_write_end_list(writer);
    content_write_capabilities(writer, request->revision);
    json_write_text(writer, "instructions", content_instructions);
    result_end(writer, request->revision, CACHE_PUBLIC);
}

static void discover(struct mcp_request *request)
{
    static struct content_made made;

    mcp_reply(&request->to, content_make(&made, request, write_discovery));
}

static const struct mcp_method methods[] = {
    { "server/discover", discover },
    { "subscriptions/listen", listen_to },
};

/* A client that speaks it already goes on, whatever is offered to the next one. */
static bool is_offered(const struct mcp_request *request)
{
    const struct mcp *mcp = request->to.mcp;
    const char *name = request->client_name ? request->client_name : "";

    return !mcp->parts.offers_modern ||
           mcp->parts.offers_modern(mcp->parts.context, request->client_name) ||
           (mcp->modern_name && strcmp(mcp->modern_name, name) == 0);
}

static void remember(struct mcp *mcp, const char *name)
{
    if (mcp->modern_name && strcmp(mcp->modern_name, name) == 0)
        return;
    free(mcp->modern_name);
    mcp->modern_name = mem_text(name);
}

static void refuse_version(struct mcp_request *request, const char *asked, int newest, int oldest)
{
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);

    json_write_list(&writer, "supported");
    for (int revision = newest; revision >= oldest; revision--)
        json_write_text(&writer, NULL, revision_name((enum mcp_revision)revision));
    json_write_end_list(&writer);
    json_write_text(&writer, "requested", asked);
    json_write_end_object(&writer);
    mcp_refuse(&request->to, MODERN_BAD_REQUEST, MODERN_UNSUPPORTED_VERSION,
               "this protocol version is not supported", text_string(&data));
    text_release(&data);
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
    request->level = LEVEL_NONE;
    if (json_member(meta, META_PREFIX "logLevel") &&
        !logging_read_level(json_member_text(meta, META_PREFIX "logLevel"), &request->level))
        return refuse_envelope(request, META_PREFIX "logLevel must be one of debug to emergency");
    request->client_name = json_member_text(client, "name");
    request->client_version = json_member_text(client, "version");
    request->abilities = ability_read(capabilities, REVISION_2026_07_28);
    return true;
}

/* To a client that is not offered it, we are a server that does not have it. */
static bool check_version(struct mcp_request *request)
{
    const struct json *meta = json_member(request->params, "_meta");
    const char *version = json_member_text(meta, META_PREFIX "protocolVersion");

    if (!is_offered(request)) {
        if (strcmp(request->method, "server/discover") == 0)
            mcp_refuse(&request->to, MODERN_NO_METHOD, JSONRPC_METHOD_NOT_FOUND, "no such method",
                       NULL);
        else
            refuse_version(request, version, REVISION_2025_11_25, REVISION_2024_11_05);
        return false;
    }
    if (strcmp(version, revision_name(REVISION_2026_07_28)) == 0) {
        remember(request->to.mcp, request->client_name ? request->client_name : "");
        return true;
    }
    refuse_version(request, version, REVISION_2026_07_28, REVISION_2026_07_28);
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
