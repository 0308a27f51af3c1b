/* effects.c - what follows a SAVE that worked, in the order the state machine gave. */
#include <string.h>

#include "base/crash_point.h"
#include "base/json_writer.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"

struct store_change effects_change(const struct engine *engine, const char *id,
                                   enum ask_event event, const struct lifecycle_step *step,
                                   const struct lifecycle_facts *facts)
{
    static const struct lifecycle_facts none;
    struct store_change change = store_change_of(id, event);
    const struct active_ask *active = active_find(engine, id);

    change.seq = active ? active->seq : 0;
    change.from_states = lifecycle_states_for(event, facts ? facts : &none);
    change.now_ms = engine_utc_ms(engine);
    change.skips_row = true;
    if (step) {
        change.to_state = (int)step->state;
        change.raises_version = step->raises_version;
        change.needs_sync = step->needs_sync;
    }
    return change;
}

static void take_over(struct engine *engine, struct active_ask *active,
                      const struct lifecycle_step *step, const struct store_change *change)
{
    active_set_version(active, active->version + step->raises_version);
    active->flags = (active->flags | change->set_flags) & ~change->clear_flags;
    if (change->deadline_ms != STORE_KEEP)
        active->deadline_ms = change->deadline_ms;
    if (change->original_ms != STORE_KEEP)
        active->original_ms = change->original_ms;
    if (change->hold_used_ms != STORE_KEEP)
        active_need_rare(active)->hold_used_ms = change->hold_used_ms;
    if (change->decided_ms != STORE_KEEP)
        active_need_rare(active)->decided_ms = change->decided_ms;
    if (change->interface != STORE_KEEP)
        active->interface = (uint8_t)change->interface;
    active_set_state(engine, active, step->state);
}

void effects_write_ack(const struct engine *engine, const char *id, enum ask_state state,
                       int64_t version, bool is_already, struct text *out)
{
    struct json_writer writer = json_object_to(out);
    const struct active_ask *active = active_find(engine, id);

    json_write_text(&writer, "session_id", id);
    json_write_text(&writer, "status", state_name(state));
    json_write_integer(&writer, "version", version);
    if (active && active->state == state && active->deadline.place)
        json_write_integer(&writer, state_is_open(state) ? "remaining_ms" : "undo_ms",
                           active->deadline.boot_ms - engine_boot_ms(engine));
    json_write_bool_if(&writer, "already", is_already);
    json_write_end_object(&writer);
}

static void acknowledge(struct engine *engine, const struct active_ask *active,
                        const struct operation *ack)
{
    struct text out;
    struct reply reply = { .session_id = active->id };

    if (!ack)
        return;
    CRASH_POINT(engine_before_ack);
    if (ack->is_ours) { /* which needs no words */
        operation_reply(ack, &reply);
        return;
    }
    out = line_take(engine);
    effects_write_ack(engine, active->id, active->state, active->version, false, &out);
    reply.json = text_string(&out);
    operation_reply(ack, &reply);
    line_give(engine, &out);
}

/* Ends the deadline. A decision that can still be taken back keeps the alarm as its undo window:
 * the agent learns of it only when that is over (R5.2). */
static void stop_clock(struct engine *engine, struct active_ask *active,
                       const struct store_change *change)
{
    int64_t window_ms = change->deliver_after_ms - engine_utc_ms(engine);

    alarm_clear(&engine->alarms, &active->deadline);
    if (change->deliver_after_ms > 0 && window_ms > 0)
        alarm_in(engine, &active->deadline, window_ms);
}

/* The wall clock may have been set while the commit was under way; the store's rows have moved
 * along with it, and so do the times we are about to take over. */
static void follow_clock(const struct engine *engine, const struct operation *operation,
                         struct store_change *change)
{
    int64_t by_ms = engine->utc_minus_boot_ms - operation->utc_minus_boot_ms;

    if (change->deadline_ms > 0)
        change->deadline_ms += by_ms;
    if (change->deliver_after_ms > 0)
        change->deliver_after_ms += by_ms;
}

void effects_run(struct engine *engine, struct active_ask *active,
                 const struct lifecycle_step *step, const struct store_change *change,
                 const struct known *known, const struct operation *ack)
{
    struct store_change shifted = *change;
    bool is_over = false;

    if (ack)
        follow_clock(engine, ack, &shifted);
    change = &shifted;
    take_over(engine, active, step, change);
    for (const enum ask_effect *effect = step->effects; *effect != DO_NOTHING; effect++) {
        switch (*effect) {
        case DO_START_CLOCK:
            time_start(engine, active);
            wait_tell_time(engine, active, NULL);
            break;
        case DO_STOP_CLOCK:
            stop_clock(engine, active, change);
            break;
        case DO_WITHDRAW: /* what a person was typing is kept, no matter who won (R5.9) */
            draft_save_now(engine, active);
            client_end(engine, active, change->event);
            break;
        case DO_PRESENT: /* people see it through PUBLISH */
            client_offer(engine, active, NULL);
            break;
        case DO_ACK:
            acknowledge(engine, active, ack);
            break;
        case DO_REPLY:
            is_over = !active->deadline.place;
            break;
        case DO_PUBLISH:
            active_mark_dirty(engine, active);
            break;
        default: /* SAVE is done; WITHDRAW reaches people through PUBLISH */
            break;
        }
    }
    if (is_over) {
        CRASH_POINT(engine_before_reply);
        wait_finish(engine, active, change, known);
    }
}

/* Snapshots to those who watch: encoded once, sent once per ask and loop turn. */

struct text line_take(struct engine *engine)
{
    struct text line = engine->line;

    engine->line = (struct text){ 0 };
    return line;
}

/* A watcher that was told may have called back and taken a line of its own. */
void line_give(struct engine *engine, struct text *take_line)
{
    if (engine->line.bytes || take_line->capacity > LINE_KEPT_BYTES) {
        text_release(take_line);
        return;
    }
    text_clear(take_line);
    engine->line = *take_line;
    *take_line = (struct text){ 0 };
}

static void tell_watchers(struct engine *engine, const struct active_ask *active)
{
    struct text line = line_take(engine);
    struct json_writer writer = event_begin(&line, "ask/changed");

    json_write_integer(&writer, "seq", active->seq);
    describe_active(engine, active, &writer, "ask");
    event_end(&writer);
    for (struct session *session = engine->sessions; session; session = session->next) {
        if (session_sees(session, active->id))
            session_send(session, line.bytes, line.used);
    }
    line_give(engine, &line);
}

void publish(struct engine *engine, struct active_ask *active)
{
    if (engine->page_count || engine->inbox_count || engine->attached_count)
        tell_watchers(engine, active);
    own_asks_publish(engine, active);
}

void publish_dirty(struct engine *engine)
{
    while (engine->dirty) {
        struct active_ask *active = engine->dirty;

        engine->dirty = active->next_dirty;
        active->is_dirty = false;
        publish(engine, active);
    }
}

void engine_flush(struct engine *engine)
{
    publish_dirty(engine);
    remaining_arm(engine);
    time_arm(engine);
}
