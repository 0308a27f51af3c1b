/* conversation_wire.c - what hosts say of their calls, and what listeners are told of a state. */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/arguments_inside.h"
#include "core/conversation.h"
#include "core/field_class.h"
#include "core/limits.h"
#include "i18n/i18n.h"

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
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_needed = true),
    ARGUMENT("name", TEXT, CALL(name), "the tool's name, 1 to 128 bytes",
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_needed = true),
    ARGUMENT("input", OBJECT, CALL(input), "what the tool is called with", .is_needed = true),
};
static const struct argument result_rows[] = {
    ARGUMENT("tool_use_id", TEXT, RESULT(tool_use_id), "the id of the call this is the result of",
             ARGUMENT_LIMITS(1, LIMIT_TOOL_USE_ID_BYTES, BYTES), .is_needed = true),
    ARGUMENT("content", TEXT, RESULT(content), "the result, as a text",
             ARGUMENT_LIMITS(0, LIMIT_TOOL_RESULT_BYTES, BYTES), .is_needed = true),
    ARGUMENT("is_error", BOOL, RESULT(is_error), "true: the tool failed"),
};

static bool read_call(const struct json *given, size_t index, struct tool_use *ret_use,
                      struct error *err)
{
    const struct place list = { .name = "tool_calls" }, place = { &list, NULL, index };
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
        return answer_refuse_type(list, "/tool_calls", "a list", err);
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

static void write_current(struct json_writer *writer, const struct tool_use *use)
{
    json_write_object(writer, "current");
    json_write_text(writer, "id", use->id);
    json_write_text(writer, "name", use->name);
    json_write_raw(writer, "input", use->input_json);
    json_write_end_object(writer);
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
    json_write_text(writer, "type", conversation_state_name(conversation->state));
    if (conversation->state == CONVERSATION_LLM_REQUESTING)
        json_write_integer(writer, "attempt", conversation->attempt);
    if (conversation->state == CONVERSATION_TOOL_EXECUTING)
        write_current(writer, &conversation->current);
    if (conversation->state == CONVERSATION_AWAITING) {
        json_write_text(writer, "tool_use_id", conversation->current.id);
        json_write_list(writer, "questions");
        for (size_t i = 0; i < conversation->form.field_count; i++)
            write_question(writer, &conversation->form.fields[i]);
        json_write_end_list(writer);
    }
    json_write_end_object(writer);
}
