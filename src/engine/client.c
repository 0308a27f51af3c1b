/*
 * client.c - the agent's own client as a channel: an ask is put to it where it can show a form, and
 * withdrawn when somebody decided elsewhere. Here alone is judged what comes back: content against
 * the form, refusals by how long it was shown. What does not count costs nothing: the ask is open
 * everywhere else (R4.2, R4.3).
 */
#include "core/client_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/form.h"
#include "engine/inside.h"

/* What is known of it -------------------------------------------------------------------------- */

static struct store_client client_of(const struct visit *visit)
{
    return (struct store_client){
        .name = visit->name,
        .version = visit->version ? visit->version : "",
        .transport = visit->transport,
    };
}

static bool is_same_client(const struct visit *one, const struct visit *other)
{
    struct store_client a = client_of(one), b = client_of(other);

    return a.transport && b.transport && strcmp(a.transport, b.transport) == 0 &&
           strcmp(a.name, b.name) == 0 && strcmp(a.version, b.version) == 0;
}

static void on_loaded(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE)
        errand->visit->form_fact = reply->seq;
    errand_end(errand);
}

void client_load(struct engine *engine, struct visit *visit)
{
    struct store *store = engine->parts.store;
    struct store_client client = client_of(visit);

    if (client.transport)
        store->ops->get_form_fact(
            store, &client, on_loaded,
            errand_new(sizeof(struct errand), engine, (struct desk_visit *)visit, NULL, NULL));
}

static void on_learnt(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED) /* it is known here all the same, until we end */
        log_warning("client.form", "not kept: %s", reply->err.message);
    errand_end(context);
}

void client_learn(struct engine *engine, const struct visit *visit, bool worked)
{
    struct store *store = engine->parts.store;
    struct store_client client = client_of(visit);
    int64_t fact = client_form_learn(visit->form_fact, worked, engine_utc_ms(engine));
    struct errand *errand;

    if (!client.transport || fact == visit->form_fact)
        return;
    log_info("client.form", "works=%s transport=%s", worked ? "yes" : "no", client.transport);
    for (struct visit *other = engine->visits; other; other = other->next) {
        if (is_same_client(other, visit))
            other->form_fact = fact;
    }
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    store->ops->save_form_fact(store, &client, fact, on_learnt, errand);
}

struct client_side client_read(const struct json *params)
{
    const struct json *client = json_member(params, "client");
    const char *era = json_member_text(client, "era");

    return (struct client_side){
        .has_form = json_is_yes(json_member(client, "form")),
        .has_url = json_is_yes(json_member(client, "url")),
        .is_modern = era && strcmp(era, "modern") == 0,
        .stops_clock = json_is_yes(json_member(client, "stops_clock")),
    };
}

bool client_may_show(const struct engine *engine, const struct visit *visit,
                     const struct client_side *client)
{
    return client->has_form && !client_form_is_broken(visit->form_fact, engine_utc_ms(engine));
}

bool client_takes_url(const struct engine *engine, const struct live *live,
                      const struct client_side *client)
{
    return client->has_url && (!client->has_form || (live->flags & ASK_DESTRUCTIVE)) &&
           engine->parts.portal_built && engine->portal_url[0] &&
           settings_is_on(engine->parts.settings, SETTING_PORTAL);
}

bool client_has_others(const struct engine *engine)
{
    for (const struct visit *visit = engine->visits; visit; visit = visit->next) {
        if (visit->is_watching)
            return true;
    }
    return settings_is_on(engine->parts.settings, SETTING_PORTAL) ||
           settings_is_on(engine->parts.settings, SETTING_TERMINAL);
}

/* Showing and withdrawing ---------------------------------------------------------------------- */

void client_write_form(const struct engine *engine, struct json_writer *writer,
                       const char *form_json)
{
    json_write_raw(writer, "form", form_json);
    json_write_text(writer, "language", settings_language_tag(engine->parts.settings));
    json_write_bool(writer, "notes", engine_setting(engine, SETTING_NOTES));
}

static void tell(struct visit *visit, const char *method, const struct text *params)
{
    struct text line = { 0 };

    jsonrpc_add_notification(&line, method, text_string(params));
    visit_tell(visit, line.bytes, line.used - 1);
    text_release(&line);
}

void client_write_url(const struct engine *engine, struct json_writer *writer, const char *id)
{
    struct text url = { 0 };

    if (portal_write_url(engine, id, &url))
        json_write_text(writer, "url", text_string(&url));
    text_release(&url);
}

static void tell_present(const struct engine *engine, struct waiter *waiter, const char *form_json)
{
    const struct live *live = waiter->live;
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", live->id);
    json_write_integer(&writer, "remaining_ms", live->deadline.boot_ms - engine_boot_ms(engine));
    client_write_form(engine, &writer, form_json);
    if (waiter->shows_url)
        client_write_url(engine, &writer, live->id);
    json_write_end_object(&writer);
    tell(waiter->visit, "client/present", &params);
    text_release(&params);
}

static bool is_wanted(const struct live *live)
{
    bool is_client = live->interface == INTERFACE_AUTO || live->interface == INTERFACE_CLIENT;

    return is_client && live->is_stored && live->deadline.place && state_is_open(live->state);
}

/* A form takes no second, deliberate act (R2). */
static bool can_show(const struct engine *engine, const struct waiter *waiter)
{
    return client_takes_url(engine, waiter->live, &waiter->client) ||
           (!(waiter->live->flags & ASK_DESTRUCTIVE) &&
            client_may_show(engine, waiter->visit, &waiter->client));
}

/* One that can show it, of a client that does not do so yet; and nobody else shows it. */
static struct waiter *find_shower(const struct engine *engine, const struct live *live)
{
    struct waiter *found = NULL;

    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->shows_form || waiter->shows_url)
            return NULL;
        if (!found && waiter->done && !waiter->is_overdue && can_show(engine, waiter))
            found = waiter;
    }
    return found;
}

/* The patience of some clients does not wear out meanwhile; the deadline is the ask's. */
static void show(struct engine *engine, struct live *live, const char *form_json)
{
    struct waiter *waiter = is_wanted(live) ? find_shower(engine, live) : NULL;

    if (!waiter)
        return;
    if (waiter->client.is_modern) {
        round_ask(engine, waiter, form_json);
        return;
    }
    waiter->shows_url = client_takes_url(engine, live, &waiter->client);
    waiter->shows_form = !waiter->shows_url;
    if (waiter->client.stops_clock)
        alarm_clear(&engine->alarms, &waiter->alarm);
    tell_present(engine, waiter, form_json);
}

static void on_form(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    struct live *live = live_find(errand->engine, errand->id);

    if (live && reply->outcome == STORE_DONE)
        show(errand->engine, live, reply->row->ask.form_json);
    errand_end(errand);
}

void client_offer(struct engine *engine, struct live *live, const char *form_json)
{
    struct store *store = engine->parts.store;
    struct text own = { 0 };
    struct errand *errand;

    if (!is_wanted(live) || !find_shower(engine, live))
        return;
    if (form_json) {
        show(engine, live, form_json);
    } else if (live->form) {
        form_encode(live->form, &own);
        show(engine, live, text_string(&own));
        text_release(&own);
    } else {
        errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
        memcpy(errand->id, live->id, sizeof errand->id);
        store->ops->get(store, live->id, on_form, errand);
    }
}

static void withdraw(const struct live *live)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", live->id);
    json_write_text(&writer, "why", state_name(live->state));
    json_write_end_object(&writer);
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->shows_form || waiter->shows_url)
            tell(waiter->visit, "client/withdraw", &params);
        waiter->shows_form = waiter->shows_url = false;
    }
    text_release(&params);
}

void client_end(struct engine *engine, struct live *live, enum ask_event event)
{
    bool is_held_back = live->deadline.place; /* undo: the result comes later */

    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (event == EVENT_EXPIRED && (waiter->shows_form || !waiter->done))
            client_learn(engine, waiter->visit, false);
    }
    if (is_held_back)
        withdraw(live);
}

/* What comes back ------------------------------------------------------------------------------ */

/* Its form is gone: the call is held no longer than any other, from now on. */
static void end_showing(struct engine *engine, struct live *live, const struct visit *visit)
{
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->visit != visit)
            continue;
        waiter->shows_form = waiter->client.has_form = false;
        waiter->shows_url = waiter->client.has_url = false;
        if (waiter->wait_ms >= 0 && waiter->done && !waiter->alarm.place)
            alarm_set(&engine->alarms, &waiter->alarm, engine_boot_ms(engine) + waiter->wait_ms);
    }
}

static void ignore(void *context, const struct desk_reply *reply)
{
    (void)context;
    (void)reply;
}

void client_give_up(struct engine *engine, struct visit *visit, const char *id,
                    enum client_failure why, enum ask_event refusal)
{
    struct live *live = live_find(engine, id);
    struct error err;

    client_learn(engine, visit, false);
    if (!live || !state_is_open(live->state))
        return;
    end_showing(engine, live, visit);
    if (client_has_others(engine))
        return;
    if (why == CLIENT_REFUSED) { /* with nobody else to ask it stands */
        decide_by_client(refusal, engine, visit, id, NULL, ignore, NULL);
        return;
    }
    if (why == CLIENT_INVALID)
        error_set(&err, ERROR_validation_failed, "",
                  "what the client's form returned does not answer the question, and nobody can be "
                  "reached otherwise; the ask stays open");
    else
        error_set(&err, ERROR_no_human_channel, "",
                  "the client could not show its form, and nobody can be reached otherwise: portal "
                  "and terminal are switched off (sayso settings set portal on)");
    wait_fail_visit(engine, live, visit, &err);
}

/* Somebody else was faster, or the disk failed: that says nothing about the content. */
static bool is_about_content(enum error_code code)
{
    return code != ERROR_NONE && code != ERROR_already_answered && code != ERROR_wrong_state &&
           code != ERROR_not_found && code != ERROR_storage_failed;
}

static void on_decided(void *context, const struct desk_reply *reply)
{
    struct errand *errand = context;
    struct live *live = live_find(errand->engine, errand->id);

    if (reply->err.code == ERROR_NONE)
        client_learn(errand->engine, errand->visit, true);
    else if (is_about_content(reply->err.code) &&
             !(live && round_ask_again(errand->engine, live, errand->visit)))
        client_give_up(errand->engine, errand->visit, errand->id, CLIENT_INVALID, EVENT_CANCELLED);
    else if (reply->err.code == ERROR_storage_failed && live)
        wait_fail_visit(errand->engine, live, errand->visit, &reply->err);
    errand_ok(errand, "{}");
}

/* An ask of this principal that is still open; NULL, and replied: none, or all is said. */
static struct live *find_open(struct errand *errand, const struct json *params)
{
    const char *id = json_member_text(params, "session_id");
    struct live *live = id && ask_id_is_valid(id) ? live_find(errand->engine, id) : NULL;
    struct error err;

    if (live && strcmp(live->principal->id, errand->visit->principal) == 0 &&
        state_is_open(live->state)) {
        memcpy(errand->id, live->id, sizeof errand->id);
        return live;
    }
    error_set(&err, ERROR_not_found, "/session_id", "no open ask of yours has this session_id");
    errand_fail(errand, &err, NULL);
    return NULL;
}

void client_take(struct errand *errand, const char *action, const struct json *content,
                 int64_t shown_ms)
{
    enum client_verdict verdict = client_form_judge(action, shown_ms);
    bool is_decline = action && strcmp(action, "decline") == 0;
    enum ask_event refusal = is_decline ? EVENT_DECLINED : EVENT_CANCELLED;
    bool is_refusal = is_decline || (action && strcmp(action, "cancel") == 0);

    if (verdict == CLIENT_FAILED) {
        client_give_up(errand->engine, errand->visit, errand->id,
                       is_refusal ? CLIENT_REFUSED : CLIENT_BROKEN, refusal);
        errand_ok(errand, "{}");
        return;
    }
    decide_by_client(verdict == CLIENT_ANSWERS ? EVENT_ANSWERED : refusal, errand->engine,
                     errand->visit, errand->id, content, on_decided, errand);
}

/* It was shown an address: whether it was opened says nothing about the answer, nor about its
 * forms. The call waits on. True: so it was, and all is said. */
static bool end_address(struct errand *errand)
{
    struct live *live = live_find(errand->engine, errand->id);

    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->visit != errand->visit || !waiter->shows_url)
            continue;
        end_showing(errand->engine, live, errand->visit);
        errand_ok(errand, "{}");
        return true;
    }
    return false;
}

void client_result_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                       desk_done *done, void *context)
{
    struct errand *errand;

    if (!visit_may(visit, ROLE_AGENT, done, context))
        return;
    errand = errand_new(sizeof *errand, engine_of(desk), visit, done, context);
    if (find_open(errand, params) && !end_address(errand))
        client_take(errand, json_member_text(params, "action"), json_member(params, "content"),
                    json_member_integer(params, "shown_ms", 0));
}

void client_failed_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                       desk_done *done, void *context)
{
    const char *why = json_member_text(params, "why");
    struct errand *errand;

    if (!visit_may(visit, ROLE_AGENT, done, context))
        return;
    errand = errand_new(sizeof *errand, engine_of(desk), visit, done, context);
    if (!find_open(errand, params) || end_address(errand))
        return;
    client_give_up(errand->engine, errand->visit, errand->id,
                   why && strcmp(why, "invalid") == 0 ? CLIENT_INVALID : CLIENT_BROKEN,
                   EVENT_CANCELLED);
    errand_ok(errand, "{}");
}
