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

void pair_enter_far(struct pair *pair, const char *via)
{
    struct identity person = visitor_person(via);

    pair->far = caller_enter(pair->there, "far", &person);
}

bool pair_has_ask(void *context)
{
    struct text figures = { 0 };
    bool has_one;

    engine_write_metrics(((struct stage *)context)->engine, &figures);
    has_one = strstr(text_string(&figures), "sayso_asks_pending 1\n") != NULL;
    text_release(&figures);
    return has_one;
}

void pair_open(struct pair *pair, struct scene *scene, const char *via, const char *more)
{
    scene_open(scene, (void **)&pair->here, "web", more);
    pair_enter_far(pair, via);
    stage_wait(pair->there, pair_has_ask, pair->there);
    /* It may have read of the ask as it started: then the news are still to come, and would be the
     * same as those of what happens next. */
    pair_wait_noted(pair->there, "news of ask", 1);
}

bool pair_is_replied(void *context)
{
    return ((const struct call *)context)->replies > 0;
}

void pair_far_does(struct pair *pair, enum method act, const struct scene *scene, const char *more)
{
    call_run(&pair->did, pair->far, act, "{'session_id':'%s'%s}", scene->id, more);
}

struct heard {
    const struct caller *caller;
    const char *method;
};

static bool is_heard(void *context)
{
    const struct heard *heard = context;

    return caller_count(heard->caller, heard->method) > 0;
}

void pair_wait_heard(const struct caller *caller, const char *method)
{
    struct heard heard = { caller, method };

    stage_wait(caller->stage, is_heard, &heard);
}

struct noted {
    const struct stage *stage;
    const char *note;
    int count;
};

static bool is_noted(void *context)
{
    const struct noted *noted = context;

    return stage_count(noted->stage, noted->note) >= noted->count;
}

void pair_wait_noted(struct stage *stage, const char *note, int count)
{
    struct noted noted = { stage, note, count };

    stage_wait(stage, is_noted, &noted);
}
