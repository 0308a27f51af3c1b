/* resources.c - resources/list, resources/templates/list and resources/read. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "mcp/inside.h"
#include "mcp/offer.h"

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
    const struct mcp_offer *offer = request->to.mcp->parts.offer;

    reply_rows(request, "resources", "uri", offer->resources, offer->resource_count);
}

void resources_list_templates(struct mcp_request *request)
{
    const struct mcp_offer *offer = request->to.mcp->parts.offer;

    reply_rows(request, "resourceTemplates", "uriTemplate", offer->templates,
               offer->template_count);
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
    struct mcp_call *call = uri ? run_begin(request, NULL, mcp->parts.offer->is_at_desk) : NULL;
    int64_t tag;

    if (!call)
        return;
    tag = call->tag;
    mcp->parts.offer->read(call, uri);
    run_settle(mcp, tag);
}
