/* get_answer.c - collects the answer of an earlier ask, whatever tool made it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/limits.h"
#include "mcp/tools/tool.h"

struct values {
    const char *session_id;
    int64_t wait_s;
};
static const struct argument arguments_table[] = {
    { .name = "session_id",
      .type = ARGUMENT_ID,
      .is_needed = true,
      .offset = offsetof(struct values, session_id),
      .help = "Needed: the session_id an earlier call returned." },
    { .name = "wait_seconds",
      .type = ARGUMENT_INTEGER,
      .least = 0,
      .most = LIMIT_WAIT_S,
      .unit = UNIT_NUMBER,
      .otherwise = 30,
      .offset = offsetof(struct values, wait_s),
      .help = "How long to wait for an answer, 0 to 60, by default 30." },
};

static bool plan(const struct json *arguments, struct tool_plan *ret_plan, struct error *err)
{
    struct values values;
    struct json *owner;

    if (!arguments_read(arguments_table, ARRAY_LEN(arguments_table), arguments, &values, &owner,
                        err))
        return false;
    ret_plan->wish = TOOL_COLLECTS;
    memcpy(ret_plan->session_id, values.session_id, sizeof ret_plan->session_id);
    ret_plan->wait_s = values.wait_s;
    json_free(owner);
    return true;
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
    .results = ask_results,
    .result_count = ASK_RESULT_COUNT,
    .plan = plan,
};
