/* seat_ask.c - an ask made here and shown here: one process, an agent's connection beside the
 * person's (R6.3). */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "loop/loop.h"
#include "tui/seat_inside.h"
#include "wire/phone.h"

/* An ask of our own: its result is what we are for, whoever decides it. The screen may hear of it a
 * moment later, on the person's connection, and the line that stays says what came of it. */
static void on_asked(void *context, const struct error *err, const struct json *result)
{
    struct seat *seat = context;

    seat->is_asking_done = true;
    if (err) {
        seat_fail(seat, err, result);
        return;
    }
    seat_keep(&seat->result->result_json, result);
    seat->is_leaving = true;
    seat->last = SEAT_DONE;
    loop_timer_at(seat->leave, loop_boot_ms() + SEAT_LEAVE_MS);
    seat_settle(seat);
}

static void on_agent_opened(void *context)
{
    (void)context; /* the call itself is made again */
}

static void on_agent_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct seat *seat = context;

    (void)retry_ms;
    if (err && !seat->ask)
        seat_fail(seat, err, NULL);
}

static void on_agent_note(void *context, const char *method, const struct json *params)
{
    struct seat *seat = context;
    const char *id = json_member_text(params, "session_id");

    if (strcmp(method, "ask/created") != 0 || !id || seat->shown[0])
        return;
    snprintf(seat->shown, sizeof seat->shown, "%s", id);
    seat_attach(seat);
}

void seat_ask(struct seat *seat)
{
    struct phone_parts parts = { .loop = seat->loop,
                                 .identity = *seat->options->asker,
                                 .context = seat,
                                 .opened = on_agent_opened,
                                 .lost = on_agent_lost,
                                 .note = on_agent_note };

    seat->agent = phone_new(&parts);
    phone_call(seat->agent, "ask/create", seat->options->create_json, on_asked, seat);
}
