/*
 * wait.c - calls that are parked until a person decides. A wait that ends in time gets `pending`
 * with the id, never a guess.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

static void unlink_waiter(struct active_ask *active, const struct waiter *waiter)
{
    struct waiter **at = &active->waiters;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* It waits for no person but for its reply, which is due. */
static void owe(struct engine *engine, struct waiter *waiter)
{
    engine->under_way += !waiter->is_owed;
    waiter->is_owed = true;
}

static void free_waiter(struct engine *engine, struct waiter *waiter)
{
    alarm_clear(&engine->alarms, &waiter->alarm);
    engine->under_way -= waiter->is_owed;
    if (waiter->session_previous)
        waiter->session_previous->session_next = waiter->session_next;
    else
        waiter->session->waiters = waiter->session_next;
    if (waiter->session_next)
        waiter->session_next->session_previous = waiter->session_previous;
    session_release(waiter->session);
    if (waiter->round_trip)
        free(waiter->round_trip->lacks);
    free(waiter->round_trip);
    pool_free(waiter, sizeof *waiter);
}

static void end_wait(struct engine *engine, struct waiter *waiter)
{
    struct active_ask *active = waiter->active;

    unlink_waiter(active, waiter);
    free_waiter(engine, waiter);
    if (!active->waiters)
        detached_save(engine, active, true);
}

/* `is_seen` false: only the front reads it, so notices wait for a result that the agent sees. */
static void reply_row(const struct operation *operation, const struct store_row *row,
                      bool is_replayed, bool is_seen)
{
    struct text result = { 0 };
    struct reply reply = describe_result(operation->engine, row, NULL, NULL, is_replayed, &result);

    if (is_seen)
        notices_reply(operation_call(operation), &reply);
    else
        operation_reply(operation, &reply);
    text_release(&result);
}

static struct method_call waiter_call(struct engine *engine, const struct waiter *waiter)
{
    return (struct method_call){
        .engine = engine,
        .session = waiter->session,
        .done = waiter->done,
        .context = waiter->context,
    };
}

void wait_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct waiter *waiter =
        (struct waiter *)(void *)((char *)alarm - offsetof(struct waiter, alarm));
    struct active_ask *active = waiter->active;
    /* Decided but within its undo window: for the agent it is still pending. */
    struct store_row row = {
        .ask = { .tool = active->tool ? active->tool->name : NULL,
                 .state = state_is_open(active->state) ? active->state : STATE_PENDING,
                 .interface = active->interface,
                 .flags = active->flags },
    };
    struct operation *operation;
    bool resumes = waiter->resumes;

    if (!active->is_stored) { /* an id that may not survive a crash is not handed out yet */
        waiter->is_overdue = true;
        owe(engine, waiter);
        return;
    }
    operation = operation_new(sizeof *operation, waiter_call(engine, waiter));
    memcpy(operation->id, active->id, sizeof operation->id);
    end_wait(engine, waiter);
    memcpy(row.ask.id, active->id, sizeof row.ask.id);
    if (resumes && !ask_back_is_news(active))
        reply_row(operation, &row, false, false);
    else
        wait_reply_row(operation, &row, false);
    operation_end(operation);
}

void wait_tell_time(const struct engine *engine, const struct active_ask *active,
                    struct session *session)
{
    struct text line = { 0 };
    struct json_writer writer;

    if (!active->deadline.place)
        return;
    writer = event_begin(&line, "ask/retimed");
    json_write_text(&writer, "session_id", active->id);
    json_write_integer(&writer, "remaining_ms", active->deadline.boot_ms - engine_boot_ms(engine));
    event_end(&writer);
    if (session)
        session_send(session, line.bytes, line.used);
    for (struct waiter *waiter = session ? NULL : active->waiters; waiter; waiter = waiter->next)
        session_send(waiter->session, line.bytes, line.used);
    text_release(&line);
}

/* The agent's client gave up on a call: its wait ends now, as it would when its time is up. */
void ask_detach_method(struct method_call call)
{
    struct engine *engine = call.engine;
    struct operation *operation = operation_new(sizeof *operation, call);
    const char *id = json_member_text(call.params, "session_id");
    struct waiter *next;

    for (struct waiter *waiter = call.session->waiters; id && waiter; waiter = next) {
        next = waiter->session_next;
        if (waiter->done && strcmp(waiter->active->id, id) == 0) {
            alarm_clear(&engine->alarms, &waiter->alarm);
            wait_on_alarm(engine, &waiter->alarm);
        }
    }
    if (id)
        in_flight_return(engine, call.session, id); /* the client dropped it on its way */
    notices_repeat(call.session);
    operation_ok(operation, "{}");
}

void wait_stored(struct engine *engine, struct active_ask *active)
{
    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->is_overdue)
            alarm_set(&engine->alarms, &waiter->alarm, engine_boot_ms(engine));
    }
}

void wait_bound_session(struct engine *engine, struct session *session)
{
    for (struct waiter *waiter = session->waiters; waiter; waiter = waiter->session_next) {
        int64_t wait_ms = client_timeout_bound_ms(session, waiter->wait_ms);

        if (!waiter->done || wait_ms == waiter->wait_ms)
            continue;
        waiter->wait_ms = wait_ms;
        alarm_in(engine, &waiter->alarm, wait_ms);
    }
    time_arm(engine);
}

void wait_add(struct method_call call, struct active_ask *active, const struct wait_terms *terms)
{
    struct engine *engine = call.engine;
    struct session *session = call.session;
    struct waiter *waiter = pool_new(sizeof *waiter);
    bool was_detached = active->flags & ASK_DETACHED;
    /* Again: what is known of the client's patience may have come after its call. */
    int64_t wait_ms = client_timeout_bound_ms(session, terms->wait_ms);

    waiter->active = active;
    waiter->session = session;
    waiter->resumes = terms->resumes;
    waiter->done = call.done;
    waiter->context = call.context;
    waiter->wait_ms = wait_ms;
    waiter->client = terms->client;
    if (terms->round_trip.number > 0 || terms->round_trip.is_bad) {
        waiter->round_trip = mem_new(sizeof *waiter->round_trip);
        *waiter->round_trip = terms->round_trip;
    }
    waiter->alarm.kind = ALARM_WAIT;
    session->references++;
    waiter->next = active->waiters;
    active->waiters = waiter;
    waiter->session_next = session->waiters;
    if (waiter->session_next)
        waiter->session_next->session_previous = waiter;
    session->waiters = waiter;
    if (wait_ms == 0)
        owe(engine, waiter);
    if (wait_ms >= 0)
        alarm_in(engine, &waiter->alarm, wait_ms);
    if (was_detached)
        detached_save(engine, active, false);
}

void wait_turn_silent(struct engine *engine, struct waiter *waiter, const char *json)
{
    struct reply reply = { .json = json, .kind = REPLY_INPUT, .session_id = waiter->active->id };
    reply_done *done = waiter->done;
    void *context = waiter->context;

    alarm_clear(&engine->alarms, &waiter->alarm);
    engine->under_way -= waiter->is_owed;
    waiter->is_owed = false;
    waiter->done = NULL;
    if (!waiter->session->is_gone)
        done(context, &reply);
}

/* `session` NULL: whosever. */
void wait_end_silent(struct engine *engine, struct active_ask *active,
                     const struct session *session)
{
    for (struct waiter **at = &active->waiters; *at;) {
        struct waiter *waiter = *at;

        if (waiter->done || (session && waiter->session != session)) {
            at = &waiter->next;
        } else {
            *at = waiter->next;
            free_waiter(engine, waiter);
        }
    }
}

/* Who is told may leave, so it waits no more when it is told. */
static void reply_to(struct engine *engine, struct waiter *waiter, const struct reply *reply)
{
    const struct method_call call = waiter_call(engine, waiter);

    call.session->references++;
    unlink_waiter(waiter->active, waiter);
    free_waiter(engine, waiter);
    notices_reply(call, reply);
    session_release(call.session);
}

static void wait_reply_all(struct engine *engine, struct active_ask *active,
                           const struct reply *reply)
{
    while (active->waiters)
        reply_to(engine, active->waiters, reply);
}

void wait_fail(struct engine *engine, struct active_ask *active, const struct error *err)
{
    struct reply reply = { .err = *err };

    wait_reply_all(engine, active, &reply);
}

void wait_fail_session(struct engine *engine, struct active_ask *active,
                       const struct session *session, const struct error *err)
{
    struct waiter *next;

    for (struct waiter *waiter = active->waiters; waiter; waiter = next) {
        struct operation *operation;

        next = waiter->next;
        if (waiter->session != session)
            continue;
        operation = operation_new(sizeof *operation, waiter_call(engine, waiter));
        end_wait(engine, waiter);
        operation_fail(operation, err, NULL);
        next = active->waiters; /* who is told may leave, and its other waits with it */
    }
}

void wait_drop_session(struct engine *engine, struct session *session)
{
    for (struct waiter *waiter = session->waiters, *next; waiter; waiter = next) {
        next = waiter->session_next;
        end_wait(engine, waiter);
    }
}

bool wait_tell_open(struct engine *engine, struct active_ask *active, const struct reply *reply)
{
    struct waiter *waiter = active->waiters;
    bool is_told = false;

    while (waiter) {
        if (!waiter->done) {
            waiter = waiter->next;
            continue;
        }
        is_told = is_told || !waiter->session->is_gone;
        reply_to(engine, waiter, reply);
        waiter = active->waiters; /* from the start: others may have left too */
    }
    if (!active->waiters && is_told)
        detached_save(engine, active, true);
    return is_told;
}

void wait_forget_session(struct engine *engine, struct session *session)
{
    while (session->waiters) {
        unlink_waiter(session->waiters->active, session->waiters);
        free_waiter(engine, session->waiters);
    }
}

void wait_move(struct engine *engine, struct active_ask *active, const char *id)
{
    while (active->waiters) {
        struct waiter *waiter = active->waiters;
        const struct method_call call = waiter_call(engine, waiter);
        struct wait_terms terms = { .wait_ms = waiter->wait_ms,
                                    .resumes = waiter->resumes,
                                    .client = waiter->client };

        if (waiter->round_trip)
            terms.round_trip = *waiter->round_trip;
        terms.round_trip.lacks = NULL; /* its form is not shown for that ask */
        active->waiters = waiter->next;
        call.session->references++;
        free_waiter(engine, waiter);
        if (call.done)
            wait_begin(call, id, &terms);
        session_release(call.session);
    }
}

/* Who comes for an ask that was asked before: it waits on, or gets how it ended, or how it can be
 * opened. */

void wait_reply_row(const struct operation *operation, const struct store_row *row,
                    bool is_replayed)
{
    if (state_is_open(row->ask.state) && row->ask.flags & ASK_ASKED_BACK)
        ask_back_reply(operation, row);
    else
        reply_row(operation, row, is_replayed, true);
}

struct wait_operation {
    struct operation operation; /* first */
    struct wait_terms terms;
};

static void on_wait_row(void *context, const struct store_reply *reply)
{
    struct wait_operation *wait = context;
    struct operation *operation = &wait->operation;
    struct active_ask *active = active_find(operation->engine, operation->id);
    struct store_row row;

    /* Unknown, someone else's, or removed: one same answer (R2.4). */
    if (operation_fails(operation, reply))
        return;
    if (reply->outcome != STORE_DONE ||
        (strcmp(reply->row->ask.principal, operation->session->principal) != 0 &&
         !DELIBERATE_FAULT(crossed_principal))) {
        operation_say(operation, ERROR_not_found, "/session_id", TEXT_REASON_NOT_YOURS, NULL);
        return;
    }
    if (follow_is_shared(operation->engine)) {
        follow_row(operation->engine, reply->row); /* what another hub did a moment ago */
        active = active_find(operation->engine, operation->id);
    }
    if (active && active->is_stored && state_is_open(active->state) && wait->terms.wants_launch &&
        launch_is_usable(operation->engine)) {
        launch_renew(operation_call(operation), active);
        operation_end(operation);
        return;
    }
    if (active && active->is_stored && wait->terms.wait_ms != 0 && !ask_back_is_news(active)) {
        if (state_is_open(active->state))
            wait_tell_time(operation->engine, active, operation->session);
        wait_add(operation_call(operation), active, &wait->terms);
        client_offer(operation->engine, active, reply->row->ask.form_json);
        operation_end(operation);
        return;
    }
    row = *reply->row;
    if (wait->terms.wants_launch && !launch_is_usable(operation->engine))
        row.ask.flags |= ASK_INTERFACE_UNAVAILABLE;
    if (active && !state_is_open(row.ask.state) &&
        (!follow_is_shared(operation->engine) ||
         follow_is_held_back(operation->engine, &row.ask))) {
        /* Within the undo window the answer is not the agent's yet; nor, with a store of our own,
         * where it has just been committed and the effects are still to come. */
        row.ask.state = STATE_PENDING;
        row.answer_json = row.actor_json = NULL;
    }
    if (wait->terms.resumes && state_is_open(row.ask.state) &&
        !(active && ask_back_is_news(active)))
        reply_row(operation, &row, false, false);
    else
        wait_reply_row(operation, &row, wait->terms.is_retried && row.ask.delivered_ms > 0);
    operation_end(operation);
}

void wait_begin(struct method_call call, const char *id, const struct wait_terms *terms)
{
    struct wait_operation *wait = operation_new(sizeof *wait, call);

    memcpy(wait->operation.id, id, sizeof wait->operation.id);
    wait->terms = *terms;
    operation_get(&wait->operation, on_wait_row);
}

void ask_wait_method(struct method_call call)
{
    const char *id = json_member_text(call.params, "session_id");
    int64_t wait_s = json_member_integer(call.params, "wait_seconds", 30);
    struct wait_terms terms = {
        .resumes = json_is_true(json_member(call.params, "comes_back")),
        .client = client_read(call.params),
        .wants_launch =
            interface_find(json_member_text(call.params, "interface")) == INTERFACE_TERMINAL,
    };
    struct error err;

    /* -1: until it is over; a front bounds what agents may ask for (R2.4). */
    if (!id || !ask_id_is_valid(id)) {
        error_set(&err, id ? ERROR_bad_format : ERROR_missing_property, "/session_id",
                  "session_id must be the %d characters an earlier call returned", LIMIT_ID_CHARS);
    } else if (wait_s < -1 || wait_s > LIMIT_TIMEOUT_S) {
        error_set(&err, ERROR_out_of_range, "/wait_seconds", "wait_seconds must be 0 to %d",
                  LIMIT_WAIT_S);
    } else {
        terms.wait_ms = client_timeout_bound_ms(call.session, wait_s < 0 ? -1 : wait_s * 1000);
        if (json_member(call.params, "explanation"))
            ask_back_explain(call, &terms);
        else
            wait_begin(call, id, &terms);
        return;
    }
    operation_fail(operation_new(sizeof(struct operation), call), &err, NULL);
}

/* An ask is over: its result goes to all who wait for it, out of the decision that was just
 * committed, or as the store has it. */

static const int64_t FINISH_READ_AGAIN_MS = 500;

static void reply_result(struct engine *engine, struct active_ask *active,
                         const struct store_row *row, const struct form *form,
                         const struct known *known)
{
    struct text result = line_take(engine);
    struct reply reply = describe_result(engine, row, form, known, false, &result);

    wait_reply_all(engine, active, &reply);
    line_give(engine, &result);
}

static void on_finished_row(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct active_ask *active = active_find(operation->engine, operation->id);

    if (active && reply->outcome == STORE_DONE) {
        reply_result(operation->engine, active, reply->row, NULL, NULL);
    } else if (active && reply->outcome == STORE_MISSING) {
        /* Removed to make room: so soon that happens only to an ask without an answer (R9.1). */
        struct store_row row = active_row(active);

        reply_result(operation->engine, active, &row, NULL, NULL);
    } else if (active && follow_is_shared(operation->engine)) {
        /* It is decided and kept; who waits is told once the store is there again. */
        alarm_in(operation->engine, &active->deadline, FINISH_READ_AGAIN_MS);
        active = NULL;
    } else if (active) {
        wait_fail(operation->engine, active, &reply->err);
        notices_mark(operation->engine, active->principal);
    }
    if (active)
        active_free(operation->engine, active);
    operation_end(operation);
}

void wait_finish(struct engine *engine, struct active_ask *active,
                 const struct store_change *change, const struct known *known)
{
    const struct form *form = known && known->form ? known->form : active->form;

    wait_end_silent(engine, active, NULL); /* a client that comes back reads it from the store */
    if (!active->waiters) {
        notices_mark(engine, active->principal);
        active_free(engine, active); /* a call that comes later reads it from the store */
    } else if (change && form) {
        struct store_row row = active_row(active);

        row.answer_json = change->answer_json;
        row.actor_json = change->actor_json;
        row.ask.decided_ms = change->decided_ms;
        reply_result(engine, active, &row, form, known);
        active_free(engine, active);
    } else {
        operation_get(operation_of_ours(sizeof(struct operation), engine, active->id),
                      on_finished_row);
    }
}
