/* beat.c - see beat.h. A beat that is lost is no harm: the next one comes soon. */
#include "store/postgres/beat.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "ports/store.h"
#include "store/postgres/pool.h"
#include "store/postgres/result.h"

enum {
    BEAT_MS = 3000,       /* hubs.sql says how many may be missed */
    BEAT_MOST = 1000,     /* asks at once */
    BEAT_AGAIN_MS = 1000, /* where there are more, once these are settled */
    BEAT_LEFT = 500,      /* asks that are marked together, for a hub that leaves */
    BEAT_LEFT_PARTS = 2,  /* so often; a hub that stays marks the rest, in its own time */
};

static const struct sql beat_sql = { "sayso_beat", "SELECT sayso_beat($1, $2)" };
static const struct sql leave_sql = { NULL, "SELECT sayso_leave($1, $2, $3)" };

struct beat {
    struct pool *pool;
    struct loop_timer *timer;
    int64_t hub;
    const struct store_news *news; /* NULL: nobody listens */
    void *context;
    bool is_beating, is_leaving, has_left;
    int64_t left_number; /* of the last ask that was marked */
    int left_parts;
};

void beat_write_first(int64_t hub, struct text *out)
{
    text_add_format(out, "SELECT sayso_beat(%lld, 0)", (long long)hub);
}

static void say_good_bye(struct beat *beat);

static void on_left(void *context, const PGresult *result, const struct error *err)
{
    struct beat *beat = context;
    int64_t number = err ? 0 : result_integer(result, 0, 0); /* failed: then we are missed soon */

    beat->has_left = number == 0 || ++beat->left_parts == BEAT_LEFT_PARTS;
    beat->left_number = number;
    if (!beat->has_left)
        say_good_bye(beat);
}

static void say_good_bye(struct beat *beat)
{
    struct params params = { 0 };

    params_integer(&params, beat->hub);
    params_integer(&params, beat->left_number);
    params_integer(&params, BEAT_LEFT);
    pool_read(beat->pool, &leave_sql, &params, on_left, beat);
}

static void on_beaten(void *context, const PGresult *result, const struct error *err)
{
    struct beat *beat = context;

    beat->is_beating = false;
    for (int i = 0; !err && beat->news && i < result_count(result); i++)
        beat->news->abandoned(beat->context, result_text(result, i, 0));
    if (beat->is_leaving)
        say_good_bye(beat);
    else if (!err && result_count(result) == BEAT_MOST)
        loop_timer_at(beat->timer, loop_boot_ms() + BEAT_AGAIN_MS);
}

static void on_time(void *context)
{
    struct beat *beat = context;
    struct params params = { 0 };

    loop_timer_at(beat->timer, loop_boot_ms() + BEAT_MS);
    if (beat->is_beating)
        return;
    beat->is_beating = true;
    params_integer(&params, beat->hub);
    params_integer(&params, BEAT_MOST);
    pool_read(beat->pool, &beat_sql, &params, on_beaten, beat);
}

struct beat *beat_new(struct loop *loop, struct pool *pool, int64_t hub)
{
    struct beat *beat = mem_new(sizeof *beat);

    *beat = (struct beat){ .pool = pool, .hub = hub };
    beat->timer = loop_timer_new(loop, on_time, beat);
    loop_timer_at(beat->timer, loop_boot_ms() + BEAT_MS);
    return beat;
}

void beat_tell(struct beat *beat, const struct store_news *news, void *context)
{
    beat->news = news;
    beat->context = context;
}

/* A beat that is on its way might overtake it. */
void beat_leave(struct beat *beat)
{
    loop_timer_stop(beat->timer);
    beat->news = NULL;
    beat->is_leaving = true;
    if (!beat->is_beating)
        say_good_bye(beat);
}

int64_t beat_left_number(const struct beat *beat)
{
    return beat->left_number;
}

bool beat_has_left(void *beat)
{
    return ((struct beat *)beat)->has_left;
}

void beat_free(struct beat *beat)
{
    if (beat)
        loop_timer_free(beat->timer);
    free(beat);
}
