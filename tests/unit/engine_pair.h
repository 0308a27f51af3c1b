/*
 * engine_pair.h - two engines that share a database, which needs a server. To be included as
 * engine_fixture.h is.
 */
#ifndef TESTS_ENGINE_PAIR_H
#define TESTS_ENGINE_PAIR_H
#include "engine_fixture.h"

/* An agent asks here; there is a person on either side. */
struct pair {
    struct stage *here, *there;
    struct caller *far; /* a person at the other one */
    struct call did;    /* what that one did last */
};
#define PAIR(name) cmocka_unit_test_setup_teardown(name, pair_set_up, pair_tear_down)
int pair_set_up(void **state); /* *state NULL: there is no server */
int pair_tear_down(void **state);
#define NEEDS_SERVER                                                                               \
    if (!*state)                                                                                   \
    skip()

void enter_far(struct pair *pair, const char *via);
bool has_ask(void *context); /* that stage has an open one */
/* An ask here, of which they know there. */
void open_pair(struct pair *pair, struct scene *scene, const char *via, const char *more);
bool is_replied(void *context); /* that call is */
void far_does(struct pair *pair, desk_act *act, const struct scene *scene, const char *more);

#endif
