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

void time_start(struct engine *engine, struct active_ask *active)
{
    int64_t left_ms = active->deadline_ms - engine_utc_ms(engine);

    if (active->deadline_ms == 0 || DELIBERATE_FAULT(deadline_missed)) {
        alarm_clear(&engine->alarms, &active->deadline); /* of an undo window */
        return;
    }
    if (left_ms > active->original_ms)
        left_ms = active->original_ms;
    if (left_ms < 0)
        left_ms = 0;
    alarm_in(engine, &active->deadline, left_ms);
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
    /* first; its text is an answer only if a setting submits the defaults */
    struct operation operation;
    struct lifecycle_facts facts;
    struct lifecycle_step step;
    struct store_change change;
};

/* Still open: the disk failed, or something else about the ask changed in the meantime. */
static void expire_later(struct engine *engine, struct active_ask *active,
                         const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED) {
        log_error("ask.expire_failed", "ask=%s reason=%s", active->id, error_name(reply->err.code));
        alarm_in(engine, &active->deadline, TIME_RETRY_MS);
    } else if (reply->outcome == STORE_LOST && follow_is_shared(engine)) {
        follow_row(engine, reply->row);
        if (active_find(engine, reply->row->ask.id) == active && !active->deadline.place &&
            state_is_open(active->state)) /* not yet, by the store's own clock */
            alarm_in(engine, &active->deadline, TIME_EARLY_MS);
    } else if (reply->outcome == STORE_LOST && !active->deadline.place) {
        active_set_version(active, reply->row->ask.version);
        time_start(engine, active);
    }
}

static void on_expired(void *context, const struct store_reply *reply)
{
    struct expiry *expiry = context;
    struct engine *engine = expiry->operation.engine;
    struct active_ask *active = active_find(engine, expiry->operation.id);

    if (active) {
        active->is_deciding = false;
        if (reply->outcome == STORE_DONE && active->seq < reply->seq) {
            active->seq = reply->seq;
            effects_run(engine, active, &expiry->step, &expiry->change, NULL, NULL);
        } else if (reply->outcome == STORE_DONE) {
            follow_ask(engine, active->id);
        } else if (state_is_open(active->state)) {
            expire_later(engine, active, reply);
        }
    }
    operation_end(&expiry->operation);
}

static void save_expiry(struct expiry *expiry)
{
    struct engine *engine = expiry->operation.engine;
    struct active_ask *active = active_find(engine, expiry->operation.id);
    struct store_change *change = &expiry->change;

    if (!active || !state_is_open(active->state)) {
        operation_end(&expiry->operation);
        return;
    }
    expiry->step = lifecycle_next(active->state, EVENT_EXPIRED, &expiry->facts);
    *change =
        effects_change(engine, expiry->operation.id, EVENT_EXPIRED, &expiry->step, &expiry->facts);
    change->if_version = active->version; /* more time may be on its way to the store */
    change->when = STORE_PAST_DEADLINE;
    change->decided_ms = change->now_ms;
    if (expiry->operation.text) {
        change->answer_json = expiry->operation.text;
        change->person = engine->parts.person;
    }
    CRASH_POINT(engine_before_expire);
    operation_begin_write(&expiry->operation);
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
            expiry->operation.text = text_take(&json);
            expiry->facts.submits_defaults = true;
            answer_release(&answer);
        }
        form_release(&form);
    }
    save_expiry(expiry);
}

static void expire(struct engine *engine, struct active_ask *active)
{
    struct expiry *expiry = operation_of_ours(sizeof *expiry, engine, active->id);

    expiry->facts.is_destructive = active->flags & ASK_DESTRUCTIVE;
    active->is_deciding = true;
    if (engine_setting(engine, SETTING_TIMEOUT_ACTION) == TIMEOUT_ACTION_SUBMIT_DEFAULTS ||
        DELIBERATE_FAULT(silence_is_consent))
        operation_get(&expiry->operation, on_expiring_row);
    else
        save_expiry(expiry);
}

static void deadline_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct active_ask *active =
        (struct active_ask *)(void *)((char *)alarm - offsetof(struct active_ask, deadline));

    if (active->is_undoing || active->is_sending)
        return; /* how that ends decides; engine/ask/change.c goes on */
    if (!state_is_open(active->state))
        wait_finish(engine, active, NULL, NULL); /* the undo window is over */
    else if (active->is_other_hubs && !active->waiters &&
             engine_utc_ms(engine) < active->deadline_ms + TIME_OTHERS_MS)
        alarm_in(engine, alarm, TIME_OTHERS_MS);
    else if (DELIBERATE_FAULT(deadline_late) && engine_utc_ms(engine) < active->deadline_ms + 10000)
        alarm_in(engine, alarm, TIME_RETRY_MS);
    else if (engine->grace_until_boot_ms > engine_boot_ms(engine))
        alarm_set(&engine->alarms, alarm, engine->grace_until_boot_ms);
    else if (!active->is_deciding)
        expire(engine, active);
}

static void on_shifted(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        log_error("clock.shift_failed", "reason=%s", error_name(reply->err.code));
    operation_end(context);
}

void engine_check_clock(struct engine *engine)
{
    int64_t offset = engine->parts.clock->utc_ms(engine->parts.clock) - engine_boot_ms(engine);
    int64_t step_ms = offset - engine->utc_minus_boot_ms;

    if (step_ms > -TIME_CLOCK_STEP_MS && step_ms < TIME_CLOCK_STEP_MS)
        return;
    engine->utc_minus_boot_ms = offset;
    log_info("clock.was_set", "by_ms=%lld", (long long)step_ms);
    for (struct active_ask *active = NULL; (active = active_each(engine, active));) {
        if (!follow_is_shared(engine))
            active->deadline_ms += active->deadline_ms > 0 ? step_ms : 0;
        else if (state_is_open(active->state))
            time_start(engine, active); /* the clock is the store's: its deadlines stand */
    }
    if (follow_is_shared(engine))
        return;
    store_write_shift(engine->parts.store, &(struct store_shift){ step_ms }, on_shifted,
                      operation_to_write(engine));
}

/* How much time is left, told every few seconds to watchers that want it (R7.2): a page shows the
 * hub's clock and never decides itself that time is up. Nothing ticks while there are no watchers
 * or no open asks. */

enum { REMAINING_EVERY_MS = 5000, REMAINING_ASKS = 1000 /* a message */ };

static void write_some(struct engine *engine, struct active_ask **at, struct text *line)
{
    struct json_writer writer = event_begin(line, "ask/remaining");
    size_t count = 0;

    json_write_object(&writer, "asks");
    for (; *at && count < REMAINING_ASKS; *at = active_each(engine, *at)) {
        const struct active_ask *active = *at;

        if (state_is_open(active->state) && active->is_stored && active->deadline_ms > 0) {
            json_write_integer(&writer, active->id, describe_remaining_s(engine, active));
            count++;
        }
    }
    json_write_end_object(&writer);
    event_end(&writer);
}

static void remaining_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct active_ask *at = active_each(engine, NULL);

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

static void (*const on_alarm[ALARM_KINDS])(struct engine *engine, struct alarm *alarm) = {
    [ALARM_DEADLINE] = deadline_on_alarm, [ALARM_DRAFT] = draft_on_alarm,
    [ALARM_WAIT] = wait_on_alarm,         [ALARM_SWEEP] = sweep_on_alarm,
    [ALARM_INDEX] = index_on_alarm,       [ALARM_REMAINING] = remaining_on_alarm,
    [ALARM_ANNOUNCE] = announce_on_alarm, [ALARM_QUESTION] = question_on_alarm,
    [ALARM_TOKENS] = tokens_on_alarm,     [ALARM_LOAD] = load_on_alarm,
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
        on_alarm[alarm->kind](engine, alarm);
    engine_flush(engine);
}
