/*
 * conversation_fixture.h - events as the tests of conversations say them, each with its verdict,
 * and the questions and answers they use.
 */
#ifndef TESTS_CONVERSATION_FIXTURE_H
#define TESTS_CONVERSATION_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/conversation.h"
#include "core/fields/answer.h"

static char question_input[] =
    "{\"questions\":[{\"question\":\"Which?\",\"options\":["
    "{\"label\":\"Redis\"},{\"label\":\"None\"}]},{\"question\":\"How?\","
    "\"multiSelect\":true,\"options\":[{\"label\":\"A\"},{\"label\":"
    "\"B\"}]}],\"timeout_seconds\":60}";
static __attribute__((unused)) char bad_input[] = "{\"questions\":[]}";
static __attribute__((unused)) char no_json[] = "{";
static char plain_input[] = "{}";
static char ask_name[] = "ask_user_question", shell_name[] = "shell";

static inline struct tool_use call(const char *id, char *name, char *input)
{
    return (struct tool_use){ (char *)id, name, input };
}

/* One event; what it was refused for, ERROR_NONE where it was not. */
static inline enum error_code say(struct conversation *conversation,
                                  const struct conversation_event *event,
                                  struct conversation_step *step)
{
    struct error err = { 0 };

    return conversation_next(conversation, event, step, &err) ? ERROR_NONE : err.code;
}

static inline enum error_code say_calls(struct conversation *conversation,
                                        const struct tool_use *calls, size_t count,
                                        struct conversation_step *step)
{
    const struct conversation_event event = {
        .kind = SAID_TOOL_CALLS,
        .calls = calls,
        .call_count = count,
    };

    return say(conversation, &event, step);
}

static inline enum error_code say_result(struct conversation *conversation, const char *id,
                                         const char *content, struct conversation_step *step)
{
    const struct conversation_event event = {
        .kind = SAID_TOOL_COMPLETE,
        .tool_use_id = id,
        .content = content,
    };

    return say(conversation, &event, step);
}

static inline enum error_code say_plain(struct conversation *conversation,
                                        enum conversation_event_kind kind,
                                        struct conversation_step *step)
{
    return say(conversation, &(struct conversation_event){ .kind = kind }, step);
}

static inline void read_answer(const struct form *form, const char *body, struct answer *ret_answer)
{
    struct json *json = NULL;
    struct error err = { 0 };

    assert_true(json_parse(body, strlen(body), &json, NULL));
    if (!conversation_read_response(form, json, ret_answer, &err))
        fail_msg("%s at %s", err.message, err.path);
    json_free(json);
}

static inline enum error_code say_answers(struct conversation *conversation, const char *body,
                                          struct conversation_step *step)
{
    struct conversation_event event = { .kind = SAID_RESPONSE };
    struct answer answer = { 0 };
    enum error_code code;

    if (conversation->state == CONVERSATION_AWAITING)
        read_answer(&conversation->form, body, &answer);
    event.answer = &answer;
    code = say(conversation, &event, step);
    answer_release(&answer);
    return code;
}

static inline void expect_same_again(const struct conversation *conversation,
                                     struct conversation *again)
{
    struct text first = { 0 }, second = { 0 };
    struct error err = { 0 };

    conversation_encode(conversation, &first);
    if (!conversation_parse(first.bytes, first.used, again, &err))
        fail_msg("%s: %s", err.message, first.bytes);
    conversation_encode(again, &second);
    assert_string_equal(text_string(&first), text_string(&second));
    text_release(&first);
    text_release(&second);
}

#endif
