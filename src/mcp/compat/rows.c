/* rows.c - the tools of others as tools/list names them, and the offer that has them. */
#include "base/mem.h"
#include "mcp/compat/compat.h"
#include "mcp/offer.h"
#include "mcp/tools/tool.h"

#define STRING  "{\"type\":\"string\"}"
#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define INPUT(properties, needed)                                                                  \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" needed "]}"
#define FOR_PROMPTS_OF(server)                                                                     \
    " Offered for prompts written for " server "; provide_choice and the elicit tools say more."

/* provide_choice also in the shape of interactive-choice-mcp. */
static struct tool provide_choice;

static const struct tool poll_selection = {
    .name = "poll_selection",
    .title = "Collect a selection",
    .description = "Waits up to 30 s for the answer of an earlier provide_choice." FOR_PROMPTS_OF(
        "interactive-choice-mcp"),
    .input_json = INPUT("\"session_id\":" STRING, "\"session_id\""),
    .compat = &compat_poll_selection,
};
static const struct tool interactive_feedback = {
    .name = "interactive_feedback",
    .title = "Ask for feedback",
    .description = "Shows a message or a summary to the person and returns what they write, with "
                   "the options they picked if any were given." FOR_PROMPTS_OF(
                       "interactive-feedback-mcp and its relatives"),
    .input_json =
        INPUT("\"message\":" STRING ",\"summary\":" STRING ",\"predefined_options\":" STRINGS
              ",\"project_directory\":" STRING ",\"timeout\":{\"type\":\"integer\"}",
              ""),
    .compat = &compat_interactive_feedback,
};
static const struct tool request_user_input = {
    .name = "request_user_input",
    .title = "Ask the user",
    .description = "Asks the person one question, with options if there are any, and returns their "
                   "reply as a sentence." FOR_PROMPTS_OF("interactive-mcp"),
    .input_json =
        INPUT("\"projectName\":" STRING ",\"message\":" STRING ",\"predefinedOptions\":" STRINGS,
              "\"projectName\",\"message\""),
    .compat = &compat_request_user_input,
};
static const struct tool get_user_input = {
    .name = "get_user_input",
    .title = "Ask for a value",
    .description =
        "Asks the person for a text or a number." FOR_PROMPTS_OF("Human-In-the-Loop-MCP-Server"),
    .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"default_value\":" STRING
                        ",\"input_type\":{\"type\":\"string\",\"enum\":[\"text\",\"integer\","
                        "\"float\"]}",
                        "\"title\",\"prompt\""),
    .compat = &compat_get_user_input,
};
static const struct tool get_multiline_input = {
    .name = "get_multiline_input",
    .title = "Ask for a longer text",
    .description = "Asks the person for a text of several lines." FOR_PROMPTS_OF(
        "Human-In-the-Loop-MCP-Server"),
    .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"default_value\":" STRING,
                        "\"title\",\"prompt\""),
    .compat = &compat_get_multiline_input,
};
static const struct tool get_user_choice = {
    .name = "get_user_choice",
    .title = "Ask for a choice",
    .description = "Asks the person to pick one choice, or several." FOR_PROMPTS_OF(
        "Human-In-the-Loop-MCP-Server"),
    .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"choices\":" STRINGS
                        ",\"allow_multiple\":" BOOLEAN,
                        "\"title\",\"prompt\",\"choices\""),
    .compat = &compat_get_user_choice,
};
static const struct tool show_confirmation_dialog = {
    .name = "show_confirmation_dialog",
    .title = "Ask for a yes",
    .description = "Asks the person for yes or no." FOR_PROMPTS_OF("Human-In-the-Loop-MCP-Server"),
    .input_json = INPUT("\"title\":" STRING ",\"message\":" STRING, "\"title\",\"message\""),
    .compat = &compat_show_confirmation_dialog,
};

/* Behind the product's own. */
static const struct tool *const added[] = {
    &poll_selection,      &interactive_feedback, &request_user_input,       &get_user_input,
    &get_multiline_input, &get_user_choice,      &show_confirmation_dialog,
};

enum { MOST_TOOLS = 64 };
static const struct tool *all[MOST_TOOLS + 1]; /* NULL behind the last */

const struct mcp_offer *mcp_compat_offer(void)
{
    static struct mcp_offer offer;
    size_t count = 0;

    if (offer.tools)
        return &offer;
    for (; tool_rows[count] && count + ARRAY_LEN(added) < MOST_TOOLS; count++)
        all[count] = tool_rows[count];
    provide_choice = *all[0];
    provide_choice.compat = &compat_provide_choice;
    provide_choice.result_count = 0; /* it has two shapes now, and clients check what is promised */
    all[0] = &provide_choice;
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        all[count++] = added[i];
    offer = mcp_product_offer;
    offer.tools = all;
    return &offer;
}
