/* dialogs.c - the dialogs of Human-In-the-Loop-MCP-Server: input, several lines, choice, yes or no.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "core/limits.h"
#include "mcp/compat/compat.h"

static const char *const prompts[] = { "prompt", "message", "title", NULL };

static bool has_prompt(const struct json *given, struct error *err)
{
    return compat_text(given, prompts) ||
           error_set(err, ERROR_missing_property, "/prompt",
                     "prompt is missing: what the person shall answer");
}

static bool is_number(const struct json *given)
{
    const char *type = json_member_text(given, "input_type");

    return type && (strcmp(type, "integer") == 0 || strcmp(type, "float") == 0);
}

static void write_text_ask(const struct json *given, const char *tool, struct json_writer *writer)
{
    const char *before = json_member_text(given, "default_value");

    compat_write_prompt(writer, compat_text(given, prompts), tool);
    json_write_text(writer, "selection_mode", "text_input");
    if (before && *before && text_count(before, strlen(before)) <= LIMIT_PLACEHOLDER_CHARS)
        json_write_text(writer, "placeholder", before);
}

static enum compat_act translate_input(const struct json *given, const char **ret_tool,
                                       struct json_writer *writer, struct error *err)
{
    if (!has_prompt(given, err))
        return COMPAT_REFUSED;
    *ret_tool = is_number(given) ? "elicit_input" : "provide_choice";
    json_write_object(writer, NULL);
    compat_write_title(writer, json_member_text(given, "title"), "get_user_input");
    if (is_number(given)) {
        json_write_text(writer, "message", compat_text(given, prompts));
        json_write_text(writer, "type",
                        strcmp(json_member_text(given, "input_type"), "float") == 0 ? "number"
                                                                                    : "integer");
    } else {
        write_text_ask(given, "get_user_input", writer);
    }
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

static enum compat_act translate_lines(const struct json *given, const char **ret_tool,
                                       struct json_writer *writer, struct error *err)
{
    if (!has_prompt(given, err))
        return COMPAT_REFUSED;
    *ret_tool = "provide_choice";
    json_write_object(writer, NULL);
    compat_write_title(writer, json_member_text(given, "title"), "get_multiline_input");
    write_text_ask(given, "get_multiline_input", writer);
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

static enum compat_act translate_choice(const struct json *given, const char **ret_tool,
                                        struct json_writer *writer, struct error *err)
{
    const struct json *choices = json_member(given, "choices");
    bool is_multiple = json_is_yes(json_member(given, "allow_multiple"));

    if (!has_prompt(given, err))
        return COMPAT_REFUSED;
    if (json_kind(choices) != KIND_LIST || json_length(choices) == 0) {
        error_set(err, ERROR_missing_property, "/choices", "choices is missing: a list of texts");
        return COMPAT_REFUSED;
    }
    *ret_tool = is_multiple ? "elicit_form" : "elicit_choice";
    json_write_object(writer, NULL);
    compat_write_title(writer, json_member_text(given, "title"), "get_user_choice");
    json_write_text(writer, "message", compat_text(given, prompts));
    if (!is_multiple) {
        compat_write_options(writer, "options", choices, "value", "label");
    } else {
        json_write_object(writer, "requestedSchema");
        json_write_text(writer, "type", "object");
        json_write_object(writer, "properties");
        json_write_object(writer, "choices");
        json_write_text(writer, "type", "array");
        json_write_object(writer, "items");
        compat_write_options(writer, "anyOf", choices, "const", "title");
        json_write_end_object(writer);
        json_write_end_object(writer);
        json_write_end_object(writer);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

static enum compat_act translate_confirm(const struct json *given, const char **ret_tool,
                                         struct json_writer *writer, struct error *err)
{
    if (!has_prompt(given, err))
        return COMPAT_REFUSED;
    *ret_tool = "elicit_confirm";
    json_write_object(writer, NULL);
    compat_write_title(writer, json_member_text(given, "title"), "show_confirmation_dialog");
    json_write_text(writer, "message", compat_text(given, prompts));
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

/* success, and why not. */
static void begin(struct json_writer *writer, const struct compat_outcome *outcome,
                  const char *tool)
{
    json_write_object(writer, NULL);
    json_write_bool(writer, "success", outcome->ending == ENDING_ANSWERED);
    if (outcome->ending == ENDING_TIMEOUT)
        json_write_text(writer, "error", "the person did not answer in time");
    compat_write_ending(writer, outcome, tool);
}

static void end(struct json_writer *writer, const struct compat_outcome *outcome)
{
    json_write_bool(writer, "cancelled", compat_is_refused(outcome->ending));
    json_write_end_object(writer);
}

static void present_input(const struct json *given, const struct compat_outcome *outcome,
                          struct compat_reply *reply)
{
    struct json_writer writer = json_writer_to(&reply->structured);
    const struct json *number = json_member(outcome->result, "input");
    const char *type = json_member_text(given, "input_type");
    char *written = compat_written(outcome->result);

    begin(&writer, outcome, "get_user_input");
    if (outcome->ending != ENDING_ANSWERED || (is_number(given) && !number))
        json_write_null(&writer, "user_input");
    else if (is_number(given))
        json_write_value(&writer, "user_input", number);
    else
        json_write_text(&writer, "user_input", written);
    json_write_text(&writer, "input_type", type ? type : "text");
    end(&writer, outcome);
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

static void present_lines(const struct json *given, const struct compat_outcome *outcome,
                          struct compat_reply *reply)
{
    struct json_writer writer = json_writer_to(&reply->structured);
    char *written = compat_written(outcome->result);

    (void)given;
    begin(&writer, outcome, "get_multiline_input");
    if (outcome->ending == ENDING_ANSWERED) {
        json_write_text(&writer, "user_input", written);
        write_counts(&writer, written);
    } else {
        json_write_null(&writer, "user_input");
    }
    end(&writer, outcome);
    free(written);
}

/* One is a text, several are a list. */
static void write_choice(struct json_writer *writer, const struct json *choices,
                         const struct json *picked)
{
    size_t count = json_kind(picked) == KIND_LIST ? json_length(picked) : 0;
    const char *only = count ? json_text(json_item(picked, 0)) : json_text(picked);

    if (count > 1) {
        json_write_list(writer, "selected_choice");
        for (size_t i = 0; i < count; i++)
            json_write_text_if(writer, NULL,
                               compat_option(choices, json_text(json_item(picked, i))));
        json_write_end_list(writer);
    } else if (compat_option(choices, only)) {
        json_write_text(writer, "selected_choice", compat_option(choices, only));
    } else {
        json_write_null(writer, "selected_choice");
    }
    json_write_list(writer, "selected_choices");
    for (size_t i = 0; i < count; i++)
        json_write_text_if(writer, NULL, compat_option(choices, json_text(json_item(picked, i))));
    if (!count)
        json_write_text_if(writer, NULL, compat_option(choices, only));
    json_write_end_list(writer);
}

static void present_chosen(const struct json *given, const struct compat_outcome *outcome,
                           struct compat_reply *reply)
{
    struct json_writer writer = json_writer_to(&reply->structured);
    const struct json *content = json_member(outcome->result, "content");
    const struct json *picked =
        content ? json_member(content, "choices") : json_member(outcome->result, "choice");

    begin(&writer, outcome, "get_user_choice");
    write_choice(&writer, json_member(given, "choices"),
                 outcome->ending == ENDING_ANSWERED ? picked : NULL);
    json_write_bool(&writer, "allow_multiple", json_is_yes(json_member(given, "allow_multiple")));
    if (outcome->ending == ENDING_ANSWERED)
        json_write_raw(&writer, "file_info", "[]");
    end(&writer, outcome);
}

/* No is an answer here; silence and a dismissed question are none. */
static void present_confirmed(const struct json *given, const struct compat_outcome *outcome,
                              struct compat_reply *reply)
{
    struct json_writer writer = json_writer_to(&reply->structured);
    struct compat_outcome said = *outcome;
    bool is_yes = outcome->ending == ENDING_ANSWERED &&
                  json_is_yes(json_member(outcome->result, "confirmed"));

    (void)given;
    if (said.ending == ENDING_DECLINED)
        said.ending = ENDING_ANSWERED;
    begin(&writer, &said, "show_confirmation_dialog");
    json_write_bool(&writer, "confirmed", is_yes);
    if (said.ending == ENDING_ANSWERED)
        json_write_text(&writer, "response", is_yes ? "yes" : "no");
    json_write_end_object(&writer);
}

const struct compat compat_get_user_input = { translate_input, present_input };
const struct compat compat_get_multiline_input = { translate_lines, present_lines };
const struct compat compat_get_user_choice = { translate_choice, present_chosen };
const struct compat compat_show_confirmation_dialog = { translate_confirm, present_confirmed };
