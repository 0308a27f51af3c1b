/* clock.c - the engine's clock, which is a hub: see inside.h. */
#include "ports/clock.h"

#include "hub/inside.h"
#include "loop/loop.h"
#include "ports/store.h"

/* Hubs that share a store go by its clock. */
static bool has_own_clock(const struct store *store)
{
    return store && store->ops->utc_ms;
}

/* A turn happens at one moment: it is short, and an ask would look at the clock twenty times. */
static const struct hub *hub_at_its_time(struct clock *clock)
{
    struct hub *hub = (struct hub *)clock;

    if (!hub->is_time_known) {
        hub->turn_boot_ms = loop_boot_ms();
        hub->turn_utc_ms =
            has_own_clock(hub->store) ? hub->store->ops->utc_ms(hub->store) : loop_utc_ms();
    }
    hub->is_time_known = hub->is_turning;
    return hub;
}

static int64_t hub_boot_ms(struct clock *clock)
{
    return hub_at_its_time(clock)->turn_boot_ms;
}

static int64_t hub_utc_ms(struct clock *clock)
{
    return hub_at_its_time(clock)->turn_utc_ms;
}

static void hub_wake_at(struct clock *clock, int64_t boot_ms)
{
    struct hub *hub = (struct hub *)clock;

    if (boot_ms < 0)
        loop_timer_stop(hub->time_timer);
    else
        loop_timer_at(hub->time_timer, boot_ms + clock->rounding_ms);
}

const struct clock hub_clock = { hub_boot_ms, hub_utc_ms, hub_wake_at, 1 };
