/*
 * client_form.c - the agent's own client as a channel: an ask is put to it where it can show a
 * form, and withdrawn when it was decided elsewhere. Here alone is judged what comes back:
 * content against the form, refusals by how long it was shown. What does not count costs nothing:
 * the ask is open everywhere else (R4.2, R4.3).
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/fields/field_class.h"
#include "core/fields/form.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* What is known of the forms of agents' own clients, by name, version and transport: whether a
 * person has used them, or they were found not to work (R4.3). */

void form_fact_loaded(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_DONE)
        operation->session->form_fact = reply->seq;
    session_end_load(operation);
}

static void on_learnt(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED) /* it is known here all the same, until we end */
        log_warning("client.form", "not kept: %s", reply->err.message);
    operation_end(context);
}

/* `worked`: the person did something there. */
static void form_fact_learn(struct engine *engine, const struct session *session, bool worked)
{
    struct store_client client = session_client(session);
    int64_t fact = client_form_learn(session->form_fact, worked, engine_utc_ms(engine));

    if (!client.transport || fact == session->form_fact)
        return;
    log_info("client.form", "works=%s transport=%s", worked ? "yes" : "no", client.transport);
    for (struct session *other = engine->sessions; other; other = other->next) {
        if (session_is_of(other, &client))
            other->form_fact = fact;
    }
    store_write_client(engine->parts.store, &(struct store_client_fact){ client, true, fact },
                       on_learnt, operation_to_write(engine));
}

bool form_fact_may_show(const struct engine *engine, const struct session *session,
                        const struct client_side *client)
{
    return client->has_form && !client_form_is_broken(session->form_fact, engine_utc_ms(engine));
}

/* Showing and withdrawing */

struct client_side client_read(const struct json *params)
{
    const struct json *client = json_member(params, "client");
    const char *era = json_member_text(client, "era");

    return (struct client_side){
        .has_form = json_is_true(json_member(client, "form")),
        .has_url = json_is_true(json_member(client, "url")),
        .is_modern = era && strcmp(era, "modern") == 0,
        .stops_clock = json_is_true(json_member(client, "stops_clock")),
    };
}

/* The user can be reached without the client. */
static bool has_others(const struct engine *engine)
{
    return engine->page_count > 0 || engine->inbox_count > 0 ||
           settings_is_on(engine->parts.settings, SETTING_PORTAL) ||
           settings_is_on(engine->parts.settings, SETTING_TERMINAL);
}

/* With an address it is told where, beside what it is about. */
static void client_write_form(const struct engine *engine, const struct waiter *waiter,
                              struct json_writer *writer, const char *form_json)
{
    const struct settings *settings = engine->parts.settings;
    bool is_saved = settings_source(settings, SETTING_LANGUAGE) == SETTING_SAVED;
    const char *language = is_saved ? NULL : waiter->session->language;
    struct text url = { 0 };

    json_write_raw(writer, "form", form_json);
    if (waiter->is_url) {
        portal_write_url(engine, waiter->active->id, &url);
        json_write_text(writer, "url", text_string(&url));
    }
    text_release(&url);
    json_write_text(writer, "language", language ? language : settings_language_tag(settings));
    if (waiter->round_trip && waiter->round_trip->lacks) {
        json_write_text(writer, "lacks", waiter->round_trip->lacks->message);
        json_write_text(writer, "lacks_at", waiter->round_trip->lacks->path);
        json_write_object(writer, "lacks_words");
        error_write_words(waiter->round_trip->lacks, writer);
        json_write_end_object(writer);
    }
    json_write_bool(writer, "notes", engine_setting(engine, SETTING_NOTES));
}

static void tell_present(const struct engine *engine, struct waiter *waiter, const char *form_json)
{
    const struct active_ask *active = waiter->active;
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "client/present");

    json_write_text(&writer, "session_id", active->id);
    json_write_integer(&writer, "remaining_ms", active->deadline.boot_ms - engine_boot_ms(engine));
    client_write_form(engine, waiter, &writer, form_json);
    event_end(&writer);
    session_send(waiter->session, line.bytes, line.used);
    text_release(&line);
}

static bool is_wanted(const struct active_ask *active)
{
    bool is_client = active->interface == INTERFACE_AUTO || active->interface == INTERFACE_CLIENT;

    return is_client && active->is_stored && active->deadline.place && state_is_open(active->state);
}

/* A form takes no second, deliberate act, the page behind an address does (R2). */
static bool shows_as_form(const struct engine *engine, const struct waiter *waiter)
{
    return !(waiter->active->flags & ASK_DESTRUCTIVE) &&
           form_fact_may_show(engine, waiter->session, &waiter->client);
}

/* Only where there is no form to be had: an address is a step more for its person. */
static bool shows_as_url(const struct engine *engine, const struct waiter *waiter)
{
    bool is_useful = !waiter->client.has_form || (waiter->active->flags & ASK_DESTRUCTIVE);

    return waiter->client.has_url && is_useful && engine->portal_url[0] &&
           settings_is_on(engine->parts.settings, SETTING_PORTAL);
}

/* A call whose client can show the form. NULL: there is none, or a client shows it already. */
static struct waiter *find_shower(const struct engine *engine, const struct active_ask *active)
{
    struct waiter *found = NULL;

    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->shows_form)
            return NULL;
        if (!found && waiter->done && !waiter->is_overdue &&
            (shows_as_form(engine, waiter) || shows_as_url(engine, waiter)))
            found = waiter;
    }
    return found;
}

static void round_trip_ask(struct engine *engine, struct waiter *waiter, const char *form_json);

/* Some clients stop their own clock while they show a form: then only the ask's deadline counts. */
static void show(struct engine *engine, struct active_ask *active, const char *form_json)
{
    struct waiter *waiter = is_wanted(active) ? find_shower(engine, active) : NULL;

    if (!waiter)
        return;
    waiter->is_url = !shows_as_form(engine, waiter);
    if (waiter->client.is_modern) {
        round_trip_ask(engine, waiter, form_json);
        return;
    }
    waiter->shows_form = true;
    if (waiter->client.stops_clock)
        alarm_clear(&engine->alarms, &waiter->alarm);
    tell_present(engine, waiter, form_json);
}

static void on_form(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct active_ask *active = active_find(operation->engine, operation->id);

    if (active && reply->outcome == STORE_DONE)
        show(operation->engine, active, reply->row->ask.form_json);
    operation_end(operation);
}

void client_offer(struct engine *engine, struct active_ask *active, const char *form_json)
{
    struct text own = { 0 };

    if (!is_wanted(active) || !find_shower(engine, active))
        return;
    if (form_json) {
        show(engine, active, form_json);
    } else if (active->form) {
        form_encode(active->form, &own);
        show(engine, active, text_string(&own));
        text_release(&own);
    } else {
        operation_get(operation_of_ours(sizeof(struct operation), engine, active->id), on_form);
    }
}

bool client_shows(const struct active_ask *active)
{
    for (const struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->shows_form || !waiter->done)
            return true;
    }
    return false;
}

static void withdraw(const struct active_ask *active)
{
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "client/withdraw");

    json_write_text(&writer, "session_id", active->id);
    json_write_text(&writer, "why", state_name(active->state));
    event_end(&writer);
    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->shows_form)
            session_send(waiter->session, line.bytes, line.used);
        waiter->shows_form = false;
    }
    text_release(&line);
}

void client_end(struct engine *engine, struct active_ask *active, enum ask_event event)
{
    bool is_held_back = active->deadline.place; /* undo: the result comes later */

    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (event == EVENT_EXPIRED && !waiter->is_url && (waiter->shows_form || !waiter->done))
            form_fact_learn(engine, waiter->session, false);
    }
    if (is_held_back)
        withdraw(active);
}

/* What comes back */

/* Its form is gone: the call is held no longer than any other from now on, and screens
 * that kept silent for its sake need not any more. */
static void end_showing(struct engine *engine, struct active_ask *active,
                        const struct session *session)
{
    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        if (waiter->session != session)
            continue;
        waiter->shows_form = waiter->client.has_form = waiter->client.has_url = false;
        if (waiter->wait_ms >= 0 && waiter->done && !waiter->alarm.place)
            alarm_in(engine, &waiter->alarm, waiter->wait_ms);
    }
    if (active_rare(active)->quiet_until_boot_ms > engine_boot_ms(engine))
        active_mark_dirty(engine, active);
}

/* A person filled in part of the form, so it works. */
static bool is_unfinished(const struct error *err)
{
    return err->path[0] && (err->code == ERROR_missing_property || err->code == ERROR_empty_text ||
                            err->code == ERROR_too_short || err->code == ERROR_out_of_range);
}

enum client_failure { CLIENT_REFUSED, CLIENT_BROKEN, CLIENT_INVALID, CLIENT_UNFINISHED };
/* The ask goes on elsewhere; where there is nothing else, its call learns why. `refusal` is the
 * event of CLIENT_REFUSED. */
static void give_up(struct engine *engine, struct session *session, const char *id,
                    enum client_failure why, enum ask_event refusal)
{
    struct active_ask *active = active_find(engine, id);
    struct error err;

    if (why != CLIENT_UNFINISHED)
        form_fact_learn(engine, session, false);
    if (!active || !state_is_open(active->state))
        return;
    end_showing(engine, active, session);
    if (has_others(engine))
        return;
    if (why == CLIENT_REFUSED) { /* the user can't be reached otherwise: it stands */
        decide_by_client(refusal,
                         (struct method_call){ engine, session, NULL, reply_ignore, NULL, true },
                         id, NULL);
        return;
    }
    if (why == CLIENT_INVALID || why == CLIENT_UNFINISHED)
        error_set(&err, ERROR_validation_failed, "",
                  "the client's form returned no valid answer, and the user can't be "
                  "reached otherwise; the ask stays open");
    else
        error_set(
            &err, ERROR_no_human_channel, "",
            "the client could not show its form, and the user can't be reached otherwise: portal "
            "and terminal are switched off (sayso settings set portal on)");
    wait_fail_session(engine, active, session, &err);
}

/* Another answer was faster, or the disk failed: that says nothing about the content. */
static bool is_about_content(enum error_code code)
{
    return code != ERROR_NONE && code != ERROR_already_answered && code != ERROR_wrong_state &&
           code != ERROR_not_found && code != ERROR_storage_failed;
}

static bool round_trip_ask_again(struct engine *engine, struct active_ask *active,
                                 const struct session *session, const struct error *lacks);

static void on_decided(void *context, const struct reply *reply)
{
    struct operation *operation = context;
    struct active_ask *active = active_find(operation->engine, operation->id);
    const struct error *lacks = is_unfinished(&reply->err) ? &reply->err : NULL;

    if (reply->err.code == ERROR_NONE)
        form_fact_learn(operation->engine, operation->session, true);
    else if (is_about_content(reply->err.code) &&
             !(active &&
               round_trip_ask_again(operation->engine, active, operation->session, lacks)))
        give_up(operation->engine, operation->session, operation->id,
                lacks ? CLIENT_UNFINISHED : CLIENT_INVALID, EVENT_CANCELLED);
    else if (reply->err.code == ERROR_storage_failed && active)
        wait_fail_session(operation->engine, active, operation->session, &reply->err);
    operation_ok(operation, "{}");
}

/* An ask of this principal that is still open; NULL, and replied: none, or all is said. */
static struct active_ask *find_open(struct operation *operation, const struct json *params)
{
    const char *id = json_member_text(params, "session_id");
    struct active_ask *active =
        id && ask_id_is_valid(id) ? active_find(operation->engine, id) : NULL;

    if (active && strcmp(active->principal->id, operation->session->principal) == 0 &&
        state_is_open(active->state)) {
        memcpy(operation->id, active->id, sizeof operation->id);
        return active;
    }
    operation_refuse(operation, ERROR_not_found, "/session_id",
                     "no open ask of yours has this session_id");
    return NULL;
}

/* What came back, to operation->id; `operation` ends. */
static void client_take(struct operation *operation, const char *action, const struct json *content,
                        int64_t shown_ms)
{
    enum client_verdict verdict = client_form_judge(operation->session->name, action, shown_ms);
    bool is_decline = action && strcmp(action, "decline") == 0;
    enum ask_event refusal = is_decline ? EVENT_DECLINED : EVENT_CANCELLED;
    bool is_refusal = is_decline || (action && strcmp(action, "cancel") == 0);

    if (verdict == CLIENT_FAILED) {
        give_up(operation->engine, operation->session, operation->id,
                is_refusal ? CLIENT_REFUSED : CLIENT_BROKEN, refusal);
        operation_ok(operation, "{}");
        return;
    }
    decide_by_client(verdict == CLIENT_ANSWERS ? EVENT_ANSWERED : refusal,
                     (struct method_call){ operation->engine, operation->session, NULL, on_decided,
                                           operation, true },
                     operation->id, content);
}

/* A form that is returned, on its way. */
struct returned {
    struct operation operation; /* first */
    struct json *params;
    void (*take)(struct operation *operation, const struct json *params);
};

static void returned_drop(struct operation *operation)
{
    json_free(((struct returned *)operation)->params);
}

static void take_result(struct operation *operation, const struct json *params)
{
    const char *mode = json_member_text(params, "mode");
    struct active_ask *active = find_open(operation, params);

    if (active && mode && strcmp(mode, "url") == 0) {
        /* agreeing to look is no answer */
        end_showing(operation->engine, active, operation->session);
        operation_ok(operation, "{}");
    } else if (active) {
        client_take(operation, json_member_text(params, "action"), json_member(params, "content"),
                    json_member_integer(params, "shown_ms", 0));
    }
}

static void take_failure(struct operation *operation, const struct json *params)
{
    if (!find_open(operation, params))
        return;
    give_up(operation->engine, operation->session, operation->id, CLIENT_BROKEN, EVENT_CANCELLED);
    operation_ok(operation, "{}");
}

static void on_made_by_other_hub(void *context, const struct store_reply *reply)
{
    struct returned *returned = context;
    struct engine *engine = returned->operation.engine;

    if (operation_fails(&returned->operation, reply))
        return;
    if (reply->outcome == STORE_DONE && !active_find(engine, reply->row->ask.id))
        follow_found(engine, reply->row);
    returned->take(&returned->operation, returned->params);
}

/* It may be of an ask that another hub made and we have not heard of yet: no answer is lost for
 * that. */
static void take_returned(void (*take)(struct operation *operation, const struct json *params),
                          struct method_call call)
{
    struct store *store = call.engine->parts.store;
    const char *id = json_member_text(call.params, "session_id");
    struct returned *returned = operation_new(sizeof *returned, call);

    returned->operation.drop = returned_drop;
    returned->params = json_keep(call.params);
    returned->take = take;
    if (follow_is_shared(call.engine) && id && ask_id_is_valid(id) && !active_find(call.engine, id))
        store->ops->get(store, id, 0, on_made_by_other_hub, returned);
    else
        take(&returned->operation, call.params);
}

HANDLER(client_result, take_returned, take_result)
HANDLER(client_failed, take_returned, take_failure)

/* Clients of 2026-07-28, which are asked by the reply to a call and call again with what the person
 * did. Between the two nothing is open: what must be known when they come back they carry
 * themselves (hold.c). Whatever they bring, they get the decision that won (R5.3). */

/* Clients follow so many rounds of one call at most. */
enum { ROUND_TRIPS_MAX = 10 };

static struct round_trip *round_trip_of(struct waiter *waiter)
{
    if (!waiter->round_trip)
        waiter->round_trip = mem_new(sizeof *waiter->round_trip);
    return waiter->round_trip;
}

/* Calls that come back with what their client was asked for (MCP 2026-07-28). */
static void round_trip_ask(struct engine *engine, struct waiter *waiter, const char *form_json)
{
    struct active_ask *active = waiter->active;
    struct round_trip *round_trip = round_trip_of(waiter);
    struct text state = { 0 }, out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    round_trip->number++;
    round_trip->is_url = waiter->is_url;
    round_trip->asked_ms = engine_utc_ms(engine);
    if (round_trip->number > ROUND_TRIPS_MAX ||
        !resume_seal(engine, active->call_match, active->id, round_trip, &state)) {
        /* it is held like any other, others can answer */
        waiter->client.has_form = waiter->client.has_url = false;
        return;
    }
    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", active->id);
    json_write_object(&writer, "input_required");
    json_write_text(&writer, "state", text_string(&state));
    client_write_form(engine, waiter, &writer, form_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    wait_end_silent(engine, active, waiter->session);
    wait_turn_silent(engine, waiter, text_string(&out));
    text_release(&state);
    text_release(&out);
}

/* Once more, because what came was no answer. `lacks`: an unfinished one, and what is missing;
 * else NULL, and only modern clients are asked. False: it was asked often enough. */
static bool round_trip_ask_again(struct engine *engine, struct active_ask *active,
                                 const struct session *session, const struct error *lacks)
{
    for (struct waiter *waiter = active->waiters; waiter; waiter = waiter->next) {
        const struct round_trip round_trip =
            waiter->round_trip ? *waiter->round_trip : (struct round_trip){ 0 };
        bool is_legacy = round_trip.number == 0;

        if (waiter->session != session || !waiter->done || round_trip.is_bad ||
            (is_legacy && (!lacks || !waiter->shows_form)) || round_trip.number >= ROUND_TRIPS_MAX)
            continue;
        round_trip_of(waiter)->is_bad = true;
        waiter->shows_form = false;
        if (lacks) {
            waiter->round_trip->lacks = mem_new(sizeof *lacks);
            *waiter->round_trip->lacks = *lacks;
        }
        client_offer(engine, active, NULL);
        return true;
    }
    return false;
}

/* The call waits for the decision as any other, and what it brought is tried. */
void round_trip_resume(struct submission *submission, struct active_ask *active)
{
    struct engine *engine = submission->operation.engine;
    const struct json *response = submission->response;
    const struct round_trip *round_trip = &submission->terms.round_trip;
    /* it brings no decision */
    bool comes_to_wait = round_trip->asked_ms == 0 || round_trip->is_url;
    const struct method_call call = { .engine = engine, .session = submission->operation.session };
    struct operation *attempt;

    if (comes_to_wait)
        submission->terms.client.has_form = submission->terms.client.has_url = false;
    wait_end_silent(engine, active, submission->operation.session);
    submission_tell_created(submission, active->id);
    submission_park(submission, active);
    if (!state_is_open(active->state))
        return; /* what was decided a moment ago waits until it can't be undone any more */
    if (!comes_to_wait && response) {
        attempt = operation_new(sizeof *attempt, call);
        memcpy(attempt->id, active->id, sizeof attempt->id);
        client_take(attempt, json_member_text(response, "action"), json_member(response, "content"),
                    engine_utc_ms(engine) - round_trip->asked_ms);
    } else if (!comes_to_wait) {
        client_offer(engine, active, NULL);
    }
    if (ask_back_is_news(
            active)) /* asked back while the form was out: no call was there to be told */
        ask_back_send(engine, active);
}
