/* libsayso_fixture.h - a hub of straw for libsayso: the test itself listens, reads and replies. */
#ifndef LIBSAYSO_FIXTURE_H
#define LIBSAYSO_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/sayso.h"

#define STRAW_ID "abcdefghijklmnopqrstuvwxyz"

struct straw {
    char directory[64], path[96];
    int listener, peer;
    struct sayso *sayso;
    char line[2 * 1024 * 1024]; /* the last one that was read */
    int64_t id;                 /* of its call */
};

int straw_setup(void **state);
int straw_teardown(void **state);
void straw_new_handle(struct straw *straw);

/* Dispatches until the library connects, until a line is there; fails the test if nothing comes. */
void straw_accept(struct straw *straw);
const char *straw_read(struct straw *straw);
/* The next line must be a call of this method. */
void straw_expect(struct straw *straw, const char *method);
void straw_say(struct straw *straw, const char *line);     /* with a line's end */
void straw_reply(struct straw *straw, const char *result); /* to the last call */
void straw_refuse(struct straw *straw, const char *error);
void straw_greet(struct straw *straw); /* accepts, and answers hello */
/* A request that is known to the hub, and its call under way. */
struct sayso_request *straw_ask(struct straw *straw, const char *tool, const char *arguments);

/* The N-th allocation from now on fails, and all behind it; 0: none. Returns how many there were.
 */
int straw_fail_memory(int at);

#endif
