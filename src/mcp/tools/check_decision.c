/* check_decision.c - says whether a situation must be put to a person (R11.2). Asks nobody. */
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/policy.h"
#include "mcp/tools/tool.h"

struct values {
    int64_t paths, destructive;
    const struct json *missing;
};
static const struct argument arguments_table[] = {
    ARGUMENT("paths", INTEGER, offsetof(struct values, paths), "How many viable ways you see.",
             ARGUMENT_LIMITS(0, 1000000, NUMBER)),
    ARGUMENT("destructive", BOOL, offsetof(struct values, destructive),
             "true if what you would do can't be undone."),
    ARGUMENT("missing_configuration", IDS, offsetof(struct values, missing),
             "Names of settings nobody gave you.", ARGUMENT_LIMITS(0, 100, ITEMS)),
};
/* published: check_decision */
static const struct schema_property results[] = {
    { "must_ask", "\"type\":\"boolean\"", "true: ask with provide_choice before going on." },
    { "reasons", "\"type\":\"array\",\"items\":{\"type\":\"string\"}", "Why." },
    TOOL_ERROR_RESULT,
};

static void write_result(const struct values *values, struct text *out)
{
    static const enum policy_reason all[] = { POLICY_PATHS, POLICY_DESTRUCTIVE, POLICY_MISSING };
    const struct policy_situation situation = {
        .paths = values->paths,
        .is_destructive = values->destructive != 0,
        .missing_count = json_length(values->missing),
    };
    unsigned reasons = policy_reasons(&situation);
    struct json_writer writer = json_object_to(out);

    json_write_bool(&writer, "must_ask", reasons != 0);
    json_write_list(&writer, "reasons");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (reasons & all[i])
            json_write_text(&writer, NULL, policy_reason_text(all[i]));
    }
    json_write_end_list(&writer);
    json_write_end_object(&writer);
}

_Static_assert(sizeof(struct values) <= TOOL_VALUES_BYTES, "tool_plan keeps them on its stack");

static void plan(const void *read, struct tool_plan *plan)
{
    plan->wish = TOOL_ANSWERED;
    write_result(read, &plan->result);
}

const struct tool tool_row_check_decision = {
    .name = "check_decision",
    .title = "Must a person decide this?",
    .description = "Tells whether a situation must be put to the person before you go on: more "
                   "than two viable paths, something destructive, or missing configuration. Asks "
                   "nobody.",
    .arguments = arguments_table,
    .argument_count = ARRAY_LEN(arguments_table),
    .results = results,
    .result_count = ARRAY_LEN(results),
    .plan = plan,
};
