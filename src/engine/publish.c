/* publish.c - snapshots to those who watch: encoded once, sent once per ask and loop turn. */
#include "base/json_writer.h"
#include "engine/describe.h"
#include "engine/inside.h"

struct text line_take(struct engine *engine)
{
    struct text line = engine->line;

    engine->line = (struct text){ 0 };
    return line;
}

/* Who is told may have come back to us and taken a line of his own meanwhile. */
void line_give(struct engine *engine, struct text *take_line)
{
    if (engine->line.bytes || take_line->capacity > LINE_KEPT_BYTES) {
        text_release(take_line);
        return;
    }
    text_clear(take_line);
    engine->line = *take_line;
    *take_line = (struct text){ 0 };
}

static void tell_watchers(struct engine *engine, const struct live *live)
{
    struct text line = line_take(engine);
    struct json_writer writer = json_writer_to(&line);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "ask/changed");
    json_write_object(&writer, "params");
    json_write_integer(&writer, "seq", live->seq);
    describe_live(engine, live, &writer, "ask");
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    for (struct visit *visit = engine->visits; visit; visit = visit->next) {
        if (visit_sees(visit, live->id))
            visit_tell(visit, line.bytes, line.used);
    }
    line_give(engine, &line);
}

void publish(struct engine *engine, struct live *live)
{
    if (engine->page_count || engine->inbox_count || engine->attached_count)
        tell_watchers(engine, live);
    mine_publish(engine, live);
}

void publish_dirty(struct engine *engine)
{
    while (engine->dirty) {
        struct live *live = engine->dirty;

        engine->dirty = live->next_dirty;
        live->is_dirty = false;
        publish(engine, live);
    }
}

void engine_flush(struct engine *engine)
{
    publish_dirty(engine);
    remaining_arm(engine);
    time_arm(engine);
}
