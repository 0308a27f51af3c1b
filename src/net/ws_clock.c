/*
 * ws_clock.c - how long WebSocket peers may take. One timer for all. A peer that was heard
 * meanwhile is put back to the end of its list when it comes to its front, so that a message costs
 * no list.
 */
#include "loop/loop.h"
#include "net/ws_inside.h"

enum { CLOCK_STEP_MS = 250 };
static const struct ws_times default_times = {
    .hello_ms = 5000,
    .quiet_ms = 45000,
    .pong_ms = 20000,
    .stall_ms = 30000,
    .close_ms = 2000,
};

static struct ws_peer *peer_of(struct http_link *link)
{
    return (struct ws_peer *)(void *)((char *)link - offsetof(struct ws_peer, wait));
}

static void on_hello_late(struct ws_peer *peer)
{
    ws_peer_close(peer, WS_CLOSE_POLICY, "no hello within 5 s");
}

static void on_quiet(struct ws_peer *peer)
{
    ws_peer_send_control(peer, WS_PING, "", 0);
    ws_wait_begin(peer, WS_WAIT_PONG);
}

#define TIME(member) offsetof(struct ws_times, member)
static const struct {
    void (*call)(struct ws_peer *peer);
    size_t member;
    bool renews; /* by being heard */
} classes[WS_CLASSES] = {
    [WS_WAIT_HELLO] = { on_hello_late, TIME(hello_ms), false },
    [WS_WAIT_QUIET] = { on_quiet, TIME(quiet_ms), true },
    [WS_WAIT_PONG] = { ws_peer_drop, TIME(pong_ms), true },
    [WS_WAIT_CLOSE] = { ws_peer_drop, TIME(close_ms), false },
};

static int64_t limit_of(const struct ws_server *server, int kind)
{
    return *(const int64_t *)(const void *)((const char *)&server->times + classes[kind].member);
}

static void arm(struct ws_server *server, int64_t at_ms)
{
    if (server->timer_ms && server->timer_ms <= at_ms)
        return;
    server->timer_ms = at_ms;
    loop_timer_at(server->timer, at_ms);
}

void ws_wait_end(struct ws_peer *peer)
{
    http_link_remove(&peer->wait);
    peer->wait_class = WS_WAIT_NONE;
}

void ws_wait_begin(struct ws_peer *peer, enum ws_class kind)
{
    struct ws_server *server = peer->server;

    http_link_remove(&peer->wait);
    peer->wait_class = (uint8_t)kind;
    peer->wait_ms = loop_boot_ms();
    peer->was_heard = false;
    http_link_append(&server->waits[kind], &peer->wait);
    arm(server, peer->wait_ms + limit_of(server, kind));
}

static void ring(struct ws_peer *peer, int64_t now_ms)
{
    int kind = peer->wait_class;
    bool was_heard = classes[kind].renews && peer->was_heard;
    bool is_stalled = peer->behind > 0 && now_ms - peer->moved_ms >= peer->server->times.stall_ms;

    ws_wait_end(peer);
    if (is_stalled) {
        peer->server->dropped++;
        ws_peer_drop(peer);
    } else if (was_heard) {
        ws_wait_begin(peer, WS_WAIT_QUIET);
    } else {
        classes[kind].call(peer);
    }
}

static void tick(void *context)
{
    struct ws_server *server = context;
    int64_t now_ms = loop_boot_ms();

    server->references++;
    server->timer_ms = 0;
    for (int kind = WS_WAIT_HELLO; kind < WS_CLASSES && !server->is_freed; kind++) {
        struct http_link *head = &server->waits[kind];
        int64_t limit_ms = limit_of(server, kind);

        while (head->next != head && !server->is_freed) {
            struct ws_peer *peer = peer_of(head->next);

            if (peer->wait_ms + limit_ms > now_ms) {
                arm(server, peer->wait_ms + limit_ms +
                                (limit_ms / 8 < CLOCK_STEP_MS ? limit_ms / 8 : CLOCK_STEP_MS));
                break;
            }
            ring(peer, now_ms);
        }
    }
    ws_server_unref(server);
}

void ws_clock_init(struct ws_server *server)
{
    const int64_t *defaults = (const int64_t *)(const void *)&default_times;
    int64_t *times = (int64_t *)(void *)&server->times;

    for (size_t i = 0; i < sizeof server->times / sizeof *times; i++)
        if (times[i] == 0)
            times[i] = defaults[i];
    for (int kind = 0; kind < WS_CLASSES; kind++)
        http_link_init(&server->waits[kind]);
    server->timer = loop_timer_new(server->loop, tick, server);
}
