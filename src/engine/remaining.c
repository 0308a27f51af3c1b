/*
 * remaining.c - how much time is left, told every few seconds to watchers that want it (R7.2): a
 * page shows the hub's clock and never decides itself that time is up. Nothing ticks while nobody
 * watches or nothing is open.
 */
#include "base/json.h"
#include "base/json_writer.h"
#include "engine/describe.h"
#include "engine/inside.h"

enum { REMAINING_EVERY_MS = 5000, REMAINING_ASKS = 1000 /* a message */ };

static void tell_watchers(struct engine *engine, const struct text *line)
{
    for (struct visit *visit = engine->visits; visit; visit = visit->next)
        if (visit->wants_remaining)
            visit_tell(visit, line->bytes, line->used);
}

static void write_some(struct engine *engine, struct table_link **at, struct json_writer *writer)
{
    size_t count = 0;

    json_write_object(writer, NULL);
    json_write_text(writer, "jsonrpc", "2.0");
    json_write_text(writer, "method", "ask/remaining");
    json_write_object(writer, "params");
    json_write_object(writer, "asks");
    while (*at && count < REMAINING_ASKS) {
        const struct live *live = TABLE_THING(live, by_id, *at);

        if (state_is_open(live->state) && live->is_stored && live->deadline_ms > 0) {
            json_write_integer(writer, live->id, describe_remaining_s(engine, live));
            count++;
        }
        *at = table_each(&engine->by_id, *at);
    }
    json_write_end_object(writer);
    json_write_end_object(writer);
    json_write_end_object(writer);
}

void remaining_ring(struct engine *engine, struct alarm *alarm)
{
    struct table_link *at = table_each(&engine->by_id, NULL);

    (void)alarm;
    while (at) {
        struct text line = { 0 };
        struct json_writer writer = json_writer_to(&line);

        write_some(engine, &at, &writer);
        tell_watchers(engine, &line);
        text_release(&line);
    }
}

void remaining_arm(struct engine *engine)
{
    if (engine->ticking_count == 0 || engine->open_count == 0 || engine->remaining_alarm.place)
        return;
    engine->remaining_alarm.kind = ALARM_REMAINING;
    alarm_set(&engine->alarms, &engine->remaining_alarm,
              engine_boot_ms(engine) + REMAINING_EVERY_MS);
}
