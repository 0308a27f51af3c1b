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
