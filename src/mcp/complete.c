/* complete.c - completion/complete: what an argument that is being typed may become. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "mcp/inside.h"
#include "mcp/offer.h"

enum { COMPLETE_MOST = 100 }; /* by the revisions */

static const struct mcp_resource *find_template(const struct mcp_offer *offer, const char *uri)
{
    for (size_t i = 0; uri && i < offer->template_count; i++) {
        if (strcmp(offer->templates[i].uri, uri) == 0)
            return &offer->templates[i];
    }
    return NULL;
}

static bool has_argument(const struct mcp_wish *wish)
{
    char named[64];

    for (size_t i = 0; wish->prompt && i < wish->prompt->argument_count; i++) {
        if (strcmp(wish->prompt->arguments[i].name, wish->argument) == 0)
            return true;
    }
    snprintf(named, sizeof named, "{%s}", wish->argument);
    return wish->template && strstr(wish->template->uri, named);
}

static bool read_wish(const struct mcp_request *request, struct mcp_wish *wish)
{
    const struct mcp_offer *offer = request->to.mcp->parts.offer;
    const struct json *ref = json_member(request->params, "ref");
    const struct json *argument = json_member(request->params, "argument");
    const char *type = json_member_text(ref, "type");

    wish->argument = json_member_text(argument, "name");
    wish->value = json_member_text(argument, "value");
    if (type && strcmp(type, "ref/prompt") == 0)
        wish->prompt = prompts_find(offer, json_member_text(ref, "name"));
    else if (type && strcmp(type, "ref/resource") == 0)
        wish->template = find_template(offer, json_member_text(ref, "uri"));
    return (wish->prompt || wish->template) && wish->argument && wish->value && has_argument(wish);
}

void complete(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    struct mcp_wish wish = { 0 };
    struct mcp_call *call;
    int64_t tag;

    if (!read_wish(request, &wish)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        "ref must name a prompt or a resource template, argument one of its "
                        "arguments and the text typed so far",
                        NULL);
        return;
    }
    call = run_begin(request, NULL, mcp->parts.offer->is_at_desk);
    if (!call)
        return;
    tag = call->tag;
    mcp->parts.offer->complete(call, &wish);
    run_settle(mcp, tag);
}

void call_reply_values(struct mcp_call *call, const char *const *values, size_t count)
{
    struct text out = { 0 };
    struct json_writer writer = call_begin_result(call, &out);

    json_write_object(&writer, "completion");
    json_write_list(&writer, "values");
    for (size_t i = 0; i < count && i < COMPLETE_MOST; i++)
        json_write_text(&writer, NULL, values[i]);
    json_write_end_list(&writer);
    if (count <= COMPLETE_MOST) /* else who asked stopped counting */
        json_write_integer(&writer, "total", (int64_t)count);
    json_write_bool(&writer, "hasMore", count > COMPLETE_MOST);
    json_write_end_object(&writer);
    call_end_result(call, &writer, CACHE_NONE);
}
