/*
 * engine_pair.h - two engines that share a database, each with a loop of its own: one that is not
 * waited for stands still. Without a server there is none (NEEDS_SERVER).
 */
#ifndef TESTS_ENGINE_PAIR_H
#define TESTS_ENGINE_PAIR_H
#include "engine_fixture.h"

#define PAIR(name) cmocka_unit_test_setup_teardown(name, pair_set_up, pair_tear_down)
#define NEEDS_SERVER                                                                               \
    if (!*state)                                                                                   \
    skip()

/* An agent asks here; there is a person on either side. */
struct pair {
    struct stage *here, *there;
    struct caller *far; /* a person at the other one */
    struct call did;    /* what that one did last */
};

int pair_set_up(void **state);
int pair_tear_down(void **state);
void pair_enter_far(struct pair *pair, const char *via);
/* An ask here, of which they know there. */
void pair_open(struct pair *pair, struct scene *scene, const char *via, const char *more);
void pair_far_does(struct pair *pair, enum method act, const struct scene *scene, const char *more);
/* For stage_wait: whether a stage has one open ask; whether a call was replied to. */
bool pair_has_ask(void *stage);
bool pair_is_replied(void *call);
void pair_wait_heard(const struct caller *caller, const char *method);
/* Until this was noted so often. */
void pair_wait_noted(struct stage *stage, const char *note, int count);

#endif
