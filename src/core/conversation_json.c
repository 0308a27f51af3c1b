/*
 * conversation_json.c - a conversation as the store keeps it. What its state does not have is not
 * written; whatever else stands there, or is missing, is no conversation of ours.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/conversation.h"

enum { CONVERSATION_VERSION = 1 };

static void write_use(struct json_writer *writer, const char *key, const struct tool_use *use)
{
    json_write_object(writer, key);
    json_write_text(writer, "id", use->id);
    json_write_text(writer, "name", use->name);
    json_write_text(writer, "input", use->input_json);
    json_write_end_object(writer);
}

static void write_form(struct json_writer *writer, const struct form *form)
{
    struct text json = { 0 };

    form_encode(form, &json);
    json_write_raw(writer, "form", text_string(&json));
    text_release(&json);
}

void conversation_encode(const struct conversation *conversation, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_integer(&writer, "version", CONVERSATION_VERSION);
    json_write_text(&writer, "state", conversation_state_name(conversation->state));
    json_write_bool_if(&writer, "sub_agent", conversation->is_sub_agent);
    if (conversation->attempt)
        json_write_integer(&writer, "attempt", conversation->attempt);
    if (conversation->current.id)
        write_use(&writer, "current", &conversation->current);
    if (conversation->form.field_count)
        write_form(&writer, &conversation->form);
    if (conversation->timeout_s)
        json_write_integer(&writer, "timeout_seconds", conversation->timeout_s);
    json_write_list(&writer, "remaining");
    for (size_t i = 0; i < conversation->remaining_count; i++)
        write_use(&writer, NULL, &conversation->remaining[i]);
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

static bool read_state(const char *name, enum conversation_state *ret_state)
{
    for (int state = 0; name && state < CONVERSATION_STATE_COUNT; state++) {
        if (strcmp(conversation_state_name((enum conversation_state)state), name) == 0) {
            *ret_state = (enum conversation_state)state;
            return true;
        }
    }
    return false;
}

static bool read_lists(const struct json *json, struct conversation *conversation)
{
    const struct json *remaining = json_member(json, "remaining");
    const struct json *persisted = json_member(json, "persisted");

    if (json_kind(remaining) != KIND_LIST || json_length(remaining) > CONVERSATION_MAX_CALLS ||
        json_kind(persisted) != KIND_LIST || json_length(persisted) > CONVERSATION_MAX_CALLS)
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

    conversation->is_sub_agent = json_is_yes(json_member(json, "sub_agent"));
    conversation->attempt = json_member_integer(json, "attempt", 0);
    conversation->timeout_s = json_member_integer(json, "timeout_seconds", 0);
    return json_member_integer(json, "version", 0) == CONVERSATION_VERSION &&
           read_state(json_member_text(json, "state"), &conversation->state) &&
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
