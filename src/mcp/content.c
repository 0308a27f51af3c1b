/* content.c - what both eras say alike: tools, instructions, capabilities. */
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"
#include "mcp/tools/tool.h"

/*
 * JSON Schema 2020-12 without root combinators, out of the tables that check the arguments, so that
 * they can't disagree. A tool that may also be called with session_id alone has no required
 * arguments and no defaults: a client that fills those in would break the call that collects
 * (R2.1). In results nothing is required, because some clients check an error against the schema
 * too, and would hide it.
 */

static void write_properties(struct json_writer *writer, const struct argument *rows, size_t count,
                             bool may_collect);

/* Another argument can't stand in for it. */
static bool is_required(const struct argument *row)
{
    return row->is_required && !row->spared_by;
}

static void write_required(struct json_writer *writer, const struct argument *rows, size_t count)
{
    size_t written = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_required(&rows[i]))
            continue;
        if (written++ == 0)
            json_write_list(writer, "required");
        json_write_text(writer, NULL, rows[i].name);
    }
    if (written)
        json_write_end_list(writer);
}

static void write_object(struct json_writer *writer, const struct argument *rows, size_t count,
                         bool may_collect)
{
    json_write_text(writer, "type", "object");
    write_properties(writer, rows, count, may_collect);
    if (!may_collect)
        write_required(writer, rows, count);
}

/* A limit that a good call might reach; messages tell the others. */
static void write_limit(struct json_writer *writer, const char *key, const struct argument *row)
{
    if (row->max > 0 && row->max <= (row->unit == UNIT_CHARS ? LIMIT_LABEL_CHARS : LIMIT_WAIT_S))
        json_write_integer(writer, key, row->max);
}

static void write_length(struct json_writer *writer, const struct argument *row)
{
    if (row->unit == UNIT_CHARS)
        write_limit(writer, "maxLength", row);
}

static void write_bounds(struct json_writer *writer, const struct argument *row)
{
    write_limit(writer, "maximum", row);
}

static void write_choices(struct json_writer *writer, const struct argument *row)
{
    json_write_list(writer, "enum");
    for (const char *const *choice = row->choices; *choice; choice++)
        json_write_text(writer, NULL, *choice);
    json_write_end_list(writer);
}

static void write_items(struct json_writer *writer, const struct argument *row)
{
    if (row->min > 0)
        json_write_integer(writer, "minItems", row->min);
    write_limit(writer, "maxItems", row);
    json_write_object(writer, "items");
    if (row->property_count > 0)
        write_object(writer, row->properties, row->property_count, false);
    else
        json_write_text(writer, "type", "string");
    json_write_end_object(writer);
}

/* Both forms are accepted; the object is listed once, where it is described. */
static void write_preview(struct json_writer *writer, const struct argument *row)
{
    if (row->is_obvious)
        json_write_text(writer, "type", "string");
    else
        write_object(writer, row->properties, row->property_count, false);
}

/* What counts where the argument is left out, as far as a table says it. */
static void write_default(struct json_writer *writer, const struct argument *row)
{
    if (row->type == ARGUMENT_BOOL && row->fallback >= 0)
        json_write_bool(writer, "default", row->fallback);
    else if (row->type == ARGUMENT_INTEGER && row->fallback > 0)
        json_write_integer(writer, "default", row->fallback);
    json_write_text_if(writer, "default", row->fallback_text);
}

/* What `required` can't say of a call that may also collect. */
static void write_help(struct json_writer *writer, const struct argument *row, bool may_collect)
{
    char *help = mem_format("%s%s", may_collect && row->is_required ? "Required. " : "", row->help);

    json_write_text(writer, "description", help);
    free(help);
}

static void write_properties(struct json_writer *writer, const struct argument *rows, size_t count,
                             bool may_collect)
{
    static const struct {
        const char *name; /* NULL: several */
        void (*write_rest)(struct json_writer *writer, const struct argument *row);
    } types[] = {
        [ARGUMENT_TEXT] = { "string", write_length },
        [ARGUMENT_MARKDOWN] = { "string", write_length },
        [ARGUMENT_BOOL] = { "boolean", NULL },
        [ARGUMENT_INTEGER] = { "integer", write_bounds },
        [ARGUMENT_ENUM] = { "string", write_choices },
        [ARGUMENT_ID] = { "string", write_length },
        [ARGUMENT_OPTIONS] = { "array", write_items },
        [ARGUMENT_IDS] = { "array", write_items },
        [ARGUMENT_PREVIEW] = { NULL, write_preview },
        [ARGUMENT_NUMBER] = { "number", NULL },
        [ARGUMENT_TEXTS] = { "array", write_items },
        [ARGUMENT_OBJECT] = { "object", NULL },
        [ARGUMENT_QUESTIONS] = { "array", write_items },
        [ARGUMENT_QUESTION_OPTIONS] = { "array", write_items },
    };

    json_write_object(writer, "properties");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_hidden)
            continue;
        json_write_object(writer, rows[i].name);
        json_write_text_if(writer, "type", types[rows[i].type].name);
        if (types[rows[i].type].write_rest)
            types[rows[i].type].write_rest(writer, &rows[i]);
        if (!may_collect)
            write_default(writer, &rows[i]);
        if (!rows[i].is_obvious)
            write_help(writer, &rows[i], may_collect);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

static void schema_write_input(struct json_writer *writer, const char *key,
                               const struct argument *arguments, size_t count)
{
    bool may_collect = false;

    for (size_t i = 0; i < count; i++)
        may_collect =
            may_collect || (arguments[i].type == ARGUMENT_ID && !arguments[i].is_required);
    json_write_object(writer, key);
    write_object(writer, arguments, count, may_collect);
    json_write_end_object(writer);
}

static void schema_write_output(struct json_writer *writer, const char *key,
                                const struct schema_property *properties, size_t count)
{
    json_write_object(writer, key);
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
    for (size_t i = 0; i < count; i++) {
        if (!properties[i].type_json)
            continue;
        json_write_object(writer, properties[i].name);
        text_add_text(writer->out, properties[i].type_json);
        writer->needs_comma = true;
        json_write_text_if(writer, "description", properties[i].help);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    json_write_end_object(writer);
}

const char content_instructions[] =
    "sayso asks the user for you and returns exactly what they answer. Ask with provide_choice "
    "when "
    "more than two approaches are viable, before anything destructive, and when configuration is "
    "missing. Give enough context to decide. Silence is never consent: on cancelled, stop this "
    "subtask; on timeout, nothing was chosen; on pending, collect it with get_answer and its "
    "session_id instead of asking again.";

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
    for (const struct tool *const *rows = parts->features->tools; *rows; rows++) {
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

    if (made->features[parts->is_sub_agent] != parts->features ||
        strcmp(*tools, tools_of(parts)) != 0) {
        free(*tools);
        *tools = mem_text(tools_of(parts));
        made->features[parts->is_sub_agent] = parts->features;
        text_clear(json);
        write(&writer, request);
    }
    return json->bytes;
}

void content_write_text(struct json_writer *writer, const char *key, const char *text)
{
    json_write_object(writer, key);
    json_write_text(writer, "type", "text");
    json_write_text(writer, "text", text);
    json_write_end_object(writer);
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
