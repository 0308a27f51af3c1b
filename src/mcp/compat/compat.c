/* compat.c - what the rows share: see compat.h. */
#include "mcp/compat/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "mcp/offer.h"
#include "mcp/tools/tool.h"

bool compat_is_refused(enum ending ending)
{
    return ending != ENDING_ANSWERED && ending != ENDING_TIMEOUT && ending != ENDING_PENDING;
}

const char *compat_text(const struct json *given, const char *const *names)
{
    for (; *names; names++) {
        const char *text = json_member_text(given, *names);

        if (text && *text)
            return text;
    }
    return NULL;
}

/* As many code points as may be; the rest is left out. */
static void write_cut(struct json_writer *writer, const char *key, const char *text, size_t most)
{
    const char *at = text, *end = text + strlen(text);

    for (size_t count = 0; at < end && count < most; count++) {
        if (text_decode(&at, end) < 0)
            break;
    }
    json_write_text_n(writer, key, text, (size_t)(at - text));
}

void compat_write_title(struct json_writer *writer, const char *title, const char *otherwise)
{
    write_cut(writer, "title", title && *title ? title : otherwise, LIMIT_TITLE_CHARS);
}

void compat_write_prompt(struct json_writer *writer, const char *prompt, const char *tool)
{
    struct text whole = { 0 };

    text_add_text(&whole, prompt);
    if (text_count(prompt, strlen(prompt)) < LIMIT_PROMPT_CHARS_MIN)
        text_add_format(&whole, "\n\n(asked with %s)", tool);
    json_write_text(writer, "prompt", text_string(&whole));
    text_release(&whole);
}

void compat_write_timeout(struct json_writer *writer, const struct json *given)
{
    int64_t seconds = json_member_integer(given, "timeout", 0);

    if (seconds >= 1 && seconds <= LIMIT_TIMEOUT_S)
        json_write_integer(writer, "timeout_seconds", seconds);
}

/* An option is a text, or an object with a label. */
static const char *words_of(const struct json *option)
{
    static const char *const names[] = { "label", "title", "value", NULL };

    return json_kind(option) == KIND_OBJECT ? compat_text(option, names) : json_text(option);
}

bool compat_write_options(struct json_writer *writer, const char *key, const struct json *options,
                          const char *value_key, const char *label_key)
{
    char value[TEXT_INTEGER_BYTES];
    size_t written = 0;

    json_write_list(writer, key);
    for (size_t i = 0; json_kind(options) == KIND_LIST && i < json_length(options); i++) {
        const char *words = words_of(json_item(options, i));

        if (!words)
            continue;
        json_write_object(writer, NULL);
        json_write_text(writer, value_key, text_of_integer((int64_t)i + 1, value));
        json_write_text(writer, label_key, words);
        json_write_end_object(writer);
        written++;
    }
    json_write_end_list(writer);
    return written > 0;
}

const char *compat_option(const struct json *options, const char *value)
{
    int64_t number;

    if (!value || json_kind(options) != KIND_LIST || !text_parse_integer(value, &number) ||
        number < 1 || (size_t)number > json_length(options))
        return NULL;
    return words_of(json_item(options, (size_t)number - 1));
}

char *compat_written(const struct json *result)
{
    const struct json *selection = json_member(result, "selection");
    const char *text = json_member_text(selection, "custom_input");
    const char *note = json_member_text(selection, "global_annotation");
    struct text whole = { 0 };

    text_add_text(&whole, text ? text : "");
    if (note && *note)
        text_add_format(&whole, "%s%s", whole.used ? "\n\n" : "", note);
    return text_take(&whole);
}

void compat_write_back(struct json_writer *writer, const struct json *result, const char *how)
{
    const char *back = json_member_text(result, "asked_back");

    json_write_text_if(writer, "asked_back", back);
    json_write_text_if(writer, "instructions",
                       back ? json_member_text(result, "instructions") : how);
}

void compat_write_ending(struct json_writer *writer, const struct compat_outcome *outcome,
                         const char *tool)
{
    const char *id = json_member_text(outcome->result, "session_id");
    char *how;

    if (outcome->ending == ENDING_TIMEOUT)
        json_write_bool(writer, "timeout", true);
    if (outcome->ending != ENDING_PENDING)
        return;
    how = mem_format("Nobody has answered yet. Call %s again with the same arguments to go on "
                     "waiting, or get_answer with this session_id.",
                     tool);
    json_write_bool(writer, "pending", true);
    json_write_text_if(writer, "session_id", id);
    compat_write_back(writer, outcome->result, how);
    free(how);
}

/* The tools of others as tools/list names them, and the offer that has them. */

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
