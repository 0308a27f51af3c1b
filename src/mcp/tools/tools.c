/* tools.c - the table of tools, and what each one takes and returns. */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "core/routing.h"
#include "mcp/tools/tool.h"

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
    ret_plan->action = call.session_id[0] ? TOOL_COLLECTS : TOOL_ASKS;
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
static const struct schema_property provide_choice_results[] = {
    { "action_status",
      STRING ",\"enum\":[\"selected\",\"custom_input\",\"cancelled\",\"timeout\",\"pending\","
             "\"pending_terminal_launch\"]",
      NULL },
    { "session_id", STRING, NULL },
    { "selection",
      OBJECT ",\"properties\":{\"selected_ids\":{" STRINGS "},\"custom_input\":{" STRING
             "},\"option_annotations\":{" OBJECT "},\"global_annotation\":{" STRING "}}",
      NULL },
    { "explicit", BOOLEAN, "True only if the user acted." },
    { "auto_submitted", NULL, NULL },
    { "declined", NULL, NULL },
    { "withdrawn", NULL, NULL },
    { "replayed", NULL, NULL },
    { "answered_by", NULL, NULL },
    { "answered_at", NULL, NULL },
    { "instructions", NULL, NULL },
    { "terminal_command", STRING, "For the user to run once." },
    { "url", NULL, NULL },
    { "asked_back", STRING, "A question for you; reply with get_answer." },
    { "rule", NULL, NULL },
    { "warnings", NULL, NULL },
    { "notices", "\"type\":\"array\",\"items\":{" OBJECT "}", "Late answers: call get_answer." },
    { "notices_more", NULL, NULL },
    TOOL_ERROR_RESULT,
};

/* A tool that asks. */
#define ROW(which, words, says)                                                                    \
    const struct tool tool_row_##which = {                                                         \
        .name = #which,                                                                            \
        .title = words,                                                                            \
        .description = says,                                                                       \
        .ask = &tool_##which,                                                                      \
        .results = which##_results,                                                                \
        .result_count = ARRAY_LEN(which##_results),                                                \
    }

/* Several questions in one ask; its description has the seed's facts (R3.1). */

/* published: ask_user_question */
static const struct schema_property ask_user_question_results[] = {
    { "status", "\"enum\":[\"answered\",\"cancelled\",\"timeout\",\"pending\"]", NULL },
    { "answers", OBJECT, "{question: answer}" },
    { "answer_list", "\"type\":\"array\",\"items\":{\"type\":\"object\"}",
      "{question, header, selected, other, notes}" },
    { "session_id", NULL, NULL },
    { "instructions", NULL, NULL },
};

ROW(ask_user_question, "Ask several questions",
    "Ask the user 1-4 questions with 2-4 options each when several approaches are valid and their "
    "preference matters. A free-text \"Other\" is added. NOT available to sub-agents.");

/* Says whether a situation must be put to a person (R11.2). It asks no person itself. */

struct check_decision_values {
    int64_t paths, destructive;
    const struct json *missing;
};
static const struct argument check_decision_arguments[] = {
    ARGUMENT("paths", INTEGER, offsetof(struct check_decision_values, paths),
             "Number of viable approaches.", ARGUMENT_LIMITS(0, 1000000, NUMBER)),
    ARGUMENT("destructive", BOOL, offsetof(struct check_decision_values, destructive),
             "The action can't be undone."),
    ARGUMENT("missing_configuration", IDS, offsetof(struct check_decision_values, missing),
             "Settings you were not given.", ARGUMENT_LIMITS(0, 100, ITEMS)),
};
/* published: check_decision */
static const struct schema_property check_decision_results[] = {
    { "must_ask", BOOLEAN, NULL },
    { "reasons", STRINGS, NULL },
    TOOL_ERROR_RESULT,
};

_Static_assert(sizeof(struct check_decision_values) <= TOOL_VALUES_BYTES,
               "tool_plan keeps them on its stack");

static void plan_check_decision(const void *read, struct tool_plan *plan)
{
    static const enum policy_reason all[] = { POLICY_PATHS, POLICY_DESTRUCTIVE, POLICY_MISSING };
    const struct check_decision_values *values = read;
    const struct policy_situation situation = {
        .paths = values->paths,
        .is_destructive = values->destructive != 0,
        .missing_count = json_length(values->missing),
    };
    unsigned reasons = policy_reasons(&situation);
    struct json_writer writer = json_object_to(&plan->result);

    plan->action = TOOL_ANSWERED;
    json_write_bool(&writer, "must_ask", reasons != 0);
    json_write_list(&writer, "reasons");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (reasons & all[i])
            json_write_text(&writer, NULL, policy_reason_text(all[i]));
    }
    json_write_end_list(&writer);
    json_write_end_object(&writer);
}

const struct tool tool_row_check_decision = {
    .name = "check_decision",
    .title = "Check whether to ask",
    .description = "Check whether you must ask the user first. Does not contact the user.",
    .arguments = check_decision_arguments,
    .argument_count = ARRAY_LEN(check_decision_arguments),
    .results = check_decision_results,
    .result_count = ARRAY_LEN(check_decision_results),
    .plan = plan_check_decision,
};

/* The tools of R4.1: one question of one kind each, answered with an action and a value. Their
 * schemas say no more than a model needs; whatever else a result holds is allowed. */

/* What is the same in every result; the value stands between. */
#define ACTION                                                                                     \
    {                                                                                              \
        "action", "\"enum\":[\"accept\",\"decline\",\"cancel\",\"timeout\",\"pending\"]", NULL     \
    }
/* published: elicit */
#define REST                                                                                       \
    { "session_id", NULL, NULL },                                                                  \
    {                                                                                              \
        "instructions", NULL, NULL                                                                 \
    }
static const struct schema_property elicit_choice_results[] = {
    ACTION,
    { "choice", STRING, NULL },
    REST,
};
ROW(elicit_choice, "Ask for one value",
    "Ask the user to choose one value. Only action accept carries a value.");

static const struct schema_property elicit_input_results[] = {
    ACTION,
    { "input", "\"description\":\"Under field_name if given.\"", NULL },
    REST,
};
ROW(elicit_input, "Ask for text or a number",
    "Ask the user for text or a number. Never ask for secrets.");

static const struct schema_property elicit_confirm_results[] = {
    ACTION,
    { "confirmed", BOOLEAN, NULL },
    REST,
};
ROW(elicit_confirm, "Ask for yes or no",
    "Ask the user to confirm. Proceed only if confirmed is true.");

static const struct schema_property elicit_number_results[] = {
    ACTION,
    { "value", "\"type\":\"number\"", NULL },
    REST,
};
ROW(elicit_number, "Ask for a number", "Ask the user for a number.");

static const struct schema_property elicit_form_results[] = {
    ACTION,
    { "content", OBJECT, NULL },
    REST,
};
ROW(elicit_form, "Ask with a form", "Ask the user to fill in a short form. Never ask for secrets.");

/* Collects the answer of an earlier ask, whatever tool made it. */

struct get_answer_values {
    const char *session_id;
    int64_t wait_s;
    const char *explanation;
};
static const struct argument get_answer_arguments[] = {
    ARGUMENT("session_id", ID, offsetof(struct get_answer_values, session_id),
             "from an earlier result", .is_required = true, .is_obvious = true),
    ARGUMENT("wait_seconds", INTEGER, offsetof(struct get_answer_values, wait_s),
             "Default: as long as possible.", ARGUMENT_LIMITS(0, LIMIT_WAIT_S, NUMBER),
             .fallback = -1),
    ARGUMENT("explanation", TEXT, offsetof(struct get_answer_values, explanation),
             "Your reply to asked_back.", ARGUMENT_LIMITS(1, LIMIT_EXPLANATION_CHARS, CHARS)),
};

/* In the shape of the tool that asked, which says more about it. */
/* published: get_answer */
static const struct schema_property get_answer_results[] = {
    { "action_status", NULL, NULL },
    { "selection", NULL, NULL },
    { "action", NULL, NULL },
    { "status", NULL, NULL },
    { "session_id", NULL, NULL },
    { "instructions", NULL, NULL },
    TOOL_ERROR_RESULT,
};

_Static_assert(sizeof(struct get_answer_values) <= TOOL_VALUES_BYTES,
               "tool_plan keeps them on its stack");

static void plan_get_answer(const void *read, struct tool_plan *plan)
{
    const struct get_answer_values *values = read;

    plan->action = TOOL_COLLECTS;
    memcpy(plan->session_id, values->session_id, sizeof plan->session_id);
    plan->wait_s = values->wait_s;
    if (values->explanation)
        text_add_text(&plan->explanation, values->explanation);
}

const struct tool tool_row_get_answer = {
    .name = "get_answer",
    .title = "Collect an answer",
    .description = "Get the answer to an earlier question, in the format of the tool that asked. "
                   "pending means "
                   "not answered yet; it never means no. Safe to repeat.",
    .arguments = get_answer_arguments,
    .argument_count = ARRAY_LEN(get_answer_arguments),
    .results = get_answer_results,
    .result_count = ARRAY_LEN(get_answer_results),
    .plan = plan_get_answer,
};

/* Asks a person to choose, to write, or both; or collects an earlier ask. */

ROW(provide_choice, "Ask the user to decide",
    "Ask the user to make a decision and wait for the answer. Use it when more than two approaches "
    "are viable, before anything destructive, or when configuration is missing. cancelled: stop "
    "this subtask and assume nothing. timeout: nothing was chosen. pending: not answered yet; "
    "collect it with get_answer, do not ask again. Run a terminal_command at most once.");
