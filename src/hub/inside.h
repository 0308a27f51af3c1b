/*
 * inside.h - the hub as its own files see it: hub.c joins the parts, tells the time, knows when to
 * go and says what there is.
 */
#ifndef HUB_INSIDE_H
#define HUB_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "ports/clock.h"
#include "wire/place.h"

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

/* A turn of the loop happens at one moment. */
extern const struct clock hub_clock;

/* When it goes. */
void hub_leave(struct hub *hub, const char *why); /* once; what was accepted is answered */
void hub_announce_leaving(struct hub *hub);       /* by the setting drain_seconds, then that */
void hub_watch_idleness(struct hub *hub);
void hub_on_leave_time(void *context);

/* One JSON object. */
void hub_write_status(void *context, struct text *out);

#endif
