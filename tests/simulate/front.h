/*
 * front.h - a process of `sayso mcp`: the product's MCP and its client side of the wire, between an
 * MCP client and the hub. What src/mcp/stdio/stdio.c does to join them is done here; dialling the
 * hub is simulated.
 */
#ifndef SIMULATE_FRONT_H
#define SIMULATE_FRONT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/text.h"
#include "mcp/mcp.h"
#include "task.h"

struct dial;

struct front {
    struct clock clock; /* first: the protocol's clock is a front */
    struct process process;
    struct mcp_stream stream;
    bool is_up;
    char as_name[32];
    int64_t pid, hold_s;
    struct text out; /* what its client may read; in the memory of the world */
    /* in its own memory */
    struct loop *loop;
    struct loop_timer *timer;
    struct service *service;
    struct mcp *mcp;
    struct wire *wires;
    int last_fd;
    struct text unwritten;
};

void front_prepare(struct front *front); /* once */
void front_start(struct front *front, const char *as_name, int64_t pid, uint64_t seed);
/* Each is a turn of its loop. */
void front_take(struct front *front, const char *line, size_t length); /* from its client */
bool front_move(struct front *front);                                  /* between it and the hub */
bool front_ring(struct front *front);
int64_t front_next_ms(const struct front *front); /* -1: never */
void front_kill(struct front *front);

#endif
