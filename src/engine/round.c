/*
 * round.c - clients of 2026-07-28, which are asked by the reply to a call and call again with what
 * the person did. Between the two nothing is open: what must be known when they come back they
 * carry themselves, sealed for this principal, this tool and these arguments. Whatever they bring,
 * they get the decision that won (R5.3).
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/arguments.h"
#include "engine/inside.h"

/* Clients follow so many rounds of one call at most. */
enum { ROUNDS_MOST = 10 };
/* An ask that has timed out is still worth coming back for. */
static const int64_t STATE_AFTERLIFE_MS = 86400000;

static bool seal(struct engine *engine, const struct live *live, const struct round *round,
                 struct text *out)
{
    const struct hash_part bound = { live->match.call, sizeof live->match.call };
    int64_t left_ms = live->deadline.boot_ms - engine_boot_ms(engine);
    struct text payload = { 0 };
    struct json_writer writer = json_writer_to(&payload);
    bool ok;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "ask", live->id);
    json_write_integer(&writer, "round", round->number);
    json_write_integer(&writer, "at", round->asked_ms);
    json_write_bool_if(&writer, "bad", round->is_bad);
    json_write_end_object(&writer);
    ok = engine_seal(engine, &bound, 1, left_ms + STATE_AFTERLIFE_MS, text_string(&payload), out);
    text_release(&payload);
    return ok;
}

void round_ask(struct engine *engine, struct waiter *waiter, const char *form_json)
{
    struct live *live = waiter->live;
    struct text state = { 0 }, out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    waiter->round.number++;
    waiter->round.asked_ms = engine_utc_ms(engine);
    if (waiter->round.number > ROUNDS_MOST || !seal(engine, live, &waiter->round, &state)) {
        waiter->client.has_form = false; /* it is held like any other, others can answer */
        return;
    }
    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", live->id);
    json_write_object(&writer, "input_required");
    json_write_text(&writer, "state", text_string(&state));
    client_write_form(engine, &writer, form_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    wait_end_silent(engine, live, waiter->visit);
    wait_turn_silent(engine, waiter, text_string(&out));
    text_release(&state);
    text_release(&out);
}

bool round_ask_again(struct engine *engine, struct live *live, const struct visit *visit)
{
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->visit != visit || !waiter->done || waiter->round.number == 0 ||
            waiter->round.is_bad || waiter->round.number >= ROUNDS_MOST)
            continue;
        waiter->round.is_bad = true;
        client_offer(engine, live, NULL);
        return true;
    }
    return false;
}

/* The call waits for the decision as any other, and what it brought is tried. */
static void resume(struct submission *submission, struct live *live)
{
    struct engine *engine = submission->errand.engine;
    const struct json *response = submission->response;
    struct errand *attempt;

    wait_end_silent(engine, live, submission->errand.visit);
    submission_tell_created(submission, live->id);
    submission_park(submission, live);
    if (!state_is_open(live->state))
        return; /* decided a moment ago: until that can't be undone any more it waits */
    if (!response) {
        client_offer(engine, live, NULL);
        return;
    }
    attempt = errand_new(sizeof *attempt, engine, (struct desk_visit *)submission->errand.visit,
                         NULL, NULL);
    memcpy(attempt->id, live->id, sizeof attempt->id);
    client_take(attempt, json_member_text(response, "action"), json_member(response, "content"),
                engine_utc_ms(engine) - submission->round.asked_ms);
}

static void on_row(void *context, const struct store_reply *reply)
{
    struct submission *submission = context;
    struct errand *errand = &submission->errand;
    struct live *live = live_find(errand->engine, errand->id);
    struct error err;

    if (reply->outcome == STORE_FAILED) {
        errand_fail(errand, &reply->err, NULL);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        error_set(&err, ERROR_not_found, "",
                  "this ask was removed; ask again without requestState");
        errand_fail(errand, &err, NULL);
        return;
    }
    if (live)
        resume(submission, live);
    else
        wait_reply_row(errand, reply->row,
                       reply->row->ask.delivered_ms > 0 ||
                           wait_is_delivering(errand->engine, errand->id));
    errand_end(errand);
}

static bool read_payload(struct submission *submission, const struct text *payload)
{
    struct json *value = NULL;
    const char *id;
    bool ok;

    if (!json_parse(text_string(payload), payload->used, &value, NULL))
        return false;
    id = json_member_text(value, "ask");
    ok = id && ask_id_is_valid(id);
    if (ok)
        memcpy(submission->errand.id, id, sizeof submission->errand.id);
    submission->round = (struct round){
        .number = (int)json_member_integer(value, "round", ROUNDS_MOST),
        .is_bad = json_is_yes(json_member(value, "bad")),
        .asked_ms = json_member_integer(value, "at", 0),
    };
    json_free(value);
    return ok;
}

bool round_begin(struct submission *submission, const struct json *params)
{
    struct engine *engine = submission->errand.engine;
    const struct hash_part bound = { submission->match.call, sizeof submission->match.call };
    const struct json *state = json_member(params, "state");
    const struct json *response = json_member(params, "response");
    struct text payload = { 0 };
    bool ok = json_text(state) &&
              engine_unseal(engine, &bound, 1, json_text(state), json_length(state), &payload) &&
              read_payload(submission, &payload);

    text_release(&payload);
    if (!ok)
        return false;
    submission->response = response ? json_keep(response) : NULL;
    engine->parts.store->ops->get(engine->parts.store, submission->errand.id, on_row, submission);
    return true;
}
