/* front.c - see front.h. What rpc/client.c calls of rpc/finder.h, and the loop of watches, is
 * defined here. */
#include "front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "memory.h"
#include "net.h"
#include "rpc/client.h"
#include "rpc/protocol.h"
#include "rpc/service.h"
#include "turns.h"
#include "world.h"

enum { HOLD_S = 50, HOLD_SHORT_S = 0, CALLS_MAX = 64 };
/* A finder's connection, and the loop's watch on it. */
struct wire {
    struct wire *next;
    struct finder *finder;
    struct cable *cable; /* NULL: none yet */
    void (*call)(void *context);
    void *context;
};

static struct front *current; /* whose turn it is */

static struct wire *rpc_of(const struct finder *finder)
{
    struct wire *wire = current->wires;

    while (wire->finder != finder)
        wire = wire->next;
    return wire;
}

void finder_init(struct finder *finder)
{
    struct wire *wire = mem_new(sizeof *wire);

    *wire = (struct wire){ .finder = finder, .next = current->wires };
    current->wires = wire;
    finder->fd = -1;
    finder->wake_ms = -1;
}

void finder_begin(struct finder *finder, const struct client_identity *who,
                  const struct finder_policy *policy)
{
    struct json_writer writer = json_writer_to(&finder->out);

    finder_drop(finder);
    finder->who = who;
    finder->policy = policy; /* the scheduler starts hubs */
    text_add_text(&finder->out, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":");
    json_write_object(&writer, NULL);
    json_write_integer(&writer, "wire", rpc_number());
    json_write_text(&writer, "role", who->role);
    json_write_text(&writer, "name", who->name);
    json_write_text_if(&writer, "as", who->as_name);
    json_write_text_if(&writer, "client_version", who->client_version);
    json_write_text_if(&writer, "transport", who->transport);
    json_write_end_object(&writer);
    text_add_text(&finder->out, "}\n");
    finder->phase = FINDER_STARTING;
    finder->fd = ++current->last_fd;
}

enum finder_phase finder_advance(struct finder *finder, int64_t now_ms)
{
    size_t length;

    (void)now_ms;
    if (finder->phase == FINDER_STARTING && finder_line(finder, &length))
        finder->phase = FINDER_UP; /* it was the reply to hello */
    return finder->phase;
}

const char *finder_line(struct finder *finder, size_t *ret_length)
{
    const char *line = finder->in.bytes + finder->done;
    const char *end =
        finder->in.used > finder->done ? memchr(line, '\n', finder->in.used - finder->done) : NULL;

    if (!end) {
        text_clear(&finder->in);
        finder->done = 0;
        return NULL;
    }
    *ret_length = (size_t)(end - line);
    finder->done += *ret_length + 1;
    return line;
}

void finder_flush(struct finder *finder)
{
    struct cable *cable = rpc_of(finder)->cable;

    if (!cable || !finder->out.used)
        return;
    task_effect("send", "");
    net_send(cable, finder->out.bytes, finder->out.used);
    text_clear(&finder->out);
}

void finder_fail(struct finder *finder, enum finder_failure failure, const char *why)
{
    finder_drop(finder);
    error_set(&finder->err, ERROR_unavailable, "", "%s", why);
    finder->phase = FINDER_FAILED;
    finder->failure = failure;
}

void finder_drop(struct finder *finder)
{
    struct wire *wire = rpc_of(finder);

    if (finder->fd >= 0 && finder->closing)
        finder->closing(finder->context);
    if (wire->cable)
        net_hang_up(wire->cable);
    wire->cable = NULL;
    text_release(&finder->in);
    text_release(&finder->out);
    finder->done = 0;
    finder->is_ended = false;
    finder->phase = FINDER_IDLE;
    finder->fd = -1;
}

void finder_release(struct finder *finder)
{
    struct wire *wire = rpc_of(finder), **at = &current->wires;

    finder_drop(finder);
    while (*at != wire)
        at = &(*at)->next;
    *at = wire->next;
    free(wire);
}

bool finder_is_remote(void)
{
    return false;
}

/* Of a finder: its number says which. */
struct watch *watch_new(struct loop *loop, int fd, void (*call)(void *context), void *context)
{
    struct wire *wire = current->wires;

    (void)loop;
    while (wire->finder->fd != fd)
        wire = wire->next;
    wire->call = call;
    wire->context = context;
    return (struct watch *)wire;
}

void watch_for(struct watch *watch, int events)
{
    (void)watch;
    (void)events;
}

void watch_free(struct watch *watch)
{
    if (watch)
        ((struct wire *)watch)->call = NULL;
}

static bool connect_wire(struct wire *wire)
{
    int hub = (int)draw_below(&world.seed, HUBS);

    if (wire->finder->phase != FINDER_STARTING || wire->cable || !net_accepts(hub))
        return false;
    wire->cable = net_connect(hub, current->pid);
    if (!wire->cable)
        return false;
    net_send(wire->cable, wire->finder->out.bytes, wire->finder->out.used);
    return true;
}

static bool read_wire(struct wire *wire)
{
    struct cable *cable = wire->cable;
    struct text *unread = cable ? &cable->to_client : NULL;
    const char *end = unread && unread->used ? memchr(unread->bytes, '\n', unread->used) : NULL;

    if (end) {
        size_t length = (size_t)(end - unread->bytes) + 1;

        text_add(&wire->finder->in, unread->bytes, length);
        text_drop_front(unread, length);
    } else if (!cable || !cable->is_hub_gone) {
        return false;
    } else if (wire->finder->phase == FINDER_UP) {
        wire->finder->is_ended = true;
    } else { /* it goes on looking */
        net_hang_up(cable);
        wire->cable = NULL;
        return true;
    }
    if (wire->call)
        wire->call(wire->context);
    return true;
}

static int64_t clock_boot_ms(struct clock *clock)
{
    (void)clock;
    return times.boot_ms;
}

static int64_t clock_utc_ms(struct clock *clock)
{
    (void)clock;
    return times.utc_ms;
}

static void clock_wake_at(struct clock *clock, int64_t boot_ms)
{
    struct front *front = (struct front *)clock;

    if (boot_ms < 0)
        loop_timer_stop(front->timer);
    else
        loop_timer_at(front->timer, boot_ms);
}

static void on_time(void *context)
{
    mcp_on_time(((struct front *)context)->mcp);
}

static int64_t hold_limit_s(void *context, const char *client_name, bool has_progress)
{
    (void)client_name;
    (void)has_progress;
    return ((const struct front *)context)->hold_s;
}

static void on_message(struct mcp_stream *stream, const struct mcp_message *message)
{
    (void)stream;
    text_add(&current->unwritten, message->line, message->length);
}

/* The client's pipe takes everything: from then on it has the result. */
static void before_sleep(void *context)
{
    struct front *front = context;

    if (front->unwritten.used) {
        struct region *used;

        task_effect("send", "");
        used = region_use(net.memory);
        text_add(&front->out, front->unwritten.bytes, front->unwritten.used);
        region_use(used);
        text_clear(&front->unwritten);
        mcp_confirm(front->mcp, &front->stream);
    }
}

/* Its settings are in order. */
static bool refuses(void *context, struct error *err)
{
    (void)context;
    (void)err;
    return false;
}

static void start(void *context)
{
    static const struct mcp_stream_ops ops = { .message = on_message };
    struct front *front = context;
    struct mcp_parts parts = { .clock = &front->clock,
                               .uid = geteuid(),
                               .pid = front->pid,
                               .as_name = front->as_name,
                               .max_calls = CALLS_MAX,
                               .transport = "stdio",
                               .context = front,
                               .hold_limit_s = hold_limit_s };

    front->loop = loop_new();
    loop_before_sleep(front->loop, before_sleep, front);
    front->timer = loop_timer_new(front->loop, on_time, front);
    front->service = client_service_new(front->loop, refuses, front);
    parts.service = front->service;
    front->stream = (struct mcp_stream){ .ops = &ops };
    front->mcp = mcp_new(&parts);
    mcp_stand(front->mcp, &front->stream);
    turns_end(front->loop);
}

static void run(struct front *front, void (*call)(void *context), void *context)
{
    bool is_alive;

    current = front;
    is_alive = task_run(&front->process, call, context);
    current = NULL;
    if (!is_alive) {
        world_tell("the front of %lld dies", (long long)front->pid);
        front_kill(front);
    }
}

void front_prepare(struct front *front)
{
    *front = (struct front){ .process.region = region_new() };
}

void front_start(struct front *front, const char *as_name, int64_t pid, uint64_t seed)
{
    struct region *region = front->process.region;

    region_reset(region);
    *front = (struct front){ .clock = { clock_boot_ms, clock_utc_ms, clock_wake_at, 0 },
                             .process = { .region = region, .effects_left = -1, .seed = seed },
                             .is_up = true,
                             .hold_s = seed % 2 ? HOLD_S : HOLD_SHORT_S,
                             .pid = pid };
    snprintf(front->as_name, sizeof front->as_name, "%s", as_name);
    run(front, start, front);
}

struct taking {
    struct front *front;
    const char *line;
    size_t length;
};

static void take(void *context)
{
    const struct taking *taking = context;

    mcp_take_line(taking->front->mcp, &taking->front->stream, taking->line, taking->length);
    turns_end(taking->front->loop);
}

void front_take(struct front *front, const char *line, size_t length)
{
    struct taking taking = { front, line, length };

    if (front->is_up)
        run(front, take, &taking);
}

static void move(void *context)
{
    struct taking *taking = context;
    struct wire *next;

    for (struct wire *wire = taking->front->wires; wire && !taking->length; wire = next) {
        next = wire->next; /* it may be freed */
        taking->length = connect_wire(wire) || read_wire(wire);
    }
    if (taking->length)
        turns_end(taking->front->loop);
}

bool front_move(struct front *front)
{
    struct taking taking = { .front = front };

    if (front->is_up)
        run(front, move, &taking);
    return taking.length > 0;
}

static void ring(void *context)
{
    struct front *front = context;

    turns_ring_timers(front->loop);
    turns_end(front->loop);
}

int64_t front_next_ms(const struct front *front)
{
    return front->is_up ? turns_next_timer_ms(front->loop) : -1;
}

bool front_ring(struct front *front)
{
    int64_t next = front_next_ms(front);

    if (next < 0 || next > times.boot_ms)
        return false;
    run(front, ring, front);
    return true;
}

void front_kill(struct front *front)
{
    for (struct wire *wire = front->is_up ? front->wires : NULL; wire; wire = wire->next) {
        if (wire->cable)
            net_hang_up(wire->cable);
    }
    front->is_up = false;
}
