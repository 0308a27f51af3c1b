/*
 * model_world.h - one ask and everybody around it as a value: a store (conditional update; a write
 * is queued, then committed, lost or refused, and told of later), a hub's memory, one agent, two
 * people who answer (one with an undo window, one without), a clock, and a hub that may die at any
 * moment. Everything that can happen is a row of model_happenings.
 */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle.h"

enum {
    QUEUE_MAX = 3, /* writes under way at the same time */
    TICKS_MAX = 3,
    OPENINGS_MAX = 2,
};

/* All members are bytes, so that worlds compare and hash as bytes. */
struct write {
    uint8_t event, who, fate;
    uint8_t seen;       /* the state the hub looked at */
    uint8_t if_version; /* 0: any */
    uint8_t deadline, opening;
    uint8_t was_acknowledged;
};
struct world {
    /* on disk */
    uint8_t state, version, decision, deadline, deliver_after, is_delivered;
    uint8_t opening; /* how often it was taken back; ghost */
    /* the hub */
    uint8_t is_up, is_live, active_state, active_version, is_expiring, is_undoing;
    uint8_t active_deadline;
    uint8_t alarm; /* 0: none, else the tick + 1 */
    struct write writes[QUEUE_MAX];
    uint8_t write_count;
    /* between hub and agent, and the agent */
    uint8_t is_waiting, reply, got;
    uint8_t now;
    uint8_t acts_left; /* of agents, people and bad luck */
    /* ghosts */
    uint8_t acknowledged[OPENINGS_MAX + 1];
    uint8_t submitted[OPENINGS_MAX + 1]; /* bits of who submitted while it was open so */
    uint8_t broken;                      /* enum broken */
};

/* What must never be; see test_model.c. */
enum broken { FINE, WINNER, KEPT, FINAL, EARLY, SILENCE };

/* The rules under which things happen: the real ones, or broken ones to test the explorer. */
struct rules {
    const char *name;
    struct lifecycle_step (*step)(enum ask_state state, enum ask_event event,
                                  const struct lifecycle_facts *facts);
    bool acknowledges_early;     /* before the commit */
    bool acknowledges_all;       /* also who came too late */
    bool expires_any_version;    /* an extension under way does not count */
    bool delivers_while_undoing; /* the window ends though an undo is under way */
    enum broken caught_as;       /* FINE: these are the real rules */
};

struct happening {
    const char *name;
    bool (*happen)(struct world *world, const struct rules *rules); /* false: it can't */
};
extern const struct happening model_happenings[];
extern const size_t model_happening_count;

struct world model_first(unsigned acts);
enum broken model_judge(const struct world *world);

#endif
