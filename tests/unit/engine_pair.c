/* engine_pair.c - see engine_pair.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int pair_set_up(void **state)
{
    struct pair *pair = mem_new(sizeof *pair);
    char where[POSTGRES_URL_BYTES];

    *state = NULL;
    if (!postgres_is_there()) {
        free(pair);
        return 0;
    }
    chosen_begin("", where);
    pair->here = stage_open(where);
    pair->there = stage_open(where);
    pair->did.label = "far";
    *state = pair;
    return 0;
}

int pair_tear_down(void **state)
{
    struct pair *pair = *state;

    if (!pair)
        return 0;
    call_release(&pair->did);
    stage_close(pair->here);
    stage_close(pair->there);
    free(pair);
    return 0;
}

void enter_far(struct pair *pair, const char *via)
{
    struct desk_visitor person = visitor_person(via);

    pair->far = caller_enter(pair->there, "far", &person);
}

bool has_ask(void *context)
{
    struct text figures = { 0 };
    bool has_one;

    engine_write_metrics(((struct stage *)context)->engine, &figures);
    has_one = strstr(text_string(&figures), "sayso_asks_pending 1\n") != NULL;
    text_release(&figures);
    return has_one;
}

void open_pair(struct pair *pair, struct scene *scene, const char *via, const char *more)
{
    scene_open(scene, (void **)&pair->here, "web", more);
    enter_far(pair, via);
    stage_wait(pair->there, has_ask, pair->there);
}

bool is_replied(void *context)
{
    return ((const struct call *)context)->replies > 0;
}

void far_does(struct pair *pair, desk_act *act, const struct scene *scene, const char *more)
{
    call_run(&pair->did, pair->far, act, "{'session_id':'%s'%s}", scene->id, more);
}
