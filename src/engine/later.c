/*
 * later.c - asks a person wants to answer later: open as before, but silent until a time (R7.9).
 * They are few, so all of them are one fact of the store, written anew with each change.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/limits.h"
#include "core/response.h"
#include "engine/acts.h"
#include "engine/inside.h"

static const char fact_name[] = "later";

int64_t later_until_ms(const struct engine *engine, const char *id)
{
    for (size_t i = 0; i < engine->later_count; i++) {
        if (strcmp(engine->later[i].id, id) == 0)
            return engine->later[i].until_ms > engine_utc_ms(engine) ? engine->later[i].until_ms
                                                                     : 0;
    }
    return 0;
}

/* Those that are over or whose time has come make room; then the oldest does. */
static void make_room(struct engine *engine, const char *id)
{
    size_t kept = 0;

    for (size_t i = 0; i < engine->later_count; i++) {
        const struct later *later = &engine->later[i];

        if (strcmp(later->id, id) != 0 && live_find(engine, later->id) &&
            later->until_ms > engine_utc_ms(engine))
            engine->later[kept++] = *later;
    }
    if (kept == LATER_KEPT)
        memmove(engine->later, engine->later + 1, --kept * sizeof *engine->later);
    engine->later_count = kept;
}

void later_load(struct engine *engine)
{
    const char *at = engine->parts.store->ops->meta(engine->parts.store, fact_name);
    char *end;

    engine->later_count = 0;
    while (engine->later_count < LATER_KEPT) {
        struct later *later = &engine->later[engine->later_count];

        at += strspn(at, " ");
        if (strcspn(at, " ") != LIMIT_ID_CHARS)
            return;
        memcpy(later->id, at, LIMIT_ID_CHARS);
        later->id[LIMIT_ID_CHARS] = '\0';
        at += LIMIT_ID_CHARS;
        later->until_ms = strtoll(at, &end, 10);
        if (end == at)
            return;
        at = end;
        engine->later_count++;
    }
}

struct putting_off {
    struct errand errand; /* first */
    int64_t seconds, until_ms;
};

static void on_saved(void *context, const struct store_reply *reply)
{
    struct putting_off *own = context;
    struct live *live = live_find(own->errand.engine, own->errand.id);
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    char when[32];

    if (reply->outcome == STORE_FAILED) {
        later_load(own->errand.engine); /* what is not kept did not happen */
        errand_fail(&own->errand, &reply->err, NULL);
        return;
    }
    if (live)
        live_mark_dirty(own->errand.engine, live);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", own->errand.id);
    if (own->until_ms > 0) {
        response_write_time(own->until_ms, when);
        json_write_text(&writer, "later_until", when);
    }
    json_write_end_object(&writer);
    errand_ok(&own->errand, text_string(&out));
    text_release(&out);
}

static void later_found(struct errand *errand)
{
    struct putting_off *own = (struct putting_off *)errand;
    struct engine *engine = errand->engine;
    const struct live *live = live_find(engine, errand->id);
    struct text fact = { 0 };

    if (!live || !state_is_open(live->state)) {
        errand_refuse(errand, ERROR_already_answered, "/session_id", "this ask is over");
        return;
    }
    make_room(engine, errand->id);
    if (own->seconds > 0) {
        struct later *later = &engine->later[engine->later_count++];

        own->until_ms = later->until_ms = engine_utc_ms(engine) + own->seconds * 1000;
        memcpy(later->id, errand->id, sizeof later->id);
    }
    for (size_t i = 0; i < engine->later_count; i++)
        text_add_format(&fact, "%s %" PRId64 " ", engine->later[i].id, engine->later[i].until_ms);
    errand_begin_write(errand);
    engine->parts.store->ops->save_meta(engine->parts.store, fact_name, text_string(&fact),
                                        on_saved, own);
    text_release(&fact);
}

void later_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
               desk_done *done, void *context)
{
    struct putting_off *own = errand_new(sizeof *own, engine_of(desk), visit, done, context);

    own->seconds = json_member_integer(params, "seconds", -1);
    if (own->seconds < 0 || own->seconds > LIMIT_TIMEOUT_S) {
        errand_refuse(&own->errand, ERROR_out_of_range, "/seconds",
                      "0 to %d seconds; 0: not any more", LIMIT_TIMEOUT_S);
        return;
    }
    errand_find_ask(&own->errand, params, later_found);
}
