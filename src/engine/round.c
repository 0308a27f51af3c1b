/*
 * round.c - clients of 2026-07-28, which are asked by the reply to a call and call again with what
 * the person did. Between the two nothing is open: what must be known when they come back they
 * carry themselves (come_back.c). Whatever they bring, they get the decision that won (R5.3).
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "engine/acts.h"
#include "engine/client.h"
#include "engine/inside.h"
#include "engine/submission.h"
#include "engine/waits.h"

/* Clients follow so many rounds of one call at most. */
enum { ROUNDS_MOST = 10 };

void round_ask(struct engine *engine, struct waiter *waiter, const char *form_json)
{
    struct live *live = waiter->live;
    struct text state = { 0 }, out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    waiter->round.number++;
    waiter->round.is_url = waiter->is_url;
    waiter->round.asked_ms = engine_utc_ms(engine);
    if (waiter->round.number > ROUNDS_MOST ||
        !come_back_seal(engine, live->call_match, live->id, &waiter->round, &state)) {
        /* it is held like any other, others can answer */
        waiter->client.has_form = waiter->client.has_url = false;
        return;
    }
    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", live->id);
    json_write_object(&writer, "input_required");
    json_write_text(&writer, "state", text_string(&state));
    client_write_form(engine, waiter, &writer, form_json);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    wait_end_silent(engine, live, waiter->visit);
    wait_turn_silent(engine, waiter, text_string(&out));
    text_release(&state);
    text_release(&out);
}

bool round_ask_again(struct engine *engine, struct live *live, const struct visit *visit,
                     const struct error *lacks)
{
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        bool is_legacy = waiter->round.number == 0;

        if (waiter->visit != visit || !waiter->done || waiter->round.is_bad ||
            (is_legacy && (!lacks || !waiter->shows_form)) || waiter->round.number >= ROUNDS_MOST)
            continue;
        waiter->round.is_bad = true;
        waiter->shows_form = false;
        if (lacks) {
            waiter->lacks = mem_new(sizeof *lacks);
            *waiter->lacks = *lacks;
        }
        client_offer(engine, live, NULL);
        return true;
    }
    return false;
}

/* The call waits for the decision as any other, and what it brought is tried. */
void round_resume(struct submission *submission, struct live *live)
{
    struct engine *engine = submission->errand.engine;
    const struct json *response = submission->response;
    const struct round *round = &submission->terms.round;
    bool comes_to_wait = round->asked_ms == 0 || round->is_url; /* it brings no decision */
    struct errand *attempt;

    if (comes_to_wait)
        submission->terms.client.has_form = submission->terms.client.has_url = false;
    wait_end_silent(engine, live, submission->errand.visit);
    submission_tell_created(submission, live->id);
    submission_park(submission, live);
    if (!state_is_open(live->state))
        return; /* what was decided a moment ago waits until it can't be undone any more */
    if (!comes_to_wait && response) {
        attempt = errand_new(sizeof *attempt, engine, (struct desk_visit *)submission->errand.visit,
                             NULL, NULL);
        memcpy(attempt->id, live->id, sizeof attempt->id);
        client_take(attempt, json_member_text(response, "action"), json_member(response, "content"),
                    engine_utc_ms(engine) - round->asked_ms);
    } else if (!comes_to_wait) {
        client_offer(engine, live, NULL);
    }
    if (back_is_news(live)) /* asked back while the form was out: no call was there to be told */
        back_tell_of(engine, live);
}
