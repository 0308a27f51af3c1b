/* tool.c - the rows of tools.def, and the result that ask tools share. */
#include "mcp/tools/tool.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

const struct tool *const tool_rows[] = {
#define TOOL(name) &tool_row_##name,
#include "mcp/tools/tools.def"
#undef TOOL
    NULL,
};

const struct tool *tool_find(const struct tool *const *rows, const char *name, size_t length)
{
    while (*rows && (strlen((*rows)->name) != length || memcmp((*rows)->name, name, length) != 0))
        rows++;
    return *rows;
}

static bool plan_ask(const struct tool *tool, const struct json *arguments,
                     struct tool_plan *ret_plan, struct error *err)
{
    struct ask_call call;

    if (!arguments_check(tool->ask, arguments, &call, err))
        return false;
    ret_plan->wish = call.session_id[0] ? TOOL_COLLECTS : TOOL_ASKS;
    memcpy(ret_plan->session_id, call.session_id, sizeof ret_plan->session_id);
    ret_plan->wait_s = call.wait_s;
    ask_call_release(&call);
    return true;
}

bool tool_plan(const struct tool *tool, const struct json *arguments, struct tool_plan *ret_plan,
               struct error *err)
{
    max_align_t values[TOOL_VALUES_BYTES / sizeof(max_align_t)];
    struct json *owner;

    if (tool->ask)
        return plan_ask(tool, arguments, ret_plan, err);
    if (!arguments_read(tool->arguments, tool->argument_count, arguments, values, &owner, err))
        return false;
    tool->plan(values, ret_plan);
    json_free(owner);
    return true;
}

#define STRING  "\"type\":\"string\""
#define BOOLEAN "\"type\":\"boolean\""
#define OBJECT  "\"type\":\"object\""
#define STRINGS "\"type\":\"array\",\"items\":{\"type\":\"string\"}"

const struct schema_property ask_results[ASK_RESULT_COUNT] = {
    { "action_status",
      STRING ",\"enum\":[\"selected\",\"custom_input\",\"cancelled\",\"timeout\",\"pending\","
             "\"pending_terminal_launch\"]",
      "How it ended, or that it has not yet." },
    { "session_id", STRING, "The ask's id; collects it later." },
    { "selection",
      OBJECT ",\"properties\":{\"selected_ids\":{" STRINGS "},\"custom_input\":{" STRING
             "},\"option_annotations\":{" OBJECT "},\"global_annotation\":{" STRING
             "},\"placeholder_visible\":{" BOOLEAN "},\"interface\":{" STRING
             "},\"summary\":{" STRING "},\"url\":{" STRING "}}",
      "What the person chose or wrote; empty unless it was answered." },
    { "explicit", BOOLEAN, "true only when a person acted." },
    { "auto_submitted", BOOLEAN, "A setting or rule of the person's answered." },
    { "declined", BOOLEAN, "The person said no." },
    { "withdrawn", BOOLEAN, "You took it back." },
    { "replayed", BOOLEAN, "Given earlier, when nobody was waiting for it." },
    { "answered_by", OBJECT, "Who answered, and how." },
    { "answered_at", STRING, "When, in UTC." },
    { "instructions", STRING, "What to do now." },
    { "terminal_command", STRING, "To be run in a terminal by the person; only while pending." },
    { "url", STRING, "Where the person can answer; only while pending." },
    { "asked_back", STRING, "The person wants to know more before answering." },
    { "rule", STRING, "The standing answer that applied." },
    { "warnings", STRINGS, "What was ignored of your call." },
    { "notices",
      "\"type\":\"array\",\"items\":{" OBJECT ",\"properties\":{\"session_id\":{" STRING
      "},\"title\":{" STRING "},\"status\":{" STRING "},\"answered_at\":{" STRING
      "},\"instructions\":{" STRING "}}}",
      "Earlier asks of yours that were decided when nobody waited: collect them with get_answer." },
    { "notices_more", "\"type\":\"integer\"", "How many more there are; they come later." },
    TOOL_ERROR_RESULT,
};
