/* tally.c - what became of asks since this hub began, for /metrics. */
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/inside.h"

static const int64_t wait_bounds_ms[] = { 1000,   2000,   5000,    15000,   30000,    60000,
                                          120000, 300000, 1800000, 3600000, 28800000, 86400000 };
static const struct metrics_scale wait_scale = { wait_bounds_ms, ARRAY_LEN(wait_bounds_ms), 1000 };

void tally_ended(struct engine *engine, const struct live *live)
{
    bool is_a_persons = live->state == STATE_SUBMITTED || live->state == STATE_CANCELLED ||
                        live->state == STATE_DECLINED;

    engine->tally.ended[live->state]++;
    if (is_a_persons)
        metrics_observe(&engine->tally.waited_ms, &wait_scale,
                        engine_utc_ms(engine) - live->created_ms);
}

void engine_write_metrics(const struct engine *engine, struct text *out)
{
    static const char ended[] = "sayso_asks_ended_total";
    const struct tally *tally = &engine->tally;

    metrics_write_one(out, "sayso_asks_created_total", "counter", "Asks stored.", tally->created);
    metrics_write_head(out, ended, "counter", "Asks that ended, by state.");
    for (int state = STATE_PENDING + 1; state < STATE_COUNT; state++)
        metrics_write_value(out, ended, "state", state_name((enum ask_state)state),
                            tally->ended[state]);
    metrics_write_one(out, "sayso_asks_undone_total", "counter",
                      "Answers taken back; each ended its ask before and may end it again.",
                      tally->undone);
    metrics_write_one(out, "sayso_asks_pending", "gauge", "Asks that wait for a person.",
                      (int64_t)engine->open_count);
    metrics_write_histogram(out, "sayso_ask_wait_seconds",
                            "From asking to a person's answer, cancelling or declining.",
                            &tally->waited_ms, &wait_scale);
}
