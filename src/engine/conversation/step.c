/*
 * step.c - what is said to a conversation: read, handed to the machine, kept, and only
 * then told. Two that speak at once are told apart by the version: who comes too late is read again
 * and judged by the state that won. What a step does is numbered and kept with it, so that a
 * listener that comes back misses nothing and hears nothing twice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/random.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"

void saying_drop(struct errand *errand)
{
    struct saying *saying = (struct saying *)errand;

    talk_release(&saying->talk);
    conversation_free_calls(saying->calls, saying->call_count);
    answer_release(&saying->answer);
    form_release(&saying->form);
    conversation_step_release(&saying->step);
    text_release(&saying->events);
    json_free(saying->body);
}

struct saying *saying_new(struct method_call call)
{
    struct saying *saying = errand_new(sizeof *saying, call);

    saying->errand.drop = saying_drop;
    return saying;
}

/* Reading it */

static void fail(struct saying *saying, const struct error *err)
{
    if (saying->after) {
        saying->failure = *err;
        saying->after(saying);
    } else {
        errand_fail(&saying->errand, err, NULL);
    }
}

static void on_loaded(void *context, const struct store_conversation *stored,
                      const struct error *err)
{
    struct saying *saying = context;
    const struct visit *visit = saying->errand.visit;
    struct error failure = { 0 };

    if (stored && talk_read(&saying->talk, stored, &failure) &&
        (!visit || talk_is_seen_by(&saying->talk, visit))) {
        saying->errand.next(&saying->errand);
        return;
    }
    if (!err && failure.code == ERROR_NONE)
        talk_refuse_unknown(&failure);
    fail(saying, err ? err : &failure);
}

void saying_load(struct saying *saying, void (*next)(struct errand *errand))
{
    struct store *store = saying->errand.engine->parts.store;

    saying->errand.next = next;
    store->ops->get_conversation(store, saying->errand.id, on_loaded, saying);
}

void saying_about(struct saying *saying, const struct json *params,
                  void (*next)(struct errand *errand))
{
    struct error err;

    if (talk_read_id(params, saying->errand.id, &err))
        saying_load(saying, next);
    else
        errand_fail(&saying->errand, &err, NULL);
}

/* Telling */

/* The lines of a step as a list of {id, type, …}. */
static void write_effects(const struct saying *saying, struct json_writer *writer)
{
    const char *line = text_string(&saying->events), *end;
    int64_t number = saying->talk.last_event;

    for (const char *at = line; (at = strchr(at, '\n')); at++)
        number--;
    json_write_list(writer, "effects");
    for (; (end = strchr(line, '\n')); line = end + 1) {
        size_t kind_length = strcspn(line, " ");
        char *body = mem_text_n(line + kind_length + 1, (size_t)(end - line) - kind_length - 1);

        json_write_object(writer, NULL);
        json_write_integer(writer, "id", ++number);
        json_write_text_n(writer, "event", line, kind_length);
        json_write_raw(writer, "data", body);
        json_write_end_object(writer);
        free(body);
    }
    json_write_end_list(writer);
}

void saying_reply(struct saying *saying, bool is_already)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    talk_write(saying->errand.engine, &saying->talk, &writer);
    if (saying->events.used || is_already)
        write_effects(saying, &writer);
    json_write_bool_if(&writer, "already", is_already);
    json_write_end_object(&writer);
    errand_ok_take(&saying->errand, &out);
}

void saying_reply_loaded(struct errand *errand)
{
    saying_reply((struct saying *)errand, false);
}

/* The step */

static void write_results(const struct conversation_step *step, struct json_writer *writer)
{
    json_write_list(writer, "results");
    for (size_t i = 0; i < step->result_count; i++) {
        const struct tool_result *result = &step->results[i];

        json_write_object(writer, NULL);
        json_write_text(writer, "tool_use_id", result->tool_use_id);
        json_write_text(writer, "content", result->content);
        json_write_bool(writer, "is_error", result->is_error);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_current(const struct conversation *machine, struct json_writer *writer)
{
    json_write_object(writer, "tool");
    json_write_text(writer, "id", machine->current.id);
    json_write_text(writer, "name", machine->current.name);
    json_write_raw(writer, "input", machine->current.input_json);
    json_write_end_object(writer);
}

static const char *const effect_names[] = {
    [EFFECT_PERSIST_RESULTS] = "persist_tool_results",
    [EFFECT_PERSIST_STATE] = "persist_state",
    [EFFECT_NOTIFY] = "state_change",
    [EFFECT_EXECUTE_TOOL] = "execute_tool",
    [EFFECT_REQUEST_LLM] = "request_llm",
    [EFFECT_AGENT_DONE] = "agent_done",
};

/* One line; JSON of ours has no line ends. */
static void write_effect(const struct saying *saying, enum conversation_effect effect,
                         struct text *out)
{
    const struct conversation *machine = &saying->talk.machine;
    struct json_writer writer = json_writer_to(out);

    text_add_format(out, "%s ", effect_names[effect]);
    if (effect == EFFECT_NOTIFY) {
        conversation_write_change(machine, &writer, NULL);
    } else {
        json_write_object(&writer, NULL);
        if (effect == EFFECT_PERSIST_RESULTS)
            write_results(&saying->step, &writer);
        else if (effect == EFFECT_PERSIST_STATE)
            json_write_integer(&writer, "version", saying->talk.version + 1);
        else if (effect == EFFECT_EXECUTE_TOOL)
            write_current(machine, &writer);
        else if (effect == EFFECT_REQUEST_LLM)
            json_write_integer(&writer, "attempt", machine->attempt);
        json_write_end_object(&writer);
    }
    text_add_char(out, '\n');
}

static void on_stepped(void *context, const struct store_reply *reply)
{
    struct saying *saying = context;
    struct engine *engine = saying->errand.engine;
    struct talk *talk = &saying->talk;
    struct error err;

    CRASH_POINT(engine_conversation_kept);
    if (reply->outcome == STORE_LOST) { /* somebody else spoke meanwhile */
        saying_load(saying, saying_step);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        if (reply->outcome == STORE_FAILED)
            err = reply->err;
        else
            talk_refuse_unknown(&err);
        fail(saying, &err);
        return;
    }
    talk->version++;
    talk->last_event = reply->seq;
    if (saying->asked[0]) {
        undelivered_remove(engine, saying->asked, talk->principal);
        handed_confirm(engine, talk->principal, saying->asked);
    }
    conversation_tell(engine, talk);
    if (talk->machine.state == CONVERSATION_AWAITING)
        question_begin(engine, talk);
    if (saying->after)
        saying->after(saying);
    else
        saying_reply(saying, false);
}

static void save_step(struct saying *saying)
{
    struct engine *engine = saying->errand.engine;
    struct talk *talk = &saying->talk;
    struct lifecycle_facts facts = { 0 };
    struct text body = { 0 };
    struct store_conversation_step step;

    text_clear(&saying->events);
    for (const enum conversation_effect *effect = saying->step.effects; *effect; effect++)
        write_effect(saying, *effect, &saying->events);
    conversation_encode(&talk->machine, &body);
    talk->changed_ms = engine_utc_ms(engine);
    if (talk->machine.state == CONVERSATION_AWAITING) {
        memcpy(talk->earlier_ask_id, talk->ask_id, sizeof talk->earlier_ask_id);
        random_id(talk->ask_id);
    }
    step = (struct store_conversation_step){
        .id = talk->id,
        .if_version = talk->version,
        .state = conversation_state_name(talk->machine.state),
        .body = text_string(&body),
        .ask_id = talk->ask_id,
        .earlier_ask_id = talk->earlier_ask_id,
        .events = text_string(&saying->events),
        .now_ms = talk->changed_ms,
        .delivered_ask = saying->asked[0] ? saying->asked : NULL,
        .delivered_states = lifecycle_states_for(EVENT_DELIVERED, &facts),
    };
    errand_begin_write(&saying->errand);
    CRASH_POINT(engine_conversation_keep);
    store_write_conversation_step(engine->parts.store, &step, on_stepped, saying);
    text_release(&body);
}

/* From what was said to an event; it borrows. */
static bool read_event(struct saying *saying, struct conversation_event *ret_event,
                       struct error *err)
{
    const struct json *attempt = json_member(saying->body, "attempt");

    *ret_event = (struct conversation_event){ .kind = saying->kind };
    switch (saying->kind) {
    case SAID_TOOL_CALLS:
        if (!saying->calls &&
            !conversation_read_calls(saying->body, &saying->calls, &saying->call_count, err))
            return false;
        ret_event->calls = saying->calls;
        ret_event->call_count = saying->call_count;
        return true;
    case SAID_TOOL_COMPLETE:
        return conversation_read_result(saying->body, ret_event, err);
    case SAID_LLM_RETRY:
        return !attempt ||
               (json_integer_of(attempt, &ret_event->attempt) && ret_event->attempt > 0) ||
               error_set(err, ERROR_out_of_range, "/attempt",
                         "attempt is the number of the one that begins: 2 or more");
    case SAID_RESPONSE:
        ret_event->answer = &saying->answer;
        return true;
    default:
        return true;
    }
}

/* A question that a host brings counts against its limits (R5.8); one that follows another in its
 * turn takes that one's place. */
static bool admit(struct saying *saying, struct error *err)
{
    struct engine *engine = saying->errand.engine;

    if (saying->talk.machine.state != CONVERSATION_AWAITING || saying->is_admitted ||
        !saying->errand.visit)
        return true;
    saying->is_admitted =
        principal_admit(engine, principal_get(engine, saying->talk.principal), err);
    return saying->is_admitted;
}

void saying_step(struct errand *errand)
{
    struct saying *saying = (struct saying *)errand;
    struct talk *talk = &saying->talk;
    struct conversation_event event;
    struct error err = { 0 };

    conversation_step_release(&saying->step);
    if (saying->asked[0] && (talk->machine.state != CONVERSATION_AWAITING ||
                             strcmp(saying->asked, talk->ask_id) != 0)) {
        saying->after(saying); /* somebody took this answer before us */
        return;
    }
    if (!read_event(saying, &event, &err) ||
        !conversation_next(&talk->machine, &event, &saying->step, &err) || !admit(saying, &err))
        fail(saying, &err);
    else if (saying->step.is_ignored)
        saying_reply(saying, true);
    else
        save_step(saying);
}

void saying_refuse(struct saying *saying)
{
    struct conversation_event event = { .kind = saying->kind, .tool_use_id = "" };
    struct error err = { 0 };

    if (saying->talk.machine.state == CONVERSATION_AWAITING ||
        conversation_next(&saying->talk.machine, &event, &saying->step, &err))
        error_set(&err, ERROR_wrong_state, "", "this question is settled already");
    errand_fail(&saying->errand, &err, NULL);
}

/* The acts */

static const struct {
    enum conversation_event_kind kind;
    bool is_persons;
} sayings[] = {
    { SAID_TOOL_CALLS, false }, { SAID_TOOL_COMPLETE, false }, { SAID_TURN_ENDED, false },
    { SAID_LLM_RETRY, false },  { SAID_RESPONSE, true },       { SAID_CANCEL, true },
};

static bool may_say(const struct visit *visit, bool is_persons, struct error *err)
{
    if (visit->role == (is_persons ? ROLE_PERSON : ROLE_AGENT) || (is_persons && visit->may_answer))
        return true;
    return error_set(err, ERROR_wrong_state, "",
                     is_persons ? "a person answers: this host's token may not (sayso token new "
                                  "--kind host --may-answer)"
                                : "this is for the host that runs the agent");
}

void conversation_say_method(struct method_call call)
{
    struct saying *saying = saying_new(call);
    const struct json *body = json_member(call.params, "body");
    const char *name = json_member_text(call.params, "event");
    struct error err;
    size_t at = 0;

    while (at < ARRAY_LEN(sayings) &&
           (!name || strcmp(name, conversation_event_name(sayings[at].kind)) != 0))
        at++;
    if (at == ARRAY_LEN(sayings)) {
        errand_refuse(&saying->errand, ERROR_bad_enum, "/event", "there is no such event");
        return;
    }
    if (!errand_may(&saying->errand,
                    talk_read_id(call.params, saying->errand.id, &err) &&
                        may_say(saying->errand.visit, sayings[at].is_persons, &err),
                    &err))
        return;
    saying->kind = sayings[at].kind;
    saying->body = body ? json_keep(body) : NULL;
    saying->if_version = json_member_integer(call.params, "version", 0);
    saying_load(saying, sayings[at].is_persons ? question_decide : saying_step);
}
