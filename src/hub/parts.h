/*
 * parts.h - the hub as its own files see it: hub.c joins the parts, tells the time, knows when to
 * go and says what there is.
 */
#ifndef HUB_PARTS_H
#define HUB_PARTS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/text.h"
#include "rpc/location.h"

struct loop;
struct settings;
struct store;

struct hub {
    struct clock clock; /* first: the engine's clock is a hub */
    const struct hub_options *options;
    struct place place;
    struct place_note note;
    struct loop *loop;
    struct store *store;
    struct text store_name; /* the one that is open, whatever the setting says by now */
    struct engine *engine;
    struct wire_server *server;
    struct door *door; /* NULL: no port could be had */
    struct notify *notify;
    struct loop_timer *time_timer;  /* the engine's next moment */
    struct loop_timer *leave_timer; /* idle long enough, or draining too long */
    bool is_leaving, is_idle_armed;
    bool is_announced; /* balancers are told that we will go; nothing else has changed yet */
    bool is_turning, is_time_known; /* the loop runs; in this turn somebody looked at the clock */
    int64_t turn_boot_ms, turn_utc_ms; /* then */
    const char *why;                   /* we leave */
    char person[128];
    char program[4096];
    int lock_fd;
    int passed_fd; /* listens for us at note.socket, by a service manager; -1: none */
};

/* When it goes. */
void hub_leave(struct hub *hub, const char *why); /* once; what was accepted is answered */

/* Which store this hub works on: its own file, or a database that others share. */

bool choose_store(struct loop *loop, const struct settings *settings, const struct place *place,
                  struct store **ret_store, struct error *err);
/* What the setting `store` of this user is for a hub that starts now: an address, for the caller to
 * free; NULL: a file of its own. False: the settings can't be read. */
bool choose_store_find(const struct place *place, char **ret_store, struct error *err);

#endif
