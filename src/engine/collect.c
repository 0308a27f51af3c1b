/*
 * collect.c - who comes for an ask that was asked before: it waits on, or gets how it ended, or how
 * it can be opened.
 */
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/acts.h"
#include "engine/client.h"
#include "engine/describe.h"
#include "engine/inside.h"
#include "engine/launch.h"
#include "engine/waits.h"

void wait_reply_row(const struct errand *errand, const struct store_row *row, bool is_replayed)
{
    struct text result = { 0 };
    struct desk_reply reply = { .session_id = row->ask.id };

    if (state_is_open(row->ask.state) && row->ask.flags & ASK_ASKED_BACK) {
        back_reply(errand, row);
        return;
    }
    reply.kind = describe_result(errand->engine, row, NULL, NULL, is_replayed, &result);
    reply.json = text_string(&result);
    if (!errand->visit->is_gone)
        notices_reply(errand->engine, errand->visit, errand->done, errand->context, &reply);
    text_release(&result);
}

struct wait_errand {
    struct errand errand; /* first */
    struct wait_terms terms;
};

static void on_wait_row(void *context, const struct store_reply *reply)
{
    struct wait_errand *wait = context;
    struct errand *errand = &wait->errand;
    struct live *live = live_find(errand->engine, errand->id);
    struct store_row row;

    /* Unknown, somebody else's, or removed: one same answer (R2.4). */
    if (reply->outcome == STORE_FAILED) {
        errand_fail(errand, &reply->err, NULL);
        return;
    }
    if (reply->outcome != STORE_DONE ||
        (strcmp(reply->row->ask.principal, errand->visit->principal) != 0 &&
         !DELIBERATE_FAULT(crossed_principal))) {
        errand_refuse(errand, ERROR_not_found, "/session_id",
                      "no ask of yours has this session_id");
        return;
    }
    if (follow_is_shared(errand->engine)) {
        follow_row(errand->engine, reply->row); /* what another hub did a moment ago */
        live = live_find(errand->engine, errand->id);
    }
    if (live && live->is_stored && state_is_open(live->state) && wait->terms.wants_launch &&
        launch_is_usable(errand->engine)) {
        launch_renew(errand->engine, errand->visit, live, errand->done, errand->context);
        errand_end(errand);
        return;
    }
    if (live && live->is_stored && wait->terms.wait_ms != 0 && !back_is_news(live)) {
        wait_tell_time_left(errand->engine, live, errand->visit);
        wait_add(errand->engine, live, errand->visit, &wait->terms, errand->done, errand->context);
        client_offer(errand->engine, live, reply->row->ask.form_json);
        errand_end(errand);
        return;
    }
    row = *reply->row;
    if (wait->terms.wants_launch && !launch_is_usable(errand->engine))
        row.ask.flags |= ASK_INTERFACE_UNAVAILABLE;
    if (live && !state_is_open(row.ask.state) &&
        (!follow_is_shared(errand->engine) || follow_is_held_back(errand->engine, &row.ask))) {
        /* Within the undo window the answer is not the agent's yet; nor, with a store of our own,
         * where it has just been committed and the effects are still to come. */
        row.ask.state = STATE_PENDING;
        row.answer_json = row.actor_json = NULL;
    }
    if (wait->terms.comes_back && state_is_open(row.ask.state) && !(live && back_is_news(live)))
        wait_reply_unseen(errand, &row);
    else
        wait_reply_row(errand, &row, wait->terms.is_retried && row.ask.delivered_ms > 0);
    errand_end(errand);
}

void wait_begin(struct engine *engine, struct visit *visit, const char *id,
                const struct wait_terms *terms, desk_done *done, void *context)
{
    struct wait_errand *wait =
        errand_new(sizeof *wait, engine, (struct desk_visit *)visit, done, context);

    memcpy(wait->errand.id, id, sizeof wait->errand.id);
    wait->terms = *terms;
    engine->parts.store->ops->get(engine->parts.store, id, on_wait_row, wait);
}

void wait_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
              desk_done *done, void *context)
{
    struct engine *engine = engine_of(desk);
    struct visit *waiting = (struct visit *)visit;
    const char *id = json_member_text(params, "session_id");
    int64_t wait_s = json_member_integer(params, "wait_seconds", 30);
    struct wait_terms terms = {
        .comes_back = json_is_yes(json_member(params, "comes_back")),
        .client = client_read(params),
        .wants_launch = interface_find(json_member_text(params, "interface")) == INTERFACE_TERMINAL,
    };
    struct error err;

    /* -1: until it is over; a front bounds what agents may ask for (R2.4). */
    if (!id || !ask_id_is_valid(id)) {
        error_set(&err, id ? ERROR_bad_format : ERROR_missing_property, "/session_id",
                  "session_id must be the %d characters an earlier call returned", LIMIT_ID_CHARS);
    } else if (wait_s < -1 || wait_s > LIMIT_TIMEOUT_S) {
        error_set(&err, ERROR_out_of_range, "/wait_seconds", "wait_seconds must be 0 to %d",
                  LIMIT_WAIT_S);
    } else {
        terms.wait_ms = patience_bound_ms(waiting, wait_s < 0 ? -1 : wait_s * 1000);
        if (json_member(params, "explanation"))
            back_explain(engine, waiting, params, &terms, done, context);
        else
            wait_begin(engine, waiting, id, &terms, done, context);
        return;
    }
    errand_fail(errand_new(sizeof(struct errand), engine, visit, done, context), &err, NULL);
}
