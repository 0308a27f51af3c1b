/*
 * conversation.h - the state machine of an agent that a host runs and a person's answer pauses
 * (R3.4; seed 001). Pure: an event in, the next state and effects out; the caller performs the
 * effects in the order given, what is persisted first, and in one transaction.
 *
 *   idle --tool_calls--> tool_executing --ask_user_question_pending--> awaiting_user_response
 *    ^ ^                    | ^   ^  ^--- user_question_response, expired: calls are left ---| |
 *    | |     tool_complete: | |   `--tool_complete: calls are left                           | |
 *    | |        none is left| |tool_calls                                                    | |
 *    | `--turn_ended-- llm_requesting {attempt} <--- the same two events: none is left ------' |
 *    `--------------------------------------------------------------------- user_cancel -------'
 *
 * An event without a cell in a state is refused. A call of ask_user_question never reaches the
 * host: it becomes a question, or is answered with an error result. Every tool_use_id gets exactly
 * one result.
 */
#ifndef CORE_CONVERSATION_H
#define CORE_CONVERSATION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/fields/form.h"

struct answer;

/* Stored by their names. */
enum conversation_state {
    CONVERSATION_IDLE,
    CONVERSATION_LLM_REQUESTING,
    CONVERSATION_TOOL_EXECUTING,
    CONVERSATION_AWAITING,
    CONVERSATION_STATE_COUNT,
};
enum conversation_event_kind {
    SAID_TOOL_CALLS,
    SAID_QUESTION_PENDING,
    SAID_TOOL_COMPLETE,
    SAID_RESPONSE,
    SAID_CANCEL,
    SAID_LLM_RETRY,
    SAID_TURN_ENDED,
    SAID_EXPIRED,
    CONVERSATION_EVENT_COUNT,
};
enum conversation_effect {
    EFFECT_NONE, /* ends the list */
    EFFECT_PERSIST_RESULTS,
    EFFECT_PERSIST_STATE,
    EFFECT_NOTIFY,       /* state_change */
    EFFECT_EXECUTE_TOOL, /* `current` of the conversation */
    EFFECT_REQUEST_LLM,
    EFFECT_AGENT_DONE,
};
enum { CONVERSATION_MAX_EFFECTS = 4, CONVERSATION_MAX_CALLS = 64 };

struct tool_use {
    char *id, *name, *input_json; /* owned */
};
struct tool_result {
    char *tool_use_id, *content; /* owned */
    bool is_error;
};

struct conversation {
    enum conversation_state state;
    bool is_sub_agent;
    int64_t attempt;         /* LLM_REQUESTING */
    struct tool_use current; /* TOOL_EXECUTING; AWAITING: the call that asks */
    struct form form;        /* AWAITING: the questions */
    int64_t timeout_s;       /* AWAITING: 0 is no deadline */
    struct tool_use *remaining;
    size_t remaining_count;
    char **persisted; /* ids that have their result, of this turn or, between turns, of the last */
    size_t persisted_count;
};

/* What happened; everything is borrowed. */
struct conversation_event {
    enum conversation_event_kind kind;
    const struct tool_use *calls; /* TOOL_CALLS */
    size_t call_count;
    const char *tool_use_id; /* QUESTION_PENDING, TOOL_COMPLETE */
    const char *content;     /* TOOL_COMPLETE */
    bool is_error;
    const struct form *form; /* QUESTION_PENDING; kept as a copy */
    int64_t timeout_s;
    int64_t attempt;             /* LLM_RETRY: the one that begins; 0: the next */
    const struct answer *answer; /* RESPONSE; checked against the conversation's form */
};

struct conversation_step {
    bool is_ignored; /* legal, and nothing happens: it was told before, or is too late to matter */
    struct tool_result *results; /* owned, in the order of their calls */
    size_t result_count;
    enum conversation_effect effects[CONVERSATION_MAX_EFFECTS + 1];
};

/* False: the event is not legal here; the conversation is as it was and `err` says why. */
bool conversation_next(struct conversation *conversation, const struct conversation_event *event,
                       struct conversation_step *ret_step, struct error *err);
void conversation_step_release(struct conversation_step *step);
void conversation_release(struct conversation *conversation);

/* From {tool_calls: [{id, name, input}]} to calls, which the caller frees with
 * conversation_free_calls. How many there may be, and that ids differ, is the machine's to say. */
bool conversation_read_calls(const struct json *body, struct tool_use **ret_calls,
                             size_t *ret_count, struct error *err);
void conversation_free_calls(struct tool_use *take_calls, size_t count);
/* From {tool_use_id, content, is_error?} to TOOL_COMPLETE; borrows from `body`. */
bool conversation_read_result(const struct json *body, struct conversation_event *ret_event,
                              struct error *err);
/* What listeners are told of a state: {type, attempt? | current? | questions?}. */
void conversation_write_change(const struct conversation *conversation, struct json_writer *writer,
                               const char *key);

/* From {answers: {question: text or [labels]}, annotations?: {question: note}} to an answer of the
 * form. Text that is no label is own words. False: a question is unknown or has no answer. */
bool conversation_read_response(const struct form *form, const struct json *body,
                                struct answer *ret_answer, struct error *err);

/* The store's representation. */
void conversation_encode(const struct conversation *conversation, struct text *out);
bool conversation_parse(const char *json, size_t length, struct conversation *ret_conversation,
                        struct error *err);
extern const char *const conversation_state_names[CONVERSATION_STATE_COUNT]; /* "idle" … */
extern const char *const conversation_event_names[CONVERSATION_EVENT_COUNT];

#endif
