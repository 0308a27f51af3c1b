/*
 * conversation_json.c - a conversation as the store keeps it. What its state does not have is not
 * written; whatever else stands there, or is missing, is no conversation of ours.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/conversation.h"
#include "core/fields/answer.h"
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "i18n/i18n.h"

enum { CONVERSATION_VERSION = 1 };

/* Its input as JSON, or for the store as the text of that. */
static void write_use(struct json_writer *writer, const char *key, const struct tool_use *use,
                      bool is_stored)
{
    json_write_object(writer, key);
    json_write_text(writer, "id", use->id);
    json_write_text(writer, "name", use->name);
    if (is_stored)
        json_write_text(writer, "input", use->input_json);
    else
        json_write_raw(writer, "input", use->input_json);
    json_write_end_object(writer);
}

void conversation_encode(const struct conversation *conversation, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_integer(&writer, "version", CONVERSATION_VERSION);
    json_write_text(&writer, "state", conversation_state_names[conversation->state]);
    json_write_bool_if(&writer, "sub_agent", conversation->is_sub_agent);
    if (conversation->attempt)
        json_write_integer(&writer, "attempt", conversation->attempt);
    if (conversation->current.id)
        write_use(&writer, "current", &conversation->current, true);
    if (conversation->form.field_count) {
        json_write_raw(&writer, "form", "");
        form_encode(&conversation->form, out);
    }
    if (conversation->timeout_s)
        json_write_integer(&writer, "timeout_seconds", conversation->timeout_s);
    json_write_list(&writer, "remaining");
    for (size_t i = 0; i < conversation->remaining_count; i++)
        write_use(&writer, NULL, &conversation->remaining[i], true);
    json_write_end_list(&writer);
    json_write_list(&writer, "persisted");
    for (size_t i = 0; i < conversation->persisted_count; i++)
        json_write_text(&writer, NULL, conversation->persisted[i]);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
}

/* What was made of it so far can be released. */
static bool read_use(const struct json *given, struct tool_use *use)
{
    use->id = mem_text(json_member_text(given, "id"));
    use->name = mem_text(json_member_text(given, "name"));
    use->input_json = mem_text(json_member_text(given, "input"));
    return use->id && use->name && use->input_json;
}

static bool is_list_of_calls(const struct json *list)
{
    return json_kind(list) == KIND_LIST && json_length(list) <= CONVERSATION_MAX_CALLS;
}

static bool read_lists(const struct json *json, struct conversation *conversation)
{
    const struct json *remaining = json_member(json, "remaining");
    const struct json *persisted = json_member(json, "persisted");

    if (!is_list_of_calls(remaining) || !is_list_of_calls(persisted))
        return false;
    conversation->remaining =
        mem_new((json_length(remaining) + 1) * sizeof *conversation->remaining);
    while (conversation->remaining_count < json_length(remaining)) {
        size_t at = conversation->remaining_count++;

        if (!read_use(json_item(remaining, at), &conversation->remaining[at]))
            return false;
    }
    conversation->persisted =
        mem_new((json_length(persisted) + 1) * sizeof *conversation->persisted);
    while (conversation->persisted_count < json_length(persisted)) {
        const char *id = json_text(json_item(persisted, conversation->persisted_count));

        if (!id)
            return false;
        conversation->persisted[conversation->persisted_count++] = mem_text(id);
    }
    return true;
}

/* What a state has, and what it has not: the machine relies on it. */
static bool is_whole(const struct conversation *conversation)
{
    bool has_current = conversation->current.id != NULL;
    bool has_form = conversation->form.field_count > 0;
    bool is_running = conversation->state == CONVERSATION_TOOL_EXECUTING;
    bool is_waiting = conversation->state == CONVERSATION_AWAITING;
    bool is_asking_model = conversation->state == CONVERSATION_LLM_REQUESTING;

    return has_current == (is_running || is_waiting) && has_form == is_waiting &&
           (conversation->attempt > 0) == is_asking_model &&
           (is_waiting || conversation->timeout_s == 0) &&
           (is_running || is_waiting || conversation->remaining_count == 0);
}

static bool read_all(const struct json *json, struct conversation *conversation)
{
    const struct json *current = json_member(json, "current"), *form = json_member(json, "form");
    size_t state = text_index(json_member_text(json, "state"), conversation_state_names,
                              CONVERSATION_STATE_COUNT);

    conversation->state = (enum conversation_state)state;
    conversation->is_sub_agent = json_is_true(json_member(json, "sub_agent"));
    conversation->attempt = json_member_integer(json, "attempt", 0);
    conversation->timeout_s = json_member_integer(json, "timeout_seconds", 0);
    return json_member_integer(json, "version", 0) == CONVERSATION_VERSION &&
           state < CONVERSATION_STATE_COUNT &&
           (!current || read_use(current, &conversation->current)) &&
           (!form || form_read(form, &conversation->form, NULL)) &&
           read_lists(json, conversation) && is_whole(conversation);
}

bool conversation_parse(const char *json, size_t length, struct conversation *ret_conversation,
                        struct error *err)
{
    struct conversation conversation = { 0 };
    struct json *value = NULL;
    bool ok;

    if (!json_parse(json, length, &value, err))
        return false;
    ok = read_all(value, &conversation);
    json_free(value);
    if (ok) {
        *ret_conversation = conversation;
        return true;
    }
    conversation_release(&conversation);
    return error_set(err, ERROR_bad_json, "", "not a conversation of version %d",
                     CONVERSATION_VERSION);
}

/* What a person answers by question, as core/answer reads it by field; refusals point into it. */

static const struct field *find_question(const struct form *form, const char *question)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (strcmp(form->fields[i].label, question) == 0)
            return &form->fields[i];
    }
    return NULL;
}

/* Every key of `given` is a question of the form; `parent` is where it stands. */
static bool check_questions(const struct form *form, const struct json *given, const char *parent,
                            struct error *err)
{
    if (json_kind(given) != KIND_OBJECT)
        return answer_refuse_type(given, parent, "an object", err);
    for (void *it = json_first(given); it; it = json_next(given, it)) {
        if (find_question(form, json_key(it)))
            continue;
        error_set(err, ERROR_unknown_property, "", "no such question was asked");
        return answer_error_below(err, parent, json_key(it));
    }
    return true;
}

static bool is_label(const struct field *field, const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) && field_find_option(field, text);
}

/* What is no label is own words; several are joined, as labels are. */
static bool write_one(const struct field *field, const struct json *value, const char *path,
                      struct json_writer *writer, struct text *words, struct error *err)
{
    if (is_label(field, value)) {
        json_write_text(writer, NULL, json_text(value));
        return true;
    }
    if (!answer_check_text(value, path, err))
        return false;
    text_add_text(words, words->used ? ", " : "");
    text_add(words, json_text(value), json_length(value));
    return true;
}

static bool write_response_question(const struct field *field, const struct json *value,
                                    struct json_writer *writer, struct error *err)
{
    struct text words = { 0 };
    bool ok = true;

    json_write_object(writer, field->name);
    json_write_list(writer, "selected_ids");
    if (json_kind(value) != KIND_LIST)
        ok = write_one(field, value, "", writer, &words, err);
    for (size_t i = 0; ok && json_kind(value) == KIND_LIST && i < json_length(value); i++) {
        char path[32];

        snprintf(path, sizeof path, "/%zu", i);
        ok = write_one(field, json_item(value, i), path, writer, &words, err);
    }
    json_write_end_list(writer);
    json_write_text(writer, "custom_input", text_string(&words));
    json_write_end_object(writer);
    text_release(&words);
    return ok || answer_error_below(err, "/answers", field->label);
}

static bool write_answers(const struct form *form, const struct json *answers,
                          struct json_writer *writer, struct error *err)
{
    json_write_object(writer, "fields");
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];
        const struct json *value = json_member(answers, field->label);

        if (!value) {
            error_set(err, ERROR_missing_property, "", "this question has no answer");
            return answer_error_below(err, "/answers", field->label);
        }
        if (!write_response_question(field, value, writer, err))
            return false;
    }
    json_write_end_object(writer);
    return true;
}

/* Each is about a question of the form: check_body looked. */
static bool write_notes(const struct form *form, const struct json *notes,
                        struct json_writer *writer, struct error *err)
{
    json_write_object(writer, "field_annotations");
    for (void *it = json_first(notes); it; it = json_next(notes, it)) {
        const struct field *question = find_question(form, json_key(it));

        if (!question || !answer_check_text(json_value(it), "", err))
            return answer_error_below(err, "/annotations", json_key(it));
        json_write_text(writer, question->name, json_text(json_value(it)));
    }
    json_write_end_object(writer);
    return true;
}

/* Only the two members we know: a misspelled one would lose what the person wrote. */
static bool check_body(const struct form *form, const struct json *body, struct error *err)
{
    const struct json *answers = json_member(body, "answers");
    const struct json *notes = json_member(body, "annotations");

    if (json_kind(body) != KIND_OBJECT)
        return answer_refuse_type(body, "", "an object", err);
    if (json_length(body) > (size_t)(answers != NULL) + (notes != NULL))
        return error_set(err, ERROR_unknown_property, "",
                         "only answers and annotations may stand here");
    return check_questions(form, answers, "/answers", err) &&
           (!notes || check_questions(form, notes, "/annotations", err));
}

/* core/answer speaks of fields; the body has questions in their place. */
static bool point_into_body(const struct form *form, struct error *err)
{
    static const char *const places[][2] = { { "/fields/", "/answers" },
                                             { "/field_annotations/", "/annotations" } };

    for (size_t i = 0; err && i < ARRAY_LEN(places); i++) {
        size_t length = strlen(places[i][0]);

        for (size_t k = 0; k < form->field_count; k++) {
            size_t name = strlen(form->fields[k].name);

            if (strncmp(err->path, places[i][0], length) != 0 ||
                strncmp(err->path + length, form->fields[k].name, name) != 0)
                continue;
            err->path[0] = '\0';
            return answer_error_below(err, places[i][1], form->fields[k].label);
        }
    }
    return false;
}

static bool judge(const struct form *form, const struct text *given, struct answer *ret_answer,
                  struct error *err)
{
    struct json *json = NULL;
    bool ok = json_parse(given->bytes, given->used, &json, err) &&
              answer_check(form, json, ret_answer, err);

    json_free(json);
    return ok || point_into_body(form, err);
}

bool conversation_read_response(const struct form *form, const struct json *body,
                                struct answer *ret_answer, struct error *err)
{
    struct text given = { 0 };
    struct json_writer writer = json_writer_to(&given);
    bool ok = check_body(form, body, err);

    if (ok) {
        json_write_object(&writer, NULL);
        ok = write_answers(form, json_member(body, "answers"), &writer, err) &&
             write_notes(form, json_member(body, "annotations"), &writer, err);
        json_write_end_object(&writer);
        ok = ok && judge(form, &given, ret_answer, err);
    }
    text_release(&given);
    return ok;
}

/* What hosts say of their calls, and what listeners are told of a state. */

struct call_values {
    const char *id, *name;
    const struct json *input;
};
struct result_values {
    const char *tool_use_id, *content;
    int64_t is_error;
};
#define CALL(name)   offsetof(struct call_values, name)
#define RESULT(name) offsetof(struct result_values, name)

/* published: conversation_wire */
static const struct argument call_rows[] = {
    ARGUMENT("id", TEXT, CALL(id), "the call's tool_use_id, 1 to 128 bytes",
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_required = true),
    ARGUMENT("name", TEXT, CALL(name), "the tool's name, 1 to 128 bytes",
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_required = true),
    ARGUMENT("input", OBJECT, CALL(input), "what the tool is called with", .is_required = true),
};
static const struct argument result_rows[] = {
    ARGUMENT("tool_use_id", TEXT, RESULT(tool_use_id), "the id of the call this is the result of",
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_required = true),
    ARGUMENT("content", TEXT, RESULT(content), "the result, as a text",
             ARGUMENT_LIMITS(0, LIMIT_TOOL_RESULT_BYTES, BYTES), .is_required = true),
    ARGUMENT("is_error", BOOL, RESULT(is_error), "true: the tool failed"),
};

static bool read_call(const struct json *given, size_t index, struct tool_use *ret_use,
                      struct error *err)
{
    const struct argument_path list = { .name = "tool_calls" }, place = { &list, NULL, index };
    struct call_values values = { 0 };

    if (err)
        *err = (struct error){ .code = ERROR_NONE };
    if (json_kind(given) != KIND_OBJECT)
        return argument_refuse(&place, ERROR_bad_type, err, TEXT_REASON_ARG_CALL, NULL);
    if (!argument_read_object(call_rows, ARRAY_LEN(call_rows), given, &place, &values, err))
        return false;
    *ret_use =
        (struct tool_use){ mem_text(values.id), mem_text(values.name), json_encode(values.input) };
    return true;
}

bool conversation_read_calls(const struct json *body, struct tool_use **ret_calls,
                             size_t *ret_count, struct error *err)
{
    const struct json *list = json_member(body, "tool_calls");
    struct tool_use *calls;
    size_t count = 0;

    if (json_kind(body) != KIND_OBJECT)
        return answer_refuse_type(body, "", "an object", err);
    if (json_kind(list) != KIND_LIST)
        return answer_refuse_type(list, "/tool_calls", "an array", err);
    if (json_length(body) > 1)
        return error_set(err, ERROR_unknown_property, "", "only tool_calls may stand here");
    calls = mem_new((json_length(list) + 1) * sizeof *calls);
    while (count < json_length(list)) {
        if (!read_call(json_item(list, count), count, &calls[count], err)) {
            conversation_free_calls(calls, count);
            return false;
        }
        count++;
    }
    *ret_calls = calls;
    *ret_count = count;
    return true;
}

bool conversation_read_result(const struct json *body, struct conversation_event *ret_event,
                              struct error *err)
{
    struct result_values values = { 0 };

    if (json_kind(body) != KIND_OBJECT)
        return answer_refuse_type(body, "", "an object", err);
    if (!argument_read_object(result_rows, ARRAY_LEN(result_rows), body, NULL, &values, err))
        return false;
    *ret_event = (struct conversation_event){
        .kind = SAID_TOOL_COMPLETE,
        .tool_use_id = values.tool_use_id,
        .content = values.content,
        .is_error = values.is_error != 0,
    };
    return true;
}

static void write_question(struct json_writer *writer, const struct field *field)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "question", field->label);
    json_write_text_if(writer, "header", field->header);
    json_write_list(writer, "options");
    for (size_t i = 0; i < field->option_count; i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "label", field->options[i].label);
        json_write_text_if(writer, "description", field->options[i].description);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
    json_write_bool(writer, "multiSelect", field->max_selections > 1);
    json_write_end_object(writer);
}

void conversation_write_change(const struct conversation *conversation, struct json_writer *writer,
                               const char *key)
{
    json_write_object(writer, key);
    json_write_text(writer, "type", conversation_state_names[conversation->state]);
    if (conversation->state == CONVERSATION_LLM_REQUESTING)
        json_write_integer(writer, "attempt", conversation->attempt);
    if (conversation->state == CONVERSATION_TOOL_EXECUTING)
        write_use(writer, "current", &conversation->current, false);
    if (conversation->state == CONVERSATION_AWAITING) {
        json_write_text(writer, "tool_use_id", conversation->current.id);
        json_write_list(writer, "questions");
        for (size_t i = 0; i < conversation->form.field_count; i++)
            write_question(writer, &conversation->form.fields[i]);
        json_write_end_list(writer);
    }
    json_write_end_object(writer);
}
