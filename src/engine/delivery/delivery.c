/*
 * delivery.c - the agent's side says when it really has a result: until then the answer belongs to
 * its next identical call.
 *
 * Only what was given to this agent reaches the store, and only once: a repeat that arrives
 * before the first is stored is answered with it. What memory can't know (see below) is
 * looked up there, one call at a time, so that others write in between.
 */
#include "engine/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/limits.h"
#include "engine/state.h"

/* A result whose confirmation is on its way. */
struct delivering {
    struct table_link link;
    char id[ASK_ID_BYTES];
    struct confirm_operation *by;
};

struct repeat {
    struct repeat *next;
    struct confirm_operation *by;
};

struct confirm_operation {
    struct operation operation; /* first */
    struct delivering *results;
    size_t count;
    size_t waits_for; /* writes: its own, and those of what it repeats */
    struct error err; /* of one of these */
    struct repeat *repeats;
    bool is_unsure; /* some of them may not be this agent's */
    struct confirm_operation *next_unsure;
};

static struct delivering *find_delivering(const struct engine *engine, const char *id)
{
    struct table_link *link = id_find(&engine->delivering, id);

    return link ? TABLE_THING(delivering, link, link) : NULL;
}

bool wait_is_delivering(const struct engine *engine, const char *id)
{
    return find_delivering(engine, id);
}

static void confirm_drop(struct operation *operation)
{
    struct confirm_operation *confirm = (struct confirm_operation *)operation;

    while (confirm->count > 0)
        table_remove(&operation->engine->delivering, &confirm->results[--confirm->count].link);
    free(confirm->results);
    confirm->results = NULL;
}

static void end_one(struct confirm_operation *confirm, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        confirm->err = reply->err;
    if (--confirm->waits_for > 0)
        return;
    if (confirm->err.code != ERROR_NONE)
        operation_fail(&confirm->operation, &confirm->err, NULL);
    else
        operation_ok(&confirm->operation, "{}");
}

static void save(struct confirm_operation *confirm);

static void on_delivered(void *context, const struct store_reply *reply)
{
    struct confirm_operation *confirm = context;
    struct engine *engine = confirm->operation.engine;

    confirm_drop(&confirm->operation); /* later calls are no repeats of it */
    if (confirm->is_unsure) {
        engine->unsure = confirm->next_unsure;
        if (engine->unsure)
            save(engine->unsure); /* before the reply: who gets it may confirm more */
    }
    if (reply->outcome == STORE_FAILED)
        engine->forgets_undelivered = true; /* which ones they were */
    for (struct repeat *repeat = confirm->repeats, *next; repeat; repeat = next) {
        next = repeat->next;
        end_one(repeat->by, reply);
        free(repeat);
    }
    end_one(confirm, reply);
}

static void save(struct confirm_operation *confirm)
{
    struct engine *engine = confirm->operation.engine;
    struct store_change change =
        effects_change(engine, confirm->results[0].id, EVENT_DELIVERED, NULL, NULL);
    struct text others = { 0 };

    for (size_t i = 1; i < confirm->count; i++) {
        text_add_char(&others, ' ');
        text_add_text(&others, confirm->results[i].id);
    }
    change.principal = confirm->operation.session->principal;
    change.more_ids = others.used ? others.bytes : NULL;
    change.delivered_ms = change.now_ms;
    store_write_change(engine->parts.store, &change, on_delivered, confirm);
    text_release(&others);
}

/* Its turn comes after those that are unsure too. */
static void save_in_turn(struct confirm_operation *confirm)
{
    struct engine *engine = confirm->operation.engine;

    if (engine->unsure) {
        engine->last_unsure->next_unsure = confirm;
        engine->last_unsure = confirm;
    } else {
        engine->unsure = engine->last_unsure = confirm;
        save(confirm);
    }
}

static void repeat(struct confirm_operation *first, struct confirm_operation *again)
{
    struct repeat *repeat;

    if (first == again || (first->repeats && first->repeats->by == again))
        return;
    repeat = mem_new(sizeof *repeat);
    *repeat = (struct repeat){ first->repeats, again };
    first->repeats = repeat;
    again->waits_for++;
}

static void take_ids(struct confirm_operation *confirm, const struct json *ids)
{
    struct engine *engine = confirm->operation.engine;
    const char *principal = confirm->operation.session->principal;
    bool knows_all = !engine->forgets_undelivered && !follow_is_shared(engine);

    confirm->results = mem_new((json_length(ids) + 1) * sizeof *confirm->results);
    for (size_t i = 0; i < json_length(ids); i++) {
        struct delivering *result = &confirm->results[confirm->count];
        const char *id = json_text(json_item(ids, i));
        const struct delivering *first;
        bool was_in_flight, is_known;

        if (!id || !ask_id_is_valid(id))
            continue;
        was_in_flight = in_flight_confirm(engine, principal, id);
        is_known = undelivered_remove(engine, id, principal) || was_in_flight;
        first = is_known ? NULL : find_delivering(engine, id);
        if (first && strcmp(first->by->operation.session->principal, principal) == 0) {
            repeat(first->by, confirm);
            continue;
        }
        if (!is_known && knows_all)
            continue;
        confirm->is_unsure = confirm->is_unsure || !is_known;
        memcpy(result->id, id, LIMIT_ID_CHARS);
        result->by = confirm;
        table_insert(&engine->delivering, &result->link);
        confirm->count++;
    }
}

void ask_delivered_method(struct method_call call)
{
    struct confirm_operation *confirm = operation_new(sizeof *confirm, call);
    const struct json *ids = json_member(call.params, "session_ids");

    confirm->operation.drop = confirm_drop;
    notices_heard(call.engine, call.session, json_member(call.params, "with_notices"));
    if (json_kind(ids) != KIND_LIST)
        ids = NULL;
    if (json_length(ids) > LIMIT_DELIVERED) {
        operation_refuse(&confirm->operation, ERROR_out_of_range, "/session_ids",
                         "session_ids holds at most %d ids: send the others in another call",
                         LIMIT_DELIVERED);
        return;
    }
    take_ids(confirm, ids);
    if (confirm->waits_for == 0 && (confirm->count == 0 || DELIBERATE_FAULT(confirmation_lost))) {
        operation_ok(&confirm->operation, "{}");
        return;
    }
    confirm->waits_for += confirm->count > 0;
    operation_begin_write(&confirm->operation);
    if (confirm->is_unsure)
        save_in_turn(confirm);
    else if (confirm->count > 0)
        save(confirm);
}

/* Results that an agent's side was given and has not confirmed yet. Until it is dropped such a
 * result is given to no other call, also not to one of the same connection: the agent may have it,
 * so the identical call is a new ask (R5.5). It is no late answer either. It is returned when the
 * connection ends, or when its client gave up on the call. The newest returned ones are remembered:
 * their agent may confirm them on its next connection. */

enum { IN_FLIGHT_MAX = 1024 }; /* a session that confirms nothing is not kept account of for ever */

struct in_flight {
    struct table_link link;
    char id[ASK_ID_BYTES], principal[PRINCIPAL_BYTES];
    struct session *session;           /* NULL: it was returned */
    struct in_flight *next, *previous; /* of the same session */
    struct in_flight **place;          /* of one that was returned, in the engine's ring */
};

static struct in_flight *find_next(const struct engine *engine, const char *id,
                                   const struct in_flight *after)
{
    struct table_link *link =
        after ? table_find_next(&engine->in_flight, &after->link) : id_find(&engine->in_flight, id);

    return link ? TABLE_THING(in_flight, link, link) : NULL;
}

/* `session` is NULL for one that was returned. */
static struct in_flight *find_at(const struct engine *engine, const char *id, const char *principal,
                                 const struct session *session)
{
    struct in_flight *in_flight = NULL;

    while ((in_flight = find_next(engine, id, in_flight))) {
        if (in_flight->session == session && strcmp(in_flight->principal, principal) == 0)
            break;
    }
    return in_flight;
}

static void leave_session(struct in_flight *in_flight)
{
    LIST_REMOVE(in_flight->session->in_flight, in_flight);
    in_flight->session->in_flight_count--;
    in_flight->session = NULL;
}

static void drop(struct engine *engine, struct in_flight *in_flight)
{
    if (!in_flight)
        return;
    table_remove(&engine->in_flight, &in_flight->link);
    if (in_flight->session)
        leave_session(in_flight);
    else
        *in_flight->place = NULL;
    freelist_free(in_flight, sizeof *in_flight);
}

/* Once for each agent, so that one result does not push out the others. */
static void keep_returned(struct engine *engine, struct in_flight *in_flight)
{
    if (find_at(engine, in_flight->id, in_flight->principal, NULL)) {
        drop(engine, in_flight);
        return;
    }
    leave_session(in_flight);
    in_flight->place = &engine->returned[engine->returned_count++ % IN_FLIGHT_RETURNED];
    drop(engine, *in_flight->place);
    *in_flight->place = in_flight;
}

static void in_flight_add(struct engine *engine, struct session *session, const char *id)
{
    struct in_flight *in_flight;

    if (session->in_flight_count >= IN_FLIGHT_MAX ||
        find_at(engine, id, session->principal, session))
        return;
    in_flight = freelist_new(sizeof *in_flight);
    memset(in_flight, 0, sizeof *in_flight);
    memcpy(in_flight->id, id, strnlen(id, sizeof in_flight->id - 1));
    memcpy(in_flight->principal, session->principal, sizeof in_flight->principal);
    in_flight->session = session;
    LIST_ADD(session->in_flight, in_flight);
    session->in_flight_count++;
    table_insert(&engine->in_flight, &in_flight->link);
}

bool in_flight_has(const struct engine *engine, const char *id)
{
    struct in_flight *in_flight = find_next(engine, id, NULL);

    while (in_flight && !in_flight->session)
        in_flight = find_next(engine, id, in_flight);
    return in_flight;
}

bool in_flight_confirm(struct engine *engine, const char *principal, const char *id)
{
    struct in_flight *next, *in_flight = find_next(engine, id, NULL);
    bool was_in_flight = false;

    for (; in_flight; in_flight = next) {
        next = find_next(engine, id, in_flight);
        if (strcmp(in_flight->principal, principal) == 0) {
            drop(engine, in_flight);
            was_in_flight = true;
        }
    }
    return was_in_flight;
}

void in_flight_return(struct engine *engine, struct session *session, const char *id)
{
    struct in_flight *in_flight = find_at(engine, id, session->principal, session);

    if (in_flight) {
        keep_returned(engine, in_flight);
        notices_mark(engine, principal_get(engine, session->principal));
    }
}

void in_flight_return_all(struct engine *engine, struct session *session)
{
    if (!session->in_flight)
        return;
    while (session->in_flight)
        keep_returned(engine, session->in_flight);
    notices_mark(engine, principal_get(engine, session->principal));
}

/* Answers that no agent has confirmed, kept in memory, so that a new call need not ask the store
 * for one that is its own (R5.5). Only a filter: the store says what is so. When they become too
 * many to know, every call asks. One of another hub that is not known here is joined when it is
 * made once more (store_create). */

struct undelivered {
    struct table_link by_id, by_call;
    char id[ASK_ID_BYTES];
    char principal[PRINCIPAL_BYTES];
    uint8_t call_match[MATCH_BYTES];
};

static struct undelivered *find_undelivered(const struct engine *engine, const char *id)
{
    struct table_link *link = id_find(&engine->undelivered, id);

    return link ? TABLE_THING(undelivered, by_id, link) : NULL;
}

void undelivered_add(struct engine *engine, const char *id, const char *principal,
                     const uint8_t call_match[MATCH_BYTES])
{
    struct undelivered *new;

    if (engine->undelivered.count >= UNDELIVERED_KEPT)
        engine->forgets_undelivered = true;
    if (engine->forgets_undelivered || find_undelivered(engine, id))
        return;
    new = freelist_new(sizeof *new);
    memset(new, 0, sizeof *new);
    memcpy(new->id, id, strnlen(id, sizeof new->id - 1));
    memcpy(new->principal, principal, strnlen(principal, sizeof new->principal - 1));
    memcpy(new->call_match, call_match, sizeof new->call_match);
    table_insert(&engine->undelivered, &new->by_id);
    table_insert(&engine->undelivered_calls, &new->by_call);
}

static void forget(struct engine *engine, struct undelivered *known)
{
    table_remove(&engine->undelivered, &known->by_id);
    table_remove(&engine->undelivered_calls, &known->by_call);
    freelist_free(known, sizeof *known);
}

bool undelivered_remove(struct engine *engine, const char *id, const char *principal)
{
    struct undelivered *known = find_undelivered(engine, id);
    bool is_its_own = known && strcmp(known->principal, principal) == 0;

    if (is_its_own)
        forget(engine, known);
    return is_its_own;
}

bool undelivered_knows(const struct engine *engine, const uint8_t call_match[MATCH_BYTES])
{
    return table_find(&engine->undelivered_calls, call_match);
}

bool undelivered_may_match(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                           bool has_key)
{
    return engine->forgets_undelivered || (has_key && engine->undelivered.count > 0) ||
           undelivered_knows(engine, call_match);
}

void delivery_init(struct engine *engine)
{
    engine->delivering = TABLE_OF(delivering, link, id);
    engine->in_flight = TABLE_OF(in_flight, link, id);
    engine->undelivered = TABLE_OF(undelivered, by_id, id);
    engine->undelivered_calls = TABLE_OF(undelivered, by_call, call_match);
}

void delivery_release(struct engine *engine)
{
    struct table_link *next, *link = table_each(&engine->undelivered, NULL);

    for (; link; link = next) {
        next = table_each(&engine->undelivered, link);
        forget(engine, TABLE_THING(undelivered, by_id, link));
    }
    for (size_t i = 0; i < IN_FLIGHT_RETURNED; i++)
        drop(engine, engine->returned[i]);
    table_release(&engine->undelivered);
    table_release(&engine->undelivered_calls);
    table_release(&engine->in_flight);
    table_release(&engine->delivering);
}

/* A late answer, decided while no call waited for it, is announced in the results of its
 * principal's next calls (R5.7): once on each connection, until it is collected. The store is asked
 * only when there may be something new for that connection.
 *
 * What a person told the agent after a deadline (engine/ask/decide.c) goes along as it is. The
 * agent has heard it once its side confirms a result with the notices in it; else its next
 * connection is told again. */

enum { NOTICES_LOOKED = 64 }; /* the newest; what is older is found by its id */

/* What a connection was told of, and with the result of which ask. */
struct announced {
    char ids[NOTICES_LOOKED][ASK_ID_BYTES];
    char with[NOTICES_LOOKED][ASK_ID_BYTES]; /* "": there is nothing to be heard */
    size_t next;
};

/* A result on its way out, while the store is asked what else there is to tell. */
struct due_notices {
    struct operation operation; /* first; its id is the ask's whose result it is */
    struct text result;
    enum reply_kind kind;
    int64_t late_count;
    struct notice notices[NOTICES_MAX]; /* texts owned */
    size_t count, more;
};

static void announcement_drop(struct operation *operation)
{
    struct due_notices *announcement = (struct due_notices *)operation;

    for (size_t i = 0; i < announcement->count; i++) {
        free((char *)announcement->notices[i].session_id);
        free((char *)announcement->notices[i].title);
        free((char *)announcement->notices[i].told_json);
    }
    text_release(&announcement->result);
}

void notices_mark(struct engine *engine, struct principal *principal)
{
    principal->late_count = ++engine->late_count;
}

void notices_repeat(struct session *session)
{
    session->late_seen = 0;
    free(session->announced);
    session->announced = NULL;
}

static bool is_announced(const struct session *session, const char *id)
{
    for (size_t i = 0; session->announced && i < NOTICES_LOOKED; i++) {
        if (strcmp(session->announced->ids[i], id) == 0)
            return true;
    }
    return false;
}

static void remember(struct session *session, const struct notice *notice, const char *with)
{
    struct announced *announced = session->announced;
    size_t at;

    if (!announced)
        announced = session->announced = mem_new(sizeof *session->announced);
    at = announced->next;
    memcpy(announced->ids[at], notice->session_id, ASK_ID_BYTES);
    memcpy(announced->with[at], notice->told_json ? with : "",
           notice->told_json ? ASK_ID_BYTES : 1);
    announced->next = (at + 1) % NOTICES_LOOKED;
}

static void save_heard(struct engine *engine, const char *principal, const char *id)
{
    struct store_change change = effects_change(engine, id, EVENT_DELIVERED, NULL, NULL);

    change.from_states = state_bit(STATE_TIMEOUT);
    change.principal = principal;
    change.set_flags = ASK_HEARD;
    /* where it fails, the agent's next connection is told again */
    store_write_change(engine->parts.store, &change, operation_forget, operation_to_write(engine));
}

void notices_heard(struct engine *engine, struct session *session, const struct json *with)
{
    struct announced *announced = session->announced;

    for (size_t i = 0; announced && i < NOTICES_LOOKED; i++) {
        bool is_heard = false;

        for (size_t k = 0; announced->with[i][0] && k < json_length(with) && !is_heard; k++) {
            const char *id = json_text(json_item(with, k));

            is_heard = id && strcmp(id, announced->with[i]) == 0;
        }
        if (!is_heard)
            continue;
        announced->with[i][0] = '\0';
        save_heard(engine, session->principal, announced->ids[i]);
    }
}

/* Neither on its way to an agent, nor within its undo window, nor told before. What is no answer
 * can go along with the result of its own ask. */
static bool is_news(const struct due_notices *announcement, const struct ask *ask)
{
    const struct engine *engine = announcement->operation.engine;
    const char *id = ask->id;

    if (is_announced(announcement->operation.session, id))
        return false;
    return ask->state == STATE_TIMEOUT ||
           (strcmp(announcement->operation.id, id) != 0 && !active_find(engine, id) &&
            !in_flight_has(engine, id) && !wait_is_delivering(engine, id));
}

static void send(struct due_notices *announcement)
{
    struct session *session = announcement->operation.session;
    struct reply reply = { .session_id = announcement->operation.id, .kind = announcement->kind };

    for (size_t i = 0; i < announcement->count; i++)
        remember(session, &announcement->notices[i], announcement->operation.id);
    if (announcement->more == 0)
        session->late_seen = announcement->late_count;
    notices_add(announcement->notices, announcement->count, announcement->more,
                &announcement->result);
    reply.json = text_string(&announcement->result);
    operation_reply(&announcement->operation, &reply);
    operation_end(&announcement->operation);
}

/* What could not be read is told of with the next result. */
static void on_late(void *context, const struct store_row *row, const struct error *err)
{
    struct due_notices *announcement = context;

    if (err)
        announcement->late_count = announcement->operation.session->late_seen;
    if (!row) {
        send(announcement);
    } else if (is_news(announcement, &row->ask)) {
        if (announcement->count < NOTICES_MAX)
            announcement->notices[announcement->count++] = (struct notice){
                .session_id = mem_text(row->ask.id),
                .title = mem_text(row->ask.title),
                .state = row->ask.state,
                .decided_ms = row->ask.decided_ms,
                .told_json = mem_text(row->answer_json),
            };
        else
            announcement->more++;
    }
}

void notices_reply(struct method_call call, const struct reply *reply)
{
    struct engine *engine = call.engine;
    struct session *session = call.session;
    struct due_notices *announcement;
    int64_t late_count;

    if (session->is_gone || !call.done)
        return;
    late_count = principal_get(engine, session->principal)->late_count;
    if (reply->kind == REPLY_FINAL)
        in_flight_add(engine, session, reply->session_id);
    if (reply->err.code != ERROR_NONE || session->late_seen == late_count) {
        call.done(call.context, reply);
        return;
    }
    announcement = operation_new(sizeof *announcement, call);
    announcement->operation.drop = announcement_drop;
    memcpy(announcement->operation.id, reply->session_id, sizeof announcement->operation.id);
    text_add_text(&announcement->result, reply->json);
    announcement->kind = reply->kind;
    announcement->late_count = late_count;
    engine->parts.store->ops->list_undelivered(engine->parts.store, session->principal,
                                               NOTICES_LOOKED, on_late, announcement);
}
