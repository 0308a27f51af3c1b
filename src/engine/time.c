/*
 * time.c - deadlines: kept on the boot clock while we run, in UTC across restarts (R5.4).
 * Never early. After a suspend or a stop nothing ends for 5 s, so that a person who just came
 * back can still answer.
 */
#include <string.h>

#include "base/crash_point.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/text.h"
#include "core/fields/answer.h"
#include "core/fields/form.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/people/tokens.h"
#include "engine/state.h"

static const int64_t TIME_LATE_MS = 1000;      /* a wake-up later than this means we slept */
static const int64_t TIME_GRACE_MS = 5000;     /* then nothing ends for so long */
static const int64_t TIME_RETRY_MS = 5000;     /* an expiry that could not be saved */
static const int64_t TIME_EARLY_MS = 50;       /* one that the store's clock does not see yet */
static const int64_t TIME_OTHERS_MS = 2000;    /* for the hub that has the ask to end it */
static const int64_t TIME_CLOCK_STEP_MS = 500; /* the wall clock was set, not slewed */

void time_start(struct engine *engine, struct live *live)
{
    int64_t left_ms = live->deadline_ms - engine_utc_ms(engine);

    if (live->deadline_ms == 0 || DELIBERATE_FAULT(deadline_missed)) {
        alarm_clear(&engine->alarms, &live->deadline); /* of an undo window */
        return;
    }
    if (left_ms > live->original_ms)
        left_ms = live->original_ms;
    if (left_ms < 0)
        left_ms = 0;
    alarm_in(engine, &live->deadline, left_ms);
}

void time_arm(struct engine *engine)
{
    int64_t next = alarm_next(&engine->alarms);

    if (next == engine->armed_boot_ms)
        return;
    engine->armed_boot_ms = next;
    engine->parts.clock->wake_at(engine->parts.clock, next);
}

struct expiry {
    struct errand errand; /* first; its text is an answer only if a setting submits the defaults */
    struct lifecycle_facts facts;
    struct lifecycle_step step;
    struct store_change change;
};

/* Still open: the disk failed, or something else about the ask changed meanwhile. */
static void expire_later(struct engine *engine, struct live *live, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED) {
        log_error("ask.expire_failed", "ask=%s reason=%s", live->id, error_name(reply->err.code));
        alarm_in(engine, &live->deadline, TIME_RETRY_MS);
    } else if (reply->outcome == STORE_LOST && follow_is_shared(engine)) {
        follow_row(engine, reply->row);
        if (live_find(engine, reply->row->ask.id) == live && !live->deadline.place &&
            state_is_open(live->state)) /* not yet, by the store's own clock */
            alarm_in(engine, &live->deadline, TIME_EARLY_MS);
    } else if (reply->outcome == STORE_LOST && !live->deadline.place) {
        live_set_version(live, reply->row->ask.version);
        time_start(engine, live);
    }
}

static void on_expired(void *context, const struct store_reply *reply)
{
    struct expiry *expiry = context;
    struct engine *engine = expiry->errand.engine;
    struct live *live = live_find(engine, expiry->errand.id);

    if (live) {
        live->is_deciding = false;
        if (reply->outcome == STORE_DONE && live->seq < reply->seq) {
            live->seq = reply->seq;
            effects_run(engine, live, &expiry->step, &expiry->change, NULL, NULL);
        } else if (reply->outcome == STORE_DONE) {
            follow_ask(engine, live->id);
        } else if (state_is_open(live->state)) {
            expire_later(engine, live, reply);
        }
    }
    errand_end(&expiry->errand);
}

static void save_expiry(struct expiry *expiry)
{
    struct engine *engine = expiry->errand.engine;
    struct live *live = live_find(engine, expiry->errand.id);
    struct store_change *change = &expiry->change;

    if (!live || !state_is_open(live->state)) {
        errand_end(&expiry->errand);
        return;
    }
    expiry->step = lifecycle_next(live->state, EVENT_EXPIRED, &expiry->facts);
    *change =
        effects_change(engine, expiry->errand.id, EVENT_EXPIRED, &expiry->step, &expiry->facts);
    change->if_version = live->version; /* more time may be on its way to the store */
    change->when = STORE_PAST_DEADLINE;
    change->decided_ms = change->now_ms;
    if (expiry->errand.text) {
        change->answer_json = expiry->errand.text;
        change->person = engine->parts.person;
    }
    CRASH_POINT(engine_before_expire);
    errand_begin_write(&expiry->errand);
    store_write_change(engine->parts.store, change, on_expired, expiry);
}

/* Silence is never consent: only the person's own setting, and only defaults that would pass. */
static void on_expiring_row(void *context, const struct store_reply *reply)
{
    struct expiry *expiry = context;
    struct form form = { 0 };

    if (reply->outcome == STORE_DONE &&
        form_parse(reply->row->ask.form_json, strlen(reply->row->ask.form_json), &form, NULL)) {
        if (form_has_enough_defaults(&form)) {
            struct answer answer;
            struct text json = { 0 };

            answer_from_defaults(&form, &answer);
            answer_encode(&form, &answer, &json);
            expiry->errand.text = text_take(&json);
            expiry->facts.submits_defaults = true;
            answer_release(&answer);
        }
        form_release(&form);
    }
    save_expiry(expiry);
}

static void expire(struct engine *engine, struct live *live)
{
    struct expiry *expiry = errand_of_ours(sizeof *expiry, engine, live->id);

    expiry->facts.is_destructive = live->flags & ASK_DESTRUCTIVE;
    live->is_deciding = true;
    if (engine_setting(engine, SETTING_TIMEOUT_ACTION) == TIMEOUT_ACTION_SUBMIT_DEFAULTS ||
        DELIBERATE_FAULT(silence_is_consent))
        errand_get(&expiry->errand, on_expiring_row);
    else
        save_expiry(expiry);
}

static void deadline_ring(struct engine *engine, struct alarm *alarm)
{
    struct live *live = (struct live *)(void *)((char *)alarm - offsetof(struct live, deadline));

    if (live->is_undoing || live->is_sending)
        return; /* how that ends decides; engine/ask/change.c goes on */
    if (!state_is_open(live->state))
        wait_finish(engine, live, NULL, NULL); /* the undo window is over */
    else if (live->is_elsewhere && !live->waiters &&
             engine_utc_ms(engine) < live->deadline_ms + TIME_OTHERS_MS)
        alarm_in(engine, alarm, TIME_OTHERS_MS);
    else if (DELIBERATE_FAULT(deadline_late) && engine_utc_ms(engine) < live->deadline_ms + 10000)
        alarm_in(engine, alarm, TIME_RETRY_MS);
    else if (engine->grace_until_boot_ms > engine_boot_ms(engine))
        alarm_set(&engine->alarms, alarm, engine->grace_until_boot_ms);
    else if (!live->is_deciding)
        expire(engine, live);
}

static void on_shifted(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        log_error("clock.shift_failed", "reason=%s", error_name(reply->err.code));
    errand_end(context);
}

void engine_check_clock(struct engine *engine)
{
    int64_t offset = engine->parts.clock->utc_ms(engine->parts.clock) - engine_boot_ms(engine);
    int64_t step_ms = offset - engine->utc_minus_boot_ms;

    if (step_ms > -TIME_CLOCK_STEP_MS && step_ms < TIME_CLOCK_STEP_MS)
        return;
    engine->utc_minus_boot_ms = offset;
    log_info("clock.was_set", "by_ms=%lld", (long long)step_ms);
    for (struct live *live = NULL; (live = live_each(engine, live));) {
        if (!follow_is_shared(engine))
            live->deadline_ms += live->deadline_ms > 0 ? step_ms : 0;
        else if (state_is_open(live->state))
            time_start(engine, live); /* the clock is the store's: its deadlines stand */
    }
    if (follow_is_shared(engine))
        return;
    store_write_shift(engine->parts.store, &(struct store_shift){ step_ms }, on_shifted,
                      errand_to_write(engine));
}

/* How much time is left, told every few seconds to watchers that want it (R7.2): a page shows the
 * hub's clock and never decides itself that time is up. Nothing ticks while there are no watchers
 * or no open asks. */

enum { REMAINING_EVERY_MS = 5000, REMAINING_ASKS = 1000 /* a message */ };

static void write_some(struct engine *engine, struct live **at, struct text *line)
{
    struct json_writer writer = event_begin(line, "ask/remaining");
    size_t count = 0;

    json_write_object(&writer, "asks");
    for (; *at && count < REMAINING_ASKS; *at = live_each(engine, *at)) {
        const struct live *live = *at;

        if (state_is_open(live->state) && live->is_stored && live->deadline_ms > 0) {
            json_write_integer(&writer, live->id, describe_remaining_s(engine, live));
            count++;
        }
    }
    json_write_end_object(&writer);
    event_end(&writer);
}

static void remaining_ring(struct engine *engine, struct alarm *alarm)
{
    struct live *at = live_each(engine, NULL);

    (void)alarm;
    while (at) {
        struct text line = { 0 };

        write_some(engine, &at, &line);
        for (struct session *session = engine->sessions; session; session = session->next) {
            if (session->wants_remaining)
                session_send(session, line.bytes, line.used);
        }
        text_release(&line);
    }
}

void remaining_arm(struct engine *engine)
{
    if (engine->ticking_count == 0 || engine->open_count == 0 || engine->remaining_alarm.place)
        return;
    engine->remaining_alarm.kind = ALARM_REMAINING;
    alarm_in(engine, &engine->remaining_alarm, REMAINING_EVERY_MS);
}

static void (*const rings[ALARM_KINDS])(struct engine *engine, struct alarm *alarm) = {
    [ALARM_DEADLINE] = deadline_ring, [ALARM_DRAFT] = draft_ring,
    [ALARM_WAIT] = wait_ring,         [ALARM_SWEEP] = sweep_ring,
    [ALARM_INDEX] = index_ring,       [ALARM_REMAINING] = remaining_ring,
    [ALARM_ANNOUNCE] = announce_ring, [ALARM_QUESTION] = question_ring,
    [ALARM_TOKENS] = tokens_ring,     [ALARM_LOAD] = load_ring,
};

void engine_on_time(struct engine *engine)
{
    int64_t now = engine_boot_ms(engine) - engine->parts.clock->rounding_ms;
    int64_t due = alarm_next(&engine->alarms);
    struct alarm *alarm;

    engine->armed_boot_ms = -1;
    if (due >= 0 && now - due > TIME_LATE_MS)
        engine->grace_until_boot_ms = now + TIME_GRACE_MS;
    engine_check_clock(engine);
    while ((alarm = alarm_take_due(&engine->alarms, now)))
        rings[alarm->kind](engine, alarm);
    engine_flush(engine);
}
