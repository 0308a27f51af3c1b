/* content.c - what both eras say alike: tools, instructions, capabilities. */
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "core/offered_tools.h"
#include "mcp/inside.h"
#include "mcp/offer.h"
#include "mcp/tools/tool.h"

const char content_instructions[] =
    "sayso puts your questions to the person you work for and returns exactly what they answered. "
    "Ask with provide_choice when there are more than two viable paths, before anything "
    "destructive, and when configuration is missing. "
    "Say in prompt what the task is and why a choice is needed. Silence is not consent: on "
    "cancelled stop this subtask, on timeout nothing was chosen, on pending collect the answer "
    "with get_answer and its session_id instead of asking again.";

static const char *tools_of(const struct mcp_parts *parts)
{
    return parts->tools ? parts->tools(parts->context) : "all";
}

/* What an offer has beside ours was asked for by a setting of its own. */
static bool is_offered(const struct mcp_parts *parts, const struct tool *tool)
{
    return (!tool->ask || ask_tool_allows(tool->ask, parts->is_sub_agent, NULL)) &&
           (!tool_find(tool_rows, tool->name, strlen(tool->name)) ||
            offered_tools_have(tools_of(parts), tool->name));
}

enum content_shape { SHAPE_PLAIN, SHAPE_ANNOTATED, SHAPE_STRUCTURED };

static void write_tool(struct json_writer *writer, const struct tool *tool,
                       enum content_shape shape)
{
    const struct argument *rows = tool->ask ? tool->ask->arguments : tool->arguments;
    size_t count = tool->ask ? tool->ask->argument_count : tool->argument_count;

    json_write_object(writer, NULL);
    json_write_text(writer, "name", tool->name);
    if (shape == SHAPE_STRUCTURED)
        json_write_text_if(writer, "title", tool->title);
    json_write_text(writer, "description", tool->description);
    if (tool->input_json)
        json_write_raw(writer, "inputSchema", tool->input_json);
    else
        schema_write_input(writer, "inputSchema", rows, count);
    if (shape == SHAPE_STRUCTURED && tool->result_count)
        schema_write_output(writer, "outputSchema", tool->results, tool->result_count);
    if (shape != SHAPE_PLAIN) {
        json_write_object(writer, "annotations");
        if (shape != SHAPE_STRUCTURED)
            json_write_text_if(writer, "title", tool->title);
        json_write_bool(writer, "readOnlyHint", true);
        json_write_bool(writer, "destructiveHint", false);
        json_write_bool(writer, "openWorldHint", false);
        json_write_end_object(writer);
    }
    /* else Claude Code, which has many tools, tells its model of ours only when it looks for one */
    if (shape == SHAPE_STRUCTURED && offered_tools_have("ask", tool->name))
        json_write_raw(writer, "_meta", "{\"anthropic/alwaysLoad\":true}");
    json_write_end_object(writer);
}

void content_write_tools(struct json_writer *writer, const struct mcp_request *request)
{
    const struct mcp_parts *parts = &request->to.mcp->parts;
    enum mcp_revision revision = request->revision;
    enum content_shape shape = revision_has_structured(revision)    ? SHAPE_STRUCTURED
                               : revision_has_annotations(revision) ? SHAPE_ANNOTATED
                                                                    : SHAPE_PLAIN;

    *writer = result_begin(revision, writer->out);
    json_write_list(writer, "tools");
    for (const struct tool *const *rows = parts->offer->tools; *rows; rows++) {
        if (is_offered(parts, *rows))
            write_tool(writer, *rows, shape);
    }
    json_write_end_list(writer);
    result_end(writer, revision, CACHE_PUBLIC);
}

const char *content_make(struct content_made *made, const struct mcp_request *request,
                         void (*write)(struct json_writer *writer,
                                       const struct mcp_request *request))
{
    const struct mcp_parts *parts = &request->to.mcp->parts;
    struct text *json = &made->json[parts->is_sub_agent];
    char **tools = &made->tools[parts->is_sub_agent];
    struct json_writer writer = json_writer_to(json);

    if (made->offer[parts->is_sub_agent] != parts->offer || strcmp(*tools, tools_of(parts)) != 0) {
        free(*tools);
        *tools = mem_text(tools_of(parts));
        made->offer[parts->is_sub_agent] = parts->offer;
        text_clear(json);
        write(&writer, request);
    }
    return json->bytes;
}

void content_write_server_info(struct json_writer *writer, const char *key, bool has_title)
{
    json_write_object(writer, key);
    json_write_text(writer, "name", "sayso");
    if (has_title)
        json_write_text(writer, "title", "sayso");
    json_write_text(writer, "version", SAYSO_VERSION);
    json_write_end_object(writer);
}

void content_write_capabilities(struct json_writer *writer, enum mcp_revision revision)
{
    json_write_object(writer, "capabilities");
    json_write_raw(writer, "tools", "{}");
    json_write_raw(writer, "prompts", "{}");
    json_write_raw(writer, "resources", "{\"subscribe\":true}");
    if (revision_has_annotations(revision))
        json_write_raw(writer, "completions", "{}");
    json_write_raw(writer, "logging", "{}");
    json_write_end_object(writer);
}
