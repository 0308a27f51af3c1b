/*
 * simulate.c - runs histories of the simulated world and judges them. docs/internals/simulator.md.
 *   simulate [--histories N] [--first SEED] [--steps N] [--fault NAME]
 *   simulate --seed SEED [--steps N] [--fault NAME]    one history, told step by step
 *   simulate --faults                                  each deliberate fault must be found
 * Proves: P1, P2, P3, P4, P5, P6, P7, P8, P9
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "disk.h"
#include "task.h"
#include "world.h"

enum { STEPS = 120, HISTORIES = 20000, FOUND_WITHIN = 5000, REPLAYED_OF = 100 };

/* Each is a DELIBERATE_FAULT of the product. */
static const char *const faults[] = {
    "acknowledged_before_sync", "ask_lost_at_restart", "asked_twice",     "confirmation_lost",
    "crossed_principal",        "deadline_early",      "deadline_late",   "deadline_missed",
    "decision_after_undo_lost", "delivered_again",     "draft_submitted", "front_confirms_nothing",
    "front_loses_result",       "silence_is_consent",  "two_winners",     "undo_ignored",
};

static const char *option(int count, char **words, const char *name)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], name) == 0)
            return i + 1 < count ? words[i + 1] : "";
    }
    return NULL;
}

static long number(int count, char **words, const char *name, long fallback)
{
    const char *word = option(count, words, name);

    return word ? strtol(word, NULL, 10) : fallback;
}

/* It is the fault that is found only if the same history is in order without it. */
static bool is_found(const char *fault, long seed, long steps)
{
    char broken[sizeof observer.broken];
    bool is_met;

    task_set_fault(fault);
    if (world_run((uint64_t)seed, steps, false))
        return false;
    memcpy(broken, observer.broken, sizeof broken);
    is_met = task_has_met_fault();
    task_set_fault(NULL);
    if (!is_met || !world_run((uint64_t)seed, steps, false))
        return false;
    memcpy(observer.broken, broken, sizeof broken);
    return true;
}

static int find_fault(size_t index, long steps)
{
    long seed = 1;

    while (seed <= FOUND_WITHIN && !is_found(faults[index], seed, steps))
        seed++;
    if (seed > FOUND_WITHIN)
        printf("not ok %zu - %s: not found in %d histories, or not in src/\n", index + 1,
               faults[index], FOUND_WITHIN);
    else
        printf("ok %zu - %s: history %ld, %s\n", index + 1, faults[index], seed, observer.broken);
    fflush(stdout);
    return seed <= FOUND_WITHIN ? 0 : 1;
}

static int find_faults(long steps)
{
    int missed = 0;

    printf("1..%zu\n", ARRAY_LEN(faults));
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        missed += find_fault(i, steps);
    return missed ? 1 : 0;
}

/* After another history, so that what one leaves to the next is found. */
static bool goes_the_same_way(long seed, long steps, bool is_told)
{
    uint64_t spoken = world.spoken, next = world.seed;

    world_run((uint64_t)seed + 1, steps, false);
    world_run((uint64_t)seed, steps, is_told);
    if (world.spoken == spoken && world.seed == next)
        return true;
    printf("# seed %ld went another way the second time\n", seed);
    return false;
}

/* The first that is wrong is run again and told; others are run again to see that they can be. */
static int run_histories(long first, long count, long steps)
{
    long wrong = 0, strayed = 0;

    for (long i = first; i < first + count; i++) {
        bool is_good = world_run((uint64_t)i, steps, false);

        if (!is_good)
            printf("# seed %ld: %s\n", i, observer.broken);
        wrong += !is_good;
        if ((!is_good && wrong == 1) || i % REPLAYED_OF == 0)
            strayed += !goes_the_same_way(i, steps, !is_good && wrong == 1);
    }
    printf("# counted: histories=%ld steps=%ld first_seed=%ld wrong=%ld\n", count, steps, first,
           wrong);
    printf("1..2\n%s 1 - no promise is broken\n", wrong ? "not ok" : "ok");
    printf("%s 2 - a seed is one history\n", strayed ? "not ok" : "ok");
    return wrong || strayed ? 1 : 0;
}

static int run(int count, char **words)
{
    long steps = number(count, words, "--steps", STEPS), seed = number(count, words, "--seed", -1);

    task_set_fault(option(count, words, "--fault"));
    if (option(count, words, "--faults"))
        return find_faults(steps);
    if (seed >= 0)
        return world_run((uint64_t)seed, steps, true) ? 0 : 1;
    return run_histories(number(count, words, "--first", 1),
                         number(count, words, "--histories", HISTORIES), steps);
}

int main(int count, char **words)
{
    static char buffer[1 << 16];
    char directory[] = "/tmp/sayso-simulate-XXXXXX", path[sizeof directory + 16];
    int status;

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    log_set_level(LOG_ERROR + 1);
    if (!mkdtemp(directory)) /* nothing is written there, but the store looks at the directory */
        abort();
    disk_register();
    world_prepare(directory);
    status = run(count, words);
    snprintf(path, sizeof path, "%s/store.db", directory);
    unlink(path);
    rmdir(directory);
    return status;
}
