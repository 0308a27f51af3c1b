/*
 * draft.c - what a person has typed so far: one per ask and person, last write wins, saved at most
 * once a second (R5.9). While somebody types the deadline stays 30 s away (R5.4).
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "engine/acts.h"
#include "engine/inside.h"
#include "engine/waits.h"
#include "i18n/i18n.h"

static const int64_t DRAFT_SAVE_EVERY_MS = 1000;
static const int64_t DRAFT_HOLD_MS = 30000;       /* never less than this while somebody types */
static const int64_t DRAFT_HOLD_MOST_MS = 600000; /* in all, per ask */
enum { DRAFT_MAX_BYTES = 2 * LIMIT_ANSWER_TEXT_BYTES };

static void on_saved(void *context, const struct store_reply *reply)
{
    (void)reply; /* the next keystroke saves again; the page keeps its own copy */
    errand_end(context);
}

void draft_save_now(struct engine *engine, struct live *live)
{
    struct attention *attention = live->attention;
    struct errand *errand;

    if (!attention || !attention->draft)
        return;
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    store_write_draft(engine->parts.store,
                      &(struct store_draft){ live->id, engine->parts.person, attention->draft,
                                             engine_utc_ms(engine) },
                      on_saved, errand);
    free(attention->draft);
    attention->draft = NULL;
    attention->draft_saved_boot_ms = engine_boot_ms(engine);
}

void draft_ring(struct engine *engine, struct alarm *alarm)
{
    struct attention *attention =
        (struct attention *)(void *)((char *)alarm - offsetof(struct attention, draft_alarm));

    draft_save_now(engine, attention->live);
}

static void hold_deadline(struct engine *engine, struct live *live)
{
    int64_t now_boot = engine_boot_ms(engine);
    int64_t missing = DRAFT_HOLD_MS - (live->deadline.boot_ms - now_boot);
    int64_t room = DRAFT_HOLD_MOST_MS - live_rare(live)->hold_used_ms;
    struct store_change change = store_change_of(live->id, EVENT_DRAFT_CHANGED);
    struct lifecycle_facts facts = { 0 };
    struct errand *errand;

    if (missing > room)
        missing = room;
    if (live->deadline_ms == 0 || missing <= 0 ||
        !settings_is_on(engine->parts.settings, SETTING_TYPING_HOLD))
        return;
    live_need_rare(live)->hold_used_ms += missing;
    live->deadline_ms += missing;
    live->original_ms += missing;
    alarm_set(&engine->alarms, &live->deadline, live->deadline.boot_ms + missing);
    change.from_states = lifecycle_states_for(EVENT_DRAFT_CHANGED, &facts);
    change.deadline_ms = live->deadline_ms;
    change.original_ms = live->original_ms;
    change.hold_used_ms = live->rare->hold_used_ms;
    change.if_version = live->version; /* a person's own deadline may be on its way to the store */
    change.now_ms = engine_utc_ms(engine);
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    store_write_change(engine->parts.store, &change, on_saved, errand);
    wait_tell_time(engine, live);
    live_mark_dirty(engine, live);
}

/* That person's other devices see it at once; nobody else does. */
static void share_draft(const struct engine *engine, const struct live *live,
                        const struct visit *from)
{
    struct text line = { 0 };
    struct json_writer writer = json_writer_to(&line);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "ask/drafted");
    json_write_object(&writer, "params");
    json_write_text(&writer, "session_id", live->id);
    json_write_raw(&writer, "draft", live->attention->draft);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    for (struct visit *visit = engine->visits; visit; visit = visit->next) {
        if (visit_sees(visit, live->id) && visit != from)
            visit_tell(visit, line.bytes, line.used);
    }
    text_release(&line);
}

void draft_keep(struct engine *engine, struct live *live, const char *json)
{
    struct attention *attention = live_attend(live);

    if (strlen(json) > DRAFT_MAX_BYTES)
        return;
    free(attention->draft);
    attention->draft = mem_text(json);
    share_draft(engine, live, NULL);
    draft_save_now(engine, live);
}

struct drafting {
    struct errand errand; /* first */
    char *json;
};

static void drafting_drop(struct errand *errand)
{
    free(((struct drafting *)errand)->json);
}

static void draft_found(struct errand *errand)
{
    struct drafting *drafting = (struct drafting *)errand;
    struct engine *engine = errand->engine;
    struct live *live = live_find(engine, errand->id);
    struct attention *attention;
    struct error err;
    int64_t next;

    if (!live || !state_is_open(live->state)) {
        errand_say(errand, ERROR_already_answered, "/session_id", TEXT_REASON_IS_OVER, NULL);
        return;
    }
    if ((live->flags & ASK_DESTRUCTIVE) &&
        !own_may_destroy(engine, errand->visit, &live->origin->asker, live->id, &err)) {
        errand_fail(errand, &err, NULL); /* there nothing is chosen for the person */
        return;
    }
    seen_mark(engine, errand->visit, errand->id);
    attention = live_attend(live);
    free(attention->draft);
    attention->draft = mem_text(drafting->json);
    hold_deadline(engine, live);
    share_draft(engine, live, errand->visit);
    next = attention->draft_saved_boot_ms + DRAFT_SAVE_EVERY_MS;
    if (next <= engine_boot_ms(engine))
        draft_save_now(engine, live);
    else if (!attention->draft_alarm.place)
        alarm_set(&engine->alarms, &attention->draft_alarm, next);
    errand_ok(errand, "{}");
}

void ask_draft_method(struct engine *engine, struct visit *visit, const struct json *params,
                      desk_done *done, void *context)
{
    struct drafting *drafting = errand_new(sizeof *drafting, engine, visit, done, context);
    const struct json *draft = json_member(params, "draft");

    if (DELIBERATE_FAULT(draft_submitted)) {
        errand_end(&drafting->errand);
        ask_answer_method(engine, visit, draft, done, context);
        return;
    }
    drafting->errand.drop = drafting_drop;
    if (json_kind(draft) != KIND_OBJECT) {
        errand_say(&drafting->errand, ERROR_bad_type, "/draft", TEXT_REASON_DRAFT_OBJECT, NULL);
        return;
    }
    drafting->json = json_encode_canonical(draft);
    if (strlen(drafting->json) > DRAFT_MAX_BYTES) {
        errand_say(&drafting->errand, ERROR_too_long, "/draft", TEXT_REASON_DRAFT_LONG, "most",
                   TEXT_NUMBER(DRAFT_MAX_BYTES), NULL);
        return;
    }
    errand_find_ask(&drafting->errand, params, draft_found);
}
