/* change.c - an open ask is changed: its deadline, its place, and its draft. */
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
#include "i18n/i18n.h"

/* Changes to an open ask that decide nothing: more or less time, another interface, a question
 * back and its explanation (ask_back.c); and the acts around a decision: taking it back, sending
 * it now, the code to type. */

static const int64_t CHANGE_UNDO_MIN_MS = 30000; /* time to think again after an undo */
static const int64_t CODE_MS = 600000;           /* a code is good for */
enum { CODE_TRIES = 3 };

struct change_operation {
    struct operation operation; /* first; its text is what is said */
    enum ask_event event;
    int64_t version; /* the caller's If-Match; 0: any */
    int64_t seconds;
    enum ask_interface interface;
    struct lifecycle_facts facts;
    struct lifecycle_step step;
    struct store_change change;
};

static void refuse_row(struct operation *operation, const struct store_row *row)
{
    struct error err;

    if (state_is_open(row->ask.state))
        error_say(&err, ERROR_wrong_state, "/version", TEXT_REASON_CHANGED_LOOK, NULL);
    else
        error_say(&err, ERROR_already_answered, "/session_id", TEXT_REASON_IS_OVER, NULL);
    operation_fail_won(operation, &err, row);
}

/* For an agent there are only its own. */
static bool is_for(const struct session *session, const char *principal)
{
    return session->role == ROLE_PERSON || strcmp(principal, session->principal) == 0;
}

static void on_late_row(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_DONE && is_for(operation->session, reply->row->ask.principal)) {
        refuse_row(operation, reply->row);
        return;
    }
    operation_not_found(operation, reply);
}

static void change_found(struct operation *operation);

/* The deadline was worked out from one that others changed before it was stored. */
static bool is_overtaken(const struct change_operation *changing, const struct store_row *row)
{
    struct engine *engine = changing->operation.engine;
    const struct active_ask *active;

    if (follow_is_shared(engine))
        follow_row(engine, row);
    active = active_find(engine, changing->operation.id);
    return active && changing->operation.text && changing->version == 0 &&
           active->version != changing->change.if_version;
}

static void on_retimed(void *context, const struct store_reply *reply)
{
    struct change_operation *changing = context;
    struct engine *engine = changing->operation.engine;
    struct active_ask *active = active_find(engine, changing->operation.id);

    if (active && changing->event == EVENT_UNDONE) {
        active->is_undoing = false;
        /* it came to nothing: if its window ended in the meantime, the agent has waited for this */
        if (reply->outcome != STORE_DONE && !state_is_open(active->state) &&
            !active->deadline.place)
            wait_finish(engine, active, NULL, NULL);
    }
    if (reply->outcome == STORE_LOST && active && is_overtaken(changing, reply->row)) {
        /* the ask is as it was meant for, with another deadline */
        change_found(&changing->operation);
    } else if (reply->outcome == STORE_DONE && active && active->seq > reply->seq) {
        operation_ok(&changing->operation, "{}"); /* others changed it since, and we know how */
    } else if (reply->outcome == STORE_DONE && active) {
        active->seq = reply->seq;
        effects_run(engine, active, &changing->step, &changing->change, NULL, &changing->operation);
        if (changing->event == EVENT_ASKED_BACK)
            ask_back_send_waiters(engine, active, changing->operation.text);
        if (changing->change.interface == INTERFACE_WEB && engine->page_count == 0)
            portal_open(engine, active->id); /* it goes on there */
        operation_end(&changing->operation);
    } else if (reply->outcome != STORE_FAILED && reply->row) {
        refuse_row(&changing->operation, reply->row);
    } else if (!operation_fails(&changing->operation, reply)) {
        operation_is_over(&changing->operation);
    }
}

/* The other side has to think about what was said: the ask gets its whole time again. */
static void fill_said(const struct change_operation *changing, const struct active_ask *active,
                      struct store_change *change)
{
    int64_t whole = change->now_ms + active->original_ms;
    bool is_question = changing->event == EVENT_ASKED_BACK;

    change->said = changing->operation.text;
    change->deadline_ms = active->deadline_ms > whole ? active->deadline_ms : whole;
    change->set_flags = ASK_TALKED | (is_question ? ASK_ASKED_BACK : 0);
    change->clear_flags = is_question ? 0 : ASK_ASKED_BACK;
}

static void fill_change(struct change_operation *changing, const struct active_ask *active)
{
    struct engine *engine = changing->operation.engine;
    struct store_change *change = &changing->change;
    int64_t now = change->now_ms;

    if (changing->event == EVENT_EXTENDED) {
        change->original_ms = changing->seconds * 1000;
        change->deadline_ms = now + change->original_ms;
    } else if (changing->event == EVENT_UNDONE) {
        int64_t min = now + CHANGE_UNDO_MIN_MS;

        if (active->deadline_ms > 0)
            change->deadline_ms = active->deadline_ms > min ? active->deadline_ms : min;
        if (change->deadline_ms - now > active->original_ms)
            change->original_ms = change->deadline_ms - now;
        change->removes_answer = true;
        change->when = STORE_BEFORE_DELIVERY;
        change->person = engine->parts.person;
        change->deliver_after_ms = change->decided_ms = 0;
    } else if (changing->operation.text) {
        fill_said(changing, active, change);
    } else {
        change->interface = (int)changing->interface;
    }
}

static void change_found(struct operation *operation)
{
    struct change_operation *changing = (struct change_operation *)operation;
    struct engine *engine = operation->engine;
    struct active_ask *active = active_find(engine, operation->id);
    struct store_change *change = &changing->change;

    if (active && !is_for(operation->session, active->principal->id))
        active = NULL; /* for that agent there is none */
    if (!active || !active->is_stored ||
        (changing->version != 0 && changing->version != active->version)) {
        if (!follow_looks_first(operation, change_found))
            operation_get(operation, on_late_row);
        return;
    }
    changing->facts.within_undo = !state_is_open(active->state) && active->deadline.place &&
                                  !active->is_undoing && !active->is_sending;
    changing->step = lifecycle_next(active->state, changing->event, &changing->facts);
    if (!changing->step.is_legal) {
        if (!follow_looks_first(operation, change_found))
            operation_say(operation, changing->step.refusal, "/session_id",
                          changing->event == EVENT_UNDONE ? TEXT_REASON_NOTHING_TO_UNDO
                                                          : TEXT_REASON_IS_OVER,
                          NULL);
        return;
    }
    if (changing->event == EVENT_INTERFACE_SWITCHED)
        draft_save_now(engine, active); /* written first: it is there where the person goes on */
    *change =
        effects_change(engine, operation->id, changing->event, &changing->step, &changing->facts);
    change->if_version = changing->version;
    if (changing->operation.text && changing->version == 0)
        change->if_version = active->version; /* more time may be on its way to the store */
    fill_change(changing, active);
    active->is_undoing = active->is_undoing || changing->event == EVENT_UNDONE;
    operation_begin_write(operation);
    store_write_change(engine->parts.store, change, on_retimed, changing);
}

static struct change_operation *change_new(enum ask_event event, struct method_call call)
{
    struct change_operation *changing = operation_new(sizeof *changing, call);

    changing->event = event;
    return changing;
}

void change_say(enum ask_event event, struct method_call call, const char *id, const char *said,
                int64_t version)
{
    struct change_operation *changing = change_new(event, call);

    changing->version = version;
    changing->operation.text = mem_text(said);
    memcpy(changing->operation.id, id, sizeof changing->operation.id);
    change_found(&changing->operation);
}

void ask_extend_method(struct method_call call)
{
    struct change_operation *changing = change_new(EVENT_EXTENDED, call);

    changing->version = json_member_integer(call.params, "version", 0);
    if (!json_integer_of(json_member(call.params, "seconds"), &changing->seconds) ||
        changing->seconds < 1 || changing->seconds > LIMIT_TIMEOUT_S) {
        operation_say(&changing->operation, ERROR_out_of_range, "/seconds",
                      TEXT_REASON_EXTEND_SECONDS, NULL);
        return;
    }
    operation_find_ask(&changing->operation, call.params, change_found);
}

void ask_undo_method(struct method_call call)
{
    struct change_operation *changing = change_new(EVENT_UNDONE, call);

    if (DELIBERATE_FAULT(undo_ignored)) {
        operation_ok(&changing->operation, "{}");
        return;
    }
    operation_find_ask(&changing->operation, call.params, change_found);
}

void ask_switch_method(struct method_call call)
{
    struct change_operation *changing = change_new(EVENT_INTERFACE_SWITCHED, call);
    const char *name = json_member_text(call.params, "interface");

    changing->interface = name ? interface_find(name) : INTERFACE_NONE;
    if (changing->interface == INTERFACE_NONE) {
        operation_say(&changing->operation, ERROR_bad_enum, "/interface", TEXT_REASON_INTERFACE,
                      NULL);
        return;
    }
    operation_find_ask(&changing->operation, call.params, change_found);
}

static void on_sent(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct active_ask *active = active_find(operation->engine, operation->id);
    struct text out = { 0 };

    if (active)
        active->is_sending = false;
    if (operation_fails(operation, reply))
        return;
    if (active) {
        alarm_clear(&operation->engine->alarms, &active->deadline);
        effects_write_ack(operation->engine, active->id, active->state, active->version, false,
                          &out);
        wait_finish(operation->engine, active, NULL, NULL);
    }
    operation_ok(operation, out.used ? text_string(&out) : "{}");
    text_release(&out);
}

/* A caller that comes too late learns how it ended. */
static void on_nothing_to_send(void *context, const struct store_reply *reply)
{
    struct error err;

    if (reply->outcome != STORE_DONE) {
        operation_not_found(context, reply);
        return;
    }
    error_say(&err, ERROR_wrong_state, "/session_id", TEXT_REASON_NOTHING_TO_SEND, NULL);
    operation_fail_won(context, &err, reply->row);
}

static void send_found(struct operation *operation)
{
    struct active_ask *active = active_find(operation->engine, operation->id);
    struct store_change change;

    if (!active || state_is_open(active->state) || active->is_undoing || active->is_sending) {
        if (!follow_looks_first(operation, send_found))
            operation_get(operation, on_nothing_to_send);
        return;
    }
    active->is_sending = true;
    /* the answer is given once more, now for good: what the agent is told can't be taken back */
    change = store_change_of(active->id, EVENT_ANSWERED);
    change.from_states = state_bit(active->state);
    change.deliver_after_ms = 0;
    change.needs_sync = true;
    change.now_ms = engine_utc_ms(operation->engine);
    operation_begin_write(operation);
    store_write_change(operation->engine->parts.store, &change, on_sent, operation);
}

HANDLER(ask_send, operation_for_ask, send_found)

/* This connection's own, so that others can't take it away. Those of asks that are over go on the
 * way: there are never more than asks. */
static struct shown_code *find_code(const struct operation *operation)
{
    struct shown_code **at = &operation->session->codes, *code;

    while ((code = *at) && strcmp(code->ask_id, operation->id) != 0) {
        if (active_find(operation->engine, code->ask_id)) {
            at = &code->next;
            continue;
        }
        *at = code->next;
        free(code);
    }
    if (!code) {
        *at = code = mem_new(sizeof *code);
        memcpy(code->ask_id, operation->id, sizeof code->ask_id);
    }
    return code;
}

/* Programs guess, people see the code: few wrong ones are enough, and a new one is cheap. */
bool challenge_takes(const struct operation *operation, const char *typed, struct error *err)
{
    struct shown_code *code = find_code(operation);
    bool is_shown = typed && code->digits[0];
    bool is_old = is_shown && code->until_boot_ms <= engine_boot_ms(operation->engine);
    bool is_right = is_shown && !is_old && strcmp(typed, code->digits) == 0;

    if (is_old || is_right || (is_shown && --code->tries_left == 0))
        code->digits[0] = '\0';
    if (is_right)
        return true;
    return error_say(err, ERROR_wrong_state, "/code",
                     is_old                         ? TEXT_REASON_CODE_EXPIRED
                     : is_shown && !code->digits[0] ? TEXT_REASON_CODE_TRIES
                                                    : TEXT_REASON_TYPE_THE_CODE,
                     NULL);
}

static void challenge_found(struct operation *operation)
{
    struct active_ask *active = active_find(operation->engine, operation->id);
    struct text out = { 0 };
    struct shown_code *code;
    struct error err;

    if (!active || !state_is_open(active->state)) {
        if (!follow_looks_first(operation, challenge_found))
            operation_is_over(operation);
        return;
    }
    if ((active->flags & ASK_DESTRUCTIVE) &&
        !own_may_destroy(operation->engine, operation->session, &active->origin->asker, active->id,
                         &err)) {
        operation_fail(operation, &err, NULL);
        return;
    }
    code = find_code(operation);
    random_digits(code->digits, CODE_DIGITS);
    code->tries_left = CODE_TRIES;
    code->until_boot_ms = engine_boot_ms(operation->engine) + CODE_MS;
    text_add_format(&out, "{\"session_id\":\"%s\",\"code\":\"%s\"}", active->id, code->digits);
    operation_ok_take(operation, &out);
}

HANDLER(ask_challenge, operation_for_ask, challenge_found)

/* What a person has typed so far: one per ask and person, last write wins, saved at most once a
 * second (R5.9). While the person types the deadline stays 30 s away (R5.4). */

static const int64_t DRAFT_SAVE_EVERY_MS = 1000;
static const int64_t DRAFT_HOLD_MS = 30000;      /* never less than this while they type */
static const int64_t DRAFT_HOLD_MAX_MS = 600000; /* in all, per ask */
enum { DRAFT_MAX_BYTES = 2 * LIMIT_ANSWER_TEXT_BYTES };

void draft_save_now(struct engine *engine, struct active_ask *active)
{
    struct activity *activity = active_rare(active)->activity;

    if (!activity || !activity->draft)
        return;
    /* the next keystroke saves again; the page keeps its own copy */
    store_write_draft(engine->parts.store,
                      &(struct store_draft){ active->id, engine->parts.person, activity->draft,
                                             engine_utc_ms(engine) },
                      operation_forget, operation_to_write(engine));
    free(activity->draft);
    activity->draft = NULL;
    activity->draft_saved_boot_ms = engine_boot_ms(engine);
}

void draft_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct activity *activity =
        (struct activity *)(void *)((char *)alarm - offsetof(struct activity, draft_alarm));

    draft_save_now(engine, activity->active);
}

static void hold_deadline(struct engine *engine, struct active_ask *active)
{
    int64_t now_boot = engine_boot_ms(engine);
    int64_t missing = DRAFT_HOLD_MS - (active->deadline.boot_ms - now_boot);
    int64_t room = DRAFT_HOLD_MAX_MS - active_rare(active)->hold_used_ms;
    struct store_change change;

    if (missing > room)
        missing = room;
    if (active->deadline_ms == 0 || missing <= 0 ||
        !settings_is_on(engine->parts.settings, SETTING_TYPING_HOLD))
        return;
    active_need_rare(active)->hold_used_ms += missing;
    active->deadline_ms += missing;
    active->original_ms += missing;
    alarm_set(&engine->alarms, &active->deadline, active->deadline.boot_ms + missing);
    change = effects_change(engine, active->id, EVENT_DRAFT_CHANGED, NULL, NULL);
    change.deadline_ms = active->deadline_ms;
    change.original_ms = active->original_ms;
    change.hold_used_ms = active->rare->hold_used_ms;
    /* a person's own deadline may be on its way to the store */
    change.if_version = active->version;
    store_write_change(engine->parts.store, &change, operation_forget, operation_to_write(engine));
    wait_tell_time(engine, active, NULL);
    active_mark_dirty(engine, active);
}

/* That person's other devices see it immediately; no one else does. */
static void share_draft(const struct engine *engine, const struct active_ask *active,
                        const struct session *from)
{
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "ask/drafted");

    json_write_text(&writer, "session_id", active->id);
    json_write_raw(&writer, "draft", active->rare->activity->draft);
    event_end(&writer);
    for (struct session *session = engine->sessions; session; session = session->next) {
        if (session_sees(session, active->id) && session != from)
            session_send(session, line.bytes, line.used);
    }
    text_release(&line);
}

void draft_keep(struct engine *engine, struct active_ask *active, const char *json)
{
    struct activity *activity = active_need_activity(active);

    if (strlen(json) > DRAFT_MAX_BYTES)
        return;
    free(activity->draft);
    activity->draft = mem_text(json);
    share_draft(engine, active, NULL);
    draft_save_now(engine, active);
}

static void draft_found(struct operation *operation)
{
    struct engine *engine = operation->engine;
    struct active_ask *active = active_find(engine, operation->id);
    struct activity *activity;
    struct error err;
    int64_t next;

    if (!active || !state_is_open(active->state)) {
        operation_is_over(operation);
        return;
    }
    if ((active->flags & ASK_DESTRUCTIVE) &&
        !own_may_destroy(engine, operation->session, &active->origin->asker, active->id, &err)) {
        operation_fail(operation, &err, NULL); /* there nothing is chosen for the person */
        return;
    }
    seen_mark(engine, operation->session, operation->id);
    activity = active_need_activity(active);
    free(activity->draft);
    activity->draft = mem_text(operation->text);
    hold_deadline(engine, active);
    share_draft(engine, active, operation->session);
    next = activity->draft_saved_boot_ms + DRAFT_SAVE_EVERY_MS;
    if (next <= engine_boot_ms(engine))
        draft_save_now(engine, active);
    else if (!activity->draft_alarm.place)
        alarm_set(&engine->alarms, &activity->draft_alarm, next);
    operation_ok(operation, "{}");
}

void ask_draft_method(struct method_call call)
{
    struct operation *operation = operation_new(sizeof *operation, call);
    const struct json *draft = json_member(call.params, "draft");

    if (DELIBERATE_FAULT(draft_submitted)) {
        operation_end(operation);
        call.params = draft;
        ask_answer_method(call);
        return;
    }
    if (json_kind(draft) != KIND_OBJECT) {
        operation_say(operation, ERROR_bad_type, "/draft", TEXT_REASON_DRAFT_OBJECT, NULL);
        return;
    }
    operation->text = json_encode_canonical(draft);
    if (strlen(operation->text) > DRAFT_MAX_BYTES) {
        operation_say(operation, ERROR_too_long, "/draft", TEXT_REASON_DRAFT_LONG, "most",
                      TEXT_NUMBER(DRAFT_MAX_BYTES), NULL);
        return;
    }
    operation_find_ask(operation, call.params, draft_found);
}
