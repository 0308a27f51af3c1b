/*
 * feedback.c - interactive_feedback as interactive-feedback-mcp, mcp-feedback-enhanced and
 * ai-intervention-agent have it, and request_user_input of interactive-mcp: a message, options if
 * there are any, and the person's own words.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "mcp/compat/compat.h"

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
    const char *project = compat_text(given, projects);
    const char *slash = project ? strrchr(project, '/') : NULL;

    return slash && slash[1] ? slash + 1 : project;
}

/* choices, as many as may be picked, and feedback in own words. */
static void write_form(struct json_writer *writer, const struct json *options, bool is_single)
{
    json_write_object(writer, "requestedSchema");
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
    json_write_object(writer, "choices");
    json_write_text(writer, "type", is_single ? "string" : "array");
    if (is_single) {
        compat_write_options(writer, "oneOf", options, "const", "title");
    } else {
        json_write_object(writer, "items");
        compat_write_options(writer, "anyOf", options, "const", "title");
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    json_write_object(writer, "feedback");
    json_write_text(writer, "type", "string");
    json_write_end_object(writer);
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static enum compat_act translate(const struct json *given, const char *tool, bool is_single,
                                 const char **ret_tool, struct json_writer *writer,
                                 struct error *err)
{
    const struct json *options = options_of(given);
    const char *message = compat_text(given, messages);
    bool has_options = json_length(options) > 0;

    if (!message) {
        error_set(err, ERROR_missing_property, "/message",
                  "message is missing: what the person shall answer");
        return COMPAT_REFUSED;
    }
    *ret_tool = has_options ? "elicit_form" : "provide_choice";
    json_write_object(writer, NULL);
    compat_write_title(writer, title_of(given), tool);
    if (has_options) {
        json_write_text(writer, "message", message);
        write_form(writer, options, is_single);
    } else {
        compat_write_prompt(writer, message, tool);
        json_write_text(writer, "selection_mode", "text_input");
    }
    compat_write_timeout(writer, given);
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

/* The options that were picked, then own words; the caller frees. */
static char *answer_of(const struct json *given, const struct json *result)
{
    const struct json *content = json_member(result, "content");
    const struct json *choices = json_member(content, "choices"), *options = options_of(given);
    const char *words = json_member_text(content, "feedback");
    struct text whole = { 0 };

    if (!content)
        return compat_written(result);
    if (json_text(choices) && compat_option(options, json_text(choices)))
        text_add_text(&whole, compat_option(options, json_text(choices)));
    for (size_t i = 0; json_kind(choices) == KIND_LIST && i < json_length(choices); i++) {
        const char *picked = compat_option(options, json_text(json_item(choices, i)));

        if (picked)
            text_add_format(&whole, "%s%s", whole.used ? "; " : "", picked);
    }
    if (words && *words)
        text_add_format(&whole, "%s%s", whole.used ? "\n\n" : "", words);
    return text_take(&whole);
}

static enum compat_act translate_feedback(const struct json *given, const char **ret_tool,
                                          struct json_writer *writer, struct error *err)
{
    return translate(given, "interactive_feedback", false, ret_tool, writer, err);
}

static void present_feedback(const struct json *given, const struct compat_outcome *outcome,
                             struct compat_reply *reply)
{
    struct json_writer writer = json_object_to(&reply->structured);
    char *answer = answer_of(given, outcome->result);

    if (json_member(given, "project_directory"))
        json_write_text(&writer, "command_logs", ""); /* no command of ours runs in a project */
    json_write_text(&writer, "interactive_feedback", answer);
    if (compat_is_refused(outcome->ending))
        json_write_bool(&writer, "cancelled", true);
    compat_write_ending(&writer, outcome, "interactive_feedback");
    json_write_end_object(&writer);
    free(answer);
}

static enum compat_act translate_input(const struct json *given, const char **ret_tool,
                                       struct json_writer *writer, struct error *err)
{
    return translate(given, "request_user_input", true, ret_tool, writer, err);
}

/* Theirs is a sentence and nothing else. */
static void present_input(const struct json *given, const struct compat_outcome *outcome,
                          struct compat_reply *reply)
{
    const char *back = json_member_text(outcome->result, "asked_back");
    char *answer = answer_of(given, outcome->result);

    switch (outcome->ending) {
    case ENDING_ANSWERED:
        if (*answer)
            text_add_format(&reply->text, "User replied: %s", answer);
        else
            text_add_text(&reply->text, "User replied with empty input.");
        break;
    case ENDING_TIMEOUT:
        text_add_text(&reply->text, "User did not reply: Timeout occurred.");
        break;
    case ENDING_PENDING:
        if (back)
            text_add_format(&reply->text,
                            "The user asks: %s\nExplain it with get_answer, session_id %s.", back,
                            json_member_text(outcome->result, "session_id"));
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

const struct compat compat_interactive_feedback = { translate_feedback, present_feedback };
const struct compat compat_request_user_input = { translate_input, present_input };
