/*
 * modern.c - revision 2026-07-28: no handshake, no memory; each request brings version and
 * capabilities in _meta, each result says its kind. A POST repeats of its body in headers what
 * proxies may route by: if they differ, a proxy was shown something else than what is asked.
 * Sources: MCP 2026-07-28, basic and server, basic/transports.
 *
 * A call that needs something of its client is answered with what (input_required), and the client
 * calls again with that and with the state we gave it. The state is the client's to keep, so it is
 * sealed: for this principal, this tool and these arguments, and for a time.
 * Source: MCP 2026-07-28, basic/patterns/mrtr.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/calls.h"
#include "mcp/mcp.h"

enum {
    MODERN_HEADER_MISMATCH = -32020,
    MODERN_MISSING_CAPABILITY = -32021,
    MODERN_UNSUPPORTED_VERSION = -32022,
    MODERN_BAD_REQUEST = 400,
    MODERN_NO_METHOD = 404,
    HEADERS_MESSAGE_BYTES = 160,
};

static const char sentinel_begin[] = "=?base64?", sentinel_end[] = "?=";

/* Which member of params Mcp-Name repeats. */
static const struct {
    const char *method, *member;
} named[] = {
    { "tools/call", "name" },  { "prompts/get", "name" },    { "resources/read", "uri" },
    { "tasks/get", "taskId" }, { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" },
};

/* `=` only at the end, and no bits left over. */
static bool decode_base64(const char *bytes, size_t length, struct text *out)
{
    size_t padding = length > 1 && bytes[length - 1] == '=' ? 1 + (bytes[length - 2] == '=') : 0;
    char *digits = mem_text_n(bytes, length - padding);
    bool ok = length % 4 == 0 && !strpbrk(digits, "-_");

    for (char *at = digits; *at; at++) /* to those of base64url */
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
    text_add(out, digits, length - padding);
    ok =
        ok && base64_decode(digits, length - padding, (uint8_t *)out->bytes, out->used, &out->used);
    free(digits);
    return ok;
}

/* What a value stands for: itself, or what is inside the sentinel. */
static bool decode_value(const char *value, struct text *out)
{
    size_t length = strlen(value), begin = sizeof sentinel_begin - 1, end = sizeof sentinel_end - 1;

    if (length < begin + end || strncmp(value, sentinel_begin, begin) != 0 ||
        strcmp(value + length - end, sentinel_end) != 0) {
        text_add(out, value, length);
        return true;
    }
    return decode_base64(value + begin, length - begin - end, out);
}

static bool is_same(const char *header, const char *body, size_t length)
{
    struct text decoded = { 0 };
    bool is = decode_value(header, &decoded) && decoded.used == length &&
              memcmp(text_string(&decoded), body, length) == 0;

    text_release(&decoded);
    return is;
}

static bool check(const char *header, const char *name, const char *body, size_t length,
                  char message[HEADERS_MESSAGE_BYTES])
{
    if (header && is_same(header, body, length))
        return true;
    snprintf(message, HEADERS_MESSAGE_BYTES,
             header ? "the header %s differs from the body"
                    : "the header %s is missing; it must repeat what the body says",
             name);
    return false;
}

static const struct json *find_named(const char *method, const struct json *params)
{
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (strcmp(named[i].method, method) == 0)
            return json_member(params, named[i].member);
    }
    return NULL;
}

/* False: `message` names the header that is missing or different. */
static bool headers_match(const struct mcp_headers *headers, const char *method,
                          const struct json *params, char message[HEADERS_MESSAGE_BYTES])
{
    const char *version =
        json_member_text(json_member(params, "_meta"), META_PREFIX "protocolVersion");
    const struct json *name = find_named(method, params);

    return check(headers->protocol_version, "MCP-Protocol-Version", version, strlen(version),
                 message) &&
           check(headers->method, "Mcp-Method", method, strlen(method), message) &&
           (!json_text(name) ||
            check(headers->name, "Mcp-Name", json_text(name), json_length(name), message));
}

/* What a state is good for: the same call again. */
static char *binding_of(const struct mcp_request *request, const struct json *arguments)
{
    const struct json *uri = json_member(request->params, "uri");
    const struct json *name = uri ? uri : json_member(request->params, "name");
    char *name_json = name ? json_encode(name) : mem_text("");
    char *arguments_json = arguments ? json_encode_canonical(arguments) : mem_text("");
    char *binding = mem_format("%s %s %s", request->method, name_json, arguments_json);

    free(name_json);
    free(arguments_json);
    return binding;
}

static bool refuse(struct mcp_call *call, const char *message)
{
    call_reply_error(call, JSONRPC_INVALID_PARAMS, message);
    return false;
}

bool input_read(struct mcp_request *request, const struct json *arguments, struct mcp_call *call)
{
    const struct mcp_parts *parts = &request->to.mcp->parts;
    const struct json *responses = json_member(request->params, "inputResponses");
    const struct json *sealed = json_member(request->params, "requestState");
    struct call_work *work;

    if (responses && json_kind(responses) != KIND_OBJECT)
        return refuse(call, "inputResponses must be an object");
    if (sealed && (!json_text(sealed) || strlen(json_text(sealed)) != json_length(sealed)))
        return refuse(call, "requestState must be the text an earlier result gave");
    work = call_work(call);
    work->binding = binding_of(request, arguments);
    if (sealed) {
        work->state =
            parts->unseal ? parts->unseal(parts->context, work->binding, json_text(sealed)) : NULL;
        if (!work->state)
            return refuse(call, "this requestState is not ours, was altered, belongs to another "
                                "call or is too old; call again without it");
    }
    work->responses = responses ? json_keep(responses) : NULL;
    return true;
}

void input_reply(struct mcp_call *call, const char *requests_json, const char *sealed)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "resultType", "input_required");
    if (requests_json)
        json_write_raw(&writer, "inputRequests", requests_json);
    json_write_text_if(&writer, "requestState", sealed);
    result_end(&writer, REVISION_2026_07_28, CACHE_NONE);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

void call_need_input(struct mcp_call *call, const char *requests_json, const char *state)
{
    const struct mcp_parts *parts = &call->to.mcp->parts;
    const char *binding = call->work ? call->work->binding : NULL;
    char *sealed = state && parts->seal ? parts->seal(parts->context, binding, state) : NULL;

    input_reply(call, requests_json, sealed);
    free(sealed);
}

/* A legacy client has no code for it: its request was not one we can serve. */
void call_reply_unable(struct mcp_call *call, unsigned abilities)
{
    bool is_modern = call->revision == REVISION_2026_07_28;
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);
    struct mcp_to to = call_let_go(call);

    ability_write(&writer, "requiredCapabilities", abilities);
    json_write_end_object(&writer);
    mcp_refuse(
        &to, MODERN_BAD_REQUEST, is_modern ? MODERN_MISSING_CAPABILITY : JSONRPC_INVALID_REQUEST,
        "this cannot be done without a capability the client did not declare", text_string(&data));
    text_release(&data);
    call_settle(call);
}

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

static const struct mcp_method modern_methods[] = {
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
        mcp_serve(request, modern_methods, ARRAY_LEN(modern_methods), MODERN_NO_METHOD);
}
