/*
 * submit.c - an agent asks: checked whole before anyone is disturbed, and matched with what it
 * asked before (R5.5). What is new is limited (R5.8), routed (R2.6), stored, and only then shown.
 */
#include "engine/ask/submit.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/conversation.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "core/routing.h"
#include "core/rule.h"
#include "core/tools/arguments.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* For the next time, so that the front has it when this one's patience ends. */
static void write_state(const struct submission *submission, const char *id,
                        struct json_writer *writer)
{
    const struct operation *operation = &submission->operation;
    const struct round_trip next = { .number = submission->terms.round_trip.number + 1 };
    struct text state = { 0 };

    if (submission->terms.resumes &&
        resume_seal(operation->engine, submission->match.call, id, &next, &state))
        json_write_text(writer, "state", text_string(&state));
    text_release(&state);
}

/* The front learns the id as soon as it is safe, long before there is an answer. */
void submission_tell_created(const struct submission *submission, const char *id)
{
    struct engine *engine = submission->operation.engine;
    const struct active_ask *active;
    struct text line, url = { 0 };
    struct json_writer writer;

    if (!submission->operation.text)
        return;
    active = active_find(engine, id);
    line = line_take(engine);
    writer = event_begin(&line, "ask/created");
    json_write_text(&writer, "tag", submission->operation.text);
    json_write_text(&writer, "session_id", id);
    if (active && active->deadline.place && state_is_open(active->state))
        json_write_integer(&writer, "remaining_ms",
                           active->deadline.boot_ms - engine_boot_ms(engine));
    if (active && state_is_open(active->state) && portal_write_url(engine, id, &url))
        json_write_text(&writer, "url", text_string(&url));
    text_release(&url);
    write_state(submission, id, &writer);
    event_end(&writer);
    session_send(submission->operation.session, line.bytes, line.used);
    line_give(engine, &line);
}

void submission_park(struct submission *submission, struct active_ask *active)
{
    struct operation *operation = &submission->operation;

    if (operation->session->is_gone || active->state == STATE_PENDING_TERMINAL_LAUNCH)
        return; /* the latter does not wait: it is told a command, and collects later */
    wait_add(operation_call(operation), active, &submission->terms);
}

/* To who is not parked, because it waits for a terminal. `failure` NULL: the ask is stored. */
static void submission_reply_launch(const struct submission *submission, struct active_ask *active,
                                    const struct error *failure)
{
    const struct operation *operation = &submission->operation;
    struct reply reply = { 0 };

    if (active->state != STATE_PENDING_TERMINAL_LAUNCH || operation->session->is_gone)
        return;
    if (failure) {
        reply.err = *failure;
        operation_reply(operation, &reply);
    } else if (submission->launch.text[0]) {
        launch_reply(operation_call(operation), active, &submission->launch);
    } else {
        launch_renew(operation_call(operation), active);
    }
}

/* Identical calls that came while the ask was being stored learn its id with the first. */
static void submission_end_late(struct active_ask *active, const struct error *failure)
{
    struct submission *late = active_take_late(active);

    while (late) {
        struct submission *next = late->next_late;

        if (!failure)
            submission_tell_created(late, active->id);
        submission_reply_launch(late, active, failure);
        operation_end(&late->operation);
        late = next;
    }
}

/* Same key, other words: giving the old answer to a new question would invent one. False. */
static bool submission_refuse_key(struct error *err)
{
    return error_say(err, ERROR_conflicting_arguments, "/idempotency_key",
                     TEXT_REASON_OTHER_ARGUMENTS, NULL);
}

/* One that is new */

/* To people, as the step that made it says. */
static void present(const struct submission *submission, struct active_ask *active)
{
    struct engine *engine = submission->operation.engine;

    if (submission->earlier_json)
        draft_keep(engine, active, submission->earlier_json);
    active_mark_dirty(engine, active);
    client_offer(engine, active, submission->form_json.used ? submission->form_json.bytes : NULL);
    announce_new(engine, active);
    if (submission->opens_browser)
        portal_open(engine, active->id);
}

/* Another hub has this call's ask: the calls that came for ours wait for that one. */
static void join(struct submission *submission, struct active_ask *active, const char *id)
{
    struct engine *engine = submission->operation.engine;
    struct submission *late = active_take_late(active), *next;

    submission_tell_created(submission, id);
    for (; late; late = next) {
        next = late->next_late;
        submission_tell_created(late, id);
        operation_end(&late->operation);
    }
    wait_move(engine, active, id);
    if (active->state == STATE_PENDING_TERMINAL_LAUNCH) {
        const struct wait_terms terms = { .wants_launch = true };

        wait_begin(operation_call(&submission->operation), id, &terms);
    }
    active_forget(engine, active);
    operation_end(&submission->operation);
}

static void take_created(struct submission *submission, const struct store_reply *reply)
{
    struct engine *engine = submission->operation.engine;
    struct active_ask *active = active_find(engine, submission->ask.id);

    if (reply->outcome == STORE_REPEATED) {
        join(submission, active, reply->row->ask.id);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        struct error err = reply->err;

        if (reply->outcome == STORE_LOST)
            submission_refuse_key(&err);
        wait_fail(engine, active, &err);
        submission_reply_launch(submission, active, &err);
        submission_end_late(active, &err);
        active_free(engine, active);
        operation_end(&submission->operation);
        return;
    }
    active->is_stored = true;
    active->seq = reply->seq;
    if (active->is_overtaken)
        follow_ask(engine, active->id);
    engine->counters.created++;
    if (!active->waiters && active->state != STATE_PENDING_TERMINAL_LAUNCH)
        active->flags |= ASK_DETACHED;
    time_start(engine, active);
    submission_tell_created(submission, active->id);
    submission_reply_launch(submission, active, NULL);
    submission_end_late(active, NULL);
    wait_stored(engine, active);
    if (!submission->rule[0] || !rules_apply(engine, active, submission->rule))
        present(submission, active);
    operation_end(&submission->operation);
    sweep_soon(engine);
    index_later(engine);
}

static void on_created(void *context, const struct store_reply *reply)
{
    struct submission *submission = context;
    struct engine *engine = submission->operation.engine;
    char id[ASK_ID_BYTES];

    CRASH_POINT(engine_after_create);
    memcpy(id, submission->ask.id, sizeof id);
    take_created(submission, reply);
    operation_stored(engine, id);
}

static bool route(struct submission *submission, struct error *err)
{
    const struct engine *engine = submission->operation.engine;
    struct ask *ask = &submission->ask;
    struct routing_facts facts = {
        .asked = submission->call->interface,
        .saved = settings_interface(engine->parts.settings),
        .portal_on = settings_is_on(engine->parts.settings, SETTING_PORTAL),
        .terminal_on = settings_is_on(engine->parts.settings, SETTING_TERMINAL),
        .portal_built = engine->parts.portal_built && engine->portal_url[0],
        .terminal_built = engine->parts.terminal_built,
        /* a client's form takes no second, deliberate act (R2) */
        .client_form_works =
            !form_may_destroy(&submission->call->form) &&
            form_fact_may_show(engine, submission->operation.session, &submission->terms.client),
        .page_connected = engine->page_count > 0,
        .inbox_connected = engine->inbox_count > 0,
        .since_browser_ms = portal_since_browser_ms(engine),
    };
    struct lifecycle_facts life = { 0 };
    struct route chosen = routing_decide(&facts);

    if (submission->is_question) { /* its host shows it too, and has no use for a command */
        chosen.wait_for_terminal = false;
        chosen.has_channel = true;
        if (chosen.interface == INTERFACE_NONE || chosen.interface == INTERFACE_TERMINAL)
            chosen.interface = INTERFACE_AUTO;
    }
    if (!chosen.has_channel)
        return error_say(err, ERROR_no_human_channel, "", TEXT_REASON_NOBODY_REACHED, NULL);
    ask->interface = chosen.interface;
    if (chosen.interface_unavailable)
        ask->flags |= ASK_INTERFACE_UNAVAILABLE;
    if (chosen.silent_ms > 0)
        ask->flags |= ASK_UNTOLD;
    submission->quiet_ms = chosen.silent_ms;
    submission->opens_browser = chosen.open_browser;
    life.wait_for_terminal = chosen.wait_for_terminal && !submission->rule[0];
    submission->step = lifecycle_next(STATE_NEW, EVENT_CREATED, &life);
    ask->state = submission->step.state;
    if (life.wait_for_terminal) {
        submission->launch = launch_make();
        memcpy(ask->launch_hash, submission->launch.hash, sizeof ask->launch_hash);
    }
    return true;
}

static void fill_ask(struct submission *submission)
{
    struct engine *engine = submission->operation.engine;
    struct ask *ask = &submission->ask;
    const struct ask_call *call = submission->call;
    int64_t timeout_s = call->timeout_s;

    if (timeout_s == 0 && !submission->is_question)
        timeout_s = engine_setting(engine, SETTING_TIMEOUT_SECONDS);
    if (!ask->id[0])
        random_id(ask->id);
    form_encode(&call->form, &submission->form_json);
    ask->tool = submission->tool->name;
    ask->title = call->form.title;
    ask->form_json = text_string(&submission->form_json);
    ask->arguments_json = call->arguments_json;
    ask->origin_json = session_origin(engine, submission->operation.session);
    ask->version = ask->form_version = 1;
    ask->created_ms = engine_utc_ms(engine);
    ask->original_ms = timeout_s * 1000;
    ask->deadline_ms = timeout_s ? ask->created_ms + ask->original_ms : 0;
    if (ask->deadline_ms && DELIBERATE_FAULT(deadline_early))
        ask->deadline_ms -= 3600000;
    ask->joins = follow_is_shared(engine) && !submission->is_question && !submission->is_anothers;
    ask->flags |= form_may_destroy(&call->form) ? ASK_DESTRUCTIVE : 0;
    ask->flags |= call->defaults_ignored ? ASK_DEFAULTS_IGNORED : 0;
    ask->flags |= call->cancel_always_available ? ASK_CANCEL_ALWAYS : 0;
}

/* The store has its own copy of what was asked. Ours goes: many asks may wait for the store at the
 * same time. */
static void drop_words(struct submission *submission)
{
    struct ask *ask = &submission->ask;

    ask->title = ask->origin_json = ask->form_json = ask->arguments_json = NULL;
    ask->idempotency_key = NULL;
    ask_call_release(submission->call);
    free(submission->call);
    submission->call = NULL;
    if (!submission->terms.client.has_form) /* else it is about to be shown */
        text_release(&submission->form_json);
}

/* A person is not asked what a rule answers for all asks of this kind. */
static void match_rule(struct submission *submission)
{
    const struct session *session = submission->operation.session;
    const struct rule_subject subject = {
        .principal = session->principal,
        .directory = session->directory,
        .tool = submission->tool->name,
        .form = &submission->call->form,
    };
    const char *id = rules_match(submission->operation.engine, &subject);

    if (id)
        memcpy(submission->rule, id, sizeof submission->rule);
}

static void submission_create(struct submission *submission)
{
    struct engine *engine = submission->operation.engine;
    const struct session *session = submission->operation.session;
    struct store_principal principal = {
        .id = session->principal,
        .kind = !session->token_id     ? "local"
                : session->token_id[0] ? "token"
                                       : "http",
        .uid = session->uid,
        .name = session->as_name ? session->as_name : session->name,
        .place = session->token_id ? session->token : session->directory,
    };
    struct error err;
    struct active_ask *active;

    if (!submission->is_question) /* its host could not be told that a rule answered it */
        match_rule(submission);
    if (!route(submission, &err) ||
        (!submission->is_question &&
         !principal_admit(engine, principal_get(engine, session->principal), &err))) {
        operation_fail(&submission->operation, &err, NULL);
        return;
    }
    fill_ask(submission);
    active =
        active_new(engine, &submission->ask, &submission->match, &session->asker, principal.name);
    if (submission->quiet_ms > 0)
        active_need_rare(active)->quiet_until_boot_ms =
            engine_boot_ms(engine) + submission->quiet_ms;
    launch_keep(engine, active, submission->ask.launch_hash);
    submission_park(submission, active);
    operation_begin_write(&submission->operation);
    CRASH_POINT(engine_before_create);
    store_write_create(engine->parts.store, &(struct store_create){ submission->ask, principal },
                       on_created, submission);
    active_keep_form(engine, active, &submission->call->form, submission->form_json.used);
    drop_words(submission);
}

/* One that may have been asked before */

/* So long after an answer the same call may be one that lost it, among so many. */
static const int64_t LOST_MS = 120000;
enum { LOST_ROWS = 64 };

static void match_or_create(struct submission *submission);
static store_done on_undelivered;

static void find_undelivered(struct submission *submission)
{
    struct store *store = submission->operation.engine->parts.store;

    submission->operation.has_looked = true;
    store->ops->find_undelivered(store, submission->ask.principal, submission->ask.digest,
                                 submission->ask.idempotency_key, on_undelivered, submission);
}

static void on_undelivered(void *context, const struct store_reply *reply)
{
    struct submission *submission = context;
    struct operation *operation = &submission->operation;
    struct error err;

    if (operation->session->is_gone) {
        /* before anything was kept: it has asked again by now, or never will */
        operation_end(operation);
    } else if (reply->outcome == STORE_FAILED) {
        operation_fail(operation, &reply->err, NULL);
    } else if (reply->outcome == STORE_MISSING && !submission->looks_again &&
               undelivered_knows(operation->engine, submission->match.call)) {
        submission->looks_again = true; /* answered while the store looked */
        find_undelivered(submission);
    } else if (reply->outcome != STORE_DONE || active_find(operation->engine, reply->row->ask.id) ||
               wait_is_delivering(operation->engine, reply->row->ask.id) ||
               in_flight_has(operation->engine, reply->row->ask.id)) {
        /* One that is alive, or on its way, is another's (R5.5); unless the same call came again
         * while we looked: then one of the two has made it by now. */
        submission->is_anothers =
            reply->outcome == STORE_DONE && !active_find(operation->engine, reply->row->ask.id);
        match_or_create(submission);
    } else if (memcmp(submission->ask.digest, reply->row->ask.digest, DIGEST_BYTES) != 0) {
        submission_refuse_key(&err);
        operation_fail(operation, &err, NULL);
    } else {
        submission_tell_created(submission, reply->row->ask.id);
        wait_reply_row(operation, reply->row, true);
        operation_end(operation);
    }
}

/* A client that cancels without a word has lost what its call was answered then. If it asks the
 * same again, the person is shown that answer, unless it is one to be given with care. */
static bool may_be_lost(const struct submission *submission)
{
    const struct session *session = submission->operation.session;
    const struct form *form = &submission->call->form;

    return session->transport && known_client(session->name)->cancels_silently &&
           !form_may_destroy(form) && !form_has_confirm(form);
}

static void on_earlier(void *context, const struct store_row *row, const struct error *err)
{
    struct submission *submission = context;
    struct operation *operation = &submission->operation;

    (void)err; /* then nothing is preselected */
    if (row && !submission->earlier_json && row->ask.state == STATE_SUBMITTED && row->answer_json &&
        memcmp(row->ask.digest, submission->ask.digest, DIGEST_BYTES) == 0 &&
        row->answered_ms > engine_utc_ms(operation->engine) - LOST_MS) {
        submission->earlier_json = mem_text(row->answer_json);
        submission->call->form.answered_ms = row->answered_ms;
    } else if (!row && operation->session->is_gone) {
        operation_end(operation);
    } else if (!row) {
        match_or_create(submission);
    }
}

static void look_back(struct submission *submission)
{
    struct store *store = submission->operation.engine->parts.store;
    const struct store_list_query query = {
        .which = STORE_LIST_ENDED,
        .principal = submission->ask.principal,
        .states = state_bit(STATE_SUBMITTED),
        .limit = LOST_ROWS,
    };

    submission->has_looked_back = true;
    store->ops->list(store, &query, on_earlier, submission);
}

static void match_or_create(struct submission *submission)
{
    struct engine *engine = submission->operation.engine;
    struct session *session = submission->operation.session;
    const struct match *match = &submission->match;
    struct active_ask *active = active_find_match(engine, match, session);
    struct error err;

    if (session->loading) { /* where it is shown depends on that */
        *(session->held_back ? session->held_end : &session->held_back) = submission;
        session->held_end = &submission->next_late;
        return;
    }
    if (!active) {
        if (!submission->has_looked_back && may_be_lost(submission))
            look_back(submission);
        else if (submission->operation.has_looked ||
                 !undelivered_may_match(engine, match->call, match->has_key))
            submission_create(submission);
        else
            find_undelivered(submission);
        return;
    }
    if (memcmp(match->call, active->call_match, MATCH_BYTES) != 0) {
        submission_refuse_key(&err);
        operation_fail(&submission->operation, &err, NULL);
        return;
    }
    submission_park(submission, active);
    if (active->is_stored) {
        submission_tell_created(submission, active->id);
        submission_reply_launch(submission, active, NULL);
        client_offer(engine, active, NULL);
        operation_end(&submission->operation);
    } else { /* an id that may not survive a crash is not handed out yet */
        submission->next_late = active_rare(active)->late;
        active_need_rare(active)->late = submission;
    }
}

void submit_held_back(struct session *session)
{
    struct submission *at = session->held_back, *next;

    session->held_back = NULL;
    for (; at; at = next) {
        next = at->next_late;
        at->next_late = NULL;
        if (session->is_gone)
            operation_end(&at->operation);
        else
            match_or_create(at);
    }
}

static bool read_call(struct submission *submission, const struct json *params, struct error *err)
{
    struct session *session = submission->operation.session;
    const char *tool = json_member_text(params, "tool");
    int64_t wait_s = json_member_integer(params, "wait_seconds", -1);
    const struct json *state = json_member(params, "state");
    const char *text = json_text(state);

    submission->tool = tool ? ask_tool_find(tool) : NULL;
    if (!submission->tool)
        return error_set(err, ERROR_bad_enum, "", "there is no such tool");
    if (!ask_tool_allows(submission->tool, session->is_sub_agent, err))
        return false;
    if (wait_s < -1 || wait_s > LIMIT_TIMEOUT_S)
        return error_set(err, ERROR_out_of_range, "/wait_seconds",
                         "wait_seconds must be -1 (to the end) to %d", LIMIT_TIMEOUT_S);
    submission->terms.wait_ms = client_timeout_bound_ms(session, wait_s < 0 ? -1 : wait_s * 1000);
    submission->terms.resumes = json_is_true(json_member(params, "comes_back")) &&
                                resume_may(submission->operation.engine, session, 1);
    submission->operation.text = mem_text(json_member_text(params, "tag"));
    submission->terms.client = client_read(params);
    if (state) /* what is no whole text opens as little as an empty one */
        submission->state = mem_text(text && strlen(text) == json_length(state) ? text : "");
    return arguments_check(submission->tool, json_member(params, "arguments"), submission->call,
                           err);
}

static void collect(struct submission *submission)
{
    struct operation *operation = &submission->operation;
    const struct wait_terms terms = {
        .wait_ms = client_timeout_bound_ms(operation->session, submission->call->wait_s * 1000),
        .wants_launch = submission->call->interface == INTERFACE_TERMINAL,
    };

    wait_begin(operation_call(operation), submission->call->session_id, &terms);
    operation_end(operation);
}

static void resume(struct submission *submission)
{
    struct operation *operation = &submission->operation;
    struct active_ask *active = active_find(operation->engine, submission->ask.id);

    if (active && active->is_stored)
        round_trip_resume(submission, active);
    else
        wait_begin(operation_call(operation), submission->ask.id, &submission->terms);
    operation_end(operation);
}

static void on_made_by_other_hub(void *context, const struct store_reply *reply)
{
    struct submission *submission = context;
    struct engine *engine = submission->operation.engine;

    if (reply->outcome == STORE_DONE && !active_find(engine, submission->ask.id) &&
        strcmp(reply->row->ask.principal, submission->ask.principal) == 0)
        follow_found(engine, reply->row);
    resume(submission);
}

/* The same call again, with what its client was given to come back with. */
static void take_up(struct submission *submission, const struct json *response)
{
    struct operation *operation = &submission->operation;
    struct store *store = operation->engine->parts.store;
    struct wait_terms *terms = &submission->terms;
    struct error err;

    if (!resume_open(operation->engine, submission->match.call, submission->state,
                     submission->ask.id, &terms->round_trip)) {
        error_set(&err, ERROR_bad_format, "/state",
                  "this state is not ours, was altered, belongs to another call or is too old");
        operation_fail(operation, &err, NULL);
        return;
    }
    terms->is_retried = true;
    terms->resumes = terms->resumes && resume_may(operation->engine, operation->session,
                                                  terms->round_trip.number + 1);
    submission->response = response ? json_keep(response) : NULL;
    if (follow_is_shared(operation->engine) && !active_find(operation->engine, submission->ask.id))
        store->ops->get(store, submission->ask.id, 0, on_made_by_other_hub, submission);
    else
        resume(submission);
}

static void submission_drop(struct operation *operation)
{
    struct submission *submission = (struct submission *)operation;

    if (submission->call)
        ask_call_release(submission->call);
    free(submission->call);
    json_free(submission->response);
    text_release(&submission->form_json);
    free(submission->state);
    free(submission->earlier_json);
}

/* with an empty call */
static struct submission *submission_new(struct method_call call)
{
    struct submission *submission = operation_new(sizeof *submission, call);

    submission->operation.drop = submission_drop;
    submission->call = mem_new(sizeof *submission->call);
    return submission;
}

/* its digest too, once the call is read */
static void submission_match(struct submission *submission)
{
    const struct hash_part parts[] = {
        { submission->tool->name, strlen(submission->tool->name) },
        { submission->call->arguments_json, strlen(submission->call->arguments_json) },
    };

    hash_parts(parts, ARRAY_LEN(parts), submission->ask.digest);
    submission->match = active_match(&submission->ask);
}

void ask_create_method(struct method_call call)
{
    struct submission *submission;
    struct error err;

    if (call.session->locate && !call.session->line)
        own_enter(call.engine, call.session);
    submission = submission_new(call);
    if (!operation_may(&submission->operation, read_call(submission, call.params, &err), &err))
        return;
    if (submission->call->session_id[0]) {
        collect(submission);
        return;
    }
    memcpy(submission->ask.principal, call.session->principal, PRINCIPAL_BYTES);
    submission->ask.idempotency_key = submission->call->idempotency_key;
    submission_match(submission);
    if (submission->state)
        take_up(submission, json_member(call.params, "response"));
    else
        match_or_create(submission);
}

/* Read again; if by now it would be refused, as it was understood when it was kept. */
static void read_question(const struct conversation *machine, struct ask_call *ret_call)
{
    const char *input = machine->current.input_json;
    struct json *json = json_of(input);
    struct text form = { 0 };

    if (!json || !arguments_check(&tool_ask_user_question, json, ret_call, NULL)) {
        form_encode(&machine->form, &form);
        *ret_call =
            (struct ask_call){ .timeout_s = machine->timeout_s, .arguments_json = mem_text(input) };
        form_parse(form.bytes, form.used, &ret_call->form, NULL);
        text_release(&form);
    }
    json_free(json);
}

void submit_question(struct method_call call, const char *id, const struct conversation *machine)
{
    struct submission *submission = submission_new(call);

    submission->tool = &tool_ask_user_question;
    submission->is_question = true;
    submission->terms.wait_ms = -1;
    read_question(machine, submission->call);
    memcpy(submission->ask.id, id, sizeof submission->ask.id);
    memcpy(submission->ask.principal, call.session->principal, PRINCIPAL_BYTES);
    submission_match(submission);
    submission_create(submission);
}
