/* conversation.c - the table; a rule is one cell. See conversation.h for the drawing. */
#include "core/conversation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/tools/arguments.h"
#include "core/tools/validation.h"

const char *const conversation_state_names[CONVERSATION_STATE_COUNT] = {
    [CONVERSATION_IDLE] = "idle",
    [CONVERSATION_LLM_REQUESTING] = "llm_requesting",
    [CONVERSATION_TOOL_EXECUTING] = "tool_executing",
    [CONVERSATION_AWAITING] = "awaiting_user_response",
};
const char *const conversation_event_names[CONVERSATION_EVENT_COUNT] = {
    [SAID_TOOL_CALLS] = "tool_calls",       [SAID_QUESTION_PENDING] = "ask_user_question_pending",
    [SAID_TOOL_COMPLETE] = "tool_complete", [SAID_RESPONSE] = "user_question_response",
    [SAID_CANCEL] = "user_cancel",          [SAID_LLM_RETRY] = "llm_retry",
    [SAID_TURN_ENDED] = "turn_ended",       [SAID_EXPIRED] = "expired",
};

static void tool_use_release(struct tool_use *use)
{
    free(use->id);
    free(use->name);
    free(use->input_json);
    *use = (struct tool_use){ 0 };
}

void conversation_free_calls(struct tool_use *take_calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tool_use_release(&take_calls[i]);
    free(take_calls);
}

static void drop_remaining(struct conversation *conversation)
{
    conversation_free_calls(conversation->remaining, conversation->remaining_count);
    conversation->remaining = NULL;
    conversation->remaining_count = 0;
}

static void drop_persisted(struct conversation *conversation)
{
    for (size_t i = 0; i < conversation->persisted_count; i++)
        free(conversation->persisted[i]);
    free(conversation->persisted);
    conversation->persisted = NULL;
    conversation->persisted_count = 0;
}

void conversation_release(struct conversation *conversation)
{
    drop_remaining(conversation);
    drop_persisted(conversation);
    tool_use_release(&conversation->current);
    form_release(&conversation->form);
    *conversation = (struct conversation){ 0 };
}

void conversation_step_release(struct conversation_step *step)
{
    for (size_t i = 0; i < step->result_count; i++) {
        free(step->results[i].tool_use_id);
        free(step->results[i].content);
    }
    free(step->results);
    *step = (struct conversation_step){ 0 };
}

/* An event on its way through a cell. */
struct move {
    struct conversation *conversation;
    const struct conversation_event *event;
    struct conversation_step *step;
    struct error *err;
};

static bool has_result(const struct conversation *conversation, const char *tool_use_id)
{
    for (size_t i = 0; i < conversation->persisted_count; i++) {
        if (strcmp(conversation->persisted[i], tool_use_id) == 0)
            return true;
    }
    return false;
}

/* A call has its result: in the step for the store, in the conversation as its id. */
static void add_result(const struct move *move, const char *tool_use_id, const char *content,
                       bool is_error)
{
    struct conversation *conversation = move->conversation;
    struct conversation_step *step = move->step;

    step->results = mem_resize(step->results, (step->result_count + 1) * sizeof *step->results);
    step->results[step->result_count++] =
        (struct tool_result){ mem_text(tool_use_id), mem_text(content), is_error };
    conversation->persisted =
        mem_resize(conversation->persisted,
                   (conversation->persisted_count + 1) * sizeof *conversation->persisted);
    conversation->persisted[conversation->persisted_count++] = mem_text(tool_use_id);
}

static void finish_current(const struct move *move, const char *content, bool is_error)
{
    add_result(move, move->conversation->current.id, content, is_error);
    tool_use_release(&move->conversation->current);
    form_release(&move->conversation->form);
    move->conversation->timeout_s = 0;
}

/* The next call in order; after the last the model goes on. */
static void advance(struct conversation *conversation)
{
    if (conversation->remaining_count == 0) {
        conversation->state = CONVERSATION_LLM_REQUESTING;
        conversation->attempt = 1;
        return;
    }
    conversation->state = CONVERSATION_TOOL_EXECUTING;
    conversation->current = conversation->remaining[0];
    conversation->remaining_count--;
    memmove(conversation->remaining, conversation->remaining + 1,
            conversation->remaining_count * sizeof *conversation->remaining);
}

typedef bool cell_act(const struct move *move);

static bool refuse(const struct move *move)
{
    return error_set(move->err, ERROR_wrong_state, "",
                     "%s has no place while the conversation is %s",
                     conversation_event_names[move->event->kind],
                     conversation_state_names[move->conversation->state]);
}

static bool ignore(const struct move *move)
{
    move->step->is_ignored = true;
    return true;
}

/* A host that was not sure whether its result arrived may say it again. */
static bool ignore_if_told(const struct move *move)
{
    return has_result(move->conversation, move->event->tool_use_id) ? ignore(move) : refuse(move);
}

/* Each id is answered once, so it may stand for one call only. */
static bool check_calls(const struct conversation *conversation,
                        const struct conversation_event *event, struct error *err)
{
    if (event->call_count == 0 || event->call_count > CONVERSATION_MAX_CALLS)
        return error_set(err, ERROR_out_of_range, "/tool_calls", "a turn has 1 to %d calls",
                         CONVERSATION_MAX_CALLS);
    for (size_t i = 0; i < event->call_count; i++) {
        bool is_known = has_result(conversation, event->calls[i].id);

        for (size_t k = 0; k < i && !is_known; k++)
            is_known = strcmp(event->calls[i].id, event->calls[k].id) == 0;
        if (is_known) {
            char path[48];

            snprintf(path, sizeof path, "/tool_calls/%zu/id", i);
            return error_set(err, ERROR_conflicting_arguments, path,
                             "another call has this id: give each call its own");
        }
    }
    return true;
}

/* The ids of a turn in the order of its calls: what has its result, what runs, what is left. */
static const char *turn_id(const struct conversation *conversation, size_t index)
{
    size_t rest;

    if (index < conversation->persisted_count)
        return conversation->persisted[index];
    rest = index - conversation->persisted_count;
    if (conversation->current.id && rest == 0)
        return conversation->current.id;
    rest -= conversation->current.id != NULL;
    return rest < conversation->remaining_count ? conversation->remaining[rest].id : NULL;
}

/* The turn that is under way, or was the last: a host that was not sure says it again. */
static bool is_told_turn(const struct conversation *conversation,
                         const struct conversation_event *event)
{
    for (size_t i = 0; i < event->call_count; i++) {
        const char *id = turn_id(conversation, i);

        if (!id || strcmp(id, event->calls[i].id) != 0)
            return false;
    }
    return event->call_count > 0 && !turn_id(conversation, event->call_count);
}

static bool ignore_told_turn(const struct move *move)
{
    return is_told_turn(move->conversation, move->event) ? ignore(move) : refuse(move);
}

static bool begin_turn(const struct move *move)
{
    struct conversation *conversation = move->conversation;
    const struct conversation_event *event = move->event;

    if (is_told_turn(conversation, event))
        return ignore(move);
    if (!check_calls(conversation, event, move->err))
        return false;
    drop_persisted(conversation);
    drop_remaining(conversation);
    conversation->attempt = 0;
    conversation->remaining = mem_new(event->call_count * sizeof *conversation->remaining);
    conversation->remaining_count = event->call_count;
    for (size_t i = 0; i < event->call_count; i++)
        conversation->remaining[i] =
            (struct tool_use){ mem_text(event->calls[i].id), mem_text(event->calls[i].name),
                               mem_text(event->calls[i].input_json) };
    advance(conversation);
    return true;
}

static bool is_about_current(const struct move *move)
{
    return strcmp(move->event->tool_use_id, move->conversation->current.id) == 0;
}

static bool pause_for_person(const struct move *move)
{
    struct text form = { 0 };

    if (!is_about_current(move))
        return refuse(move);
    move->conversation->state = CONVERSATION_AWAITING;
    form_encode(move->event->form, &form);
    form_parse(form.bytes, form.used, &move->conversation->form, NULL); /* a copy */
    text_release(&form);
    move->conversation->timeout_s = move->event->timeout_s;
    return true;
}

static bool complete_tool(const struct move *move)
{
    if (!is_about_current(move))
        return ignore_if_told(move);
    finish_current(move, move->event->content, move->event->is_error);
    advance(move->conversation);
    return true;
}

static bool take_answers(const struct move *move)
{
    struct text content = { 0 };
    struct json_writer writer = json_object_to(&content);

    questions_write_answers(&writer, &move->conversation->form, move->event->answer);
    json_write_end_object(&writer);
    finish_current(move, text_string(&content), false);
    text_release(&content);
    advance(move->conversation);
    return true;
}

static bool cancel(const struct move *move)
{
    struct conversation *conversation = move->conversation;

    finish_current(move, "User cancelled the question", true);
    for (size_t i = 0; i < conversation->remaining_count; i++)
        add_result(move, conversation->remaining[i].id, "Not run: user cancelled", true);
    drop_remaining(conversation);
    conversation->state = CONVERSATION_IDLE;
    return true;
}

static bool expire(const struct move *move)
{
    finish_current(move, "User did not answer in time", true);
    advance(move->conversation);
    return true;
}

static bool retry_llm(const struct move *move)
{
    int64_t attempt = move->event->attempt, next = move->conversation->attempt + 1;

    if (attempt != 0 && attempt < next)
        return ignore(move);
    if (attempt > next)
        return error_set(move->err, ERROR_out_of_range, "/attempt",
                         "the next attempt is number %lld", (long long)next);
    move->conversation->attempt = next;
    return true;
}

static bool end_turn(const struct move *move)
{
    move->conversation->state = CONVERSATION_IDLE;
    move->conversation->attempt = 0;
    return true;
}

/* What has no cell is refused. */
static cell_act *const cells[CONVERSATION_STATE_COUNT][CONVERSATION_EVENT_COUNT] = {
    [CONVERSATION_IDLE] = {
        [SAID_TOOL_CALLS] = begin_turn,
        [SAID_TOOL_COMPLETE] = ignore_if_told,
        [SAID_TURN_ENDED] = ignore,
        [SAID_EXPIRED] = ignore,
    },
    [CONVERSATION_LLM_REQUESTING] = {
        [SAID_TOOL_CALLS] = begin_turn,
        [SAID_TOOL_COMPLETE] = ignore_if_told,
        [SAID_LLM_RETRY] = retry_llm,
        [SAID_TURN_ENDED] = end_turn,
        [SAID_EXPIRED] = ignore,
    },
    [CONVERSATION_TOOL_EXECUTING] = { /* not cancelled: the host's result must have a place */
        [SAID_TOOL_CALLS] = ignore_told_turn,
        [SAID_QUESTION_PENDING] = pause_for_person,
        [SAID_TOOL_COMPLETE] = complete_tool,
        [SAID_EXPIRED] = ignore,
    },
    [CONVERSATION_AWAITING] = {
        [SAID_TOOL_CALLS] = ignore_told_turn,
        [SAID_TOOL_COMPLETE] = ignore_if_told, /* a host may not answer for the person */
        [SAID_RESPONSE] = take_answers,
        [SAID_CANCEL] = cancel,
        [SAID_EXPIRED] = expire,
    },
};

static bool enter_cell(const struct move *move)
{
    cell_act *act = cells[move->conversation->state][move->event->kind];

    return act ? act(move) : refuse(move);
}

/* What is due on arriving in a state, behind the results, which are kept before it. */
static const enum conversation_effect arrivals[CONVERSATION_STATE_COUNT] = {
    [CONVERSATION_IDLE] = EFFECT_AGENT_DONE,
    [CONVERSATION_LLM_REQUESTING] = EFFECT_REQUEST_LLM,
    [CONVERSATION_TOOL_EXECUTING] = EFFECT_EXECUTE_TOOL,
    [CONVERSATION_AWAITING] = EFFECT_NONE, /* the person's turn */
};

static void write_effects(const struct conversation *conversation, struct conversation_step *step)
{
    size_t count = 0;

    if (step->is_ignored)
        return;
    if (step->result_count > 0)
        step->effects[count++] = EFFECT_PERSIST_RESULTS;
    step->effects[count++] = EFFECT_PERSIST_STATE;
    step->effects[count++] = EFFECT_NOTIFY;
    step->effects[count++] = arrivals[conversation->state];
}

static bool is_ours(const struct conversation *conversation)
{
    return conversation->state == CONVERSATION_TOOL_EXECUTING &&
           strcmp(conversation->current.name, tool_ask_user_question.name) == 0;
}

/* The question that `current` asks, or why it asks none. */
static bool read_question(const struct conversation *conversation, struct ask_call *ret_call,
                          struct error *err)
{
    const char *input = conversation->current.input_json;
    struct json *json = NULL;
    bool ok;

    *ret_call = (struct ask_call){ 0 };
    ok = ask_tool_allows(&tool_ask_user_question, conversation->is_sub_agent, err) &&
         json_parse(input, strlen(input), &json, err) &&
         arguments_check(&tool_ask_user_question, json, ret_call, err);
    json_free(json);
    return ok;
}

/* What the host would be told to run is asked instead, or answered with what is wrong with it. */
static void intercept(struct conversation *conversation, struct conversation_step *step)
{
    struct conversation_event event = { .tool_use_id = conversation->current.id, .is_error = true };
    const struct move move = { conversation, &event, step, NULL };
    struct ask_call call;
    struct text words = { 0 };
    struct error err, one;

    if (read_question(conversation, &call, &err)) {
        event.kind = SAID_QUESTION_PENDING;
        event.form = &call.form;
        event.timeout_s = call.timeout_s;
    } else {
        event.kind = SAID_TOOL_COMPLETE;
        text_add_text(&words,
                      err.code == ERROR_not_available_to_subagents ? "" : "Invalid input: ");
        for (size_t i = 0; error_at(&err, i, &one); i++)
            text_add_format(&words, *one.path ? "%s%s (at %s)" : "%s%s", i ? "; " : "", one.message,
                            one.path);
        event.content = text_string(&words);
    }
    enter_cell(&move);
    text_release(&words);
    ask_call_release(&call);
}

bool conversation_next(struct conversation *conversation, const struct conversation_event *event,
                       struct conversation_step *ret_step, struct error *err)
{
    const struct move move = { conversation, event, ret_step, err };

    *ret_step = (struct conversation_step){ 0 };
    if (!enter_cell(&move))
        return false;
    while (!ret_step->is_ignored && is_ours(conversation))
        intercept(conversation, ret_step);
    write_effects(conversation, ret_step);
    return true;
}
