/* compat.c - the tools of others, a row each, and the offer that has them. See compat.h. */
#include "mcp/compat/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "mcp/mcp_features.h"
#include "mcp/tools/tool.h"

enum { POLL_WAIT_S = 30 };

/* Dismissed, declined, withdrawn, or not understood here. */
static bool is_refused(enum ending ending)
{
    return ending != ENDING_ANSWERED && ending != ENDING_TIMEOUT && ending != ENDING_PENDING;
}

/* The first member that is a text with something in it; NULL: none. */
static const char *find_text(const struct json *given, const char *const *names)
{
    for (; *names; names++) {
        const char *text = json_member_text(given, *names);

        if (text && *text)
            return text;
    }
    return NULL;
}

/* The same where there must be one, under the first of these names. */
static const char *need_text(const struct compat_ask *ask, const char *const *names,
                             const char *path)
{
    const char *text = find_text(ask->given, names);

    if (!text)
        error_set(ask->err, ERROR_missing_property, path,
                  "%s is missing: the question for the user", names[0]);
    return text;
}

/* A title of at most 200 characters; the rest is left out. */
static void write_title(struct compat_ask *ask, const char *title)
{
    const char *text = title && *title ? title : ask->name, *at = text, *end = text + strlen(text);

    for (size_t count = 0; at < end && count < LIMIT_TITLE_CHARS; count++) {
        if (text_decode(&at, end) < 0)
            break;
    }
    json_write_text_n(&ask->writer, "title", text, (size_t)(at - text));
}

/* An answer in own words to a prompt that is long enough to be shown, whatever they wrote. */
static void write_text_input(struct compat_ask *ask, const char *prompt)
{
    struct text whole = { 0 };

    text_add_text(&whole, prompt);
    if (text_count(prompt, strlen(prompt)) < LIMIT_PROMPT_CHARS_MIN)
        text_add_format(&whole, "\n\n(asked with %s)", ask->name);
    json_write_text(&ask->writer, "prompt", text_string(&whole));
    json_write_text(&ask->writer, "selection_mode", "text_input");
    text_release(&whole);
}

/* An option is a text, or an object with a label. */
static const char *words_of(const struct json *option)
{
    static const char *const names[] = { "label", "title", "value", NULL };

    return json_kind(option) == KIND_OBJECT ? find_text(option, names) : json_text(option);
}

/* {VALUE_KEY: "1", LABEL_KEY: words} for each; so that any words may be an option. */
static void write_options(struct json_writer *writer, const char *key, const struct json *options,
                          const char *value_key, const char *label_key)
{
    char value[TEXT_INTEGER_BYTES];

    json_write_list(writer, key);
    for (size_t i = 0; json_kind(options) == KIND_LIST && i < json_length(options); i++) {
        const char *words = words_of(json_item(options, i));

        if (!words)
            continue;
        json_write_object(writer, NULL);
        json_write_text(writer, value_key, text_of_integer((int64_t)i + 1, value));
        json_write_text(writer, label_key, words);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

/* A form: choices, as many as may be picked, and where wanted feedback in own words. */
static void write_form(struct json_writer *writer, const struct json *options, bool is_single,
                       bool has_feedback)
{
    json_write_object(writer, "requestedSchema");
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
    json_write_object(writer, "choices");
    json_write_text(writer, "type", is_single ? "string" : "array");
    if (is_single) {
        write_options(writer, "oneOf", options, "const", "title");
    } else {
        json_write_object(writer, "items");
        write_options(writer, "anyOf", options, "const", "title");
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    if (has_feedback)
        json_write_raw(writer, "feedback", "{\"type\":\"string\"}");
    json_write_end_object(writer);
    json_write_end_object(writer);
}

/* The words of an option by the value that was chosen; NULL: no such. */
static const char *find_option(const struct json *options, const char *value)
{
    int64_t number;

    if (!value || json_kind(options) != KIND_LIST || !text_parse_integer(value, &number) ||
        number < 1 || (size_t)number > json_length(options))
        return NULL;
    return words_of(json_item(options, (size_t)number - 1));
}

/* What was written, with the note to the agent behind it; the caller frees. */
static char *written_in(const struct json *result)
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

/* While it is pending: what the person asks back and how to explain, or `how` to go on. */
static void write_back(struct compat_reply *reply, const char *how)
{
    const char *back = json_member_text(reply->result, "asked_back");

    json_write_text_if(&reply->writer, "asked_back", back);
    json_write_text_if(&reply->writer, "instructions",
                       back ? json_member_text(reply->result, "instructions") : how);
}

/* How it ended where no one answered, for objects: pending, session_id, timeout … */
static void write_ending(struct compat_reply *reply)
{
    char *how;

    if (reply->ending == ENDING_TIMEOUT)
        json_write_bool(&reply->writer, "timeout", true);
    if (reply->ending != ENDING_PENDING)
        return;
    how = mem_format("Not answered yet. Call %s again with the same arguments to keep "
                     "waiting, or get_answer with this session_id.",
                     reply->name);
    json_write_bool(&reply->writer, "pending", true);
    json_write_text_if(&reply->writer, "session_id", json_member_text(reply->result, "session_id"));
    write_back(reply, how);
    free(how);
}

/* provide_choice and poll_selection as interactive-choice-mcp has them. */

/* Their options have no label: the id is what a person reads. */
static bool is_theirs(const struct json *given)
{
    const struct json *options = json_member(given, "options");

    for (size_t i = 0; json_kind(options) == KIND_LIST && i < json_length(options); i++) {
        const struct json *option = json_item(options, i);

        if (json_kind(option) == KIND_OBJECT && json_member_text(option, "id") &&
            !json_member(option, "label"))
            return true;
    }
    return false;
}

static void write_option(struct json_writer *writer, const struct json *option)
{
    json_write_object(writer, NULL);
    for (void *at = json_first(option); at; at = json_next(option, at)) {
        bool is_empty = json_text(json_value(at)) && !*json_text(json_value(at));

        if (!is_empty) /* they send description "" */
            json_write_value(writer, json_key(at), json_value(at));
    }
    if (!json_member(option, "label"))
        json_write_text(writer, "label", json_member_text(option, "id"));
    json_write_end_object(writer);
}

static bool translate_choice(struct compat_ask *ask)
{
    const struct json *options = json_member(ask->given, "options");

    if (!is_theirs(ask->given))
        return true;
    ask->tool = ask->name;
    for (void *at = json_first(ask->given); at; at = json_next(ask->given, at)) {
        if (strcmp(json_key(at), "options") != 0)
            json_write_value(&ask->writer, json_key(at), json_value(at));
    }
    json_write_list(&ask->writer, "options");
    for (size_t i = 0; i < json_length(options); i++) {
        if (json_kind(json_item(options, i)) == KIND_OBJECT)
            write_option(&ask->writer, json_item(options, i));
    }
    json_write_end_list(&ask->writer);
    return true;
}

static bool translate_poll(struct compat_ask *ask)
{
    const char *id = json_member_text(ask->given, "session_id");

    if (!id)
        return error_set(ask->err, ERROR_missing_property, "/session_id",
                         "session_id is missing: give the one that provide_choice returned");
    ask->tool = "get_answer";
    json_write_text(&ask->writer, "session_id", id);
    json_write_integer(&ask->writer, "wait_seconds", POLL_WAIT_S);
    return true;
}

/* Their words for how it ended. */
static const char *status_of(const struct compat_reply *reply, bool has_note)
{
    bool is_auto = json_is_true(json_member(reply->result, "auto_submitted"));

    switch (reply->ending) {
    case ENDING_ANSWERED:
        return "selected";
    case ENDING_TIMEOUT:
        return is_auto ? "timeout_auto_submitted" : "timeout_cancelled";
    case ENDING_PENDING:
        return json_member_text(reply->result, "action_status");
    default:
        return has_note ? "cancel_with_annotation" : "cancelled";
    }
}

static void write_if_any(struct json_writer *writer, const char *key, const struct json *value)
{
    json_write_value(writer, key, json_length(value) > 0 ? value : NULL);
}

static void present_choice(struct compat_reply *reply)
{
    static const char *const kept[] = { "session_id", "url", "terminal_command" };
    const struct json *selection = json_member(reply->result, "selection");
    char *note = written_in(reply->result);

    json_write_text_if(&reply->writer, "action_status", status_of(reply, *note != '\0'));
    write_if_any(&reply->writer, "selected_indices", json_member(selection, "selected_ids"));
    write_if_any(&reply->writer, "option_annotations",
                 json_member(selection, "option_annotations"));
    if (*note)
        json_write_text(&reply->writer, "additional_annotation", note);
    if (reply->ending == ENDING_PENDING) {
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            json_write_text_if(&reply->writer, kept[i], json_member_text(reply->result, kept[i]));
        write_back(reply, "This is not an answer: call poll_selection with this session_id.");
    }
    free(note);
}

/* Interactive_feedback as interactive-feedback-mcp, mcp-feedback-enhanced and
 * ai-intervention-agent have it, and request_user_input of interactive-mcp: a message, options if
 * there are any, and the person's own words. */

static const char *const messages[] = { "message", "summary", "question", NULL };
static const char *const projects[] = { "projectName", "project_name", "project_path",
                                        "project_directory", NULL };

static const struct json *options_of(const struct json *given)
{
    const struct json *options = json_member(given, "predefined_options");

    if (!options)
        options = json_member(given, "predefinedOptions");
    return json_kind(options) == KIND_LIST ? options : NULL;
}

static const char *title_of(const struct json *given)
{
    const char *project = find_text(given, projects);
    const char *slash = project ? strrchr(project, '/') : NULL;

    return slash && slash[1] ? slash + 1 : project;
}

static bool translate_feedback(struct compat_ask *ask)
{
    const struct json *options = options_of(ask->given);
    const char *message = need_text(ask, messages, "/message");
    int64_t timeout_s = json_member_integer(ask->given, "timeout", 0);
    bool is_single = strcmp(ask->name, "request_user_input") == 0;

    if (!message)
        return false;
    ask->tool = json_length(options) > 0 ? "elicit_form" : "provide_choice";
    write_title(ask, title_of(ask->given));
    if (json_length(options) > 0) {
        json_write_text(&ask->writer, "message", message);
        write_form(&ask->writer, options, is_single, true);
    } else {
        write_text_input(ask, message);
    }
    if (timeout_s >= 1 && timeout_s <= LIMIT_TIMEOUT_S)
        json_write_integer(&ask->writer, "timeout_seconds", timeout_s);
    return true;
}

/* The options that were picked, then own words; the caller frees. */
static char *answer_of(const struct json *given, const struct json *result)
{
    const struct json *content = json_member(result, "content");
    const struct json *choices = json_member(content, "choices"), *options = options_of(given);
    const char *words = json_member_text(content, "feedback");
    struct text whole = { 0 };

    if (!content)
        return written_in(result);
    if (json_text(choices) && find_option(options, json_text(choices)))
        text_add_text(&whole, find_option(options, json_text(choices)));
    for (size_t i = 0; json_kind(choices) == KIND_LIST && i < json_length(choices); i++) {
        const char *picked = find_option(options, json_text(json_item(choices, i)));

        if (picked)
            text_add_format(&whole, "%s%s", whole.used ? "; " : "", picked);
    }
    if (words && *words)
        text_add_format(&whole, "%s%s", whole.used ? "\n\n" : "", words);
    return text_take(&whole);
}

static void present_feedback(struct compat_reply *reply)
{
    char *answer = answer_of(reply->given, reply->result);

    if (json_member(reply->given, "project_directory"))
        /* no command of ours runs in a project */
        json_write_text(&reply->writer, "command_logs", "");
    json_write_text(&reply->writer, "interactive_feedback", answer);
    if (is_refused(reply->ending))
        json_write_bool(&reply->writer, "cancelled", true);
    write_ending(reply);
    free(answer);
}

/* Theirs is a sentence and nothing else. */
static void present_sentence(struct compat_reply *reply)
{
    const char *back = json_member_text(reply->result, "asked_back");
    char *answer = answer_of(reply->given, reply->result);

    switch (reply->ending) {
    case ENDING_ANSWERED:
        text_add_format(&reply->text, "User replied%s%s", *answer ? ": " : " with empty input.",
                        answer);
        break;
    case ENDING_TIMEOUT:
        text_add_text(&reply->text, "User did not reply: Timeout occurred.");
        break;
    case ENDING_PENDING:
        if (back)
            text_add_format(&reply->text,
                            "The user asks: %s\nExplain it with get_answer, session_id %s.", back,
                            json_member_text(reply->result, "session_id"));
        else
            text_add_text(&reply->text, "The user has not replied yet. Call request_user_input "
                                        "again with the same arguments to go on waiting.");
        break;
    default:
        text_add_format(&reply->text, "User cancelled and did not reply.%s%s",
                        *answer ? " Their note: " : "", answer);
    }
    free(answer);
}

/* The dialogs of Human-In-the-Loop-MCP-Server: input, several lines, choice, yes or no. */

static const char *const prompts[] = { "prompt", "message", "title", NULL };

/* What the person shall answer, below the title; NULL: it is missing. */
static const char *begin_dialog(struct compat_ask *ask)
{
    write_title(ask, json_member_text(ask->given, "title"));
    return need_text(ask, prompts, "/prompt");
}

static bool is_number(const struct json *given)
{
    const char *type = json_member_text(given, "input_type");

    return type && (strcmp(type, "integer") == 0 || strcmp(type, "float") == 0);
}

static bool translate_lines(struct compat_ask *ask)
{
    const char *prompt = begin_dialog(ask);
    const char *before = json_member_text(ask->given, "default_value");

    if (!prompt)
        return false;
    ask->tool = "provide_choice";
    write_text_input(ask, prompt);
    if (before && *before && text_count(before, strlen(before)) <= LIMIT_PLACEHOLDER_CHARS)
        json_write_text(&ask->writer, "placeholder", before);
    return true;
}

static bool translate_input(struct compat_ask *ask)
{
    const char *prompt;
    bool is_real;

    if (!is_number(ask->given))
        return translate_lines(ask);
    prompt = begin_dialog(ask);
    if (!prompt)
        return false;
    ask->tool = "elicit_input";
    is_real = strcmp(json_member_text(ask->given, "input_type"), "float") == 0;
    json_write_text(&ask->writer, "message", prompt);
    json_write_text(&ask->writer, "type", is_real ? "number" : "integer");
    return true;
}

static bool translate_pick(struct compat_ask *ask)
{
    const struct json *choices = json_member(ask->given, "choices");
    bool is_multiple = json_is_true(json_member(ask->given, "allow_multiple"));
    const char *prompt = begin_dialog(ask);

    if (!prompt)
        return false;
    if (json_kind(choices) != KIND_LIST || json_length(choices) == 0)
        return error_set(ask->err, ERROR_missing_property, "/choices",
                         "choices is missing: a list of texts");
    ask->tool = is_multiple ? "elicit_form" : "elicit_choice";
    json_write_text(&ask->writer, "message", prompt);
    if (is_multiple)
        write_form(&ask->writer, choices, false, false);
    else
        write_options(&ask->writer, "options", choices, "value", "label");
    return true;
}

static bool translate_confirm(struct compat_ask *ask)
{
    const char *prompt = begin_dialog(ask);

    if (!prompt)
        return false;
    ask->tool = "elicit_confirm";
    json_write_text(&ask->writer, "message", prompt);
    return true;
}

/* success, and why not. */
static void begin(struct compat_reply *reply)
{
    json_write_bool(&reply->writer, "success", reply->ending == ENDING_ANSWERED);
    if (reply->ending == ENDING_TIMEOUT)
        json_write_text(&reply->writer, "error", "the user did not answer in time");
    write_ending(reply);
}

static void end(struct compat_reply *reply)
{
    json_write_bool(&reply->writer, "cancelled", is_refused(reply->ending));
}

static void present_value(struct compat_reply *reply)
{
    const struct json *number = json_member(reply->result, "input");
    const char *type = json_member_text(reply->given, "input_type");
    char *written = written_in(reply->result);
    bool is_given = reply->ending == ENDING_ANSWERED && !is_number(reply->given);

    begin(reply);
    if (reply->ending == ENDING_ANSWERED && is_number(reply->given) && number)
        json_write_value(&reply->writer, "user_input", number);
    else
        json_write_text(&reply->writer, "user_input", is_given ? written : NULL);
    json_write_text(&reply->writer, "input_type", type ? type : "text");
    end(reply);
    free(written);
}

static void write_counts(struct json_writer *writer, const char *text)
{
    int64_t lines = 1, words = 0;
    bool is_between = true;

    for (const char *at = text; *at; at++) {
        bool is_blank = strchr(" \t\r\n", *at) != NULL;

        lines += *at == '\n';
        words += is_between && !is_blank;
        is_between = is_blank;
    }
    json_write_integer(writer, "character_count", (int64_t)text_count(text, strlen(text)));
    json_write_integer(writer, "line_count", lines);
    json_write_integer(writer, "word_count", words);
}

static void present_lines(struct compat_reply *reply)
{
    char *written = written_in(reply->result);
    bool is_given = reply->ending == ENDING_ANSWERED;

    begin(reply);
    json_write_text(&reply->writer, "user_input", is_given ? written : NULL);
    if (is_given)
        write_counts(&reply->writer, written);
    end(reply);
    free(written);
}

/* One is a text, several are a list. */
static void write_picked(struct json_writer *writer, const struct json *choices,
                         const struct json *picked)
{
    size_t count = json_kind(picked) == KIND_LIST ? json_length(picked) : 0;
    const char *only = count ? json_text(json_item(picked, 0)) : json_text(picked);

    if (count > 1) {
        json_write_list(writer, "selected_choice");
        for (size_t i = 0; i < count; i++)
            json_write_text_if(writer, NULL, find_option(choices, json_text(json_item(picked, i))));
        json_write_end_list(writer);
    } else {
        json_write_text(writer, "selected_choice", find_option(choices, only));
    }
    json_write_list(writer, "selected_choices");
    for (size_t i = 0; i < count; i++)
        json_write_text_if(writer, NULL, find_option(choices, json_text(json_item(picked, i))));
    if (!count)
        json_write_text_if(writer, NULL, find_option(choices, only));
    json_write_end_list(writer);
}

static void present_picked(struct compat_reply *reply)
{
    const struct json *content = json_member(reply->result, "content");
    const struct json *picked =
        content ? json_member(content, "choices") : json_member(reply->result, "choice");

    begin(reply);
    write_picked(&reply->writer, json_member(reply->given, "choices"),
                 reply->ending == ENDING_ANSWERED ? picked : NULL);
    json_write_bool(&reply->writer, "allow_multiple",
                    json_is_true(json_member(reply->given, "allow_multiple")));
    if (reply->ending == ENDING_ANSWERED)
        json_write_raw(&reply->writer, "file_info", "[]");
    end(reply);
}

/* No is an answer here; silence and a dismissed question are none. */
static void present_confirmed(struct compat_reply *reply)
{
    bool is_yes =
        reply->ending == ENDING_ANSWERED && json_is_true(json_member(reply->result, "confirmed"));

    if (reply->ending == ENDING_DECLINED)
        reply->ending = ENDING_ANSWERED;
    begin(reply);
    json_write_bool(&reply->writer, "confirmed", is_yes);
    if (reply->ending == ENDING_ANSWERED)
        json_write_text(&reply->writer, "response", is_yes ? "yes" : "no");
}

/* As tools/list names them. */

#define STRING  "{\"type\":\"string\"}"
#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define INPUT(properties, needed)                                                                  \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" needed "]}"
#define FOR_PROMPTS_OF(server)                                                                     \
    " Offered for prompts written for " server "; provide_choice and the elicit tools say more."
#define FOR_DIALOGS FOR_PROMPTS_OF("Human-In-the-Loop-MCP-Server")

/* Behind the product's own. */
static const struct tool added[] = {
    {
        .name = "poll_selection",
        .title = "Collect a selection",
        .description =
            "Waits up to 30 s for the answer of an earlier provide_choice." FOR_PROMPTS_OF(
                "interactive-choice-mcp"),
        .input_json = INPUT("\"session_id\":" STRING, "\"session_id\""),
        .compat = &(const struct compat){ translate_poll, present_choice },
    },
    {
        .name = "interactive_feedback",
        .title = "Ask for feedback",
        .description =
            "Shows a message or a summary to the person and returns what they write, with "
            "the options they picked if any were given." FOR_PROMPTS_OF(
                "interactive-feedback-mcp and its relatives"),
        .input_json =
            INPUT("\"message\":" STRING ",\"summary\":" STRING ",\"predefined_options\":" STRINGS
                  ",\"project_directory\":" STRING ",\"timeout\":{\"type\":\"integer\"}",
                  ""),
        .compat = &(const struct compat){ translate_feedback, present_feedback },
    },
    {
        .name = "request_user_input",
        .title = "Ask the user",
        .description =
            "Asks the person one question, with options if there are any, and returns their "
            "reply as a sentence." FOR_PROMPTS_OF("interactive-mcp"),
        .input_json = INPUT("\"projectName\":" STRING ",\"message\":" STRING
                            ",\"predefinedOptions\":" STRINGS,
                            "\"projectName\",\"message\""),
        .compat = &(const struct compat){ translate_feedback, present_sentence },
    },
    {
        .name = "get_user_input",
        .title = "Ask for a value",
        .description = "Asks the person for a text or a number." FOR_DIALOGS,
        .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"default_value\":" STRING
                            ",\"input_type\":{\"type\":\"string\",\"enum\":[\"text\",\"integer\","
                            "\"float\"]}",
                            "\"title\",\"prompt\""),
        .compat = &(const struct compat){ translate_input, present_value },
    },
    {
        .name = "get_multiline_input",
        .title = "Ask for a longer text",
        .description = "Asks the person for a text of several lines." FOR_DIALOGS,
        .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"default_value\":" STRING,
                            "\"title\",\"prompt\""),
        .compat = &(const struct compat){ translate_lines, present_lines },
    },
    {
        .name = "get_user_choice",
        .title = "Ask for a choice",
        .description = "Asks the person to pick one choice, or several." FOR_DIALOGS,
        .input_json = INPUT("\"title\":" STRING ",\"prompt\":" STRING ",\"choices\":" STRINGS
                            ",\"allow_multiple\":" BOOLEAN,
                            "\"title\",\"prompt\",\"choices\""),
        .compat = &(const struct compat){ translate_pick, present_picked },
    },
    {
        .name = "show_confirmation_dialog",
        .title = "Ask for a yes",
        .description = "Asks the person for yes or no." FOR_DIALOGS,
        .input_json = INPUT("\"title\":" STRING ",\"message\":" STRING, "\"title\",\"message\""),
        .compat = &(const struct compat){ translate_confirm, present_confirmed },
    },
};

enum { MAX_TOOLS = 64 };
static const struct tool *all[MAX_TOOLS + 1]; /* NULL behind the last */

const struct mcp_features *mcp_compat_features(void)
{
    static const struct compat choice = { translate_choice, present_choice };
    static struct tool provide_choice; /* also in the shape of interactive-choice-mcp */
    static struct mcp_features features;
    size_t count = 0;

    if (features.tools)
        return &features;
    for (; tool_rows[count] && count + ARRAY_LEN(added) < MAX_TOOLS; count++)
        all[count] = tool_rows[count];
    provide_choice = *all[0];
    provide_choice.compat = &choice;
    provide_choice.result_count = 0; /* it has two shapes now, and clients check what is promised */
    all[0] = &provide_choice;
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        all[count++] = &added[i];
    features = mcp_product_features;
    features.tools = all;
    return &features;
}
