/*
 * net.h - local sockets of the simulated world. A cable has a client at one end, which is the
 * simulator's, and a hub at the other, which sees it as a pipe of libuv. Bytes lie in between until
 * the scheduler moves them.
 */
#ifndef SIMULATE_NET_H
#define SIMULATE_NET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/text.h"

enum { CABLES_MAX = 128 };

struct region;

struct cable {
    int hub;
    int64_t pid; /* of the client */
    bool is_accepted;
    bool is_client_gone, is_hub_gone; /* closed that end, or died */
    bool is_end_seen;                 /* the hub has read the end that the client made */
    struct text to_hub, to_client;
    /* the hub's end, in the hub's memory; NULL: not there yet, or not any more */
    uv_stream_t *stream;
    uv_alloc_cb alloc;
    uv_read_cb read;
    bool is_reading;
    uv_write_t *write; /* under way */
    uv_write_cb written;
};

struct net {
    struct cable cables[CABLES_MAX];
    size_t count;
    uint64_t *seed;
    struct region *memory; /* of what lies between two ends */
};
extern struct net net;

void net_begin(uint64_t *seed, struct region *memory); /* a new world */
/* NULL: there were too many in this history. */
struct cable *net_connect(int hub, int64_t pid);
void net_send(struct cable *cable, const char *bytes, size_t length);
void net_hang_up(struct cable *cable); /* the client's end */

bool net_can_move_to_hub(const struct cable *cable);
/* In the hub's process: accepts it, brings some bytes or the end, ends a write. */
void net_move_to_hub(struct cable *cable, size_t max);
bool net_accepts(int hub); /* it listens, and is not about to stop */
void net_shut_door(int hub);
void net_hub_died(int hub);
void net_set_hub(int hub); /* whose calls of libuv come next */
/* What a hub of an earlier history left, to be put back with its memory. */
struct net_listener {
    uv_stream_t *stream;
    uv_connection_cb call;
};
struct net_listener net_listener(int hub);
void net_set_listener(int hub, struct net_listener listener);

#endif
