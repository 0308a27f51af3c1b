/*
 * Whatever the store, a person's side or a host gives back: a conversation is read as itself or not
 * at all, goes through every event without losing or doubling a result, and answers are valid JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/conversation.h"
#include "core/fields/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_same(const struct conversation *conversation)
{
    struct text first = { 0 }, second = { 0 };
    struct conversation again = { 0 };

    conversation_encode(conversation, &first);
    require(conversation_parse(first.bytes, first.used, &again, NULL));
    conversation_encode(&again, &second);
    require(strcmp(first.bytes, second.bytes) == 0);
    conversation_release(&again);
    text_release(&first);
    text_release(&second);
}

static size_t open_calls(const struct conversation *conversation)
{
    return conversation->remaining_count + (conversation->current.id != NULL);
}

/* Each result is of one call that was open, and of each call that is no more. */
static void say(struct conversation *conversation, const struct conversation_event *event)
{
    size_t before = open_calls(conversation);
    struct conversation_step step;
    bool is_legal = conversation_next(conversation, event, &step, NULL);

    require(is_legal || step.result_count == 0);
    if (event->kind != SAID_TOOL_CALLS)
        require(before - open_calls(conversation) == step.result_count);
    conversation_step_release(&step);
    check_same(conversation);
}

static void walk(struct conversation *conversation)
{
    static const enum conversation_event_kind kinds[] = { SAID_EXPIRED, SAID_CANCEL, SAID_LLM_RETRY,
                                                          SAID_TURN_ENDED };

    for (size_t i = 0;
         i < CONVERSATION_MAX_CALLS && conversation->state == CONVERSATION_TOOL_EXECUTING; i++) {
        char *id = mem_text(conversation->current.id);

        say(conversation, &(struct conversation_event){
                              .kind = SAID_TOOL_COMPLETE, .tool_use_id = id, .content = "" });
        free(id);
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        say(conversation, &(struct conversation_event){ .kind = kinds[i] });
}

/* The bytes as a person's answer to a question of our own. */
static void answer(const struct json *body)
{
    static char id[] = "t1", name[] = "ask_user_question";
    static char input[] = "{\"questions\":[{\"question\":\"A\",\"options\":[{\"label\":\"x\"},"
                          "{\"label\":\"y\"}]}]}";
    const struct tool_use calls[] = { { id, name, input } };
    const struct conversation_event turn = { .kind = SAID_TOOL_CALLS,
                                             .calls = calls,
                                             .call_count = 1 };
    struct conversation conversation = { 0 };
    struct conversation_event event = { .kind = SAID_RESPONSE };
    struct conversation_step step;
    struct answer given = { 0 };
    struct json *content = NULL;

    say(&conversation, &turn);
    if (conversation_read_response(&conversation.form, body, &given, NULL)) {
        event.answer = &given;
        require(conversation_next(&conversation, &event, &step, NULL) && step.result_count == 1);
        require(
            json_parse(step.results[0].content, strlen(step.results[0].content), &content, NULL));
        json_free(content);
        conversation_step_release(&step);
    }
    answer_release(&given);
    conversation_release(&conversation);
}

/* The bytes as a turn, or a result, of a host. A turn that began may be told again. */
static void host(const struct json *body)
{
    struct conversation conversation = { 0 };
    struct conversation_event event = { .kind = SAID_TOOL_CALLS };
    struct conversation_step step;
    struct tool_use *calls = NULL;

    if (conversation_read_calls(body, &calls, &event.call_count, NULL)) {
        event.calls = calls;
        if (conversation_next(&conversation, &event, &step, NULL)) {
            conversation_step_release(&step);
            require(conversation_next(&conversation, &event, &step, NULL) && step.is_ignored);
            check_same(&conversation);
            walk(&conversation);
        }
        conversation_free_calls(calls, event.call_count);
    }
    if (conversation_read_result(body, &event, NULL))
        say(&conversation, &event);
    conversation_release(&conversation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conversation conversation = { 0 };
    struct json *body = NULL;

    if (conversation_parse((const char *)data, size, &conversation, NULL)) {
        check_same(&conversation);
        walk(&conversation);
    }
    conversation_release(&conversation);
    if (json_parse((const char *)data, size, &body, NULL)) {
        answer(body);
        host(body);
    }
    json_free(body);
    return 0;
}
