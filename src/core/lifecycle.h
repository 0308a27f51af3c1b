/*
 * lifecycle.h - the one state machine of an ask (R5.1). Pure: (state, event, facts) in, next state
 * and effects out; engine/ performs the effects in the order given, SAVE always first.
 *
 *   created --> pending_terminal_launch --attached--> pending --answered--> submitted
 *          \------------------------------------------^  |  ^--undone/lost-----'
 *                                                        |--expired----> timeout | auto_submitted
 *                                                        |--cancelled, declined, agent_withdrew
 *                                                        `--rule_applied--> auto_submitted
 * A fresh launch leads from pending back to pending_terminal_launch.
 * Every (state, event) pair has a cell; one that does nothing says why: too late, or not here.
 */
#ifndef CORE_LIFECYCLE_H
#define CORE_LIFECYCLE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum ask_state {
#define STATE(id, number, name, kind) STATE_##id = number,
#include "core/states.def"
#undef STATE
    STATE_COUNT
};
enum ask_event {
#define EVENT(id, number, name) EVENT_##id = number,
#include "core/events.def"
#undef EVENT
    EVENT_COUNT
};
enum ask_effect {
    DO_NOTHING, /* ends the list */
    DO_SAVE,
    DO_PRESENT,
    DO_START_CLOCK,
    DO_STOP_CLOCK,
    DO_WITHDRAW, /* from the channels */
    DO_ACK,      /* tell who did it that it is kept */
    DO_REPLY,    /* tell the agent, once deliver_after has passed */
    DO_PUBLISH,  /* snapshot to watchers */
};
enum { LIFECYCLE_MAX_EFFECTS = 6 };

/* What the pure table cannot know by itself. */
struct lifecycle_facts {
    bool wait_for_terminal; /* routing chose the terminal hand-off, or a fresh one is given */
    bool is_delivered;      /* the agent has the answer */
    bool within_undo;       /* deliver_after lies ahead */
    bool submits_defaults;  /* the person's setting says so and the form allows it */
    bool is_destructive;
};

struct lifecycle_step {
    bool is_legal;
    enum error_code refusal; /* when not legal: already_answered or wrong_state */
    bool is_ignored;         /* legal, and nothing happens (a late detach) */
    enum ask_state state;
    bool raises_version;
    bool needs_sync; /* something a person did: on disk before anyone is told */
    enum ask_effect effects[LIFECYCLE_MAX_EFFECTS + 1];
};

struct lifecycle_step lifecycle_next(enum ask_state state, enum ask_event event,
                                     const struct lifecycle_facts *facts);
bool state_is_open(enum ask_state state); /* it can still be decided */
bool state_is_over(enum ask_state state);
bool state_is_decided_by_person(enum ask_state state);
const char *state_name(enum ask_state state);
/* The word for people, in the process's language; a hand-off that was not taken up reads as
 * pending. */
const char *state_text(enum ask_state state);
enum ask_state state_find(const char *name); /* STATE_NEW if unknown or NULL */
const char *event_name(enum ask_event event);
uint32_t state_bit(enum ask_state state);
/* The states in which `event` is legal, as bits: the WHERE of the one conditional update. */
uint32_t lifecycle_states_for(enum ask_event event, const struct lifecycle_facts *facts);

#endif
