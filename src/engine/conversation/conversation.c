/*
 * conversation.c - conversations of agent hosts (R3.4): made, listed, looked at, and
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

enum { LIST_USUAL = 50, LIST_MAX = 200 };

void conversation_record_release(struct conversation_record *record)
{
    conversation_release(&record->machine);
    free(record->token_id);
    free(record->label);
    *record = (struct conversation_record){ 0 };
}

bool conversation_record_read(struct conversation_record *record,
                              const struct store_conversation *stored, struct error *err)
{
    conversation_record_release(record);
    text_put(record->id, sizeof record->id, stored->id);
    text_put(record->ask_id, sizeof record->ask_id, stored->ask_id);
    text_put(record->earlier_ask_id, sizeof record->earlier_ask_id, stored->earlier_ask_id);
    text_put(record->principal, sizeof record->principal, stored->principal);
    record->token_id = mem_text(stored->token_id);
    record->label = mem_text(stored->label);
    record->version = stored->version;
    record->created_ms = stored->created_ms;
    record->changed_ms = stored->changed_ms;
    record->last_event = stored->last_event;
    return conversation_parse(stored->body, strlen(stored->body), &record->machine, err);
}

static bool conversation_refuse_unknown(struct error *err)
{
    return error_set(err, ERROR_not_found, "/conversation", "no conversation has this id");
}

/* The id that `params` names; false: it is none, and the same is said as of one that is unknown. */
static bool conversation_record_read_id(const struct json *params, char *ret_id, struct error *err)
{
    const struct json *given = json_member(params, "conversation");
    const char *id = json_text(given);

    if (!id || strlen(id) != json_length(given) || !ask_id_is_valid(id))
        return conversation_refuse_unknown(err);
    memcpy(ret_id, id, ASK_ID_BYTES);
    return true;
}

static bool conversation_record_is_seen_by(const struct conversation_record *record,
                                           const struct session *session)
{
    return session->role == ROLE_PERSON || strcmp(session->principal, record->principal) == 0;
}

/* Its members, for an object that has more of them. */
static void conversation_record_write(const struct engine *engine,
                                      const struct conversation_record *record,
                                      struct json_writer *writer)
{
    struct text url = { 0 };

    json_write_text(writer, "conversation", record->id);
    json_write_text(writer, "host", record->label);
    json_write_bool(writer, "sub_agent", record->machine.is_sub_agent);
    json_write_integer(writer, "version", record->version);
    json_write_integer(writer, "last_event", record->last_event);
    describe_time(writer, "created_at", record->created_ms);
    describe_time(writer, "changed_at", record->changed_ms);
    conversation_write_change(&record->machine, writer, "state");
    if (record->machine.state == CONVERSATION_AWAITING) { /* where a person answers it */
        json_write_text(writer, "session_id", record->ask_id);
        if (portal_write_url(engine, record->ask_id, &url))
            json_write_text(writer, "url", text_string(&url));
        text_release(&url);
    }
    json_write_list(writer, "remaining");
    for (size_t i = 0; i < record->machine.remaining_count; i++)
        json_write_text(writer, NULL, record->machine.remaining[i].id);
    json_write_end_list(writer);
    json_write_list(writer, "persisted");
    for (size_t i = 0; i < record->machine.persisted_count; i++)
        json_write_text(writer, NULL, record->machine.persisted[i]);
    json_write_end_list(writer);
}

static void conversation_operation_drop(struct operation *operation)
{
    struct conversation_operation *update = (struct conversation_operation *)operation;

    conversation_record_release(&update->record);
    conversation_free_calls(update->calls, update->call_count);
    answer_release(&update->answer);
    form_release(&update->form);
    conversation_step_release(&update->step);
    text_release(&update->events);
    json_free(update->body);
}

struct conversation_operation *conversation_operation_new(struct method_call call)
{
    struct conversation_operation *update = operation_new(sizeof *update, call);

    update->operation.drop = conversation_operation_drop;
    return update;
}

/* Reading it */

static void fail(struct conversation_operation *update, const struct error *err)
{
    if (update->after) {
        update->failure = *err;
        update->after(update);
    } else {
        operation_fail(&update->operation, err, NULL);
    }
}

static void on_loaded(void *context, const struct store_conversation *stored,
                      const struct error *err)
{
    struct conversation_operation *update = context;
    const struct session *session = update->operation.session;
    struct error failure = { 0 };

    if (stored && conversation_record_read(&update->record, stored, &failure) &&
        (!session || conversation_record_is_seen_by(&update->record, session))) {
        update->operation.next(&update->operation);
        return;
    }
    if (!err && failure.code == ERROR_NONE)
        conversation_refuse_unknown(&failure);
    fail(update, err ? err : &failure);
}

void conversation_operation_load(struct conversation_operation *update,
                                 void (*next)(struct operation *operation))
{
    struct store *store = update->operation.engine->parts.store;

    update->operation.next = next;
    store->ops->get_conversation(store, update->operation.id, on_loaded, update);
}

/* conversation_operation_load of the one that `params` name. */
static void conversation_operation_about(struct conversation_operation *update,
                                         const struct json *params,
                                         void (*next)(struct operation *operation))
{
    struct error err;

    if (conversation_record_read_id(params, update->operation.id, &err))
        conversation_operation_load(update, next);
    else
        operation_fail(&update->operation, &err, NULL);
}

/* Telling */

/* The lines of a step as a list of {id, type, …}. */
static void write_effects(const struct conversation_operation *update, struct json_writer *writer)
{
    const char *line = text_string(&update->events), *end;
    int64_t number = update->record.last_event;

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

void conversation_operation_reply(struct conversation_operation *update, bool is_already)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    conversation_record_write(update->operation.engine, &update->record, &writer);
    if (update->events.used || is_already)
        write_effects(update, &writer);
    json_write_bool_if(&writer, "already", is_already);
    json_write_end_object(&writer);
    operation_ok_take(&update->operation, &out);
}

void conversation_operation_reply_loaded(struct operation *operation)
{
    conversation_operation_reply((struct conversation_operation *)operation, false);
}

/* Making one */

static void on_found_again(void *context, const struct store_conversation *stored,
                           const struct error *err)
{
    struct conversation_operation *update = context;
    struct error failure;

    if (stored && conversation_record_read(&update->record, stored, &failure)) {
        conversation_operation_reply(update, true);
        return;
    }
    if (!err && !stored) /* dropped between two looks */
        conversation_refuse_unknown(&failure);
    operation_fail(&update->operation, err ? err : &failure, NULL);
}

static void on_made(void *context, const struct store_reply *reply)
{
    struct conversation_operation *update = context;
    struct engine *engine = update->operation.engine;
    struct error err;

    switch (reply->outcome) {
    case STORE_DONE:
        update->record.last_event = reply->seq;
        conversation_operation_reply(update, false);
        break;
    case STORE_REPEATED:
        engine->parts.store->ops->find_conversation(
            engine->parts.store, update->operation.session->principal,
            json_member_text(update->body, "key"), on_found_again, update);
        break;
    case STORE_FAILED:
        operation_fail(&update->operation, &reply->err, NULL);
        break;
    default:
        error_set(&err, ERROR_rate_limited, "",
                  "this host has %d conversations and none is idle: end the turns of some first",
                  STORE_CONVERSATIONS);
        err.retry_after_s = 60;
        operation_fail(&update->operation, &err, NULL);
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

static void save_new(struct conversation_operation *update)
{
    struct engine *engine = update->operation.engine;
    const struct session *session = update->operation.session;
    struct conversation_record *record = &update->record;
    struct text body = { 0 };
    struct store_new_conversation made = { .principal = { .id = session->principal,
                                                          .kind = "token",
                                                          .uid = session->uid,
                                                          .name = session->name,
                                                          .place = session->token },
                                           .events = text_string(&update->events) };

    conversation_encode(&record->machine, &body);
    made.conversation = (struct store_conversation){
        .id = record->id,
        .principal = record->principal,
        .token_id = record->token_id,
        .label = record->label,
        .state = conversation_state_names[record->machine.state],
        .body = text_string(&body),
        .key = json_member_text(update->body, "key"),
        .created_ms = record->created_ms,
    };
    operation_begin_write(&update->operation);
    store_write_conversation(engine->parts.store, &made, on_made, update);
    text_release(&body);
}

void conversation_new_method(struct method_call call)
{
    struct conversation_operation *update = conversation_operation_new(call);
    struct conversation_record *record = &update->record;
    struct json_writer writer;
    struct error err;

    if (!operation_may(&update->operation, check_new(call.params, &err), &err))
        return;
    update->body = json_keep(call.params);
    random_id(record->id);
    memcpy(record->principal, call.session->principal, sizeof record->principal);
    record->token_id = mem_text(call.session->token_id);
    record->label = mem_text(call.session->token);
    record->version = 1;
    record->created_ms = record->changed_ms = engine_utc_ms(call.engine);
    record->machine.is_sub_agent =
        call.session->is_sub_agent || json_is_true(json_member(call.params, "sub_agent"));
    writer = json_writer_to(&update->events);
    text_add_text(&update->events, "state_change ");
    conversation_write_change(&record->machine, &writer, NULL);
    text_add_char(&update->events, '\n');
    save_new(update);
}

/* Looking */

void conversation_get_method(struct method_call call)
{
    conversation_operation_about(conversation_operation_new(call), call.params,
                                 conversation_operation_reply_loaded);
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
    struct conversation_record record = { 0 };

    if (stored && listing->count == listing->limit) {
        listing->has_more = true;
    } else if (stored) {
        listing->count++;
        text_put(listing->last, sizeof listing->last, stored->id);
        json_write_object(&listing->writing.writer, NULL);
        if (conversation_record_read(&record, stored, NULL))
            conversation_record_write(listing->writing.operation.engine, &record,
                                      &listing->writing.writer);
        json_write_end_object(&listing->writing.writer);
        conversation_record_release(&record);
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

    if (limit < 1 || limit > LIST_MAX) {
        operation_refuse(&listing->writing.operation, ERROR_out_of_range, "/limit",
                         "limit is 1 to %d", LIST_MAX);
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

enum { EVENTS_USUAL = 32, EVENTS_MAX = 256, EVENTS_BYTES = 262144 };

void conversation_publish(struct engine *engine, const struct conversation_record *record)
{
    struct text line = { 0 };
    struct json_writer writer;

    if (engine->listener_count == 0)
        return;
    writer = event_begin(&line, "conversation/changed");
    json_write_text(&writer, "conversation", record->id);
    json_write_integer(&writer, "last_event", record->last_event);
    event_end(&writer);
    for (struct session *session = engine->sessions, *next; session; session = next) {
        next = session->next;
        if (strcmp(session->conversation, record->id) == 0)
            session_send(session, line.bytes, line.used);
    }
    text_release(&line);
}

struct hearing {
    struct conversation_operation update; /* first */
    int64_t after, limit;
    struct text out;
    struct json_writer writer;
    int64_t first; /* number of the first event that was found; 0: none */
};

static void hearing_drop(struct operation *operation)
{
    text_release(&((struct hearing *)operation)->out);
    conversation_operation_drop(operation);
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
        operation_fail(&hearing->update.operation, failure, NULL);
        return;
    }
    if (hearing->after > 0 && hearing->after < hearing->update.record.last_event &&
        hearing->first != hearing->after + 1) {
        error_set(
            &err, ERROR_not_found, "/after",
            "events behind this one are no longer kept: look at the conversation, then listen "
            "from its last_event on");
        operation_fail(&hearing->update.operation, &err, "{\"gone\":true}");
        return;
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
    operation_ok(&hearing->update.operation, text_string(&hearing->out));
}

static void hear(struct operation *operation)
{
    struct hearing *hearing = (struct hearing *)operation;
    const struct conversation_record *record = &hearing->update.record;
    struct store *store = operation->engine->parts.store;

    if (hearing->after > record->last_event) {
        operation_refuse(operation, ERROR_out_of_range, "/after", "the last event is number %lld",
                         (long long)record->last_event);
        return;
    }
    hearing->writer = json_object_to(&hearing->out);
    json_write_integer(&hearing->writer, "last_event", record->last_event);
    json_write_list(&hearing->writer, "events");
    store->ops->list_conversation_events(store, record->id, hearing->after, (size_t)hearing->limit,
                                         on_event, hearing);
}

void conversation_events_method(struct method_call call)
{
    struct hearing *hearing = operation_new(sizeof *hearing, call);
    struct operation *operation = &hearing->update.operation;

    operation->drop = hearing_drop;
    hearing->after = json_member_integer(call.params, "after", 0);
    hearing->limit = json_member_integer(call.params, "limit", EVENTS_USUAL);
    if (hearing->limit < 1 || hearing->limit > EVENTS_MAX)
        hearing->limit = EVENTS_USUAL;
    conversation_operation_about(&hearing->update, call.params, hear);
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
    conversation_operation_about(conversation_operation_new(call), call.params, follow);
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
static void write_effect(const struct conversation_operation *update,
                         enum conversation_effect effect, struct text *out)
{
    const struct conversation *machine = &update->record.machine;
    struct json_writer writer = json_writer_to(out);

    text_add_format(out, "%s ", effect_names[effect]);
    if (effect == EFFECT_NOTIFY) {
        conversation_write_change(machine, &writer, NULL);
    } else {
        json_write_object(&writer, NULL);
        if (effect == EFFECT_PERSIST_RESULTS)
            write_results(&update->step, &writer);
        else if (effect == EFFECT_PERSIST_STATE)
            json_write_integer(&writer, "version", update->record.version + 1);
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
    struct conversation_operation *update = context;
    struct engine *engine = update->operation.engine;
    struct conversation_record *record = &update->record;
    struct error err;

    CRASH_POINT(engine_conversation_kept);
    if (reply->outcome == STORE_LOST) { /* it was changed in the meantime */
        conversation_operation_load(update, conversation_operation_step);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        if (reply->outcome == STORE_FAILED)
            err = reply->err;
        else
            conversation_refuse_unknown(&err);
        fail(update, &err);
        return;
    }
    record->version++;
    record->last_event = reply->seq;
    if (update->asked[0]) {
        undelivered_remove(engine, update->asked, record->principal);
        in_flight_confirm(engine, record->principal, update->asked);
    }
    conversation_publish(engine, record);
    if (record->machine.state == CONVERSATION_AWAITING)
        question_begin(engine, record);
    if (update->after)
        update->after(update);
    else
        conversation_operation_reply(update, false);
}

static void save_step(struct conversation_operation *update)
{
    struct engine *engine = update->operation.engine;
    struct conversation_record *record = &update->record;
    struct lifecycle_facts facts = { 0 };
    struct text body = { 0 };
    struct store_conversation_step step;

    text_clear(&update->events);
    for (const enum conversation_effect *effect = update->step.effects; *effect; effect++)
        write_effect(update, *effect, &update->events);
    conversation_encode(&record->machine, &body);
    record->changed_ms = engine_utc_ms(engine);
    if (record->machine.state == CONVERSATION_AWAITING) {
        memcpy(record->earlier_ask_id, record->ask_id, sizeof record->earlier_ask_id);
        random_id(record->ask_id);
    }
    step = (struct store_conversation_step){
        .id = record->id,
        .if_version = record->version,
        .state = conversation_state_names[record->machine.state],
        .body = text_string(&body),
        .ask_id = record->ask_id,
        .earlier_ask_id = record->earlier_ask_id,
        .events = text_string(&update->events),
        .now_ms = record->changed_ms,
        .delivered_ask = update->asked[0] ? update->asked : NULL,
        .delivered_states = lifecycle_states_for(EVENT_DELIVERED, &facts),
    };
    operation_begin_write(&update->operation);
    CRASH_POINT(engine_conversation_keep);
    store_write_conversation_step(engine->parts.store, &step, on_stepped, update);
    text_release(&body);
}

/* From what was said to an event; it borrows. */
static bool read_event(struct conversation_operation *update, struct conversation_event *ret_event,
                       struct error *err)
{
    const struct json *attempt = json_member(update->body, "attempt");

    *ret_event = (struct conversation_event){ .kind = update->kind };
    switch (update->kind) {
    case SAID_TOOL_CALLS:
        if (!update->calls &&
            !conversation_read_calls(update->body, &update->calls, &update->call_count, err))
            return false;
        ret_event->calls = update->calls;
        ret_event->call_count = update->call_count;
        return true;
    case SAID_TOOL_COMPLETE:
        return conversation_read_result(update->body, ret_event, err);
    case SAID_LLM_RETRY:
        return !attempt ||
               (json_integer_of(attempt, &ret_event->attempt) && ret_event->attempt > 0) ||
               error_set(err, ERROR_out_of_range, "/attempt",
                         "attempt is the number of the one that begins: 2 or more");
    case SAID_RESPONSE:
        ret_event->answer = &update->answer;
        return true;
    default:
        return true;
    }
}

/* A question that a host brings counts against its limits (R5.8); one that follows another in its
 * turn takes that one's place. */
static bool admit(struct conversation_operation *update, struct error *err)
{
    struct engine *engine = update->operation.engine;

    if (update->record.machine.state != CONVERSATION_AWAITING || update->is_admitted ||
        !update->operation.session)
        return true;
    update->is_admitted =
        principal_admit(engine, principal_get(engine, update->record.principal), err);
    return update->is_admitted;
}

void conversation_operation_step(struct operation *operation)
{
    struct conversation_operation *update = (struct conversation_operation *)operation;
    struct conversation_record *record = &update->record;
    struct conversation_event event;
    struct error err = { 0 };

    conversation_step_release(&update->step);
    if (update->asked[0] && (record->machine.state != CONVERSATION_AWAITING ||
                             strcmp(update->asked, record->ask_id) != 0)) {
        update->after(update); /* another operation took this answer before us */
        return;
    }
    if (!read_event(update, &event, &err) ||
        !conversation_next(&record->machine, &event, &update->step, &err) || !admit(update, &err))
        fail(update, &err);
    else if (update->step.is_ignored)
        conversation_operation_reply(update, true);
    else
        save_step(update);
}

void conversation_operation_refuse(struct conversation_operation *update)
{
    struct conversation_event event = { .kind = update->kind, .tool_use_id = "" };
    struct error err = { 0 };

    if (update->record.machine.state == CONVERSATION_AWAITING ||
        conversation_next(&update->record.machine, &event, &update->step, &err))
        error_set(&err, ERROR_wrong_state, "", "this question is settled already");
    operation_fail(&update->operation, &err, NULL);
}

/* The acts */

static const struct {
    enum conversation_event_kind kind;
    bool is_persons;
} kinds_said[] = {
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
    struct conversation_operation *update = conversation_operation_new(call);
    const struct json *body = json_member(call.params, "body");
    const char *name = json_member_text(call.params, "event");
    struct error err;
    size_t at = 0;

    while (at < ARRAY_LEN(kinds_said) &&
           (!name || strcmp(name, conversation_event_names[kinds_said[at].kind]) != 0))
        at++;
    if (at == ARRAY_LEN(kinds_said)) {
        operation_refuse(&update->operation, ERROR_bad_enum, "/event", "there is no such event");
        return;
    }
    if (!operation_may(&update->operation,
                       conversation_record_read_id(call.params, update->operation.id, &err) &&
                           may_say(update->operation.session, kinds_said[at].is_persons, &err),
                       &err))
        return;
    update->kind = kinds_said[at].kind;
    update->body = body ? json_keep(body) : NULL;
    update->if_version = json_member_integer(call.params, "version", 0);
    conversation_operation_load(update, kinds_said[at].is_persons ? question_decide
                                                                  : conversation_operation_step);
}
