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
    const struct json *wait = json_member(arguments, "wait_seconds");
    struct ask_call call;

    if (!arguments_check_call(tool->ask, arguments, &call, &ret_plan->arguments, err))
        return false;
    ret_plan->wish = call.session_id[0] ? TOOL_COLLECTS : TOOL_ASKS;
    memcpy(ret_plan->session_id, call.session_id, sizeof ret_plan->session_id);
    ret_plan->wait_s = wait && json_kind(wait) != KIND_NULL ? call.wait_s : -1;
    ret_plan->wants_launch = call.interface == INTERFACE_TERMINAL;
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

/* published: tool */
const struct schema_property ask_results[ASK_RESULT_COUNT] = {
    { "action_status",
      STRING ",\"enum\":[\"selected\",\"custom_input\",\"cancelled\",\"timeout\",\"pending\","
             "\"pending_terminal_launch\"]",
      NULL },
    { "session_id", STRING, "The ask's id; collects it later." },
    { "selection",
      OBJECT ",\"properties\":{\"selected_ids\":{" STRINGS "},\"custom_input\":{" STRING
             "},\"option_annotations\":{" OBJECT "},\"global_annotation\":{" STRING
             "},\"placeholder_visible\":{" BOOLEAN "},\"interface\":{" STRING
             "},\"summary\":{" STRING "},\"url\":{" STRING "}}",
      "What the person chose or wrote; empty unless it was answered." },
    { "explicit", BOOLEAN, "true only when a person acted." },
    { "auto_submitted", BOOLEAN, NULL },
    { "declined", BOOLEAN, NULL },
    { "withdrawn", BOOLEAN, NULL },
    { "replayed", BOOLEAN, "Given earlier, when nobody was waiting for it." },
    { "answered_by", OBJECT, NULL },
    { "answered_at", STRING, NULL },
    { "instructions", STRING, NULL },
    { "terminal_command", STRING, "For the person to run; only while pending." },
    { "url", STRING, NULL },
    { "asked_back", STRING, "The person wants to know more before answering." },
    { "rule", STRING, NULL },
    { "warnings", STRINGS, NULL },
    { "notices", "\"type\":\"array\",\"items\":{" OBJECT "}",
      "Earlier asks of yours that were decided when nobody waited: collect them with get_answer." },
    { "notices_more", "\"type\":\"integer\"", NULL },
    TOOL_ERROR_RESULT,
};
