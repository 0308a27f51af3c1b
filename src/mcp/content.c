/* content.c - what both eras say alike: tools, instructions, prompts. */
#include <string.h>

#include "base/json_writer.h"
#include "mcp/inside.h"
#include "mcp/tools/tool.h"

const char content_instructions[] =
    "sayso puts your questions to the person you work for and returns exactly what they answered. "
    "Ask with provide_choice when there are more than two viable paths, before anything "
    "destructive, and when configuration is missing; check_decision tells whether you must. "
    "Say in prompt what the task is and why a choice is needed. Silence is not consent: on "
    "cancelled stop this subtask, on timeout nothing was chosen, on pending collect the answer "
    "with get_answer and its session_id instead of asking again.";

static const char policy_prompt[] =
    "Before you go on, decide whether the person must decide. Ask with provide_choice if there "
    "are more than two viable paths, if the next step can't be undone, or if configuration is "
    "missing. In the prompt say what the task is, what you found, what follows from each option, "
    "and why you cannot choose alone; recommend at least one option. Never take silence, a "
    "cancellation or a time-out for consent.";

enum content_shape { SHAPE_PLAIN, SHAPE_ANNOTATED, SHAPE_STRUCTURED };

static void write_tool(struct json_writer *writer, const struct tool *tool,
                       enum content_shape shape)
{
    const struct argument *rows = tool->ask ? tool->ask->arguments : tool->arguments;
    size_t count = tool->ask ? tool->ask->argument_count : tool->argument_count;

    json_write_object(writer, NULL);
    json_write_text(writer, "name", tool->name);
    if (shape == SHAPE_STRUCTURED)
        json_write_text(writer, "title", tool->title);
    json_write_text(writer, "description", tool->description);
    schema_write_input(writer, "inputSchema", rows, count);
    if (shape == SHAPE_STRUCTURED)
        schema_write_output(writer, "outputSchema", tool->results, tool->result_count);
    if (shape != SHAPE_PLAIN) {
        json_write_object(writer, "annotations");
        if (shape != SHAPE_STRUCTURED)
            json_write_text(writer, "title", tool->title);
        json_write_bool(writer, "readOnlyHint", true);
        json_write_bool(writer, "destructiveHint", false);
        json_write_bool(writer, "openWorldHint", false);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

void content_write_tools(struct json_writer *writer, const struct tool *const *rows,
                         enum mcp_revision revision)
{
    enum content_shape shape = revision_has_structured(revision)    ? SHAPE_STRUCTURED
                               : revision_has_annotations(revision) ? SHAPE_ANNOTATED
                                                                    : SHAPE_PLAIN;

    json_write_list(writer, "tools");
    for (; *rows; rows++)
        write_tool(writer, *rows, shape);
    json_write_end_list(writer);
}

const char *content_make(struct content_made *made, const struct mcp_request *request,
                         void (*write)(struct json_writer *writer,
                                       const struct mcp_request *request))
{
    struct json_writer writer = json_writer_to(&made->json);

    if (made->rows != request->to.mcp->parts.tools) {
        made->rows = request->to.mcp->parts.tools;
        text_clear(&made->json);
        write(&writer, request);
    }
    return made->json.bytes;
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

void content_write_prompts(struct json_writer *writer)
{
    json_write_list(writer, "prompts");
    json_write_object(writer, NULL);
    json_write_text(writer, "name", "decision_policy");
    json_write_text(writer, "description", "When to put a decision to the person, and how.");
    json_write_end_object(writer);
    json_write_end_list(writer);
}

bool content_write_prompt(struct json_writer *writer, const char *name)
{
    if (strcmp(name, "decision_policy") != 0)
        return false;
    json_write_text(writer, "description", "When to put a decision to the person, and how.");
    json_write_list(writer, "messages");
    json_write_object(writer, NULL);
    json_write_text(writer, "role", "user");
    json_write_object(writer, "content");
    json_write_text(writer, "type", "text");
    json_write_text(writer, "text", policy_prompt);
    json_write_end_object(writer);
    json_write_end_object(writer);
    json_write_end_list(writer);
    return true;
}
