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

struct match active_match(const struct ask *ask)
{
    struct match match = { .has_key = ask->idempotency_key != NULL };

    match_of(ask->principal, "call", ask->digest, DIGEST_BYTES, match.call);
    if (match.has_key)
        match_of(ask->principal, "key", ask->idempotency_key, strlen(ask->idempotency_key),
                 match.key);
    return match;
}

const struct active_rare *active_rare(const struct active_ask *active)
{
    static const struct active_rare nothing;

    return active->rare ? active->rare : &nothing;
}

struct active_rare *active_need_rare(struct active_ask *active)
{
    if (!active->rare)
        active->rare = mem_new(sizeof *active->rare);
    return active->rare;
}

void active_set_version(struct active_ask *active, int64_t version)
{
    active->is_told = active->is_told && version == active->version;
    active->version = version;
}

struct submission *active_take_late(struct active_ask *active)
{
    struct submission *late = active_rare(active)->late;

    if (late)
        active->rare->late = NULL;
    return late;
}

void active_set_stored_times(struct active_ask *active, int64_t hold_used_ms, int64_t decided_ms)
{
    if (active->rare || hold_used_ms || decided_ms) {
        active_need_rare(active)->hold_used_ms = hold_used_ms;
        active->rare->decided_ms = decided_ms;
    }
}

static void count_open(struct engine *engine, const struct active_ask *active, int more)
{
    active->principal->open_count += (size_t)more;
    engine->open_count += (size_t)more;
}

static size_t active_bytes(size_t title_bytes)
{
    return offsetof(struct active_ask, title) + title_bytes + 1;
}

struct active_ask *active_new(struct engine *engine, const struct ask *ask,
                              const struct match *match, const struct asker *asker,
                              const char *agent)
{
    size_t title_bytes = ask->title ? strlen(ask->title) : 0;
    struct active_ask *active = pool_new(active_bytes(title_bytes));

    memcpy(active->id, ask->id, sizeof active->id);
    memcpy(active->call_match, match->call, MATCH_BYTES);
    if (title_bytes)
        memcpy(active->title, ask->title, title_bytes);
    active->state = (uint8_t)ask->state;
    active->interface = (uint8_t)ask->interface;
    active->flags = ask->flags;
    active->version = ask->version;
    active->created_ms = ask->created_ms;
    active->deadline_ms = ask->deadline_ms;
    active->original_ms = ask->original_ms;
    active_set_stored_times(active, ask->hold_used_ms, 0);
    active->tool = ask->tool ? ask_tool_find(ask->tool) : NULL;
    active->deadline.kind = ALARM_DEADLINE;
    active->principal = principal_get(engine, ask->principal);
    active->principal->active_count++;
    active->origin = origin_use(active->principal, ask->origin_json, agent, asker);
    table_insert(&engine->by_id, &active->by_id);
    table_insert(&engine->by_call, &active->by_call);
    if (match->has_key) {
        struct active_key *key = active_need_rare(active)->key = mem_new(sizeof *key);

        key->active = active;
        memcpy(key->key, match->key, MATCH_BYTES);
        table_insert(&engine->by_key, &key->link);
    }
    if (state_is_open(active->state))
        count_open(engine, active, 1);
    return active;
}

void active_set_state(struct engine *engine, struct active_ask *active, enum ask_state state)
{
    bool was_open = state_is_open(active->state), is_open = state_is_open(state);

    active->state = (uint8_t)state;
    if (was_open == is_open)
        return;
    count_open(engine, active, is_open ? 1 : -1);
    if (is_open)
        engine->counters.undone++;
    else
        count_ended(engine, active);
    index_later(engine);
}

struct activity *active_need_activity(struct active_ask *active)
{
    struct active_rare *rare = active_need_rare(active);

    if (!rare->activity) {
        rare->activity = mem_new(sizeof *rare->activity);
        rare->activity->active = active;
        rare->activity->draft_alarm.kind = ALARM_DRAFT;
    }
    return rare->activity;
}

void active_forget(struct engine *engine, struct active_ask *active)
{
    const struct active_rare *rare = active_rare(active);
    struct active_ask **dirty = &engine->dirty;

    while (active->is_dirty && *dirty && *dirty != active)
        dirty = &(*dirty)->next_dirty;
    if (active->is_dirty && *dirty)
        *dirty = active->next_dirty;
    alarm_clear(&engine->alarms, &active->deadline);
    if (rare->activity) {
        alarm_clear(&engine->alarms, &rare->activity->draft_alarm);
        free(rare->activity->draft);
        free(rare->activity);
    }
    table_remove(&engine->by_id, &active->by_id);
    table_remove(&engine->by_call, &active->by_call);
    if (rare->key)
        table_remove(&engine->by_key, &rare->key->link);
    free(rare->key);
    origin_release(active->principal, active->origin);
    active->principal->active_count--;
    if (state_is_open(active->state))
        count_open(engine, active, -1);
    launch_keep(engine, active, (const uint8_t[DIGEST_BYTES]){ 0 });
    free(active->rare);
    if (active->form) {
        form_release(active->form);
        free(active->form);
        engine->form_count--;
    }
    pool_free(active, active_bytes(strlen(active->title)));
}

void active_free(struct engine *engine, struct active_ask *active)
{
    if (state_is_decided_by_person(active->state))
        undelivered_add(engine, active->id, active->principal->id, active->call_match);
    if (active->is_dirty)
        publish(engine, active); /* watchers see how it ended before it leaves memory */
    own_asks_publish_over(engine, active);
    active_forget(engine, active);
}

void active_keep_form(struct engine *engine, struct active_ask *active, struct form *take_form,
                      size_t json_bytes)
{
    if (engine->form_count >= ACTIVE_FORMS || json_bytes > ACTIVE_FORM_BYTES)
        return;
    active->form = mem_new(sizeof *active->form);
    *active->form = *take_form;
    *take_form = (struct form){ 0 };
    engine->form_count++;
}

struct store_row active_row(const struct active_ask *active)
{
    struct store_row row = {
        .ask = { .tool = active->tool ? active->tool->name : NULL,
                 .title = active->title,
                 .origin_json = active->origin->json,
                 .state = active->state,
                 .interface = active->interface,
                 .flags = active->flags,
                 .version = active->version,
                 .created_ms = active->created_ms,
                 .hold_used_ms = active_rare(active)->hold_used_ms,
                 .decided_ms = active_rare(active)->decided_ms },
    };

    memcpy(row.ask.id, active->id, sizeof row.ask.id);
    memcpy(row.ask.principal, active->principal->id, sizeof row.ask.principal);
    return row;
}

struct table_link *id_find(const struct table *table, const char *id)
{
    char key[ASK_ID_BYTES] = "";

    memcpy(key, id, strnlen(id, sizeof key - 1));
    return table_find(table, key);
}

struct active_ask *active_find(const struct engine *engine, const char *id)
{
    struct table_link *link = id_find(&engine->by_id, id);

    return link ? TABLE_THING(active_ask, by_id, link) : NULL;
}

struct active_ask *active_each(const struct engine *engine, const struct active_ask *after)
{
    struct table_link *link = table_each(&engine->by_id, after ? &after->by_id : NULL);

    return link ? TABLE_THING(active_ask, by_id, link) : NULL;
}

/* Free to take: no call waits for it, or only one of this same connection (R5.5). */
static bool is_free_for(const struct active_ask *active, const struct session *session)
{
    for (const struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->session != session)
            return false;
    }
    return true;
}

struct active_ask *active_find_match(const struct engine *engine, const struct match *match,
                                     const struct session *session)
{
    /* a new key says: a new ask, whatever its words */
    const struct table *table = match->has_key ? &engine->by_key : &engine->by_call;
    struct table_link *link = table_find(table, match->has_key ? match->key : match->call);

    for (; link && !DELIBERATE_FAULT(asked_twice); link = table_find_next(table, link)) {
        struct active_ask *active = match->has_key ? TABLE_THING(active_key, link, link)->active
                                                   : TABLE_THING(active_ask, by_call, link);

        if (is_free_for(active, session))
            return active;
    }
    return NULL;
}

void active_mark_dirty(struct engine *engine, struct active_ask *active)
{
    if (active->is_dirty)
        return;
    active->is_dirty = true;
    active->next_dirty = engine->dirty;
    engine->dirty = active;
}

/* Names are the agents' to invent: those of the past are forgotten once there are many. */
static void forget_principals(struct engine *engine)
{
    int64_t now_s = engine_boot_ms(engine) / 1000;
    struct table_link *next, *link = table_each(&engine->principals, NULL);

    for (; link; link = next) {
        struct principal *principal = TABLE_THING(principal, link, link);

        next = table_each(&engine->principals, link);
        if (principal->active_count == 0 && now_s - principal->slot_s > RATE_SLOTS) {
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
