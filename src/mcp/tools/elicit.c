/*
 * elicit.c - the tools of R4.1: one question of one kind each, answered with an action and a value.
 * Their schemas say no more than a model needs; whatever else a result holds is allowed.
 */
#include "base/mem.h"
#include "mcp/tools/tool.h"

/* What is the same in every result; the value stands between. */
#define ACTION                                                                                     \
    {                                                                                              \
        "action", "\"enum\":[\"accept\",\"decline\",\"cancel\",\"timeout\",\"pending\"]",          \
            "Only accept has a value."                                                             \
    }
/* published: elicit */
#define REST                                                                                       \
    { "session_id", "\"type\":\"string\"", "For get_answer." },                                    \
    {                                                                                              \
        "instructions", "\"type\":\"string\"", "What to do now."                                   \
    }
#define ROW(which, words, says)                                                                    \
    const struct tool tool_row_##which = {                                                         \
        .name = #which,                                                                            \
        .title = words,                                                                            \
        .description = says,                                                                       \
        .ask = &tool_##which,                                                                      \
        .results = which##_results,                                                                \
        .result_count = ARRAY_LEN(which##_results),                                                \
    }

static const struct schema_property elicit_choice_results[] = {
    ACTION,
    { "choice", "\"type\":\"string\"", "The value chosen." },
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
    { "confirmed", "\"type\":\"boolean\"", "true: they said yes; silence never is." },
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
    { "content", "\"type\":\"object\"", "Values by property." },
    REST,
};
ROW(elicit_form, "Ask with a small form", "Asks the person to fill in a small form.");
