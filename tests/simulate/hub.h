/*
 * hub.h - a hub of the simulated world: the product's store, engine and wire on a simulated loop,
 * disk and network. What src/hub/hub.c does to join them is done here, without files and HTTP.
 */
#ifndef SIMULATE_HUB_H
#define SIMULATE_HUB_H
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "task.h"

struct hub {
    struct clock clock; /* first: the engine's clock is a hub */
    struct process process;
    int number;
    struct disk *disk;
    char path[256];
    bool is_up, is_leaving;
    unsigned starts_to_die; /* the next start ends at this effect; 0: not */
    /* in its own memory */
    struct loop *loop;
    struct loop_timer *timer;
    struct settings *settings;
    struct store *store;
    struct engine *engine;
    struct rpc_server *server;
};

struct cable;

void hub_prepare(struct hub *hub, int number, const char *directory); /* once: it runs */
void hub_keep(struct hub *hub); /* as it is now, for hub_begin: no client is connected */
/* As it was then, without starting it again. */
void hub_begin(struct hub *hub, uint64_t seed);
bool hub_start(struct hub *hub); /* false: killed on the way, or it can't */
/* Each is a turn of its loop. False: it was killed. */
bool hub_take(struct hub *hub, struct cable *cable, size_t max);
bool hub_ring(struct hub *hub);
bool hub_wake(struct hub *hub);
bool hub_write(struct hub *hub); /* its other thread */
bool hub_leave(struct hub *hub); /* it was told to stop, and does when all is answered */
/* It is dead, wherever it was. */
void hub_bury(struct hub *hub, bool is_power_cut, uint64_t *seed);
int64_t hub_next_ms(const struct hub *hub); /* when it has something to do by itself; -1: never */
bool hub_is_due(const struct hub *hub);     /* a timer is */
bool hub_can_wake(const struct hub *hub);
bool hub_can_write(const struct hub *hub);

#endif
