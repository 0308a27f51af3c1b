/* world.c - see world.h. */
#include "world.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "memory.h"
#include "net.h"

enum { SETTLE_MAX = 20000, STEP_TRIES = 50, REHEARSAL_STEPS = 600, REHEARSAL_MS = 40000000 };
static struct times first = { 5000000, 1700000000000 }; /* when each history begins */

struct world world;
static struct hub hubs[HUBS];
static struct region *memory;

void world_tell(const char *format, ...)
{
    va_list arguments;

    if (!world.is_told)
        return;
    printf("%4ld %8.3f ", world.step, (double)(times.boot_ms - first.boot_ms) / 1000);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

struct drawn_once {
    struct table_link link;
    char key[8];
};

/* What the product draws once and keeps is drawn now, so that every history finds the same. */
static void draw_once(void)
{
    struct drawn_once thing = { .key = "first" };
    struct table table = TABLE_OF(drawn_once, link, key);

    table_insert(&table, &thing.link);
    table_release(&table);
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SAVE);
}

static void note_spoken(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        world.spoken = (world.spoken ^ (unsigned char)bytes[i]) * 0x100000001b3U;
}

/* --- what can happen --- */

static void on_death(struct hub *hub, bool is_power_cut)
{
    world_tell(is_power_cut ? "the power goes" : "hub%d is killed", hub->number);
    hub_bury(hub, is_power_cut, &world.seed);
    world.hub_ended_at = world.step;
    if (!is_power_cut)
        return;
    for (size_t i = 0; i < net.count; i++) /* those who listened are gone too */
        text_release(&net.cables[i].to_client);
    for (size_t i = 0; i < world.agent_count; i++) {
        if (world.agents[i].mcp)
            agent_end(&world.agents[i]);
    }
    observer_on_power_cut();
}

/* After each turn of a hub. */
static void look_after(struct hub *hub, bool is_alive)
{
    if (!is_alive)
        on_death(hub, world.is_power_cut);
}

static bool step_actor(void)
{
    unsigned who = draw_below(&world.seed, (unsigned)world.agent_count * 3 + PEOPLE * 4);

    if (who < world.agent_count * 3)
        return agent_act(&world.agents[who / 3]);
    return person_act(&world.people[(who - world.agent_count * 3) / 4]);
}

/* What a process closed before it connected again is read before that: they are in one queue. */
static struct cable *oldest_of(struct cable *cable)
{
    for (struct cable *at = net.cables; at < cable; at++) {
        if (at->pid == cable->pid && at->hub == cable->hub && at->is_client_gone &&
            !at->is_end_seen && net_can_move_to_hub(at))
            return at;
    }
    return cable;
}

static bool step_to_hub(void)
{
    size_t start = draw_below(&world.seed, (unsigned)net.count);

    for (size_t i = 0; i < net.count; i++) {
        struct cable *cable = &net.cables[(start + i) % net.count];
        struct hub *hub = &hubs[cable->hub];
        size_t max = draw_chance(&world.seed, 1, 8) ? 1 + draw_below(&world.seed, 200) : SIZE_MAX;

        if (!hub->is_up || !net_can_move_to_hub(cable))
            continue;
        cable = oldest_of(cable);
        world_tell("hub%d reads from %lld", hub->number, (long long)cable->pid);
        look_after(hub, hub_take(hub, cable, max));
        return true;
    }
    return false;
}

static struct client *client_of(const struct cable *cable, struct agent **ret_agent,
                                struct person **ret_person)
{
    *ret_agent = NULL;
    *ret_person = NULL;
    for (size_t i = 0; i < world.agent_count; i++) {
        *ret_agent = &world.agents[i];
        if ((*ret_agent)->client.cable == cable)
            return &(*ret_agent)->client;
    }
    *ret_agent = NULL;
    for (int i = 0; i < PEOPLE; i++) {
        *ret_person = &world.people[i];
        if ((*ret_person)->client.cable == cable)
            return &(*ret_person)->client;
    }
    return NULL;
}

static void take_line(const char *line, size_t length, struct agent *agent, struct person *person)
{
    char *text = mem_text_n(line, length);
    struct json *json = NULL;

    if (!json_parse(line, length, &json, NULL))
        observer_break("wire", "a line is not JSON: %.100s", text);
    world_tell("%s%d < %s", agent ? "agent" : "person", agent ? agent->number : person->number,
               text);
    if (agent && json)
        agent_take(agent, text, json);
    else if (json)
        person_take(person, json);
    json_free(json);
    free(text);
}

void world_take_line(struct agent *agent, const char *line, size_t length)
{
    note_spoken(line, length);
    take_line(line, length, agent, NULL);
}

/* Whole lines alone: what a client does with halves is its own business. */
static bool bring_lines(struct cable *cable)
{
    struct agent *agent;
    struct person *person;
    struct client *client = client_of(cable, &agent, &person);
    const char *end;

    if (!client)
        return false;
    end =
        cable->to_client.used ? memchr(cable->to_client.bytes, '\n', cable->to_client.used) : NULL;
    if (end) {
        size_t length = (size_t)(end - cable->to_client.bytes);

        note_spoken(cable->to_client.bytes, length);
        take_line(cable->to_client.bytes, length, agent, person);
        text_drop_front(&cable->to_client, length + 1);
        return true;
    }
    if (!cable->is_hub_gone)
        return false;
    world_tell("%s%d loses its connection", agent ? "agent" : "person",
               agent ? agent->number : person->number);
    cable->is_client_gone = true;
    if (agent)
        agent_lose(agent);
    else
        person_lose(person);
    return true;
}

static bool step_to_client(void)
{
    size_t start = draw_below(&world.seed, (unsigned)net.count);

    for (size_t i = 0; i < net.count; i++) {
        if (bring_lines(&net.cables[(start + i) % net.count]))
            return true;
    }
    return false;
}

static bool step_fronts(void)
{
    size_t start = draw_below(&world.seed, (unsigned)world.agent_count);

    for (size_t i = 0; i < world.agent_count; i++) {
        if (agent_move(&world.agents[(start + i) % world.agent_count]))
            return true;
    }
    return false;
}

static bool step_write(void)
{
    struct hub *hub = &hubs[draw_below(&world.seed, HUBS)];

    if (!hub_can_write(hub))
        return false;
    world_tell("hub%d's writer runs", hub->number);
    look_after(hub, hub_write(hub));
    return true;
}

static bool step_wake(void)
{
    struct hub *hub = &hubs[draw_below(&world.seed, HUBS)];

    if (!hub_can_wake(hub))
        return false;
    world_tell("hub%d hears from its writer", hub->number);
    look_after(hub, hub_wake(hub));
    return true;
}

static bool step_ring(void)
{
    struct hub *hub = &hubs[draw_below(&world.seed, HUBS)];

    if (!hub_is_due(hub))
        return false;
    world_tell("hub%d's time has come", hub->number);
    look_after(hub, hub_ring(hub));
    return true;
}

static void pass(int64_t ms)
{
    times.boot_ms += ms;
    times.utc_ms += ms;
    world_tell("%lld ms pass", (long long)ms);
}

/* When a hub or a front does something by itself; -1: never. */
static int64_t next_ms(void)
{
    int64_t next = -1;

    for (int i = 0; i < HUBS; i++) {
        int64_t at = hub_next_ms(&hubs[i]);

        if (at >= 0 && (next < 0 || at < next))
            next = at;
    }
    for (size_t i = 0; i < world.agent_count; i++) {
        int64_t at = world.agents[i].mcp ? front_next_ms(world.agents[i].mcp) : -1;

        if (at >= 0 && (next < 0 || at < next))
            next = at;
    }
    return next;
}

/* Mostly to that moment, sometimes not as far, rarely further, as when the machine slept. */
static bool step_time(void)
{
    int64_t next = next_ms();
    unsigned how = draw_below(&world.seed, 16);

    if (how == 0 || next < 0)
        pass(1 + draw_below(&world.seed, how == 0 && next >= 0 ? 7200000 : 5000));
    else if (next <= times.boot_ms)
        return false;
    else if (how < 6)
        pass(1 + draw_below(&world.seed, (unsigned)(next - times.boot_ms)));
    else
        pass(next - times.boot_ms);
    return true;
}

static bool step_misfortune(void)
{
    struct hub *hub = &hubs[draw_below(&world.seed, HUBS)];
    unsigned how = draw_below(&world.seed, 16);

    if (!hub->is_up || hub->is_leaving || world.deaths == 0)
        return false;
    world.deaths--;
    world.is_power_cut = how >= 8 && how < 14;
    if (how >= 14) {
        world_tell("hub%d is told to stop", hub->number);
        world.hub_ended_at = LONG_MAX; /* until it has ended */
        look_after(hub, hub_leave(hub));
    } else if (how % 2) {
        on_death(hub, world.is_power_cut);
    } else {
        task_kill(&hub->process, draw_below(&world.seed, 24));
    }
    return true;
}

static bool step_start(void)
{
    struct hub *hub = &hubs[draw_below(&world.seed, HUBS)];

    if (hub->is_up)
        return false;
    if (world.deaths > 0 && draw_chance(&world.seed, 1, 8)) {
        world.deaths--;
        hub->starts_to_die = 1 + draw_below(&world.seed, 12);
    }
    world_tell("hub%d starts", hub->number);
    world.hub_ended_at = world.step;
    look_after(hub, hub_start(hub));
    return true;
}

static const struct {
    bool (*step)(void);
    unsigned weight;
} steps[] = {
    { step_actor, 12 }, { step_to_hub, 10 },    { step_to_client, 10 }, { step_fronts, 10 },
    { step_write, 8 },  { step_wake, 8 },       { step_ring, 6 },       { step_time, 4 },
    { step_start, 4 },  { step_misfortune, 1 },
};

static bool step(void)
{
    unsigned sum = 0, at;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        sum += steps[i].weight;
    at = draw_below(&world.seed, sum);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (at < steps[i].weight)
            return steps[i].step();
        at -= steps[i].weight;
    }
    return false;
}

/* --- the end of a history --- */

static bool settle_once(void)
{
    bool has_moved = false;

    has_moved |= step_start();
    has_moved |= step_to_hub();
    has_moved |= step_write();
    has_moved |= step_wake();
    has_moved |= step_ring();
    has_moved |= step_to_client();
    has_moved |= step_fronts();
    return has_moved;
}

static void settle(void)
{
    for (int i = 0; i < SETTLE_MAX && !observer.broken[0]; i++) {
        world.step++;
        if (!settle_once())
            return;
    }
    observer_break("wire", "the hub does not come to rest");
}

static void wait_ms(int64_t ms)
{
    int64_t until = times.boot_ms + ms;

    settle();
    while (times.boot_ms < until && !observer.broken[0]) {
        int64_t next = next_ms();

        pass(next > times.boot_ms && next < until ? next - times.boot_ms : until - times.boot_ms);
        settle();
    }
}

/* Nothing goes wrong any more. What was said stands, whichever client asks for it. */
static void close_world(void)
{
    int64_t late_ms;

    world.deaths = 0;
    for (int i = 0; i < HUBS; i++) {
        hubs[i].process.effects_left = -1;
        hubs[i].process.pauses = 0;
    }
    for (size_t i = 0; i < world.agent_count; i++) {
        if (world.agents[i].mcp)
            task_kill(&world.agents[i].mcp->process, -1);
    }
    wait_ms(7000);
    for (size_t i = 0; i < world.agent_count; i++)
        agent_end(&world.agents[i]);
    settle();
    for (int i = 0; i < HUBS && observer_has_confirmed(); i++)
        on_death(&hubs[i], false); /* what was confirmed must be on its disk */
    settle();
    world.closing_at = world.step++;
    for (size_t i = 0; i < world.agent_count && !observer.broken[0]; i++) {
        agent_ask_all(&world.agents[i]);
        settle();
        agent_check_all(&world.agents[i]);
    }
    while (!observer.broken[0] && !world.people[0].client.cable)
        person_act(&world.people[0]);
    if (observer.broken[0])
        return;
    do {
        person_list(&world.people[0], true);
        settle();
        late_ms = observer_next_late_ms();
        if (late_ms >= 0)
            wait_ms(late_ms - times.boot_ms);
    } while (late_ms >= 0 && !observer.broken[0]);
}

static void begin(uint64_t seed)
{
    world = (struct world){ .seed = seed * 0x2545f4914f6cdd1dU + 11 };
    world.first_seed = world.seed;
    world.agent_count = 1 + draw_below(&world.seed, 3);
    observer_begin();
    net_begin(&world.seed, memory);
    for (size_t i = 0; i < world.agent_count; i++)
        agent_begin(&world.agents[i], (int)i);
    for (int i = 0; i < PEOPLE; i++)
        person_begin(&world.people[i], i);
}

static void run_steps(long count)
{
    while (world.step < count && !observer.broken[0]) {
        world.step++;
        for (int tries = 0; tries < STEP_TRIES && !step();)
            tries++;
    }
}

/* So that each history finds a hub with a past, whose statements are compiled. */
static void rehearse(void)
{
    begin(0);
    world.is_rehearsal = true;
    run_steps(REHEARSAL_STEPS);
    for (size_t i = 0; i < world.agent_count; i++)
        agent_end(&world.agents[i]);
    for (int i = 0; i < PEOPLE; i++) {
        if (world.people[i].client.cable)
            client_drop(&world.people[i].client, "person");
    }
    wait_ms(REHEARSAL_MS);
    if (observer.broken[0] || observer.ask_count == 0) {
        fflush(stdout);
        fprintf(stderr, "the rehearsal went wrong: %s\n", observer.broken);
        abort();
    }
}

void world_prepare(const char *directory)
{
    times = first;
    memory = region_new();
    agents_prepare();
    for (int i = 0; i < HUBS; i++)
        hub_prepare(&hubs[i], i, directory);
    region_use(memory);
    rehearse();
    region_use(NULL);
    for (int i = 0; i < HUBS; i++)
        hub_keep(&hubs[i]);
    first = times;
    draw_once();
}

bool world_run(uint64_t seed, long count, bool is_told)
{
    static const unsigned deaths[] = { 0, 0, 1, 1, 1, 1, 2, 3 };

    region_use(NULL);
    region_reset(memory);
    times = first;
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_RESTORE);
    begin(seed);
    world.is_told = is_told;
    world.deaths = deaths[draw_below(&world.seed, ARRAY_LEN(deaths))];
    for (int i = 0; i < HUBS; i++) {
        hub_begin(&hubs[i], draw(&world.seed));
        hubs[i].process.pauses = draw_below(&world.seed, 3) * 3;
    }
    region_use(memory);
    run_steps(count);
    if (!observer.broken[0])
        close_world();
    region_use(NULL);
    return !observer.broken[0];
}
