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

/* Several questions at once; its description has the seed's facts (R3.1). */

/* published: ask_user_question */
static const struct schema_property ask_user_question_results[] = {
    { "status", "\"enum\":[\"answered\",\"cancelled\",\"timeout\",\"pending\"]",
      "Only answered has answers." },
    { "answers", OBJECT, "{question: text}, several labels joined with \", \"." },
    { "answer_list", "\"type\":\"array\",\"items\":{\"type\":\"object\"}",
      "{question, header, selected: [labels], other, notes}, one each." },
    { "session_id", STRING, "For get_answer." },
    { "instructions", STRING, "What to do now." },
};

ROW(ask_user_question, "Ask a person some questions",
    "Asks the person clarifying questions when you need input to proceed: several "
    "valid approaches, and their preference matters. 1-4 questions with 2-4 options "
    "each; they can also type an answer of their own. NOT available to sub-agents.");

/* Says whether a situation must be put to a person (R11.2). Asks nobody. */

struct check_decision_values {
    int64_t paths, destructive;
    const struct json *missing;
};
static const struct argument check_decision_arguments[] = {
    ARGUMENT("paths", INTEGER, offsetof(struct check_decision_values, paths),
             "How many viable ways you see.", ARGUMENT_LIMITS(0, 1000000, NUMBER)),
    ARGUMENT("destructive", BOOL, offsetof(struct check_decision_values, destructive),
             "true if what you would do can't be undone."),
    ARGUMENT("missing_configuration", IDS, offsetof(struct check_decision_values, missing),
             "Names of settings nobody gave you.", ARGUMENT_LIMITS(0, 100, ITEMS)),
};
/* published: check_decision */
static const struct schema_property check_decision_results[] = {
    { "must_ask", BOOLEAN, "true: ask with provide_choice before going on." },
    { "reasons", STRINGS, "Why." },
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
    .title = "Must a person decide this?",
    .description = "Tells whether a situation must be put to the person before you go on: more "
                   "than two viable paths, something destructive, or missing configuration. Asks "
                   "nobody.",
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
        "action", "\"enum\":[\"accept\",\"decline\",\"cancel\",\"timeout\",\"pending\"]",          \
            "Only accept has a value."                                                             \
    }
/* published: elicit */
#define REST                                                                                       \
    { "session_id", STRING, "For get_answer." },                                                   \
    {                                                                                              \
        "instructions", STRING, "What to do now."                                                  \
    }
static const struct schema_property elicit_choice_results[] = {
    ACTION,
    { "choice", STRING, "The value chosen." },
    REST,
};
ROW(elicit_choice, "Ask for one of several values", "Asks the person to choose one of the values.");

static const struct schema_property elicit_input_results[] = {
    ACTION,
    { "input", "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]",
      "What they wrote; under field_name if given." },
    REST,
};
ROW(elicit_input, "Ask for a text or number",
    "Asks the person for a text or a number. Never ask for passwords, tokens or keys.");

static const struct schema_property elicit_confirm_results[] = {
    ACTION,
    { "confirmed", BOOLEAN, "true: they said yes; silence never is." },
    REST,
};
ROW(elicit_confirm, "Ask for a yes or no",
    "Asks the person to say yes or no. Go on only if confirmed is true.");

static const struct schema_property elicit_number_results[] = {
    ACTION,
    { "value", "\"type\":\"number\"", "The number." },
    REST,
};
ROW(elicit_number, "Ask for a number", "Asks the person for a number: a field, a slider or stars.");

static const struct schema_property elicit_form_results[] = {
    ACTION,
    { "content", OBJECT, "Values by property." },
    REST,
};
ROW(elicit_form, "Ask with a small form", "Asks the person to fill in a small form.");

/* Collects the answer of an earlier ask, whatever tool made it. */

struct get_answer_values {
    const char *session_id;
    int64_t wait_s;
    const char *explanation;
};
static const struct argument get_answer_arguments[] = {
    ARGUMENT("session_id", ID, offsetof(struct get_answer_values, session_id),
             "The session_id an earlier call returned.", .is_required = true),
    ARGUMENT("wait_seconds", INTEGER, offsetof(struct get_answer_values, wait_s),
             "How many seconds to wait; leave it out to wait as long as possible.",
             ARGUMENT_LIMITS(0, LIMIT_WAIT_S, NUMBER), .fallback = -1),
    ARGUMENT("explanation", TEXT, offsetof(struct get_answer_values, explanation),
             "Only after a result with asked_back: what the person wanted to know.",
             ARGUMENT_LIMITS(1, LIMIT_EXPLANATION_CHARS, CHARS)),
};

/* In the shape of the tool that asked, which says more about it. */
/* published: get_answer */
static const struct schema_property get_answer_results[] = {
    { "action_status", STRING, "Of provide_choice." },
    { "selection", OBJECT, "Of provide_choice." },
    { "action", STRING, "Of the elicit tools; beside it the value." },
    { "status", STRING, "Of ask_user_question; beside it answers." },
    { "session_id", STRING, "The ask's id." },
    { "instructions", STRING, "What to do now." },
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
    .description =
        "Returns the answer of an earlier ask by its session_id, waiting up to wait_seconds; "
        "pending means that nobody has answered yet, never that the answer is no. Collecting "
        "again returns the same.",
    .arguments = get_answer_arguments,
    .argument_count = ARRAY_LEN(get_answer_arguments),
    .results = get_answer_results,
    .result_count = ARRAY_LEN(get_answer_results),
    .plan = plan_get_answer,
};

/* Asks a person to choose, to write, or both; or collects an earlier ask. */

ROW(provide_choice, "Ask a person to decide",
    "Asks the person you work for to decide, and waits for the answer. Use it when there are "
    "more than two viable paths, before anything destructive, and when configuration is "
    "missing. Put the task's context and why a choice is needed into prompt; recommend at "
    "least one option. The person may also cancel (then stop this subtask and assume nothing) "
    "or not answer in time (then nothing was chosen). A result with action_status pending is "
    "not an answer: collect it with get_answer and its session_id, don't ask again. A "
    "terminal_command may be run once only.");
