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
    struct delivered_errand *by;
};

struct repeat {
    struct repeat *next;
    struct delivered_errand *by;
};

struct delivered_errand {
    struct errand errand; /* first */
    struct delivering *results;
    size_t count;
    size_t waits_for; /* writes: its own, and those of what it repeats */
    struct error err; /* of one of these */
    struct repeat *repeats;
    bool is_unsure; /* some of them may not be this agent's */
    struct delivered_errand *next_unsure;
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

static void delivered_drop(struct errand *errand)
{
    struct delivered_errand *delivered = (struct delivered_errand *)errand;

    while (delivered->count > 0)
        table_remove(&errand->engine->delivering, &delivered->results[--delivered->count].link);
    free(delivered->results);
    delivered->results = NULL;
}

static void end_one(struct delivered_errand *delivered, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        delivered->err = reply->err;
    if (--delivered->waits_for > 0)
        return;
    if (delivered->err.code != ERROR_NONE)
        errand_fail(&delivered->errand, &delivered->err, NULL);
    else
        errand_ok(&delivered->errand, "{}");
}

static void save(struct delivered_errand *delivered);

static void on_delivered(void *context, const struct store_reply *reply)
{
    struct delivered_errand *delivered = context;
    struct engine *engine = delivered->errand.engine;

    delivered_drop(&delivered->errand); /* later calls are no repeats of it */
    if (delivered->is_unsure) {
        engine->unsure = delivered->next_unsure;
        if (engine->unsure)
            save(engine->unsure); /* before the reply: who gets it may confirm more */
    }
    if (reply->outcome == STORE_FAILED)
        engine->forgets_undelivered = true; /* which ones they were */
    for (struct repeat *repeat = delivered->repeats, *next; repeat; repeat = next) {
        next = repeat->next;
        end_one(repeat->by, reply);
        free(repeat);
    }
    end_one(delivered, reply);
}

static void save(struct delivered_errand *delivered)
{
    struct engine *engine = delivered->errand.engine;
    struct store_change change =
        effects_change(engine, delivered->results[0].id, EVENT_DELIVERED, NULL, NULL);
    struct text others = { 0 };

    for (size_t i = 1; i < delivered->count; i++)
        text_add_format(&others, " %s", delivered->results[i].id);
    change.principal = delivered->errand.session->principal;
    change.more_ids = others.used ? others.bytes : NULL;
    change.delivered_ms = change.now_ms;
    store_write_change(engine->parts.store, &change, on_delivered, delivered);
    text_release(&others);
}

/* Its turn comes after those that are unsure too. */
static void save_in_turn(struct delivered_errand *delivered)
{
    struct engine *engine = delivered->errand.engine;

    if (engine->unsure) {
        engine->last_unsure->next_unsure = delivered;
        engine->last_unsure = delivered;
    } else {
        engine->unsure = engine->last_unsure = delivered;
        save(delivered);
    }
}

static void repeat(struct delivered_errand *first, struct delivered_errand *again)
{
    struct repeat *repeat;

    if (first == again || (first->repeats && first->repeats->by == again))
        return;
    repeat = mem_new(sizeof *repeat);
    *repeat = (struct repeat){ first->repeats, again };
    first->repeats = repeat;
    again->waits_for++;
}

static void take_ids(struct delivered_errand *delivered, const struct json *ids)
{
    struct engine *engine = delivered->errand.engine;
    const char *principal = delivered->errand.session->principal;
    bool knows_all = !engine->forgets_undelivered && !follow_is_shared(engine);

    delivered->results = mem_new((json_length(ids) + 1) * sizeof *delivered->results);
    for (size_t i = 0; i < json_length(ids); i++) {
        struct delivering *result = &delivered->results[delivered->count];
        const char *id = json_text(json_item(ids, i));
        const struct delivering *first;
        bool was_handed, is_known;

        if (!id || !ask_id_is_valid(id))
            continue;
        was_handed = handed_confirm(engine, principal, id);
        is_known = undelivered_remove(engine, id, principal) || was_handed;
        first = is_known ? NULL : find_delivering(engine, id);
        if (first && strcmp(first->by->errand.session->principal, principal) == 0) {
            repeat(first->by, delivered);
            continue;
        }
        if (!is_known && knows_all)
            continue;
        delivered->is_unsure = delivered->is_unsure || !is_known;
        memcpy(result->id, id, LIMIT_ID_CHARS);
        result->by = delivered;
        table_insert(&engine->delivering, &result->link);
        delivered->count++;
    }
}

void ask_delivered_method(struct method_call call)
{
    struct delivered_errand *delivered = errand_new(sizeof *delivered, call);
    const struct json *ids = json_member(call.params, "session_ids");

    delivered->errand.drop = delivered_drop;
    notices_heard(call.engine, call.session, json_member(call.params, "with_notices"));
    if (json_kind(ids) != KIND_LIST)
        ids = NULL;
    if (json_length(ids) > LIMIT_DELIVERED) {
        errand_refuse(&delivered->errand, ERROR_out_of_range, "/session_ids",
                      "session_ids holds at most %d ids: send the others in another call",
                      LIMIT_DELIVERED);
        return;
    }
    take_ids(delivered, ids);
    if (delivered->waits_for == 0 &&
        (delivered->count == 0 || DELIBERATE_FAULT(confirmation_lost))) {
        errand_ok(&delivered->errand, "{}");
        return;
    }
    delivered->waits_for += delivered->count > 0;
    errand_begin_write(&delivered->errand);
    if (delivered->is_unsure)
        save_in_turn(delivered);
    else if (delivered->count > 0)
        save(delivered);
}

/* Results that an agent's side was given and has not confirmed yet. Until it is dropped such a
 * result is given to no other call, also not to one of the same connection: the agent may have it,
 * so the identical call is a new ask (R5.5). It is no late answer either. It is returned when the
 * connection ends, or when its client gave up on the call. The newest returned ones are remembered:
 * their agent may confirm them on its next connection. */

enum { HANDED_MOST = 1024 }; /* a session that confirms nothing is not kept account of for ever */

struct handed {
    struct table_link link;
    char id[ASK_ID_BYTES], principal[PRINCIPAL_BYTES];
    struct session *session;        /* NULL: it was returned */
    struct handed *next, *previous; /* of the same session */
    struct handed **place;          /* of one that was returned, in the engine's ring */
};

static struct handed *find_next(const struct engine *engine, const char *id,
                                const struct handed *after)
{
    struct table_link *link =
        after ? table_find_next(&engine->handed, &after->link) : id_find(&engine->handed, id);

    return link ? TABLE_THING(handed, link, link) : NULL;
}

/* `session` is NULL for one that was returned. */
static struct handed *find_at(const struct engine *engine, const char *id, const char *principal,
                              const struct session *session)
{
    struct handed *handed = NULL;

    while ((handed = find_next(engine, id, handed))) {
        if (handed->session == session && strcmp(handed->principal, principal) == 0)
            break;
    }
    return handed;
}

static void leave_session(struct handed *handed)
{
    LIST_REMOVE(handed->session->handed, handed);
    handed->session->handed_count--;
    handed->session = NULL;
}

static void drop(struct engine *engine, struct handed *handed)
{
    if (!handed)
        return;
    table_remove(&engine->handed, &handed->link);
    if (handed->session)
        leave_session(handed);
    else
        *handed->place = NULL;
    spare_free(handed, sizeof *handed);
}

/* Once for each agent, so that one result does not push out the others. */
static void keep_returned(struct engine *engine, struct handed *handed)
{
    if (find_at(engine, handed->id, handed->principal, NULL)) {
        drop(engine, handed);
        return;
    }
    leave_session(handed);
    handed->place = &engine->returned[engine->returned_count++ % HANDED_RETURNED];
    drop(engine, *handed->place);
    *handed->place = handed;
}

static void handed_add(struct engine *engine, struct session *session, const char *id)
{
    struct handed *handed;

    if (session->handed_count >= HANDED_MOST || find_at(engine, id, session->principal, session))
        return;
    handed = spare_new(sizeof *handed);
    memset(handed, 0, sizeof *handed);
    memcpy(handed->id, id, strnlen(id, sizeof handed->id - 1));
    memcpy(handed->principal, session->principal, sizeof handed->principal);
    handed->session = session;
    LIST_ADD(session->handed, handed);
    session->handed_count++;
    table_insert(&engine->handed, &handed->link);
}

bool handed_is_out(const struct engine *engine, const char *id)
{
    struct handed *handed = find_next(engine, id, NULL);

    while (handed && !handed->session)
        handed = find_next(engine, id, handed);
    return handed;
}

bool handed_confirm(struct engine *engine, const char *principal, const char *id)
{
    struct handed *next, *handed = find_next(engine, id, NULL);
    bool was_handed = false;

    for (; handed; handed = next) {
        next = find_next(engine, id, handed);
        if (strcmp(handed->principal, principal) == 0) {
            drop(engine, handed);
            was_handed = true;
        }
    }
    return was_handed;
}

void handed_return(struct engine *engine, struct session *session, const char *id)
{
    struct handed *handed = find_at(engine, id, session->principal, session);

    if (handed) {
        keep_returned(engine, handed);
        notices_mark(engine, principal_get(engine, session->principal));
    }
}

void handed_return_all(struct engine *engine, struct session *session)
{
    if (!session->handed)
        return;
    while (session->handed)
        keep_returned(engine, session->handed);
    notices_mark(engine, principal_get(engine, session->principal));
}

/* Answers that no agent has confirmed, known by heart, so that a new call need not ask the store
 * for one that is its own (R5.5). Only a filter: the store says what is so. When they become too
 * many to know, or other hubs share the store, every call asks. */

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
    new = spare_new(sizeof *new);
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
    spare_free(known, sizeof *known);
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
    return engine->forgets_undelivered || follow_is_shared(engine) ||
           (has_key && engine->undelivered.count > 0) || undelivered_knows(engine, call_match);
}

void delivery_init(struct engine *engine)
{
    engine->delivering = TABLE_OF(delivering, link, id);
    engine->handed = TABLE_OF(handed, link, id);
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
    for (size_t i = 0; i < HANDED_RETURNED; i++)
        drop(engine, engine->returned[i]);
    table_release(&engine->undelivered);
    table_release(&engine->undelivered_calls);
    table_release(&engine->handed);
    table_release(&engine->delivering);
}

/* A late answer, decided while nobody waited for it, is announced in the results of its principal's
 * next calls (R5.7): once on each connection, until it is collected. The store is asked only when
 * there may be something new for that connection.
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
    struct errand errand; /* first; its id is the ask's whose result it is */
    struct text result;
    enum reply_kind kind;
    int64_t late_count;
    struct notice notices[NOTICES_MOST]; /* texts owned */
    size_t count, more;
};

static void announcement_drop(struct errand *errand)
{
    struct due_notices *announcement = (struct due_notices *)errand;

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
    store_write_change(engine->parts.store, &change, errand_forget, errand_to_write(engine));
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

/* Neither on its way to somebody, nor within its undo window, nor told before. What is no answer
 * can go along with the result of its own ask. */
static bool is_news(const struct due_notices *announcement, const struct ask *ask)
{
    const struct engine *engine = announcement->errand.engine;
    const char *id = ask->id;

    if (is_announced(announcement->errand.session, id))
        return false;
    return ask->state == STATE_TIMEOUT ||
           (strcmp(announcement->errand.id, id) != 0 && !live_find(engine, id) &&
            !handed_is_out(engine, id) && !wait_is_delivering(engine, id));
}

static void send(struct due_notices *announcement)
{
    struct session *session = announcement->errand.session;
    struct reply reply = { .session_id = announcement->errand.id, .kind = announcement->kind };

    for (size_t i = 0; i < announcement->count; i++)
        remember(session, &announcement->notices[i], announcement->errand.id);
    if (announcement->more == 0)
        session->late_seen = announcement->late_count;
    notices_add(announcement->notices, announcement->count, announcement->more,
                &announcement->result);
    reply.json = text_string(&announcement->result);
    errand_reply(&announcement->errand, &reply);
    errand_end(&announcement->errand);
}

/* What could not be read is told of with the next result. */
static void on_late(void *context, const struct store_row *row, const struct error *err)
{
    struct due_notices *announcement = context;

    if (err)
        announcement->late_count = announcement->errand.session->late_seen;
    if (!row) {
        send(announcement);
    } else if (is_news(announcement, &row->ask)) {
        if (announcement->count < NOTICES_MOST)
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
        handed_add(engine, session, reply->session_id);
    if (reply->err.code != ERROR_NONE || session->late_seen == late_count) {
        call.done(call.context, reply);
        return;
    }
    announcement = errand_new(sizeof *announcement, call);
    announcement->errand.drop = announcement_drop;
    memcpy(announcement->errand.id, reply->session_id, sizeof announcement->errand.id);
    text_add_text(&announcement->result, reply->json);
    announcement->kind = reply->kind;
    announcement->late_count = late_count;
    engine->parts.store->ops->list_undelivered(engine->parts.store, session->principal,
                                               NOTICES_LOOKED, on_late, announcement);
}
