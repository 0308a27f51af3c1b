/*
 * leaving.c - when a hub goes: it was told to, its store is broken, or nobody has needed it for a
 * while. What was accepted is answered first.
 */
#include <stdio.h>

#include "base/log.h"
#include "base/os.h"
#include "engine/engine.h"
#include "hub/door.h"
#include "hub/hub.h"
#include "hub/inside.h"
#include "loop/loop.h"
#include "settings/settings.h"
#include "wire/server.h"

static const int64_t HUB_DRAIN_LIMIT_MS = 5000; /* a peer that does not read is not waited for */

void hub_leave(struct hub *hub, const char *why)
{
    if (hub->is_leaving)
        return;
    hub->is_leaving = true;
    os_tell_manager("STOPPING=1");
    log_info("hub.leaving", "why=%s open=%zu", why, engine_open_count(hub->engine));
    engine_check_clock(hub->engine);
    engine_leave(hub->engine);
    engine_save_drafts(hub->engine);
    wire_server_drain(hub->server);
    door_drain(hub->door);
    hub->why = why;
    loop_timer_at(hub->leave_timer, loop_boot_ms() + HUB_DRAIN_LIMIT_MS);
}

static bool is_idle(const struct hub *hub)
{
    return engine_is_idle(hub->engine) && wire_server_peer_count(hub->server) == 0 &&
           door_peer_count(hub->door) == 0;
}

/* What is still under way may be stored or not: it is not refused, its connection closes without a
 * reply. Peers of the socket are told why we go; that is no refusal either. */
static void give_up(struct hub *hub)
{
    log_info("hub.undrained", "after_ms=%lld", (long long)HUB_DRAIN_LIMIT_MS);
    wire_server_dismiss(hub->server, hub->why);
    loop_stop(hub->loop);
}

void hub_on_leave_time(void *context)
{
    struct hub *hub = context;

    hub->is_idle_armed = false;
    if (hub->is_leaving)
        give_up(hub);
    else if (hub->is_announced)
        hub_leave(hub, "stop");
    else if (is_idle(hub))
        hub_leave(hub, "idle");
}

/* A hub that a front started goes when nobody has needed it for a while. */
void hub_watch_idleness(struct hub *hub)
{
    bool idle = is_idle(hub);
    int64_t wait_s = settings_integer(hub->options->settings, SETTING_IDLE_EXIT_SECONDS);

    if (!hub->options->leaves_when_idle || hub->is_leaving || hub->is_announced ||
        door_public_url(hub->door)[0])
        return;
    if (idle && !hub->is_idle_armed)
        loop_timer_at(hub->leave_timer, loop_boot_ms() + wait_s * 1000);
    else if (!idle && hub->is_idle_armed)
        loop_timer_stop(hub->leave_timer);
    hub->is_idle_armed = idle;
}

/* Those who send others here look every few seconds: they are told first, and then given the time
 * to have looked. Whoever says it twice, or from a keyboard, does not want to wait. */
void hub_announce_leaving(struct hub *hub)
{
    int64_t drain_s = settings_integer(hub->options->settings, SETTING_DRAIN_SECONDS);
    char stopping[64];

    if (drain_s == 0 || hub->is_announced) {
        hub_leave(hub, "stop");
        return;
    }
    hub->is_announced = true;
    door_announce(hub->door);
    snprintf(stopping, sizeof stopping, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld",
             (long long)(drain_s * 1000 + 3 * HUB_DRAIN_LIMIT_MS) * 1000);
    os_tell_manager(stopping);
    log_info("hub.draining", "seconds=%lld", (long long)drain_s);
    loop_timer_at(hub->leave_timer, loop_boot_ms() + drain_s * 1000);
}
