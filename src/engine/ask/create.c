/*
 * create.c - an ask that is new: limited (R5.8), routed (R2.6), stored, and only then shown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/routing.h"
#include "core/rule.h"
#include "core/tools/arguments.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/people/rules.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* To people, as the step that made it says. */
static void present(const struct submission *submission, struct live *live)
{
    struct engine *engine = submission->errand.engine;

    if (submission->earlier_json)
        draft_keep(engine, live, submission->earlier_json);
    live_mark_dirty(engine, live);
    client_offer(engine, live, submission->form_json.used ? submission->form_json.bytes : NULL);
    announce_new(engine, live);
    if (submission->opens_browser)
        portal_open(engine, live->id);
}

/* Another hub has this call's ask: whoever came for ours waits for that one. */
static void join(struct submission *submission, struct live *live, const char *id)
{
    struct engine *engine = submission->errand.engine;
    struct submission *late = live_take_late(live), *next;

    submission_tell_created(submission, id);
    for (; late; late = next) {
        next = late->next_late;
        submission_tell_created(late, id);
        errand_end(&late->errand);
    }
    wait_move(engine, live, id);
    if (live->state == STATE_PENDING_TERMINAL_LAUNCH) {
        const struct wait_terms terms = { .wants_launch = true };

        wait_begin(errand_call(&submission->errand), id, &terms);
    }
    live_forget(engine, live);
    errand_end(&submission->errand);
}

static void fail(struct submission *submission, struct live *live, const struct error *err)
{
    struct engine *engine = submission->errand.engine;

    wait_fail(engine, live, err);
    submission_reply_launch(submission, live, err);
    submission_end_late(live, err);
    live_free(engine, live);
    errand_end(&submission->errand);
}

static void take_created(struct submission *submission, const struct store_reply *reply)
{
    struct engine *engine = submission->errand.engine;
    struct live *live = live_find(engine, submission->ask.id);

    if (reply->outcome == STORE_REPEATED) {
        join(submission, live, reply->row->ask.id);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        struct error err = reply->err;

        if (reply->outcome == STORE_LOST)
            submission_refuse_key(&err);
        fail(submission, live, &err);
        return;
    }
    live->is_stored = true;
    live->seq = reply->seq;
    if (live->is_overtaken)
        follow_ask(engine, live->id);
    engine->tally.created++;
    if (!live->waiters && live->state != STATE_PENDING_TERMINAL_LAUNCH)
        live->flags |= ASK_DETACHED;
    time_start(engine, live);
    submission_tell_created(submission, live->id);
    submission_reply_launch(submission, live, NULL);
    submission_end_late(live, NULL);
    wait_stored(engine, live);
    if (!submission->rule[0] || !rules_apply(engine, live, submission->rule))
        present(submission, live);
    errand_end(&submission->errand);
    sweep_soon(engine);
    index_later(engine);
}

static void on_created(void *context, const struct store_reply *reply)
{
    struct submission *submission = context;
    struct engine *engine = submission->errand.engine;
    char id[ASK_ID_BYTES];

    CRASH_POINT(engine_after_create);
    memcpy(id, submission->ask.id, sizeof id);
    take_created(submission, reply);
    errand_stored(engine, id);
}

static bool route(struct submission *submission, struct error *err)
{
    const struct engine *engine = submission->errand.engine;
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
            form_fact_may_show(engine, submission->errand.visit, &submission->terms.client),
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
    struct engine *engine = submission->errand.engine;
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
    ask->origin_json = visit_origin(engine, submission->errand.visit);
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

/* The store has its own copy of what was asked; many may wait for it at once. */
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

/* Nobody is to be asked what a person has answered for all asks of this kind. */
static void match_rule(struct submission *submission)
{
    const struct visit *visit = submission->errand.visit;
    const struct rule_subject subject = {
        .principal = visit->principal,
        .directory = visit->directory,
        .tool = submission->tool->name,
        .form = &submission->call->form,
    };
    const char *id = rules_match(submission->errand.engine, &subject);

    if (id)
        memcpy(submission->rule, id, sizeof submission->rule);
}

void submission_create(struct submission *submission)
{
    struct engine *engine = submission->errand.engine;
    const struct visit *visit = submission->errand.visit;
    struct store_principal principal = {
        .id = visit->principal,
        .kind = !visit->token_id     ? "local"
                : visit->token_id[0] ? "token"
                                     : "http",
        .uid = visit->uid,
        .name = visit->as_name ? visit->as_name : visit->name,
        .place = visit->token_id ? visit->token : visit->directory,
    };
    struct error err;
    struct live *live;

    if (!submission->is_question) /* its host could not be told that nobody looked at it */
        match_rule(submission);
    if (!route(submission, &err) ||
        (!submission->is_question &&
         !principal_admit(engine, principal_get(engine, visit->principal), &err))) {
        errand_fail(&submission->errand, &err, NULL);
        return;
    }
    fill_ask(submission);
    live = live_new(engine, &submission->ask, &submission->match, &visit->asker, principal.name);
    if (submission->quiet_ms > 0)
        live_need_rare(live)->quiet_until_boot_ms = engine_boot_ms(engine) + submission->quiet_ms;
    launch_keep(engine, live, submission->ask.launch_hash);
    submission_park(submission, live);
    errand_begin_write(&submission->errand);
    CRASH_POINT(engine_before_create);
    store_write_create(engine->parts.store, &(struct store_create){ submission->ask, principal },
                       on_created, submission);
    live_keep_form(engine, live, &submission->call->form, submission->form_json.used);
    drop_words(submission);
}
