/* choice.c - provide_choice and poll_selection as interactive-choice-mcp has them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "mcp/compat/compat.h"

enum { POLL_WAIT_S = 30 };

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

static enum compat_act translate_choice(const struct json *given, const char **ret_tool,
                                        struct json_writer *writer, struct error *err)
{
    const struct json *options = json_member(given, "options");

    (void)err;
    if (!is_theirs(given))
        return COMPAT_AS_IT_IS;
    *ret_tool = "provide_choice";
    json_write_object(writer, NULL);
    for (void *at = json_first(given); at; at = json_next(given, at)) {
        if (strcmp(json_key(at), "options") != 0)
            json_write_value(writer, json_key(at), json_value(at));
    }
    json_write_list(writer, "options");
    for (size_t i = 0; i < json_length(options); i++) {
        if (json_kind(json_item(options, i)) == KIND_OBJECT)
            write_option(writer, json_item(options, i));
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

static enum compat_act translate_poll(const struct json *given, const char **ret_tool,
                                      struct json_writer *writer, struct error *err)
{
    const char *id = json_member_text(given, "session_id");

    if (!id) {
        error_set(err, ERROR_missing_property, "/session_id",
                  "session_id is missing: give the one that provide_choice returned");
        return COMPAT_REFUSED;
    }
    *ret_tool = "get_answer";
    json_write_object(writer, NULL);
    json_write_text(writer, "session_id", id);
    json_write_integer(writer, "wait_seconds", POLL_WAIT_S);
    json_write_end_object(writer);
    return COMPAT_TRANSLATED;
}

/* Their words for how it ended. */
static const char *status_of(const struct compat_outcome *outcome, bool has_note)
{
    bool is_auto = json_is_yes(json_member(outcome->result, "auto_submitted"));

    switch (outcome->ending) {
    case ENDING_ANSWERED:
        return "selected";
    case ENDING_TIMEOUT:
        return is_auto ? "timeout_auto_submitted" : "timeout_cancelled";
    case ENDING_PENDING:
        return json_member_text(outcome->result, "action_status");
    default:
        return has_note ? "cancel_with_annotation" : "cancelled";
    }
}

static void write_if_any(struct json_writer *writer, const char *key, const struct json *value)
{
    json_write_value(writer, key, json_length(value) > 0 ? value : NULL);
}

static void present_choice(const struct json *given, const struct compat_outcome *outcome,
                           struct compat_reply *reply)
{
    struct json_writer writer = json_object_to(&reply->structured);
    const struct json *selection = json_member(outcome->result, "selection");
    char *note = compat_written(outcome->result);

    (void)given;
    json_write_text_if(&writer, "action_status", status_of(outcome, *note != '\0'));
    write_if_any(&writer, "selected_indices", json_member(selection, "selected_ids"));
    write_if_any(&writer, "option_annotations", json_member(selection, "option_annotations"));
    if (*note)
        json_write_text(&writer, "additional_annotation", note);
    if (outcome->ending == ENDING_PENDING) {
        json_write_text_if(&writer, "session_id", json_member_text(outcome->result, "session_id"));
        json_write_text_if(&writer, "url", json_member_text(outcome->result, "url"));
        json_write_text_if(&writer, "terminal_command",
                           json_member_text(outcome->result, "terminal_command"));
        compat_write_back(&writer, outcome->result,
                          "This is not an answer: call poll_selection with this session_id.");
    }
    json_write_end_object(&writer);
    free(note);
}

const struct compat compat_provide_choice = { translate_choice, present_choice };
const struct compat compat_poll_selection = { translate_poll, present_choice };

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
