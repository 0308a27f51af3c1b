/* hub.c - see hub.h. */
#include "hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "disk.h"
#include "engine/engine.h"
#include "memory.h"
#include "net.h"
#include "rpc/server.h"
#include "settings/settings.h"
#include "store/sqlite/log_vfs.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"
#include "turns.h"

enum { LISTENING_FD = 1000 };

/* A hub that has just started, as the first of every history finds it. */
struct beginning {
    struct hub hub;
    struct region_copy *memory;
    struct net_listener listener;
    struct disk *disk; /* synced */
};
static struct beginning beginnings[4];

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
    struct hub *hub = (struct hub *)clock;

    if (boot_ms < 0)
        loop_timer_stop(hub->timer);
    else
        loop_timer_at(hub->timer, boot_ms + clock->rounding_ms);
}

static void on_time(void *context)
{
    engine_on_time(((struct hub *)context)->engine);
}

static void before_sleep(void *context)
{
    struct hub *hub = context;

    engine_flush(hub->engine);
    rpc_server_flush(hub->server);
    if (hub->store->ops->is_broken(hub->store) && !hub->is_leaving)
        abort(); /* this disk never fails */
    if (hub->is_leaving && engine_is_settled(hub->engine))
        rpc_server_dismiss(hub->server, "stop");
    if (hub->is_leaving && rpc_server_is_drained(hub->server))
        loop_stop(hub->loop);
}

static void write_status(void *context, struct text *out)
{
    (void)context;
    text_add_text(out, "{}");
}

static void on_wish(void *context, enum shutdown wish)
{
    (void)context;
    (void)wish; /* the scheduler says when hubs stop */
}

static void put_setting(void *context, const char *name, const char *value)
{
    settings_put_saved(context, name, value);
}

static void start(void *context)
{
    struct hub *hub = context;
    const struct rpc_host host = { hub, write_status, on_wish };
    struct engine_parts parts = { .clock = &hub->clock,
                                  .person = "owner",
                                  .uid = (int64_t)geteuid(),
                                  .portal_built = true,
                                  .terminal_built = true,
                                  .program = "/usr/bin/sayso",
                                  .context = hub };
    struct error err = { 0 };

    hub->loop = loop_new();
    hub->timer = loop_timer_new(hub->loop, on_time, hub);
    hub->settings = settings_new();
    if (!sqlite_store_open_with_vfs(hub->loop, hub->path, DISK_VFS, &hub->store, &err)) {
        fprintf(stderr, "the store does not open: %s\n", err.message);
        abort();
    }
    if (*hub->store->ops->meta(hub->store, "recovered_from")) {
        fprintf(stderr, "the store was found damaged\n");
        abort();
    }
    hub->store->ops->list_settings(hub->store, parts.person, put_setting, hub->settings);
    parts.store = hub->store;
    parts.settings = hub->settings;
    hub->engine = engine_new(&parts);
    if (!rpc_server_open(hub->loop, engine_service(hub->engine), hub->path, LISTENING_FD, &host,
                         &hub->server, &err))
        abort();
    loop_before_sleep(hub->loop, before_sleep, hub);
    turns_end(hub->loop);
}

static bool run(struct hub *hub, void (*call)(void *context), void *context)
{
    net_set_hub(hub->number);
    return task_run(&hub->process, call, context);
}

static void clear(struct hub *hub)
{
    struct region *region = hub->process.region;
    uint64_t seed = hub->process.seed;
    unsigned pauses = hub->process.pauses;

    region_reset(region);
    memset(&hub->process, 0, sizeof hub->process);
    hub->process.region = region;
    hub->process.effects_left = -1;
    hub->process.seed = seed;
    hub->process.pauses = pauses;
    hub->is_leaving = false;
    hub->store = NULL;
    hub->engine = NULL;
    hub->server = NULL;
    hub->loop = NULL;
}

bool hub_start(struct hub *hub)
{
    clear(hub);
    if (hub->starts_to_die)
        task_kill(&hub->process, hub->starts_to_die);
    hub->starts_to_die = 0;
    hub->is_up = run(hub, start, hub);
    return hub->is_up;
}

static void stop(void *context)
{
    struct hub *hub = context;

    rpc_server_free(hub->server);
    hub->store->ops->close(hub->store);
    engine_free(hub->engine);
}

/* Until nothing is to be done before time goes on. */
static void settle(struct hub *hub)
{
    while (hub_can_write(hub) || hub_can_wake(hub)) {
        if (hub_can_write(hub))
            hub_write(hub);
        if (hub_can_wake(hub))
            hub_wake(hub);
    }
}

/* The file is made and brought up to date, closed, and opened as it will be found. */
void hub_prepare(struct hub *hub, int number, const char *directory)
{
    *hub = (struct hub){ .clock = { clock_boot_ms, clock_utc_ms, clock_wake_at, 1 },
                         .number = number,
                         .process.region = region_new(),
                         .process.seed = 7 };
    snprintf(hub->path, sizeof hub->path, "%s/store.db", directory);
    hub->disk = disk_new(directory);
    log_vfs_over(DISK_VFS); /* SQLite keeps it: not in the memory of a process */
    if (!hub_start(hub))
        abort();
    settle(hub);
    run(hub, stop, hub);
    disk_let_go(hub->disk);
    if (!hub_start(hub))
        abort();
    settle(hub);
}

void hub_keep(struct hub *hub)
{
    struct beginning *beginning = &beginnings[hub->number];

    settle(hub);
    beginning->hub = *hub;
    beginning->memory = region_save(hub->process.region);
    beginning->listener = net_listener(hub->number);
    beginning->disk = disk_new("nowhere");
    disk_copy(beginning->disk, hub->disk);
}

void hub_begin(struct hub *hub, uint64_t seed)
{
    const struct beginning *beginning = &beginnings[hub->number];

    region_load(hub->process.region, beginning->memory);
    *hub = beginning->hub;
    disk_copy(hub->disk, beginning->disk);
    net_set_listener(hub->number, beginning->listener);
    hub->process.seed = seed;
}

struct turn {
    struct hub *hub;
    struct cable *cable;
    size_t max;
};

static void take(void *context)
{
    const struct turn *turn = context;

    net_move_to_hub(turn->cable, turn->max);
    turns_end(turn->hub->loop);
}

static void ring(void *context)
{
    struct loop *loop = ((const struct turn *)context)->hub->loop;

    turns_ring_timers(loop);
    turns_end(loop);
}

static void wake(void *context)
{
    struct loop *loop = ((const struct turn *)context)->hub->loop;

    turns_wake(loop);
    turns_end(loop);
}

static bool run_turn(struct hub *hub, void (*call)(void *context), struct cable *cable, size_t max)
{
    struct turn turn = { hub, cable, max };

    if (!run(hub, call, &turn))
        return false;
    if (!hub->is_leaving || !turns_is_stopped(hub->loop))
        return true;
    if (!run(hub, stop, hub))
        return false;
    hub->is_up = false;
    disk_let_go(hub->disk);
    return true;
}

bool hub_take(struct hub *hub, struct cable *cable, size_t max)
{
    return run_turn(hub, take, cable, max);
}

bool hub_ring(struct hub *hub)
{
    return run_turn(hub, ring, NULL, 0);
}

bool hub_wake(struct hub *hub)
{
    return run_turn(hub, wake, NULL, 0);
}

bool hub_write(struct hub *hub)
{
    net_set_hub(hub->number);
    return task_run_thread(&hub->process);
}

static void leave(void *context)
{
    struct hub *hub = ((const struct turn *)context)->hub;

    hub->is_leaving = true;
    net_shut_door(hub->number);
    engine_check_clock(hub->engine);
    engine_save_drafts(hub->engine);
    rpc_server_drain(hub->server);
    turns_end(hub->loop);
}

bool hub_leave(struct hub *hub)
{
    return run_turn(hub, leave, NULL, 0);
}

void hub_bury(struct hub *hub, bool is_power_cut, uint64_t *seed)
{
    hub->is_up = false;
    disk_let_go(hub->disk);
    net_hub_died(hub->number);
    if (is_power_cut)
        disk_cut_power(hub->disk, seed);
}

bool hub_is_due(const struct hub *hub)
{
    int64_t next = hub->is_up ? turns_next_timer_ms(hub->loop) : -1;

    return next >= 0 && next <= times.boot_ms;
}

bool hub_can_wake(const struct hub *hub)
{
    return hub->is_up && turns_has_wake(hub->loop);
}

bool hub_can_write(const struct hub *hub)
{
    return hub->is_up && task_thread_can_run(&hub->process);
}

int64_t hub_next_ms(const struct hub *hub)
{
    int64_t timer = hub->is_up ? turns_next_timer_ms(hub->loop) : -1;
    int64_t thread = hub->is_up ? task_thread_wakes_ms(&hub->process) : -1;

    if (timer < 0 || thread < 0)
        return timer < 0 ? thread : timer;
    return timer < thread ? timer : thread;
}
