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

static const int64_t RETIME_UNDO_LEAST_MS = 30000; /* time to think again after an undo */
static const int64_t CODE_MS = 600000;             /* a code is good for */
enum { CODE_TRIES = 3 };

struct retiming {
    struct errand errand; /* first; its text is what is said */
    enum ask_event event;
    int64_t version; /* the caller's If-Match; 0: any */
    int64_t seconds;
    enum ask_interface interface;
    struct lifecycle_facts facts;
    struct lifecycle_step step;
    struct store_change change;
};

static void refuse_row(struct errand *errand, const struct store_row *row)
{
    struct error err;

    if (state_is_open(row->ask.state))
        error_say(&err, ERROR_wrong_state, "/version", TEXT_REASON_CHANGED_LOOK, NULL);
    else
        error_say(&err, ERROR_already_answered, "/session_id", TEXT_REASON_IS_OVER, NULL);
    errand_fail_won(errand, &err, row);
}

/* For an agent there are only its own. */
static bool is_for(const struct session *session, const char *principal)
{
    return session->role == ROLE_PERSON || strcmp(principal, session->principal) == 0;
}

static void on_late_row(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE && is_for(errand->session, reply->row->ask.principal)) {
        refuse_row(errand, reply->row);
        return;
    }
    errand_not_found(errand, reply);
}

static void retime_found(struct errand *errand);

/* The deadline was worked out from one that others changed before it was stored. */
static bool is_overtaken(const struct retiming *retiming, const struct store_row *row)
{
    struct engine *engine = retiming->errand.engine;
    const struct live *live;

    if (follow_is_shared(engine))
        follow_row(engine, row);
    live = live_find(engine, retiming->errand.id);
    return live && retiming->errand.text && retiming->version == 0 &&
           live->version != retiming->change.if_version;
}

static void on_retimed(void *context, const struct store_reply *reply)
{
    struct retiming *retiming = context;
    struct engine *engine = retiming->errand.engine;
    struct live *live = live_find(engine, retiming->errand.id);

    if (live && retiming->event == EVENT_UNDONE) {
        live->is_undoing = false;
        /* it came to nothing: if its window ended meanwhile, the agent has waited for this */
        if (reply->outcome != STORE_DONE && !state_is_open(live->state) && !live->deadline.place)
            wait_finish(engine, live, NULL, NULL);
    }
    if (reply->outcome == STORE_LOST && live && is_overtaken(retiming, reply->row)) {
        retime_found(&retiming->errand); /* the ask is as it was meant for, with another deadline */
    } else if (reply->outcome == STORE_DONE && live && live->seq > reply->seq) {
        errand_ok(&retiming->errand, "{}"); /* others changed it since, and we know how */
    } else if (reply->outcome == STORE_DONE && live) {
        live->seq = reply->seq;
        effects_run(engine, live, &retiming->step, &retiming->change, NULL, &retiming->errand);
        if (retiming->event == EVENT_ASKED_BACK)
            back_tell_waiters(engine, live, retiming->errand.text);
        if (retiming->change.interface == INTERFACE_WEB && engine->page_count == 0)
            portal_open(engine, live->id); /* it goes on there */
        errand_end(&retiming->errand);
    } else if (reply->outcome != STORE_FAILED && reply->row) {
        refuse_row(&retiming->errand, reply->row);
    } else if (!errand_fails(&retiming->errand, reply)) {
        errand_is_over(&retiming->errand);
    }
}

/* Somebody is to think about what was said: the ask gets its whole time anew. */
static void fill_said(const struct retiming *retiming, const struct live *live,
                      struct store_change *change)
{
    int64_t whole = change->now_ms + live->original_ms;
    bool is_question = retiming->event == EVENT_ASKED_BACK;

    change->said = retiming->errand.text;
    change->deadline_ms = live->deadline_ms > whole ? live->deadline_ms : whole;
    change->set_flags = ASK_TALKED | (is_question ? ASK_ASKED_BACK : 0);
    change->clear_flags = is_question ? 0 : ASK_ASKED_BACK;
}

static void fill_change(struct retiming *retiming, const struct live *live)
{
    struct engine *engine = retiming->errand.engine;
    struct store_change *change = &retiming->change;
    int64_t now = change->now_ms;

    if (retiming->event == EVENT_EXTENDED) {
        change->original_ms = retiming->seconds * 1000;
        change->deadline_ms = now + change->original_ms;
    } else if (retiming->event == EVENT_UNDONE) {
        int64_t least = now + RETIME_UNDO_LEAST_MS;

        if (live->deadline_ms > 0)
            change->deadline_ms = live->deadline_ms > least ? live->deadline_ms : least;
        if (change->deadline_ms - now > live->original_ms)
            change->original_ms = change->deadline_ms - now;
        change->removes_answer = true;
        change->when = STORE_BEFORE_DELIVERY;
        change->person = engine->parts.person;
        change->deliver_after_ms = change->decided_ms = 0;
    } else if (retiming->errand.text) {
        fill_said(retiming, live, change);
    } else {
        change->interface = (int)retiming->interface;
    }
}

static void retime_found(struct errand *errand)
{
    struct retiming *retiming = (struct retiming *)errand;
    struct engine *engine = errand->engine;
    struct live *live = live_find(engine, errand->id);
    struct store_change *change = &retiming->change;

    if (live && !is_for(errand->session, live->principal->id))
        live = NULL; /* for that agent there is none */
    if (!live || !live->is_stored ||
        (retiming->version != 0 && retiming->version != live->version)) {
        if (!follow_looks_first(errand, retime_found))
            errand_get(errand, on_late_row);
        return;
    }
    retiming->facts.within_undo = !state_is_open(live->state) && live->deadline.place &&
                                  !live->is_undoing && !live->is_sending;
    retiming->step = lifecycle_next(live->state, retiming->event, &retiming->facts);
    if (!retiming->step.is_legal) {
        if (!follow_looks_first(errand, retime_found))
            errand_say(errand, retiming->step.refusal, "/session_id",
                       retiming->event == EVENT_UNDONE ? TEXT_REASON_NOTHING_TO_UNDO
                                                       : TEXT_REASON_IS_OVER,
                       NULL);
        return;
    }
    if (retiming->event == EVENT_INTERFACE_SWITCHED)
        draft_save_now(engine, live); /* written first: it is there where the person goes on */
    *change =
        effects_change(engine, errand->id, retiming->event, &retiming->step, &retiming->facts);
    change->if_version = retiming->version;
    if (retiming->errand.text && retiming->version == 0)
        change->if_version = live->version; /* more time may be on its way to the store */
    fill_change(retiming, live);
    live->is_undoing = live->is_undoing || retiming->event == EVENT_UNDONE;
    errand_begin_write(errand);
    store_write_change(engine->parts.store, change, on_retimed, retiming);
}

static struct retiming *retiming_new(enum ask_event event, struct method_call call)
{
    struct retiming *retiming = errand_new(sizeof *retiming, call);

    retiming->event = event;
    return retiming;
}

void retime_say(enum ask_event event, struct method_call call, const char *id, const char *said,
                int64_t version)
{
    struct retiming *retiming = retiming_new(event, call);

    retiming->version = version;
    retiming->errand.text = mem_text(said);
    memcpy(retiming->errand.id, id, sizeof retiming->errand.id);
    retime_found(&retiming->errand);
}

void ask_extend_method(struct method_call call)
{
    struct retiming *retiming = retiming_new(EVENT_EXTENDED, call);

    retiming->version = json_member_integer(call.params, "version", 0);
    if (!json_integer_of(json_member(call.params, "seconds"), &retiming->seconds) ||
        retiming->seconds < 1 || retiming->seconds > LIMIT_TIMEOUT_S) {
        errand_say(&retiming->errand, ERROR_out_of_range, "/seconds", TEXT_REASON_EXTEND_SECONDS,
                   NULL);
        return;
    }
    errand_find_ask(&retiming->errand, call.params, retime_found);
}

void ask_undo_method(struct method_call call)
{
    struct retiming *retiming = retiming_new(EVENT_UNDONE, call);

    if (DELIBERATE_FAULT(undo_ignored)) {
        errand_ok(&retiming->errand, "{}");
        return;
    }
    errand_find_ask(&retiming->errand, call.params, retime_found);
}

void ask_switch_method(struct method_call call)
{
    struct retiming *retiming = retiming_new(EVENT_INTERFACE_SWITCHED, call);
    const char *name = json_member_text(call.params, "interface");

    retiming->interface = name ? interface_find(name) : INTERFACE_NONE;
    if (retiming->interface == INTERFACE_NONE) {
        errand_say(&retiming->errand, ERROR_bad_enum, "/interface", TEXT_REASON_INTERFACE, NULL);
        return;
    }
    errand_find_ask(&retiming->errand, call.params, retime_found);
}

static void on_sent(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    struct live *live = live_find(errand->engine, errand->id);
    struct text out = { 0 };

    if (live)
        live->is_sending = false;
    if (errand_fails(errand, reply))
        return;
    if (live) {
        alarm_clear(&errand->engine->alarms, &live->deadline);
        effects_write_ack(errand->engine, live->id, live->state, live->version, false, &out);
        wait_finish(errand->engine, live, NULL, NULL);
    }
    errand_ok(errand, out.used ? text_string(&out) : "{}");
    text_release(&out);
}

/* Whoever comes too late learns how it ended. */
static void on_nothing_to_send(void *context, const struct store_reply *reply)
{
    struct error err;

    if (reply->outcome != STORE_DONE) {
        errand_not_found(context, reply);
        return;
    }
    error_say(&err, ERROR_wrong_state, "/session_id", TEXT_REASON_NOTHING_TO_SEND, NULL);
    errand_fail_won(context, &err, reply->row);
}

static void send_found(struct errand *errand)
{
    struct live *live = live_find(errand->engine, errand->id);
    struct store_change change;

    if (!live || state_is_open(live->state) || live->is_undoing || live->is_sending) {
        if (!follow_looks_first(errand, send_found))
            errand_get(errand, on_nothing_to_send);
        return;
    }
    live->is_sending = true;
    /* the answer is given once more, now for good: what the agent is told can't be taken back */
    change = store_change_of(live->id, EVENT_ANSWERED);
    change.from_states = state_bit(live->state);
    change.deliver_after_ms = 0;
    change.needs_sync = true;
    change.now_ms = engine_utc_ms(errand->engine);
    errand_begin_write(errand);
    store_write_change(errand->engine->parts.store, &change, on_sent, errand);
}

HANDLER(ask_send, errand_for_ask, send_found)

/* This connection's own, so that others can't take it away. Those of asks that are over go on the
 * way: there are never more than asks. */
static struct shown_code *find_code(const struct errand *errand)
{
    struct shown_code **at = &errand->session->codes, *code;

    while ((code = *at) && strcmp(code->ask_id, errand->id) != 0) {
        if (live_find(errand->engine, code->ask_id)) {
            at = &code->next;
            continue;
        }
        *at = code->next;
        free(code);
    }
    if (!code) {
        *at = code = mem_new(sizeof *code);
        memcpy(code->ask_id, errand->id, sizeof code->ask_id);
    }
    return code;
}

/* Programs guess, people see the code: few wrong ones are enough, and a new one is cheap. */
bool challenge_takes(const struct errand *errand, const char *typed, struct error *err)
{
    struct shown_code *code = find_code(errand);
    bool is_shown = typed && code->digits[0];
    bool is_old = is_shown && code->until_boot_ms <= engine_boot_ms(errand->engine);
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

static void challenge_found(struct errand *errand)
{
    struct live *live = live_find(errand->engine, errand->id);
    struct text out = { 0 };
    struct shown_code *code;
    struct error err;

    if (!live || !state_is_open(live->state)) {
        if (!follow_looks_first(errand, challenge_found))
            errand_is_over(errand);
        return;
    }
    if ((live->flags & ASK_DESTRUCTIVE) &&
        !own_may_destroy(errand->engine, errand->session, &live->origin->asker, live->id, &err)) {
        errand_fail(errand, &err, NULL);
        return;
    }
    code = find_code(errand);
    random_digits(code->digits, CODE_DIGITS);
    code->tries_left = CODE_TRIES;
    code->until_boot_ms = engine_boot_ms(errand->engine) + CODE_MS;
    text_add_format(&out, "{\"session_id\":\"%s\",\"code\":\"%s\"}", live->id, code->digits);
    errand_ok_take(errand, &out);
}

HANDLER(ask_challenge, errand_for_ask, challenge_found)

/* What a person has typed so far: one per ask and person, last write wins, saved at most once a
 * second (R5.9). While somebody types the deadline stays 30 s away (R5.4). */

static const int64_t DRAFT_SAVE_EVERY_MS = 1000;
static const int64_t DRAFT_HOLD_MS = 30000;       /* never less than this while somebody types */
static const int64_t DRAFT_HOLD_MOST_MS = 600000; /* in all, per ask */
enum { DRAFT_MAX_BYTES = 2 * LIMIT_ANSWER_TEXT_BYTES };

void draft_save_now(struct engine *engine, struct live *live)
{
    struct attention *attention = live->attention;

    if (!attention || !attention->draft)
        return;
    /* the next keystroke saves again; the page keeps its own copy */
    store_write_draft(engine->parts.store,
                      &(struct store_draft){ live->id, engine->parts.person, attention->draft,
                                             engine_utc_ms(engine) },
                      errand_forget, errand_to_write(engine));
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
    struct store_change change;

    if (missing > room)
        missing = room;
    if (live->deadline_ms == 0 || missing <= 0 ||
        !settings_is_on(engine->parts.settings, SETTING_TYPING_HOLD))
        return;
    live_need_rare(live)->hold_used_ms += missing;
    live->deadline_ms += missing;
    live->original_ms += missing;
    alarm_set(&engine->alarms, &live->deadline, live->deadline.boot_ms + missing);
    change = effects_change(engine, live->id, EVENT_DRAFT_CHANGED, NULL, NULL);
    change.deadline_ms = live->deadline_ms;
    change.original_ms = live->original_ms;
    change.hold_used_ms = live->rare->hold_used_ms;
    change.if_version = live->version; /* a person's own deadline may be on its way to the store */
    store_write_change(engine->parts.store, &change, errand_forget, errand_to_write(engine));
    wait_tell_time(engine, live, NULL);
    live_mark_dirty(engine, live);
}

/* That person's other devices see it at once; nobody else does. */
static void share_draft(const struct engine *engine, const struct live *live,
                        const struct session *from)
{
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "ask/drafted");

    json_write_text(&writer, "session_id", live->id);
    json_write_raw(&writer, "draft", live->attention->draft);
    event_end(&writer);
    for (struct session *session = engine->sessions; session; session = session->next) {
        if (session_sees(session, live->id) && session != from)
            session_send(session, line.bytes, line.used);
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

static void draft_found(struct errand *errand)
{
    struct engine *engine = errand->engine;
    struct live *live = live_find(engine, errand->id);
    struct attention *attention;
    struct error err;
    int64_t next;

    if (!live || !state_is_open(live->state)) {
        errand_is_over(errand);
        return;
    }
    if ((live->flags & ASK_DESTRUCTIVE) &&
        !own_may_destroy(engine, errand->session, &live->origin->asker, live->id, &err)) {
        errand_fail(errand, &err, NULL); /* there nothing is chosen for the person */
        return;
    }
    seen_mark(engine, errand->session, errand->id);
    attention = live_attend(live);
    free(attention->draft);
    attention->draft = mem_text(errand->text);
    hold_deadline(engine, live);
    share_draft(engine, live, errand->session);
    next = attention->draft_saved_boot_ms + DRAFT_SAVE_EVERY_MS;
    if (next <= engine_boot_ms(engine))
        draft_save_now(engine, live);
    else if (!attention->draft_alarm.place)
        alarm_set(&engine->alarms, &attention->draft_alarm, next);
    errand_ok(errand, "{}");
}

void ask_draft_method(struct method_call call)
{
    struct errand *errand = errand_new(sizeof *errand, call);
    const struct json *draft = json_member(call.params, "draft");

    if (DELIBERATE_FAULT(draft_submitted)) {
        errand_end(errand);
        call.params = draft;
        ask_answer_method(call);
        return;
    }
    if (json_kind(draft) != KIND_OBJECT) {
        errand_say(errand, ERROR_bad_type, "/draft", TEXT_REASON_DRAFT_OBJECT, NULL);
        return;
    }
    errand->text = json_encode_canonical(draft);
    if (strlen(errand->text) > DRAFT_MAX_BYTES) {
        errand_say(errand, ERROR_too_long, "/draft", TEXT_REASON_DRAFT_LONG, "most",
                   TEXT_NUMBER(DRAFT_MAX_BYTES), NULL);
        return;
    }
    errand_find_ask(errand, call.params, draft_found);
}
