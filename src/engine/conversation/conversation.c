/*
 * conversation.c - conversations of agent hosts (R3.4) at the service: made, listed, looked at, and
 * what is said to them. Nothing of one is kept here between two acts: the store's row is read, the
 * machine of core/conversation moves, and one conditional update on the version decides: who comes
 * too late is read again and judged by the state that won. What a step does is numbered and kept
 * with it, so that a listener that comes back misses nothing and hears nothing twice. A host sees
 * its own, people see all.
 */
#include "engine/conversation/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/limits.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"

enum { LIST_USUAL = 50, LIST_MOST = 200 };

void talk_release(struct talk *talk)
{
    conversation_release(&talk->machine);
    free(talk->token_id);
    free(talk->label);
    *talk = (struct talk){ 0 };
}

bool talk_read(struct talk *talk, const struct store_conversation *stored, struct error *err)
{
    talk_release(talk);
    text_put(talk->id, sizeof talk->id, stored->id);
    text_put(talk->ask_id, sizeof talk->ask_id, stored->ask_id);
    text_put(talk->earlier_ask_id, sizeof talk->earlier_ask_id, stored->earlier_ask_id);
    text_put(talk->principal, sizeof talk->principal, stored->principal);
    talk->token_id = mem_text(stored->token_id);
    talk->label = mem_text(stored->label);
    talk->version = stored->version;
    talk->created_ms = stored->created_ms;
    talk->changed_ms = stored->changed_ms;
    talk->last_event = stored->last_event;
    return conversation_parse(stored->body, strlen(stored->body), &talk->machine, err);
}

static bool talk_refuse_unknown(struct error *err)
{
    return error_set(err, ERROR_not_found, "/conversation", "no conversation has this id");
}

/* The id that `params` names; false: it is none, and the same is said as of one that is unknown. */
static bool talk_read_id(const struct json *params, char *ret_id, struct error *err)
{
    const struct json *given = json_member(params, "conversation");
    const char *id = json_text(given);

    if (!id || strlen(id) != json_length(given) || !ask_id_is_valid(id))
        return talk_refuse_unknown(err);
    memcpy(ret_id, id, ASK_ID_BYTES);
    return true;
}

static bool talk_is_seen_by(const struct talk *talk, const struct session *session)
{
    return session->role == ROLE_PERSON || strcmp(session->principal, talk->principal) == 0;
}

/* Its members, for an object that has more of them. */
static void talk_write(const struct engine *engine, const struct talk *talk,
                       struct json_writer *writer)
{
    struct text url = { 0 };

    json_write_text(writer, "conversation", talk->id);
    json_write_text(writer, "host", talk->label);
    json_write_bool(writer, "sub_agent", talk->machine.is_sub_agent);
    json_write_integer(writer, "version", talk->version);
    json_write_integer(writer, "last_event", talk->last_event);
    describe_time(writer, "created_at", talk->created_ms);
    describe_time(writer, "changed_at", talk->changed_ms);
    conversation_write_change(&talk->machine, writer, "state");
    if (talk->machine.state == CONVERSATION_AWAITING) { /* where a person answers it */
        json_write_text(writer, "session_id", talk->ask_id);
        if (portal_write_url(engine, talk->ask_id, &url))
            json_write_text(writer, "url", text_string(&url));
        text_release(&url);
    }
    json_write_list(writer, "remaining");
    for (size_t i = 0; i < talk->machine.remaining_count; i++)
        json_write_text(writer, NULL, talk->machine.remaining[i].id);
    json_write_end_list(writer);
    json_write_list(writer, "persisted");
    for (size_t i = 0; i < talk->machine.persisted_count; i++)
        json_write_text(writer, NULL, talk->machine.persisted[i]);
    json_write_end_list(writer);
}

static void saying_drop(struct operation *operation)
{
    struct saying *saying = (struct saying *)operation;

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
    struct saying *saying = operation_new(sizeof *saying, call);

    saying->operation.drop = saying_drop;
    return saying;
}

/* Reading it */

static void fail(struct saying *saying, const struct error *err)
{
    if (saying->after) {
        saying->failure = *err;
        saying->after(saying);
    } else {
        operation_fail(&saying->operation, err, NULL);
    }
}

static void on_loaded(void *context, const struct store_conversation *stored,
                      const struct error *err)
{
    struct saying *saying = context;
    const struct session *session = saying->operation.session;
    struct error failure = { 0 };

    if (stored && talk_read(&saying->talk, stored, &failure) &&
        (!session || talk_is_seen_by(&saying->talk, session))) {
        saying->operation.next(&saying->operation);
        return;
    }
    if (!err && failure.code == ERROR_NONE)
        talk_refuse_unknown(&failure);
    fail(saying, err ? err : &failure);
}

void saying_load(struct saying *saying, void (*next)(struct operation *operation))
{
    struct store *store = saying->operation.engine->parts.store;

    saying->operation.next = next;
    store->ops->get_conversation(store, saying->operation.id, on_loaded, saying);
}

/* saying_load of the one that `params` name. */
static void saying_about(struct saying *saying, const struct json *params,
                         void (*next)(struct operation *operation))
{
    struct error err;

    if (talk_read_id(params, saying->operation.id, &err))
        saying_load(saying, next);
    else
        operation_fail(&saying->operation, &err, NULL);
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

    talk_write(saying->operation.engine, &saying->talk, &writer);
    if (saying->events.used || is_already)
        write_effects(saying, &writer);
    json_write_bool_if(&writer, "already", is_already);
    json_write_end_object(&writer);
    operation_ok_take(&saying->operation, &out);
}

void saying_reply_loaded(struct operation *operation)
{
    saying_reply((struct saying *)operation, false);
}

/* Making one */

static void on_found_again(void *context, const struct store_conversation *stored,
                           const struct error *err)
{
    struct saying *saying = context;
    struct error failure;

    if (stored && talk_read(&saying->talk, stored, &failure)) {
        saying_reply(saying, true);
        return;
    }
    if (!err && !stored) /* dropped between two looks */
        talk_refuse_unknown(&failure);
    operation_fail(&saying->operation, err ? err : &failure, NULL);
}

static void on_made(void *context, const struct store_reply *reply)
{
    struct saying *saying = context;
    struct engine *engine = saying->operation.engine;
    struct error err;

    switch (reply->outcome) {
    case STORE_DONE:
        saying->talk.last_event = reply->seq;
        saying_reply(saying, false);
        break;
    case STORE_REPEATED:
        engine->parts.store->ops->find_conversation(
            engine->parts.store, saying->operation.session->principal,
            json_member_text(saying->body, "key"), on_found_again, saying);
        break;
    case STORE_FAILED:
        operation_fail(&saying->operation, &reply->err, NULL);
        break;
    default:
        error_set(&err, ERROR_rate_limited, "",
                  "this host has %d conversations and none is idle: end the turns of some first",
                  STORE_CONVERSATIONS);
        err.retry_after_s = 60;
        operation_fail(&saying->operation, &err, NULL);
        break;
    }
}

static bool check_new(const struct json *params, struct error *err)
{
    const struct json *sub_agent = json_member(params, "sub_agent");
    const struct json *key = json_member(params, "key");
    const char *text = json_text(key);

    if (sub_agent && json_kind(sub_agent) != KIND_BOOL)
        return error_set(err, ERROR_bad_type, "/sub_agent", "sub_agent is true or false");
    if (key && (!text || !*text || strlen(text) != json_length(key) ||
                strlen(text) > LIMIT_IDEMPOTENCY_KEY_BYTES))
        return error_set(err, ERROR_bad_format, "/key", "a key is a text of 1 to %d bytes",
                         LIMIT_IDEMPOTENCY_KEY_BYTES);
    return true;
}

static void save_new(struct saying *saying)
{
    struct engine *engine = saying->operation.engine;
    const struct session *session = saying->operation.session;
    struct talk *talk = &saying->talk;
    struct text body = { 0 };
    struct store_new_conversation made = { .principal = { .id = session->principal,
                                                          .kind = "token",
                                                          .uid = session->uid,
                                                          .name = session->name,
                                                          .place = session->token },
                                           .events = text_string(&saying->events) };

    conversation_encode(&talk->machine, &body);
    made.conversation = (struct store_conversation){
        .id = talk->id,
        .principal = talk->principal,
        .token_id = talk->token_id,
        .label = talk->label,
        .state = conversation_state_names[talk->machine.state],
        .body = text_string(&body),
        .key = json_member_text(saying->body, "key"),
        .created_ms = talk->created_ms,
    };
    operation_begin_write(&saying->operation);
    store_write_conversation(engine->parts.store, &made, on_made, saying);
    text_release(&body);
}

void conversation_new_method(struct method_call call)
{
    struct saying *saying = saying_new(call);
    struct talk *talk = &saying->talk;
    struct json_writer writer;
    struct error err;

    if (!operation_may(&saying->operation, check_new(call.params, &err), &err))
        return;
    saying->body = json_keep(call.params);
    random_id(talk->id);
    memcpy(talk->principal, call.session->principal, sizeof talk->principal);
    talk->token_id = mem_text(call.session->token_id);
    talk->label = mem_text(call.session->token);
    talk->version = 1;
    talk->created_ms = talk->changed_ms = engine_utc_ms(call.engine);
    talk->machine.is_sub_agent =
        call.session->is_sub_agent || json_is_yes(json_member(call.params, "sub_agent"));
    writer = json_writer_to(&saying->events);
    text_add_text(&saying->events, "state_change ");
    conversation_write_change(&talk->machine, &writer, NULL);
    text_add_char(&saying->events, '\n');
    save_new(saying);
}

/* Looking */

void conversation_get_method(struct method_call call)
{
    saying_about(saying_new(call), call.params, saying_reply_loaded);
}

struct listing {
    struct writing writing; /* first */
    size_t limit, count;
    char last[ASK_ID_BYTES];
    bool has_more;
};

static void on_listed(void *context, const struct store_conversation *stored,
                      const struct error *err)
{
    struct listing *listing = context;
    struct talk talk = { 0 };

    if (stored && listing->count == listing->limit) {
        listing->has_more = true;
    } else if (stored) {
        listing->count++;
        text_put(listing->last, sizeof listing->last, stored->id);
        json_write_object(&listing->writing.writer, NULL);
        if (talk_read(&talk, stored, NULL))
            talk_write(listing->writing.operation.engine, &talk, &listing->writing.writer);
        json_write_end_object(&listing->writing.writer);
        talk_release(&talk);
    } else if (err) {
        operation_fail(&listing->writing.operation, err, NULL);
    } else {
        json_write_end_list(&listing->writing.writer);
        if (listing->has_more)
            json_write_text(&listing->writing.writer, "next", listing->last);
        writing_end(&listing->writing);
    }
}

void conversation_list_method(struct method_call call)
{
    struct listing *listing = writing_new(sizeof *listing, call);
    int64_t limit = json_member_integer(call.params, "limit", LIST_USUAL);
    struct store_conversation_query query = {
        .principal = call.session->role == ROLE_PERSON ? NULL : call.session->principal,
        .before_id = json_member_text(call.params, "before"),
    };

    if (limit < 1 || limit > LIST_MOST) {
        operation_refuse(&listing->writing.operation, ERROR_out_of_range, "/limit",
                         "limit is 1 to %d", LIST_MOST);
        return;
    }
    if (query.before_id && !ask_id_is_valid(query.before_id)) {
        operation_refuse(&listing->writing.operation, ERROR_bad_format, "/before",
                         "before is `next` of the page before");
        return;
    }
    listing->limit = (size_t)limit;
    query.limit = listing->limit + 1;
    json_write_list(&listing->writing.writer, "conversations");
    call.engine->parts.store->ops->list_conversations(call.engine->parts.store, &query, on_listed,
                                                      listing);
}

/* What happened in a conversation, from any number on, and who is told that there is more. A
 * listener that was told reads on from the last event it has. */

enum { EVENTS_USUAL = 32, EVENTS_MOST = 256, EVENTS_BYTES = 262144 };

void conversation_tell(struct engine *engine, const struct talk *talk)
{
    struct text line = { 0 };
    struct json_writer writer;

    if (engine->listener_count == 0)
        return;
    writer = event_begin(&line, "conversation/changed");
    json_write_text(&writer, "conversation", talk->id);
    json_write_integer(&writer, "last_event", talk->last_event);
    event_end(&writer);
    for (struct session *session = engine->sessions, *next; session; session = next) {
        next = session->next;
        if (strcmp(session->conversation, talk->id) == 0)
            session_send(session, line.bytes, line.used);
    }
    text_release(&line);
}

struct hearing {
    struct saying saying; /* first */
    int64_t after, limit;
    struct text out;
    struct json_writer writer;
    int64_t first; /* number of the first event that was found; 0: none */
};

static void hearing_drop(struct operation *operation)
{
    text_release(&((struct hearing *)operation)->out);
    saying_drop(operation);
}

static void on_event(void *context, const struct store_conversation_event *event,
                     const struct error *failure)
{
    struct hearing *hearing = context;
    struct json_writer *writer = &hearing->writer;
    struct error err;

    if (event && hearing->out.used > EVENTS_BYTES && hearing->first)
        return; /* the rest comes with the next call */
    if (event) {
        hearing->first = hearing->first ? hearing->first : event->number;
        json_write_object(writer, NULL);
        json_write_integer(writer, "id", event->number);
        json_write_text(writer, "event", event->kind);
        json_write_raw(writer, "data", event->body);
        json_write_end_object(writer);
        return;
    }
    if (failure) {
        operation_fail(&hearing->saying.operation, failure, NULL);
        return;
    }
    if (hearing->after > 0 && hearing->after < hearing->saying.talk.last_event &&
        hearing->first != hearing->after + 1) {
        error_set(
            &err, ERROR_not_found, "/after",
            "events behind this one are no longer kept: look at the conversation, then listen "
            "from its last_event on");
        operation_fail(&hearing->saying.operation, &err, "{\"gone\":true}");
        return;
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
    operation_ok(&hearing->saying.operation, text_string(&hearing->out));
}

static void hear(struct operation *operation)
{
    struct hearing *hearing = (struct hearing *)operation;
    const struct talk *talk = &hearing->saying.talk;
    struct store *store = operation->engine->parts.store;

    if (hearing->after > talk->last_event) {
        operation_refuse(operation, ERROR_out_of_range, "/after", "the last event is number %lld",
                         (long long)talk->last_event);
        return;
    }
    hearing->writer = json_object_to(&hearing->out);
    json_write_integer(&hearing->writer, "last_event", talk->last_event);
    json_write_list(&hearing->writer, "events");
    store->ops->list_conversation_events(store, talk->id, hearing->after, (size_t)hearing->limit,
                                         on_event, hearing);
}

void conversation_events_method(struct method_call call)
{
    struct hearing *hearing = operation_new(sizeof *hearing, call);
    struct operation *operation = &hearing->saying.operation;

    operation->drop = hearing_drop;
    hearing->after = json_member_integer(call.params, "after", 0);
    hearing->limit = json_member_integer(call.params, "limit", EVENTS_USUAL);
    if (hearing->limit < 1 || hearing->limit > EVENTS_MOST)
        hearing->limit = EVENTS_USUAL;
    saying_about(&hearing->saying, call.params, hear);
}

static void follow(struct operation *operation)
{
    struct session *session = operation->session;

    operation->engine->listener_count += session->conversation[0] == '\0';
    memcpy(session->conversation, operation->id, sizeof session->conversation);
    operation_ok(operation, "{}");
}

void conversation_follow_method(struct method_call call)
{
    saying_about(saying_new(call), call.params, follow);
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
    struct engine *engine = saying->operation.engine;
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
        in_flight_confirm(engine, talk->principal, saying->asked);
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
    struct engine *engine = saying->operation.engine;
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
        .state = conversation_state_names[talk->machine.state],
        .body = text_string(&body),
        .ask_id = talk->ask_id,
        .earlier_ask_id = talk->earlier_ask_id,
        .events = text_string(&saying->events),
        .now_ms = talk->changed_ms,
        .delivered_ask = saying->asked[0] ? saying->asked : NULL,
        .delivered_states = lifecycle_states_for(EVENT_DELIVERED, &facts),
    };
    operation_begin_write(&saying->operation);
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
    struct engine *engine = saying->operation.engine;

    if (saying->talk.machine.state != CONVERSATION_AWAITING || saying->is_admitted ||
        !saying->operation.session)
        return true;
    saying->is_admitted =
        principal_admit(engine, principal_get(engine, saying->talk.principal), err);
    return saying->is_admitted;
}

void saying_step(struct operation *operation)
{
    struct saying *saying = (struct saying *)operation;
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
    operation_fail(&saying->operation, &err, NULL);
}

/* The acts */

static const struct {
    enum conversation_event_kind kind;
    bool is_persons;
} sayings[] = {
    { SAID_TOOL_CALLS, false }, { SAID_TOOL_COMPLETE, false }, { SAID_TURN_ENDED, false },
    { SAID_LLM_RETRY, false },  { SAID_RESPONSE, true },       { SAID_CANCEL, true },
};

static bool may_say(const struct session *session, bool is_persons, struct error *err)
{
    if (session->role == (is_persons ? ROLE_PERSON : ROLE_AGENT) ||
        (is_persons && session->may_answer))
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
           (!name || strcmp(name, conversation_event_names[sayings[at].kind]) != 0))
        at++;
    if (at == ARRAY_LEN(sayings)) {
        operation_refuse(&saying->operation, ERROR_bad_enum, "/event", "there is no such event");
        return;
    }
    if (!operation_may(&saying->operation,
                       talk_read_id(call.params, saying->operation.id, &err) &&
                           may_say(saying->operation.session, sayings[at].is_persons, &err),
                       &err))
        return;
    saying->kind = sayings[at].kind;
    saying->body = body ? json_keep(body) : NULL;
    saying->if_version = json_member_integer(call.params, "version", 0);
    saying_load(saying, sayings[at].is_persons ? question_decide : saying_step);
}
