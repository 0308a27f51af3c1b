/* active.c - the asks that are alive, found by id, by call and by key; limits per principal. */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/pool.h"
#include "core/fields/form.h"
#include "core/tools/arguments.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

static void match_of(const char *principal, const char *what, const void *bytes, size_t length,
                     uint8_t out[MATCH_BYTES])
{
    const struct hash_part parts[] = {
        { principal, strlen(principal) },
        { what, strlen(what) },
        { bytes, length },
    };
    uint8_t hash[HASH_BYTES];

    hash_parts(parts, ARRAY_LEN(parts), hash);
    memcpy(out, hash, MATCH_BYTES);
}

struct match live_match(const struct ask *ask)
{
    struct match match = { .has_key = ask->idempotency_key != NULL };

    match_of(ask->principal, "call", ask->digest, DIGEST_BYTES, match.call);
    if (match.has_key)
        match_of(ask->principal, "key", ask->idempotency_key, strlen(ask->idempotency_key),
                 match.key);
    return match;
}

const struct live_rare *live_rare(const struct live *live)
{
    static const struct live_rare nothing;

    return live->rare ? live->rare : &nothing;
}

struct live_rare *live_need_rare(struct live *live)
{
    if (!live->rare)
        live->rare = mem_new(sizeof *live->rare);
    return live->rare;
}

void live_set_version(struct live *live, int64_t version)
{
    live->is_told = live->is_told && version == live->version;
    live->version = version;
}

struct submission *live_take_late(struct live *live)
{
    struct submission *late = live_rare(live)->late;

    if (late)
        live->rare->late = NULL;
    return late;
}

void live_set_stored_times(struct live *live, int64_t hold_used_ms, int64_t decided_ms)
{
    if (live->rare || hold_used_ms || decided_ms) {
        live_need_rare(live)->hold_used_ms = hold_used_ms;
        live->rare->decided_ms = decided_ms;
    }
}

static void count_open(struct engine *engine, const struct live *live, int more)
{
    live->principal->open_count += (size_t)more;
    engine->open_count += (size_t)more;
}

static size_t live_bytes(size_t title_bytes)
{
    return offsetof(struct live, title) + title_bytes + 1;
}

struct live *live_new(struct engine *engine, const struct ask *ask, const struct match *match,
                      const struct asker *asker, const char *agent)
{
    size_t title_bytes = ask->title ? strlen(ask->title) : 0;
    struct live *live = pool_new(live_bytes(title_bytes));

    memcpy(live->id, ask->id, sizeof live->id);
    memcpy(live->call_match, match->call, MATCH_BYTES);
    if (title_bytes)
        memcpy(live->title, ask->title, title_bytes);
    live->state = (uint8_t)ask->state;
    live->interface = (uint8_t)ask->interface;
    live->flags = ask->flags;
    live->version = ask->version;
    live->created_ms = ask->created_ms;
    live->deadline_ms = ask->deadline_ms;
    live->original_ms = ask->original_ms;
    live_set_stored_times(live, ask->hold_used_ms, 0);
    live->tool = ask->tool ? ask_tool_find(ask->tool) : NULL;
    live->deadline.kind = ALARM_DEADLINE;
    live->principal = principal_get(engine, ask->principal);
    live->principal->live_count++;
    live->origin = origin_use(live->principal, ask->origin_json, agent, asker);
    table_insert(&engine->by_id, &live->by_id);
    table_insert(&engine->by_call, &live->by_call);
    if (match->has_key) {
        live->key = mem_new(sizeof *live->key);
        live->key->live = live;
        memcpy(live->key->key, match->key, MATCH_BYTES);
        table_insert(&engine->by_key, &live->key->link);
    }
    if (state_is_open(live->state))
        count_open(engine, live, 1);
    return live;
}

void live_set_state(struct engine *engine, struct live *live, enum ask_state state)
{
    bool was_open = state_is_open(live->state), is_open = state_is_open(state);

    live->state = (uint8_t)state;
    if (was_open == is_open)
        return;
    count_open(engine, live, is_open ? 1 : -1);
    if (is_open)
        engine->tally.undone++;
    else
        tally_ended(engine, live);
    index_later(engine);
}

struct attention *live_attend(struct live *live)
{
    if (!live->attention) {
        live->attention = mem_new(sizeof *live->attention);
        live->attention->live = live;
        live->attention->draft_alarm.kind = ALARM_DRAFT;
    }
    return live->attention;
}

void live_forget(struct engine *engine, struct live *live)
{
    struct live **dirty = &engine->dirty;

    while (live->is_dirty && *dirty && *dirty != live)
        dirty = &(*dirty)->next_dirty;
    if (live->is_dirty && *dirty)
        *dirty = live->next_dirty;
    alarm_clear(&engine->alarms, &live->deadline);
    if (live->attention) {
        alarm_clear(&engine->alarms, &live->attention->draft_alarm);
        free(live->attention->draft);
        free(live->attention);
    }
    table_remove(&engine->by_id, &live->by_id);
    table_remove(&engine->by_call, &live->by_call);
    if (live->key)
        table_remove(&engine->by_key, &live->key->link);
    free(live->key);
    origin_release(live->principal, live->origin);
    live->principal->live_count--;
    if (state_is_open(live->state))
        count_open(engine, live, -1);
    launch_keep(engine, live, (const uint8_t[DIGEST_BYTES]){ 0 });
    free(live->rare);
    if (live->form) {
        form_release(live->form);
        free(live->form);
        engine->form_count--;
    }
    pool_free(live, live_bytes(strlen(live->title)));
}

void live_free(struct engine *engine, struct live *live)
{
    if (state_is_decided_by_person(live->state))
        undelivered_add(engine, live->id, live->principal->id, live->call_match);
    if (live->is_dirty)
        publish(engine, live); /* watchers see how it ended before it leaves memory */
    mine_publish_over(engine, live);
    live_forget(engine, live);
}

void live_keep_form(struct engine *engine, struct live *live, struct form *take_form,
                    size_t json_bytes)
{
    if (engine->form_count >= LIVE_FORMS || json_bytes > LIVE_FORM_BYTES)
        return;
    live->form = mem_new(sizeof *live->form);
    *live->form = *take_form;
    *take_form = (struct form){ 0 };
    engine->form_count++;
}

struct store_row live_row(const struct live *live)
{
    struct store_row row = {
        .ask = { .tool = live->tool ? live->tool->name : NULL,
                 .title = live->title,
                 .origin_json = live->origin->json,
                 .state = live->state,
                 .interface = live->interface,
                 .flags = live->flags,
                 .version = live->version,
                 .created_ms = live->created_ms,
                 .hold_used_ms = live_rare(live)->hold_used_ms,
                 .decided_ms = live_rare(live)->decided_ms },
    };

    memcpy(row.ask.id, live->id, sizeof row.ask.id);
    memcpy(row.ask.principal, live->principal->id, sizeof row.ask.principal);
    return row;
}

struct table_link *id_find(const struct table *table, const char *id)
{
    char key[ASK_ID_BYTES] = "";

    memcpy(key, id, strnlen(id, sizeof key - 1));
    return table_find(table, key);
}

struct live *live_find(const struct engine *engine, const char *id)
{
    struct table_link *link = id_find(&engine->by_id, id);

    return link ? TABLE_THING(live, by_id, link) : NULL;
}

struct live *live_each(const struct engine *engine, const struct live *after)
{
    struct table_link *link = table_each(&engine->by_id, after ? &after->by_id : NULL);

    return link ? TABLE_THING(live, by_id, link) : NULL;
}

/* Free to take: nobody waits for it, or only this same connection does (R5.5). */
static bool is_free_for(const struct live *live, const struct session *session)
{
    for (const struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->session != session)
            return false;
    }
    return true;
}

struct live *live_find_match(const struct engine *engine, const struct match *match,
                             const struct session *session)
{
    /* a new key says: a new ask, whatever its words */
    const struct table *table = match->has_key ? &engine->by_key : &engine->by_call;
    struct table_link *link = table_find(table, match->has_key ? match->key : match->call);

    for (; link && !DELIBERATE_FAULT(asked_twice); link = table_find_next(table, link)) {
        struct live *live = match->has_key ? TABLE_THING(live_key, link, link)->live
                                           : TABLE_THING(live, by_call, link);

        if (is_free_for(live, session))
            return live;
    }
    return NULL;
}

void live_mark_dirty(struct engine *engine, struct live *live)
{
    if (live->is_dirty)
        return;
    live->is_dirty = true;
    live->next_dirty = engine->dirty;
    engine->dirty = live;
}

/* Names are the agents' to invent: those of the past are forgotten once there are many. */
static void forget_principals(struct engine *engine)
{
    int64_t now_s = engine_boot_ms(engine) / 1000;
    struct table_link *next, *link = table_each(&engine->principals, NULL);

    for (; link; link = next) {
        struct principal *principal = TABLE_THING(principal, link, link);

        next = table_each(&engine->principals, link);
        if (principal->live_count == 0 && now_s - principal->slot_s > RATE_SLOTS) {
            table_remove(&engine->principals, link);
            free(principal);
        }
    }
}

struct principal *principal_get(struct engine *engine, const char *id)
{
    char key[PRINCIPAL_BYTES] = "";
    struct table_link *link;
    struct principal *principal;

    memcpy(key, id, strnlen(id, sizeof key - 1));
    link = table_find(&engine->principals, key);
    if (link)
        return TABLE_THING(principal, link, link);
    if (engine->principals.count >= PRINCIPALS_KEPT &&
        engine->principals.count % PRINCIPALS_KEPT == 0)
        forget_principals(engine);
    principal = mem_new(sizeof *principal);
    memcpy(principal->id, key, sizeof principal->id);
    principal->slot_s = engine_boot_ms(engine) / 1000;
    notices_mark(engine, principal); /* of what is in the store nothing is known yet */
    table_insert(&engine->principals, &principal->link);
    return principal;
}

/* Empties the slots of the seconds that went by since the last look. */
static void turn_slots(struct principal *principal, int64_t now_s)
{
    int64_t passed = now_s - principal->slot_s;

    for (int64_t i = 1; i <= passed && i <= RATE_SLOTS; i++)
        principal->slots[(principal->slot_s + i) % RATE_SLOTS] = 0;
    if (passed > 0)
        principal->slot_s = now_s;
}

bool principal_admit(struct engine *engine, struct principal *principal, struct error *err)
{
    int64_t max_pending = engine_setting(engine, SETTING_MAX_PENDING);
    int64_t per_minute = engine_setting(engine, SETTING_ASKS_PER_MINUTE);
    int64_t now_s = engine_boot_ms(engine) / 1000;
    int64_t recent = 0, wait_s = 0;

    if ((int64_t)principal->open_count >= max_pending) {
        error_say(err, ERROR_rate_limited, "", TEXT_REASON_TOO_MANY_WAIT, "count",
                  TEXT_NUMBER(max_pending), NULL);
        err->retry_after_s = 15;
        return false;
    }
    turn_slots(principal, now_s);
    for (int age = 0; age < RATE_SLOTS; age++) {
        recent += principal->slots[(now_s + RATE_SLOTS - age) % RATE_SLOTS];
        if (recent >= per_minute) {
            wait_s = RATE_SLOTS - age;
            break;
        }
    }
    if (wait_s > 0) {
        error_say(err, ERROR_rate_limited, "", TEXT_REASON_TOO_MANY_A_MINUTE, "count",
                  TEXT_NUMBER(per_minute), "seconds", TEXT_NUMBER(wait_s), NULL);
        err->retry_after_s = wait_s;
        return false;
    }
    principal->slots[now_s % RATE_SLOTS]++;
    return true;
}
