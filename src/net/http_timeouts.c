/*
 * http_timeouts.c - how long peers may take. One timer for all is armed for the first expiry, and
 * not at all if nobody waits. To add a timeout: a class in http_server.h, and its row here.
 */
#include "base/loop.h"
#include "net/http_server.h"

enum {
    CLOCK_STEP_MS = 100,
    CLOCK_LOOK_MS = 50,
    CLOCK_RATE_MS = 1000,
    CLOCK_CALLS = 128, /* of a class in one turn: thousands that end together are many turns */
};
static const struct http_times default_times = {
    .idle_ms = 60000,
    .handshake_ms = 10000,
    .head_ms = 29000, /* the 408 is there within 30 s */
    .body_ms = 60000,
    .body_grace_ms = 10000,
    .stall_ms = 60000,
    .settle_ms = 3000,
    .linger_ms = 2000,
    .beat_ms = 15000,
};

void http_link_init(struct http_link *head)
{
    head->next = head->previous = head;
}

void http_link_append(struct http_link *head, struct http_link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

void http_link_remove(struct http_link *link)
{
    if (!link->next)
        return;
    link->next->previous = link->previous;
    link->previous->next = link->next;
    link->next = link->previous = NULL;
}

static void on_head_late(struct http_connection *connection)
{
    http_connection_refuse(connection, 408, "the head took too long");
}

static void on_body(struct http_connection *connection)
{
    http_exchange_check_rate(connection->exchange);
}

static void on_beat(struct http_connection *connection)
{
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BEAT);
    sse_beat(connection->exchange);
}

#define TIME(member) offsetof(struct http_times, member)
static const struct {
    void (*call)(struct http_connection *connection);
    int fixed_ms; /* -1: one of struct http_times */
    size_t member;
} classes[HTTP_CLASSES] = {
    [HTTP_WAIT_DOOMED] = { http_connection_close, 0, 0 },
    [HTTP_WAIT_RESUME] = { http_connection_resume, 0, 0 },
    [HTTP_WAIT_HANDSHAKE] = { http_connection_close, -1, TIME(handshake_ms) },
    [HTTP_WAIT_IDLE] = { http_connection_close, -1, TIME(idle_ms) },
    [HTTP_WAIT_KNOWN_IDLE] = { http_connection_close, -1, TIME(idle_ms) },
    [HTTP_WAIT_HEAD] = { on_head_late, -1, TIME(head_ms) },
    [HTTP_WAIT_BODY_START] = { on_body, -1, TIME(body_grace_ms) },
    [HTTP_WAIT_BODY_RATE] = { on_body, CLOCK_RATE_MS, 0 },
    [HTTP_WAIT_STALL] = { http_connection_close, -1, TIME(stall_ms) },
    [HTTP_WAIT_STAY] = { http_connection_check_fate, -1, TIME(settle_ms) },
    [HTTP_WAIT_SETTLE] = { http_connection_check_fate, CLOCK_LOOK_MS, 0 },
    [HTTP_WAIT_LINGER] = { http_connection_close, -1, TIME(linger_ms) },
    [HTTP_WAIT_BEAT] = { on_beat, -1, TIME(beat_ms) },
};

static int64_t limit_of(const struct http_server *server, enum http_class kind)
{
    if (classes[kind].fixed_ms >= 0)
        return classes[kind].fixed_ms;
    return *(const int64_t *)(const void *)((const char *)&server->times + classes[kind].member);
}

static void arm(struct http_server *server, int64_t at_ms)
{
    if (server->timer_ms && server->timer_ms <= at_ms)
        return;
    server->timer_ms = at_ms;
    loop_timer_at(server->timer, at_ms);
}

void http_clock_wake(struct http_server *server, int64_t after_ms)
{
    arm(server, loop_boot_ms() + after_ms);
}

void http_wait_begin(struct http_server *server, struct http_wait *wait, enum http_class kind)
{
    int64_t limit_ms = limit_of(server, kind);

    http_link_remove(&wait->link);
    wait->kind = (uint8_t)kind;
    wait->since_ms = loop_boot_ms();
    http_link_append(&server->waits[kind], &wait->link);
    arm(server, wait->since_ms + limit_ms);
}

void http_wait_end(struct http_wait *wait)
{
    http_link_remove(&wait->link);
    wait->kind = HTTP_WAIT_NONE;
}

/* A little late, so that many peers that end one after the other are one wake-up. */
static int64_t step_of(int64_t limit_ms)
{
    return limit_ms / 8 < CLOCK_STEP_MS ? limit_ms / 8 : CLOCK_STEP_MS;
}

static void tick(void *context)
{
    struct http_server *server = context;
    int64_t now_ms = loop_boot_ms();

    http_server_enter(server); /* a fate may free the server */
    server->timer_ms = 0;
    for (int kind = HTTP_WAIT_DOOMED; kind < HTTP_CLASSES && !server->is_freed; kind++) {
        struct http_link *head = &server->waits[kind];
        int64_t limit_ms = limit_of(server, (enum http_class)kind);

        for (int calls = 0; head->next != head && !server->is_freed; calls++) {
            struct http_wait *wait = (struct http_wait *)head->next;

            if (wait->since_ms + limit_ms > now_ms) {
                arm(server, wait->since_ms + limit_ms + step_of(limit_ms));
                break;
            }
            if (calls == CLOCK_CALLS) { /* whoever came meanwhile is served first */
                arm(server, now_ms);
                break;
            }
            http_wait_end(wait);
            classes[kind].call(TABLE_THING(http_connection, wait, wait));
        }
    }
    if (server->is_paused && !server->is_freed)
        http_server_listen_again(server);
    http_server_leave(server);
}

void http_clock_init(struct http_server *server)
{
    const int64_t *defaults = (const int64_t *)(const void *)&default_times;
    int64_t *times = (int64_t *)(void *)&server->times;

    for (size_t i = 0; i < sizeof server->times / sizeof *times; i++)
        if (times[i] == 0)
            times[i] = defaults[i];
    for (int kind = 0; kind < HTTP_CLASSES; kind++)
        http_link_init(&server->waits[kind]);
    server->timer = loop_timer_new(server->loop, tick, server);
}

void http_clock_release(struct http_server *server)
{
    loop_timer_free(server->timer);
    server->timer = NULL;
}
