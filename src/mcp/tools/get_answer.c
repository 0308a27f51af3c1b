/* get_answer.c - collects the answer of an earlier ask, whatever tool made it. */
#include <string.h>

#include "base/mem.h"
#include "core/limits.h"
#include "mcp/tools/tool.h"

struct values {
    const char *session_id;
    int64_t wait_s;
    const char *explanation;
};
static const struct argument arguments_table[] = {
    ARGUMENT("session_id", ID, offsetof(struct values, session_id),
             "The session_id an earlier call returned.", .is_needed = true),
    ARGUMENT("wait_seconds", INTEGER, offsetof(struct values, wait_s),
             "How many seconds to wait; leave it out to wait as long as possible.",
             ARGUMENT_LIMITS(0, LIMIT_WAIT_S, NUMBER), .otherwise = -1),
    ARGUMENT("explanation", TEXT, offsetof(struct values, explanation),
             "Only after a result with asked_back: what the person wanted to know.",
             ARGUMENT_LIMITS(1, LIMIT_EXPLANATION_CHARS, CHARS)),
};

/* In the shape of the tool that asked, which says more about it. */
/* published: get_answer */
static const struct schema_property results[] = {
    { "action_status", "\"type\":\"string\"", "Of provide_choice." },
    { "selection", "\"type\":\"object\"", "Of provide_choice." },
    { "action", "\"type\":\"string\"", "Of the elicit tools; beside it the value." },
    { "status", "\"type\":\"string\"", "Of ask_user_question; beside it answers." },
    { "session_id", "\"type\":\"string\"", "The ask's id." },
    { "instructions", "\"type\":\"string\"", "What to do now." },
    TOOL_ERROR_RESULT,
};

_Static_assert(sizeof(struct values) <= TOOL_VALUES_BYTES, "tool_plan keeps them on its stack");

static void plan(const void *read, struct tool_plan *plan)
{
    const struct values *values = read;

    plan->wish = TOOL_COLLECTS;
    memcpy(plan->session_id, values->session_id, sizeof plan->session_id);
    plan->wait_s = values->wait_s;
    if (values->explanation)
        text_add_text(&plan->explanation, values->explanation);
}

const struct tool tool_row_get_answer = {
    .name = "get_answer",
    .title = "Collect an answer",
    .description =
        "Returns the answer of an earlier ask by its session_id, waiting up to wait_seconds; "
        "pending means that nobody has answered yet, never that the answer is no. Collecting "
        "again returns the same.",
    .arguments = arguments_table,
    .argument_count = ARRAY_LEN(arguments_table),
    .results = results,
    .result_count = ARRAY_LEN(results),
    .plan = plan,
};
