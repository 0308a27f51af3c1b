/*
 * test_model.c - every order in which things can happen to one ask, over the real state machine.
 *
 * A small explicit-state explorer. The world is a store (conditional update; a write is queued,
 * committed or refused, and told later), a hub's memory, one agent, two people who answer (one with
 * an undo window, one without), a clock, and a hub that may die at any moment and start again. All
 * interleavings within the budgets below are visited, each state once, and these must hold in all:
 *   winner    at most one decision is acknowledged each time the ask is open (P3)
 *   kept      an acknowledged decision is what the store has, until it is taken back (P1, P3)
 *   final     what the agent has got is what the store says for ever after
 *   early     nothing expires before the deadline the store has (P6)
 *   silence   a selection is a person's who chose it in this opening; time, withdrawal, cancelling
 *             and crashes never make one (P7)
 * The explorer itself is tested with broken rules, each of which it must catch.
 * Proves: P3, P6, P7, R5.1, R5.2, R5.3, R5.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle.h"
#include "model_world.h"

/* Of agents, people and bad luck, in any mixture; fewer where every step costs ten times as much.
 */
#if defined(__SANITIZE_THREAD__)
enum { ACTS = 3 };
#elif defined(__SANITIZE_ADDRESS__)
enum { ACTS = 4 };
#else
enum { ACTS = 5 };
#endif
enum { STATES_MAX = 1 << 23, TABLE_SLOTS = 1 << 24 };
static const char *const broken_names[] = {
    [FINE] = "fine",   [WINNER] = "winner", [KEPT] = "kept",
    [FINAL] = "final", [EARLY] = "early",   [SILENCE] = "silence",
};

/* Every state once, with how it came about. */
struct explorer {
    struct world *worlds;
    uint32_t *parents;
    uint8_t *by;
    uint32_t *slots; /* index + 1 */
    uint32_t count;
    uint64_t transitions;
};

static uint64_t hash_world(const struct world *world)
{
    uint64_t words[(sizeof *world + 7) / 8] = { 0 };
    uint64_t hash = 0;

    memcpy(words, world, sizeof *world);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    return hash;
}

/* True: not seen before. */
static bool remember(struct explorer *explorer, const struct world *world, uint32_t parent,
                     uint8_t by)
{
    uint64_t slot = hash_world(world);

    for (;; slot++) {
        uint32_t *found = &explorer->slots[slot & (TABLE_SLOTS - 1)];

        if (*found && memcmp(&explorer->worlds[*found - 1], world, sizeof *world) == 0)
            return false;
        if (*found)
            continue;
        if (explorer->count == STATES_MAX)
            fail_msg("more than %d states", STATES_MAX);
        explorer->worlds[explorer->count] = *world;
        explorer->parents[explorer->count] = parent;
        explorer->by[explorer->count] = by;
        *found = ++explorer->count;
        return true;
    }
}

static void print_way_to(const struct explorer *explorer, uint32_t index)
{
    if (explorer->parents[index] != index)
        print_way_to(explorer, explorer->parents[index]);
    if (explorer->parents[index] != index)
        print_message("#   %s\n", model_happenings[explorer->by[index]].name);
}

/* Breadth first, so that the way to what is broken is a shortest one. */
static enum broken explore(struct explorer *explorer, const struct rules *rules)
{
    for (uint32_t at = 0; at < explorer->count; at++) {
        for (uint8_t i = 0; i < model_happening_count; i++) {
            struct world next = explorer->worlds[at];
            enum broken broken;

            if (!model_happenings[i].happen(&next, rules))
                continue;
            explorer->transitions++;
            if (!remember(explorer, &next, at, i))
                continue;
            broken = model_judge(&next);
            if (broken == FINE)
                continue;
            if (rules->caught_as == FINE)
                print_way_to(explorer, explorer->count - 1);
            return broken;
        }
    }
    return FINE;
}

static void check_rules(const struct rules *rules)
{
    struct explorer explorer = {
        .worlds = mem_new(STATES_MAX * sizeof *explorer.worlds),
        .parents = mem_new(STATES_MAX * sizeof *explorer.parents),
        .by = mem_new(STATES_MAX),
        .slots = mem_new(TABLE_SLOTS * sizeof *explorer.slots),
    };
    struct world first = model_first(ACTS);
    enum broken broken;

    remember(&explorer, &first, 0, 0);
    broken = explore(&explorer, rules);
    print_message("# %s: %u states, %llu transitions, %s\n", rules->name, explorer.count,
                  (unsigned long long)explorer.transitions, broken_names[broken]);
    assert_string_equal(broken_names[broken], broken_names[rules->caught_as]);
    free(explorer.worlds);
    free(explorer.parents);
    free(explorer.by);
    free(explorer.slots);
}

static void test_the_real_rules(void **state)
{
    const struct rules rules = { .name = "the real rules", .step = lifecycle_next };

    (void)state;
    check_rules(&rules);
}

/* One cell that behaves like another one. */
static const struct mutation {
    const char *name;
    enum ask_state state;
    enum ask_event event;
    enum ask_state like_state;
    enum ask_event like_event;
    enum broken caught_as;
} mutations[] = {
    { "an answer after the timeout", STATE_TIMEOUT, EVENT_ANSWERED, STATE_PENDING, EVENT_ANSWERED,
      FINAL },
    { "an answer after withdrawn by the agent", STATE_WITHDRAWN, EVENT_ANSWERED, STATE_PENDING,
      EVENT_ANSWERED, FINAL },
    { "a second answer", STATE_SUBMITTED, EVENT_ANSWERED, STATE_PENDING, EVENT_ANSWERED, KEPT },
    { "an answer after cancelling", STATE_CANCELLED, EVENT_ANSWERED, STATE_PENDING, EVENT_ANSWERED,
      KEPT },
    { "cancelling an answer", STATE_SUBMITTED, EVENT_CANCELLED, STATE_PENDING, EVENT_CANCELLED,
      KEPT },
    { "withdrawing what is answered", STATE_SUBMITTED, EVENT_AGENT_WITHDREW, STATE_PENDING,
      EVENT_AGENT_WITHDREW, SILENCE },
    { "silence is consent", STATE_PENDING, EVENT_EXPIRED, STATE_PENDING, EVENT_ANSWERED, SILENCE },
    { "withdrawing is consent", STATE_PENDING, EVENT_AGENT_WITHDREW, STATE_PENDING, EVENT_ANSWERED,
      SILENCE },
    { "an extension that nobody can see", STATE_PENDING, EVENT_EXTENDED, STATE_PENDING,
      EVENT_DRAFT_CHANGED, EARLY },
};
static const struct mutation *mutation; /* in force */

static struct lifecycle_step mutated(enum ask_state state, enum ask_event event,
                                     const struct lifecycle_facts *facts)
{
    if (state == mutation->state && event == mutation->event)
        return lifecycle_next(mutation->like_state, mutation->like_event, facts);
    return lifecycle_next(state, event, facts);
}

static void test_broken_cells_are_caught(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mutations); i++) {
        struct rules rules = { .name = mutations[i].name,
                               .step = mutated,
                               .caught_as = mutations[i].caught_as };

        mutation = &mutations[i];
        check_rules(&rules);
    }
}

/* A hub that does the right things in another order, or too many of them. */
static void test_broken_hubs_are_caught(void **state)
{
    static const struct rules hubs[] = {
        { .name = "acknowledged before it is on disk",
          .step = lifecycle_next,
          .acknowledges_early = true,
          .caught_as = KEPT },
        { .name = "everybody is told to have won",
          .step = lifecycle_next,
          .acknowledges_all = true,
          .caught_as = WINNER },
        { .name = "expired though more time is on its way",
          .step = lifecycle_next,
          .expires_any_version = true,
          .caught_as = EARLY },
        { .name = "delivered though it is being taken back",
          .step = lifecycle_next,
          .delivers_while_undoing = true,
          .caught_as = FINAL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hubs); i++)
        check_rules(&hubs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_real_rules),
        cmocka_unit_test(test_broken_cells_are_caught),
        cmocka_unit_test(test_broken_hubs_are_caught),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
