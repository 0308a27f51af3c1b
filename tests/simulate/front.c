/* front.c - see front.h. What wire/ calls of wire/dial.h is defined here. */
#include "front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "memory.h"
#include "net.h"
#include "ports/desk.h"
#include "turns.h"
#include "wire/dial.h"
#include "wire/remote.h"
#include "wire/wire.h"
#include "world.h"

enum { HOLD_S = 50, HOLD_SHORT_S = 0, CALLS_MOST = 64 };
enum dial_state { DIAL_IDLE, DIAL_CONNECTING, DIAL_OPEN };

struct dial {
    struct front *front;
    struct dial *next;
    const struct dial_ops *ops;
    void *context;
    size_t *busy;
    enum dial_state state;
    struct cable *cable; /* NULL: none yet */
    struct text hello;
};

static struct front *current; /* whose turn it is */

struct dial *dial_new(struct loop *loop, const struct dial_ops *ops, void *context, size_t *busy)
{
    struct dial *dial = mem_new(sizeof *dial);

    (void)loop;
    *dial = (struct dial){
        .front = current, .next = current->dials, .ops = ops, .context = context, .busy = busy
    };
    current->dials = dial;
    return dial;
}

void dial_start(struct dial *dial, const struct link_identity *identity, enum link_start start)
{
    struct json_writer writer = json_writer_to(&dial->hello);

    (void)start; /* the scheduler starts hubs */
    text_clear(&dial->hello);
    text_add_text(&dial->hello, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":");
    json_write_object(&writer, NULL);
    json_write_integer(&writer, "wire", wire_number());
    json_write_text(&writer, "role", identity->role);
    json_write_text(&writer, "name", identity->name);
    json_write_text_if(&writer, "as", identity->as_name);
    json_write_text_if(&writer, "client_version", identity->client_version);
    json_write_text_if(&writer, "transport", identity->transport);
    json_write_end_object(&writer);
    text_add_text(&dial->hello, "}\n");
    dial->state = DIAL_CONNECTING;
    ++*dial->busy;
}

bool dial_is_idle(const struct dial *dial)
{
    return dial->state == DIAL_IDLE;
}

bool dial_is_open(const struct dial *dial)
{
    return dial->state == DIAL_OPEN;
}

void dial_send(struct dial *dial, struct text *take_line)
{
    task_effect("send", "");
    net_send(dial->cable, take_line->bytes, take_line->used);
    text_release(take_line);
}

void dial_free(struct dial *dial)
{
    struct dial **at;

    if (!dial)
        return;
    for (at = &dial->front->dials; *at != dial;)
        at = &(*at)->next;
    *at = dial->next;
    if (dial->state == DIAL_CONNECTING)
        --*dial->busy;
    if (dial->cable)
        net_hang_up(dial->cable);
    text_release(&dial->hello);
    free(dial);
}

static bool connect_dial(struct dial *dial)
{
    int hub = (int)draw_below(&world.seed, HUBS);

    if (dial->state != DIAL_CONNECTING || dial->cable || !net_accepts(hub))
        return false;
    dial->cable = net_connect(hub, dial->front->pid);
    if (!dial->cable)
        return false;
    net_send(dial->cable, dial->hello.bytes, dial->hello.used);
    return true;
}

static void take_line(struct dial *dial, const char *line, size_t length)
{
    if (dial->state == DIAL_OPEN) {
        dial->ops->line(dial->context, line, length);
        return;
    }
    dial->state = DIAL_OPEN; /* it was the reply to hello */
    --*dial->busy;
    dial->ops->opened(dial->context);
}

static bool read_dial(struct dial *dial)
{
    struct cable *cable = dial->cable;
    struct text *unread = cable ? &cable->to_client : NULL;
    const char *end = unread && unread->used ? memchr(unread->bytes, '\n', unread->used) : NULL;

    if (end) {
        size_t length = (size_t)(end - unread->bytes);
        char *line = mem_text_n(unread->bytes, length);

        text_drop_front(unread, length + 1);
        take_line(dial, line, length);
        free(line);
        return true;
    }
    if (!cable || !cable->is_hub_gone)
        return false;
    net_hang_up(cable);
    dial->cable = NULL;
    if (dial->state == DIAL_OPEN) {
        dial->state = DIAL_IDLE;
        dial->ops->closed(dial->context);
    }
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
    remote_desk_flush(front->desk);
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
                               .most_calls = CALLS_MOST,
                               .transport = "stdio",
                               .context = front,
                               .hold_limit_s = hold_limit_s };

    front->loop = loop_new();
    loop_before_sleep(front->loop, before_sleep, front);
    front->timer = loop_timer_new(front->loop, on_time, front);
    front->desk = remote_desk_new(front->loop, NULL, refuses, front);
    parts.desk = front->desk;
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
    struct dial *next;

    for (struct dial *dial = taking->front->dials; dial && !taking->length; dial = next) {
        next = dial->next; /* it may be freed */
        taking->length = connect_dial(dial) || read_dial(dial);
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
    for (struct dial *dial = front->is_up ? front->dials : NULL; dial; dial = dial->next) {
        if (dial->cable)
            net_hang_up(dial->cable);
    }
    front->is_up = false;
}
