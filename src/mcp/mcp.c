/* mcp.c - lines to requests and back; which era serves a message. See mcp.h. */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"

/* Of one batch; each message in it may be answered by a hundred times its size. */
enum { MCP_BATCH_MAX = 64, MCP_BAD_REQUEST = 400 };

struct mcp *mcp_new(const struct mcp_parts *parts)
{
    struct mcp *mcp = mem_new(sizeof *mcp);

    mcp->parts = *parts;
    if (!mcp->parts.features)
        mcp->parts.features = &mcp_product_features;
    mcp->level = mcp->parts.features->level;
    mcp->negotiated = REVISION_2025_11_25;
    mcp->by_tag = TABLE_OF(mcp_call, by_tag, tag);
    return mcp;
}

void mcp_free(struct mcp *mcp)
{
    if (!mcp)
        return;
    call_drop_all(mcp);
    mcp_tell_confirmed(mcp);
    subscribe_drop_all(mcp);
    hub_session_leave_all(mcp);
    table_release(&mcp->by_tag);
    text_release(&mcp->line);
    free(mcp->client_name);
    free(mcp->client_version);
    free(mcp->ask_url);
    free(mcp->modern_name);
    for (size_t i = 0; i < CANCELLED_KEPT; i++)
        free(mcp->cancelled[i]);
    free(mcp);
}

int64_t mcp_boot_ms(const struct mcp *mcp)
{
    return mcp->parts.clock->boot_ms(mcp->parts.clock);
}

/* `take_id_json` NULL: it could not be read. */
static void refuse_with(const struct mcp_to *to, char *take_id_json, int code, const char *message)
{
    struct mcp_to answer = *to;
    char *id_json = take_id_json;

    answer.id_json = id_json;
    if (!id_json && !revision_omits_unknown_id(to->mcp->negotiated))
        answer.id_json = "null";
    mcp_open(&answer);
    mcp_refuse(&answer, MCP_BAD_REQUEST, code, message, NULL);
    free(id_json);
}

static void refuse(const struct mcp_to *to, const struct json *id, const char *message)
{
    refuse_with(to, id ? json_encode(id) : NULL, JSONRPC_INVALID_REQUEST, message);
}

void mcp_refuse_long_line(struct mcp *mcp, struct mcp_stream *stream, const char *begin,
                          size_t length)
{
    const struct mcp_to to = { .mcp = mcp, .stream = stream };

    refuse_with(&to, jsonrpc_find_id(begin, length), JSONRPC_INVALID_REQUEST,
                "a message has at most 1048576 bytes");
}

static void list_tools(struct mcp_request *request)
{
    static struct content_made made[REVISION_COUNT];

    mcp_reply(&request->to, content_make(&made[request->revision], request, content_write_tools));
}

/* Of both eras. */
static const struct mcp_method common_methods[] = {
    { "tools/list", list_tools },         { "tools/call", tool_call },
    { "prompts/list", prompts_list },     { "prompts/get", prompts_get },
    { "resources/list", resources_list }, { "resources/templates/list", resources_list_templates },
    { "resources/read", resources_read }, { "completion/complete", complete },
};

static bool serve_by(struct mcp_request *request, const struct mcp_method *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, request->method) == 0) {
            rows[i].call(request);
            return true;
        }
    }
    return false;
}

void mcp_serve(struct mcp_request *request, const struct mcp_method *rows, size_t count, int status)
{
    if (!serve_by(request, rows, count) &&
        !serve_by(request, common_methods, ARRAY_LEN(common_methods)))
        mcp_refuse(&request->to, status, JSONRPC_METHOD_NOT_FOUND, "no such method", NULL);
}

struct mcp_request mcp_request_of(struct mcp *mcp, struct mcp_stream *stream)
{
    return (struct mcp_request){
        .to = { .mcp = mcp, .stream = stream },
        .revision = mcp->negotiated,
        .client_name = mcp->client_name,
        .client_version = mcp->client_version,
        .abilities = mcp->abilities,
        .level = mcp->level,
    };
}

static void serve(const struct mcp_to *to, const struct mcp_headers *headers,
                  const struct jsonrpc_message *message)
{
    struct mcp_request request = mcp_request_of(to->mcp, to->stream);
    char *id_json = json_encode(message->id);

    request.to = *to;
    request.to.id_json = id_json;
    request.method = message->method;
    request.id = message->id;
    request.params = message->params;
    request.headers = headers;
    mcp_open(&request.to);
    if (revision_is_claimed(message->params))
        modern_serve(&request);
    else
        legacy_serve(&request);
    free(id_json);
}

static void take_notification(struct mcp *mcp, const struct mcp_headers *headers,
                              const struct jsonrpc_message *message)
{
    /* A modern client cancels over HTTP by closing the stream, and its ids mean nothing elsewhere.
     * The other notifications are of things we do not keep: initialized, roots, progress of ours.
     */
    if (strcmp(message->method, "notifications/cancelled") == 0 &&
        !(headers && revision_is_modern_header(headers->protocol_version)))
        call_cancel(mcp, json_member(message->params, "requestId"),
                    json_member_text(message->params, "reason"));
}

/* The handshake is never part of a batch, and 2026-07-28 has none. */
static bool may_be_batched(const struct jsonrpc_message *message)
{
    return strcmp(message->method, "initialize") != 0 && !revision_is_claimed(message->params);
}

static void take_message(const struct mcp_to *to, const struct mcp_headers *headers,
                         const struct json *value)
{
    struct jsonrpc_message message;

    if (!jsonrpc_read(value, &message)) {
        if (!jsonrpc_is_response(value))
            refuse(to, message.id, "not a JSON-RPC 2.0 message");
        return;
    }
    if (!message.method)
        question_take_response(to->mcp, &message);
    else if (!message.id)
        take_notification(to->mcp, headers, &message);
    else if (to->batch && !may_be_batched(&message))
        refuse(to, message.id, "this may not be part of a batch");
    else
        serve(to, headers, &message);
}

static void take_batch(struct mcp_to *to, const struct mcp_headers *headers,
                       const struct json *list)
{
    if (to->mcp->negotiated != REVISION_2025_03_26) {
        refuse(to, NULL, "batches are only part of revision 2025-03-26");
        return;
    }
    if (json_length(list) == 0 || json_length(list) > MCP_BATCH_MAX) {
        refuse(to, NULL, "a batch has 1 to 64 messages");
        return;
    }
    mcp_open(to); /* the batch, on its stream */
    to->batch = mem_new(sizeof *to->batch);
    mcp_open(to); /* the reading of it */
    for (size_t i = 0; i < json_length(list); i++)
        take_message(to, headers, json_item(list, i));
    mcp_skip(to);
}

void mcp_take_value(struct mcp *mcp, struct mcp_stream *stream, const struct mcp_headers *headers,
                    const struct json *value)
{
    struct mcp_to to = { .mcp = mcp, .stream = stream };
    const struct mcp_to reading = to;

    mcp_open(&reading);
    if (json_kind(value) == KIND_LIST)
        take_batch(&to, headers, value);
    else
        take_message(&to, headers, value);
    mcp_skip(&reading);
}

void mcp_take_line(struct mcp *mcp, struct mcp_stream *stream, const char *line, size_t length)
{
    const struct mcp_to to = { .mcp = mcp, .stream = stream };
    struct json *value = NULL;
    struct error err;

    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length == 0)
        return;
    if (jsonrpc_parse(line, length, NULL, &value, &err))
        mcp_take_value(mcp, stream, NULL, value);
    else
        refuse_with(&to, jsonrpc_find_id(line, length), JSONRPC_PARSE_ERROR, err.message);
    json_free(value);
}

void mcp_confirm(struct mcp *mcp, struct mcp_stream *stream)
{
    (void)mcp;
    if (!DELIBERATE_FAULT(front_confirms_nothing))
        delivery_confirm(&stream->deliveries);
}

void mcp_confirm_soon(struct mcp *mcp, struct mcp_stream *stream)
{
    delivery_move(&stream->deliveries, &mcp->confirmed);
}

void mcp_tell_confirmed(struct mcp *mcp)
{
    delivery_confirm(&mcp->confirmed);
}

void mcp_on_time(struct mcp *mcp)
{
    hold_on_time(mcp);
}

enum mcp_revision mcp_negotiated(const struct mcp *mcp)
{
    return mcp->negotiated;
}

/* A legacy session as a value, for hubs that did not see its handshake; and a row for each thing
 * that happens to it later and that they must know, written by session_state. See mcp.h. */

void mcp_read_session(const struct json *params, struct mcp_session *ret_session)
{
    const struct json *client = json_member(params, "clientInfo");
    enum mcp_revision revision = revision_negotiate(json_member_text(params, "protocolVersion"));

    *ret_session = (struct mcp_session){
        .revision = revision,
        .abilities = ability_read(json_member(params, "capabilities"), revision),
        .client_name = json_member_text(client, "name"),
        .client_version = json_member_text(client, "version"),
    };
}

void mcp_set_session(struct mcp *mcp, const struct mcp_session *session)
{
    mcp->negotiated = session->revision;
    mcp->abilities = session->abilities;
    free(mcp->client_name);
    free(mcp->client_version);
    mcp->client_name = mem_text(session->client_name);
    mcp->client_version = mem_text(session->client_version);
}

static void write_name(struct json_writer *writer, const char *key, const char *name)
{
    char *shortened = name ? hub_session_short_name(name) : NULL;

    json_write_text_if(writer, key, shortened);
    free(shortened);
}

void mcp_write_session(const struct mcp_session *session, struct json_writer *writer)
{
    json_write_text(writer, "revision", revision_name(session->revision));
    json_write_integer(writer, "abilities", session->abilities);
    write_name(writer, "name", session->client_name);
    write_name(writer, "version", session->client_version);
}

void mcp_parse_session(const struct json *written, struct mcp_session *ret_session)
{
    *ret_session = (struct mcp_session){
        .revision = revision_negotiate(json_member_text(written, "revision")),
        .abilities = (unsigned)json_member_integer(written, "abilities", 0),
        .client_name = json_member_text(written, "name"),
        .client_version = json_member_text(written, "version"),
    };
}

/* Notes -----------------------------------------------------------------------------------------
 */

struct state_kind {
    const char *word; /* what follows it says about which */
    void (*take)(struct mcp *mcp, const char *rest, const char *value);
    bool is_passing;
};
static const struct state_kind kinds[] = {
    { NOTE_LEVEL, logging_take_state, false },
    { NOTE_SUBSCRIBED, subscribe_take_state, false },
    { NOTE_CANCELLED, call_take_state, true },
};

static const struct state_kind *find_kind(const char *what)
{
    size_t length = strcspn(what, " ");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strlen(kinds[i].word) == length && memcmp(kinds[i].word, what, length) == 0)
            return &kinds[i];
    }
    return NULL;
}

bool mcp_state_is_passing(const char *what)
{
    const struct state_kind *kind = find_kind(what);

    return kind && kind->is_passing;
}

void session_state(struct mcp *mcp, const char *word, const char *rest, const char *value)
{
    char *what;

    if (!mcp->parts.note)
        return;
    what = *rest ? mem_format("%s %s", word, rest) : mem_text(word);
    mcp->parts.note(mcp->parts.context, what, value);
    free(what);
}

void mcp_take_state(struct mcp *mcp, const char *what, const char *value)
{
    const struct state_kind *kind = find_kind(what);
    const char *rest = strchr(what, ' ');

    if (kind)
        kind->take(mcp, rest ? rest + 1 : "", value);
}
