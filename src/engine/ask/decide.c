/*
 * decide.c - a person answers, cancels or declines; an agent takes its ask back.
 * One conditional update in the store decides (R5.3). A caller that comes too late learns who
 * won, when and how; one that sends the same again is told "already so" as a success.
 *
 * Of an ask that timed out a person can tell its agent something all the same, once. That takes the
 * same way and decides nothing: it is an event of the ask, which reaches the agent as a notice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/fields/field_class.h"
#include "core/fields/form.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

struct decision {
    struct operation operation; /* first; its text is what is stored as the answer */
    enum ask_event event;
    const char *via;
    bool is_client;                /* the agent's own client brought it */
    bool is_host;                  /* or the host of its conversation */
    bool needs_code;               /* the answer it brings does */
    struct json *params, *content; /* the latter of such a client's form */
    struct lifecycle_facts facts;
    struct lifecycle_step step;
    struct store_change change;
    int64_t version; /* of the ask, once it is decided */
    char *answer_key;
    struct answer answer; /* where event is EVENT_ANSWERED; else empty */
    struct form form;     /* read back from the store for that; else empty */
    struct text actor_json, told_json;
    struct known known;
};

static void decision_drop(struct operation *operation)
{
    struct decision *decision = (struct decision *)operation;

    answer_release(&decision->answer);
    form_release(&decision->form);
    json_free(decision->params);
    json_free(decision->content);
    free(decision->answer_key);
    text_release(&decision->actor_json);
    text_release(&decision->told_json);
}

static void acknowledge(struct decision *decision, enum ask_state state, int64_t version,
                        bool is_already)
{
    struct text out = { 0 };

    effects_write_ack(decision->operation.engine, decision->operation.id, state, version,
                      is_already, &out);
    if (!is_already)
        follow_ask(decision->operation.engine, decision->operation.id);
    operation_ok_take(&decision->operation, &out);
}

/* The same person sending the same content again: a double click, or a retry after a lost reply. */
static bool is_already_so(const struct decision *decision, const struct store_row *row)
{
    static const enum ask_state wanted[EVENT_COUNT] = {
        [EVENT_ANSWERED] = STATE_SUBMITTED,
        [EVENT_CANCELLED] = STATE_CANCELLED,
        [EVENT_DECLINED] = STATE_DECLINED,
        [EVENT_AGENT_WITHDREW] = STATE_WITHDRAWN,
    };

    if (row->ask.state != wanted[decision->event])
        return false;
    if (decision->event == EVENT_AGENT_WITHDREW)
        return true;
    return decision->operation.text && row->answer_json &&
           strcmp(row->answer_json, decision->operation.text) == 0;
}

static bool refuse_again(struct error *err)
{
    return error_say(err, ERROR_already_answered, "/session_id", TEXT_REASON_TOLD_ALREADY, NULL);
}

static void refuse_late(struct decision *decision, const struct store_row *row)
{
    struct error err;

    if (is_already_so(decision, row) || DELIBERATE_FAULT(two_winners)) {
        acknowledge(decision, row->ask.state, row->ask.version, true);
        return;
    }
    if (decision->event == EVENT_TOLD)
        refuse_again(&err);
    else if (row->ask.state == STATE_TIMEOUT || row->ask.state == STATE_AUTO_SUBMITTED)
        error_say(&err, ERROR_wrong_state, "/session_id", TEXT_REASON_RAN_OUT, NULL);
    else if (row->ask.state == STATE_WITHDRAWN)
        error_say(&err, ERROR_wrong_state, "/session_id", TEXT_REASON_TAKEN_BACK, NULL);
    else if (state_is_open(row->ask.state))
        error_say(&err, ERROR_wrong_state, "/version", TEXT_REASON_CHANGED, NULL);
    else
        error_say(&err, ERROR_already_answered, "/session_id", TEXT_REASON_FASTER, NULL);
    operation_fail_won(&decision->operation, &err, row);
}

static void on_decided(void *context, const struct store_reply *reply)
{
    struct decision *decision = context;
    struct engine *engine = decision->operation.engine;
    struct active_ask *active = active_find(engine, decision->operation.id);

    CRASH_POINT(engine_after_decide);
    switch (reply->outcome) {
    case STORE_DONE:
        if (!active || active->seq > reply->seq) {
            /* another hub has it, or changed it since: what became of it is read */
            acknowledge(decision, decision->step.state, decision->version, false);
            break;
        }
        active->seq = reply->seq;
        effects_run(engine, active, &decision->step, &decision->change, &decision->known,
                    &decision->operation);
        operation_end(&decision->operation);
        break;
    case STORE_REPEATED:
        if (strcmp(reply->row->ask.id, decision->operation.id) == 0 &&
            is_already_so(decision, reply->row))
            acknowledge(decision, reply->row->ask.state, reply->row->ask.version, true);
        else
            operation_say(&decision->operation, ERROR_conflicting_arguments, "/answer_key",
                          TEXT_REASON_ANSWER_KEY_USED, NULL);
        break;
    case STORE_LOST:
        refuse_late(decision, reply->row);
        break;
    case STORE_MISSING:
    case STORE_FAILED:
        operation_not_found(&decision->operation, reply);
        break;
    }
}

/* The undo window is for answers; after cancel or decline the agent must stop immediately. Nor is
 * there one where no other process waits. */
static int64_t undo_window_ms(const struct decision *decision, const struct asker *asker)
{
    const char *via = decision->operation.session->via;

    if (decision->event != EVENT_ANSWERED || decision->operation.session->role != ROLE_PERSON ||
        (strcmp(via, "web") != 0 && strcmp(via, "terminal") != 0) ||
        own_is_in_place(decision->operation.session, asker))
        return 0;
    return engine_setting(decision->operation.engine, SETTING_DELIVER_AFTER) * 1000;
}

static struct asker asker_of(const struct decision *decision, const struct store_row *row)
{
    const struct active_ask *active =
        active_find(decision->operation.engine, decision->operation.id);

    return active ? active->origin->asker
                  : own_read(decision->operation.engine, row->ask.origin_json);
}

/* The agent gets it as it is; people are shown the summary (ask_back_write). */
static void fill_told(struct decision *decision, const struct store_row *row,
                      struct store_change *change)
{
    struct json_writer writer = json_object_to(&decision->told_json);
    struct store_row answered = *row;

    answered.ask.state = STATE_SUBMITTED;
    answered.answer_json = decision->operation.text;
    history_write_answer(&writer, &answered);
    json_write_raw(&writer, "answer", decision->operation.text);
    json_write_raw(&writer, "said_by", text_string(&decision->actor_json));
    json_write_end_object(&writer);
    change->said = text_string(&decision->told_json);
    change->set_flags = ASK_TOLD | ASK_TALKED;
    change->if_version = row->ask.version; /* of two people one tells it */
    change->to_state = STORE_KEEP;
    change->decided_ms = STORE_KEEP;
}

static void save_decision(struct decision *decision, const struct store_row *row)
{
    struct engine *engine = decision->operation.engine;
    struct store_change *change = &decision->change;
    struct asker asker = asker_of(decision, row);
    int64_t window = undo_window_ms(decision, &asker);

    decision->step = lifecycle_next(row->ask.state, decision->event, &decision->facts);
    if (!decision->step.is_legal) {
        if (!json_member_text(decision->params, "answer_key")) {
            refuse_late(decision, row);
            return;
        }
        /* A key that was given may be known already: only the store can tell. What it decides is
         * open there, because an undo was ahead of this. */
        if (!DELIBERATE_FAULT(decision_after_undo_lost))
            decision->step = lifecycle_next(STATE_PENDING, decision->event, &decision->facts);
    }
    decision->known.by = session_actor(engine, decision->operation.session, &asker);
    if (decision->is_client || decision->is_host) /* the process is the front's, not the person's */
        decision->known.by = (struct answered_by){ .person = engine->parts.person,
                                                   .via = decision->via,
                                                   .uid = decision->operation.session->uid,
                                                   .token = decision->known.by.token };
    session_write_actor(&decision->known.by, &decision->actor_json);
    *change = effects_change(engine, decision->operation.id, decision->event, &decision->step,
                             &decision->facts);
    decision->version = row->ask.version + decision->step.raises_version;
    change->if_version = json_member_integer(decision->params, "version", 0);
    change->decided_ms = change->now_ms;
    change->deliver_after_ms = window ? change->now_ms + window : STORE_KEEP;
    change->actor_json = text_string(&decision->actor_json);
    if (decision->event == EVENT_TOLD) {
        fill_told(decision, row, change);
    } else if (decision->operation.text) {
        change->person = engine->parts.person;
        change->answer_json = decision->operation.text;
        change->answer_key = decision->answer_key;
    }
    operation_begin_write(&decision->operation);
    CRASH_POINT(engine_before_decide);
    store_write_change(engine->parts.store, change, on_decided, decision);
}

/* R12.1 and R2: a destructive answer wants a person, in the portal or at a terminal of their own,
 * who typed the code just shown. */
static bool may_destroy(struct decision *decision, const struct store_row *row, struct error *err)
{
    const struct session *session = decision->operation.session;
    struct asker asker = asker_of(decision, row);

    if (!decision->needs_code || !state_is_open(row->ask.state))
        return true;
    if (strcmp(decision->via, "client") == 0 || strcmp(decision->via, "api") == 0 ||
        (strcmp(decision->via, "web") != 0 && !session->tty))
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_DESTRUCTIVE, "id",
                         text_head(row->ask.id, 8, (char[9]){ 0 }), NULL);
    return own_may_destroy(decision->operation.engine, decision->operation.session, &asker,
                           row->ask.id, err) &&
           challenge_takes(&decision->operation, json_member_text(decision->params, "code"), err);
}

static bool may_answer(const struct decision *decision, struct error *err)
{
    const struct session *session = decision->operation.session;
    int64_t cli_answers = engine_setting(decision->operation.engine, SETTING_CLI_ANSWERS);

    if (session->role != ROLE_PERSON || strcmp(session->via, "cli") != 0)
        return true;
    if (cli_answers == CLI_ANSWERS_OFF)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_CLI_OFF, NULL);
    if (cli_answers == CLI_ANSWERS_TTY && !session->tty)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_CLI_NEEDS_TERMINAL, NULL);
    return true;
}

/* Portal and terminal leave the hints out of their fields then; a client's form knows no settings.
 */
static bool hides_placeholder(const struct decision *decision)
{
    return !decision->is_client && !engine_setting(decision->operation.engine, SETTING_PLACEHOLDER);
}

/* The one place where prefilled notes join an answer, for every channel. */
static bool check_given(struct decision *decision, const struct form *form,
                        const struct json *given, struct error *err)
{
    if (!answer_check(form, given, &decision->answer, err))
        return false;
    answer_keep_notes(form, given, &decision->answer);
    return true;
}

static bool check_content(struct decision *decision, const struct form *form, struct error *err)
{
    struct text given = { 0 };
    struct json *value = NULL;
    bool ok = client_form_read(form, decision->content, &given, err) &&
              json_parse(given.bytes, given.used, &value, err) &&
              check_given(decision, form, value, err);

    json_free(value);
    text_release(&given);
    return ok;
}

static bool encode_by_form(struct decision *decision, const struct form *form, struct error *err)
{
    struct form asked = *form; /* borrows all its parts */
    struct text json = { 0 };
    bool ok;

    asked.allow_annotations =
        form->allow_annotations && engine_setting(decision->operation.engine, SETTING_NOTES);
    ok = decision->is_client ? check_content(decision, &asked, err)
                             : check_given(decision, &asked, decision->params, err);
    if (!ok)
        return false;
    decision->needs_code = answer_needs_code(&asked, &decision->answer);
    decision->answer.hides_placeholder = decision->known.hides_placeholder =
        form->fields[0].placeholder && hides_placeholder(decision);
    answer_encode(&asked, &decision->answer, &json);
    decision->operation.text = text_take(&json);
    decision->known.answer = &decision->answer;
    return true;
}

/* `form` is NULL where only the row has it. What was read serves the agent's result too. */
static bool encode_answer(struct decision *decision, const struct store_row *row,
                          const struct form *form, struct error *err)
{
    const char *json = row->ask.form_json;

    if (!form && !form_parse(json, strlen(json), &decision->form, err))
        return false;
    if (!form)
        form = decision->known.form = &decision->form;
    return encode_by_form(decision, form, err);
}

/* Cancelling and declining carry at most a note. */
static bool encode_note(struct decision *decision, struct error *err)
{
    const struct json *note = json_member(decision->params, "global_annotation");
    struct text json = { 0 };
    struct json_writer writer = json_writer_to(&json);
    const char *text = json_text(note);

    if (note && !text)
        return error_say(err, ERROR_bad_type, "/global_annotation", TEXT_REASON_NOTE_TEXT, NULL);
    if (text && strlen(text) != json_length(note))
        return error_say(err, ERROR_nul_character, "/global_annotation", TEXT_REASON_NOTE_NUL,
                         NULL);
    if (text && text_count(text, strlen(text)) > LIMIT_ANNOTATION_CHARS)
        return error_say(err, ERROR_too_long, "/global_annotation", TEXT_REASON_NOTE_TOO_LONG,
                         "limit", TEXT_NUMBER(LIMIT_ANNOTATION_CHARS), NULL);
    json_write_object(&writer, NULL);
    json_write_text_if(&writer, "global_annotation", text);
    decision->known.hides_placeholder = hides_placeholder(decision);
    if (decision->known.hides_placeholder)
        json_write_bool(&writer, "placeholder_visible", false);
    json_write_end_object(&writer);
    decision->known.cancel_note = text && !visible_is_empty(text, strlen(text)) ? text : NULL;
    decision->operation.text = text_take(&json);
    return true;
}

/* What stood in a client's form that was refused, or lacks something, is the person's draft. */
static void keep_typed(struct decision *decision, const struct store_row *row,
                       const struct form *form)
{
    struct engine *engine = decision->operation.engine;
    struct active_ask *active = active_find(engine, decision->operation.id);
    struct text typed = { 0 };
    struct error err;

    if (!form &&
        (decision->form.fields ||
         form_parse(row->ask.form_json, strlen(row->ask.form_json), &decision->form, &err)))
        form = &decision->form;
    if (form && active && state_is_open(active->state) &&
        client_form_read(form, decision->content, &typed, &err))
        draft_keep(engine, active, text_string(&typed));
    text_release(&typed);
}

/* By the rules of answers. No code is asked for here: what takes one is refused, and for a
 * destructive ask so are the agent's own processes, whatever they say. */
static bool encode_told(struct decision *decision, const struct store_row *row, struct error *err)
{
    static const char *const choices[] = { "selected_ids", "custom_input", "fields" };
    const struct asker asker = asker_of(decision, row);
    bool has_choice = false;

    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        has_choice = has_choice || json_length(json_member(decision->params, choices[i])) > 0;
    if (row->ask.state != STATE_TIMEOUT)
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_TELL_TIMED_OUT, NULL);
    if (row->ask.flags & ASK_TOLD)
        return refuse_again(err);
    if (row->ask.flags & ASK_DESTRUCTIVE &&
        !own_may_destroy(decision->operation.engine, decision->operation.session, &asker,
                         row->ask.id, err))
        return false;
    if (!(has_choice ? encode_answer(decision, row, NULL, err) : encode_note(decision, err)))
        return false;
    if (decision->needs_code)
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_TELL_CODE, NULL);
    return has_choice || decision->known.cancel_note ||
           error_say(err, ERROR_missing_property, "/global_annotation", TEXT_REASON_TELL_WHAT,
                     NULL);
}

static void decide_row(struct decision *decision, const struct store_row *row,
                       const struct form *form)
{
    bool is_agent = decision->operation.session->role == ROLE_AGENT;
    int64_t version = json_member_integer(decision->params, "version", 0);
    struct error err;
    bool ok = true;

    if (!row ||
        (is_agent && strcmp(row->ask.principal, decision->operation.session->principal) != 0)) {
        operation_say(&decision->operation, ERROR_not_found, "/session_id",
                      is_agent ? TEXT_REASON_NOT_YOURS : TEXT_REASON_NO_SUCH_ASK, NULL);
        return;
    }
    if (version != 0 && version != row->ask.version && state_is_open(row->ask.state)) {
        refuse_late(decision, row); /* what was seen is not what is there: before what is wrong */
        return;
    }
    if (decision->event == EVENT_ANSWERED)
        ok = encode_answer(decision, row, form, &err) && may_destroy(decision, row, &err);
    else if (decision->event == EVENT_TOLD)
        ok = encode_told(decision, row, &err);
    else if (decision->event != EVENT_AGENT_WITHDREW)
        ok = encode_note(decision, &err);
    if (decision->is_client && (decision->event != EVENT_ANSWERED || !ok))
        keep_typed(decision, row, form);
    if (ok)
        save_decision(decision, row);
    else if (state_is_open(row->ask.state) || decision->event == EVENT_TOLD)
        operation_fail(&decision->operation, &err, NULL);
    else
        refuse_late(decision, row); /* that it is over matters more than what is wrong with it */
}

static void on_decision_row(void *context, const struct store_reply *reply)
{
    struct decision *decision = context;

    if (!operation_fails(&decision->operation, reply))
        decide_row(decision, reply->outcome == STORE_DONE ? reply->row : NULL, NULL);
}

/* What is open and in memory need not be read: the conditional update decides anyway. A version we
 * do not know was seen at another hub. */
static void get_decision_row(struct operation *operation)
{
    const struct active_ask *active = active_find(operation->engine, operation->id);
    int64_t version = json_member_integer(((struct decision *)operation)->params, "version", 0);

    if (active && active->is_stored && active->form && state_is_open(active->state) &&
        (version <= active->version || !follow_is_shared(operation->engine))) {
        struct store_row row = active_row(active);

        decide_row((struct decision *)operation, &row, active->form);
    } else {
        operation_get(operation, on_decision_row);
    }
}

/* Without a key of its own an answer cannot be repeated by it: nothing has to be looked up. A key
 * that can't be kept is refused: its owner relies on it. */
static bool take_key(struct decision *decision, struct error *err)
{
    const struct json *given = json_member(decision->params, "answer_key");
    const char *key = json_text(given);

    if (given && (!key || !key[0] || strlen(key) != json_length(given) ||
                  strlen(key) > LIMIT_ANSWER_KEY_BYTES))
        return error_say(err, ERROR_bad_format, "/answer_key", TEXT_REASON_ANSWER_KEY, "most",
                         TEXT_NUMBER(LIMIT_ANSWER_KEY_BYTES), NULL);
    decision->answer_key = mem_text(key);
    return true;
}

static struct decision *decision_new(enum ask_event event, struct method_call call)
{
    struct decision *decision = operation_new(sizeof *decision, call);

    decision->operation.drop = decision_drop;
    decision->event = event;
    decision->via = call.session->via;
    decision->params = json_keep(call.params);
    return decision;
}

static void decide(enum ask_event event, struct method_call call)
{
    struct decision *decision = decision_new(event, call);
    struct error err;

    own_find_process(call.session);
    if (operation_may(&decision->operation, take_key(decision, &err) && may_answer(decision, &err),
                      &err))
        operation_find_ask(&decision->operation, call.params, get_decision_row);
}

void decide_by_client(enum ask_event event, struct method_call call, const char *id,
                      const struct json *content)
{
    struct decision *decision = decision_new(event, call);

    decision->via = "client";
    decision->is_client = true;
    decision->content = json_keep(content);
    memcpy(decision->operation.id, id, sizeof decision->operation.id);
    get_decision_row(&decision->operation);
}

void decide_question(enum ask_event event, struct method_call call, const char *id)
{
    struct decision *decision = decision_new(event, call);

    decision->via = "api";
    decision->is_host = call.session->role == ROLE_AGENT;
    memcpy(decision->operation.id, id, sizeof decision->operation.id);
    get_decision_row(&decision->operation);
}

HANDLER(ask_answer, decide, EVENT_ANSWERED)
HANDLER(ask_cancel, decide, EVENT_CANCELLED)
HANDLER(ask_decline, decide, EVENT_DECLINED)
HANDLER(ask_withdraw, decide, EVENT_AGENT_WITHDREW)
HANDLER(ask_tell, decide, EVENT_TOLD)
