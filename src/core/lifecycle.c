/* lifecycle.c - the table; a lifecycle rule is one cell. See lifecycle.h for the drawing. */
#include "core/lifecycle.h"

#include "base/text.h"
#include "i18n/i18n.h"

static const char *const state_names[STATE_COUNT] = {
#define STATE(id, number, name, kind) [STATE_##id] = (name),
#include "core/states.def"
#undef STATE
};
static const enum state_kind {
    KIND_UNMADE,
    KIND_OPEN,
    KIND_BY_PERSON,
    KIND_BY_RULE,
    KIND_BY_NOBODY,
} state_kinds[STATE_COUNT] = {
#define STATE(id, number, name, kind) [STATE_##id] = KIND_##kind,
#include "core/states.def"
#undef STATE
};
static const enum text_id state_texts[STATE_COUNT] = {
    [STATE_NEW] = TEXT_STATE_PENDING,
    [STATE_PENDING_TERMINAL_LAUNCH] = TEXT_STATE_PENDING,
    [STATE_PENDING] = TEXT_STATE_PENDING,
    [STATE_SUBMITTED] = TEXT_STATE_SUBMITTED,
    [STATE_AUTO_SUBMITTED] = TEXT_STATE_AUTO_SUBMITTED,
    [STATE_CANCELLED] = TEXT_STATE_CANCELLED,
    [STATE_DECLINED] = TEXT_STATE_DECLINED,
    [STATE_TIMEOUT] = TEXT_STATE_TIMEOUT,
    [STATE_WITHDRAWN] = TEXT_STATE_WITHDRAWN,
};
static const char *const event_names[EVENT_COUNT] = {
#define EVENT(id, number, name) [EVENT_##id] = (name),
#include "core/events.def"
#undef EVENT
};

/* What a cell leads to, by what kind of step it is; the cell only names the next state. */
enum cell_kind {
    CELL_WRONG,    /* refused: wrong_state */
    CELL_TOO_LATE, /* refused: already_answered, the other side learns who won */
    CELL_IGNORED,  /* fine, nothing to do */
    CELL_OPENS,    /* the ask comes into being */
    CELL_DECIDES,  /* a person or the agent ends it and is told so, once it is on disk */
    CELL_ENDS,     /* it ends by itself: there is no caller to tell that it is kept */
    CELL_REOPENS,  /* an answer becomes a draft again */
    CELL_RETIMES,  /* version rises: deadline or form changed */
    CELL_NOTES,    /* kept and shown, version stays */
    CELL_SAYS,     /* the same for what a person said */
    CELL_MOVES,    /* a person's act that leads to another state without deciding */
    CELL_DELIVERS, /* kept, not published */
    CELL_KIND_COUNT,
};
static const struct lifecycle_step cell_steps[CELL_KIND_COUNT] = {
    [CELL_WRONG] = { .refusal = ERROR_wrong_state },
    [CELL_TOO_LATE] = { .refusal = ERROR_already_answered },
    [CELL_IGNORED] = { .is_legal = true, .is_ignored = true },
    [CELL_OPENS] = { .is_legal = true,
                     .raises_version = true,
                     .effects = { DO_SAVE, DO_START_CLOCK, DO_PRESENT, DO_PUBLISH } },
    [CELL_DECIDES] = { .is_legal = true,
                       .raises_version = true,
                       .needs_sync = true,
                       .effects = { DO_SAVE, DO_STOP_CLOCK, DO_WITHDRAW, DO_ACK, DO_REPLY,
                                    DO_PUBLISH } },
    [CELL_ENDS] = { .is_legal = true,
                    .raises_version = true,
                    .needs_sync = true,
                    .effects = { DO_SAVE, DO_STOP_CLOCK, DO_WITHDRAW, DO_REPLY, DO_PUBLISH } },
    [CELL_REOPENS] = { .is_legal = true,
                       .raises_version = true,
                       .needs_sync = true,
                       .effects = { DO_SAVE, DO_START_CLOCK, DO_PRESENT, DO_ACK, DO_PUBLISH } },
    [CELL_RETIMES] = { .is_legal = true,
                       .raises_version = true,
                       .needs_sync = true,
                       .effects = { DO_SAVE, DO_START_CLOCK, DO_ACK, DO_PUBLISH } },
    [CELL_NOTES] = { .is_legal = true, .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    [CELL_SAYS] = { .is_legal = true,
                    .needs_sync = true,
                    .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    [CELL_MOVES] = { .is_legal = true,
                     .raises_version = true,
                     .needs_sync = true,
                     .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    [CELL_DELIVERS] = { .is_legal = true, .effects = { DO_SAVE } },
};

struct cell {
    enum cell_kind kind;
    enum ask_state to;
};
#define WAITS STATE_PENDING_TERMINAL_LAUNCH
#define OPEN  STATE_PENDING

/* What an event means in the two open states and in all that are over, and where it leads from an
 * open one; STATE_NEW: nowhere. What has no row is wrong; before an ask is there only `created`
 * is right. */
static const struct {
    enum cell_kind waiting, pending, over;
    enum ask_state to;
} rows[EVENT_COUNT] = {
    [EVENT_ATTACHED] = { CELL_NOTES, CELL_NOTES, CELL_TOO_LATE, OPEN },
    [EVENT_TERMINAL_LOST] = { CELL_IGNORED, CELL_NOTES, CELL_IGNORED },
    [EVENT_DRAFT_CHANGED] = { CELL_NOTES, CELL_NOTES, CELL_TOO_LATE },
    [EVENT_ANSWERED] = { CELL_DECIDES, CELL_DECIDES, CELL_TOO_LATE, STATE_SUBMITTED },
    [EVENT_CANCELLED] = { CELL_DECIDES, CELL_DECIDES, CELL_TOO_LATE, STATE_CANCELLED },
    [EVENT_DECLINED] = { CELL_DECIDES, CELL_DECIDES, CELL_TOO_LATE, STATE_DECLINED },
    [EVENT_EXPIRED] = { CELL_ENDS, CELL_ENDS, CELL_IGNORED, STATE_TIMEOUT },
    [EVENT_EXTENDED] = { CELL_RETIMES, CELL_RETIMES, CELL_TOO_LATE },
    [EVENT_INTERFACE_SWITCHED] = { CELL_MOVES, CELL_SAYS, CELL_TOO_LATE, OPEN },
    [EVENT_AGENT_DETACHED] = { CELL_NOTES, CELL_NOTES, CELL_IGNORED },
    [EVENT_AGENT_REATTACHED] = { CELL_NOTES, CELL_NOTES, CELL_IGNORED },
    [EVENT_AGENT_WITHDREW] = { CELL_DECIDES, CELL_DECIDES, CELL_TOO_LATE, STATE_WITHDRAWN },
    [EVENT_DELIVERED] = { CELL_IGNORED, CELL_IGNORED, CELL_DELIVERS },
    [EVENT_ASKED_BACK] = { CELL_RETIMES, CELL_RETIMES, CELL_TOO_LATE },
    [EVENT_FORM_CHANGED] = { CELL_RETIMES, CELL_RETIMES, CELL_TOO_LATE },
    [EVENT_RULE_APPLIED] = { CELL_ENDS, CELL_ENDS, CELL_TOO_LATE, STATE_AUTO_SUBMITTED },
};

static struct cell cell_of(enum ask_state state, enum ask_event event)
{
    bool leads_on = state_is_open(state) && rows[event].to != STATE_NEW;

    if (state == STATE_NEW && event == EVENT_CREATED)
        return (struct cell){ CELL_OPENS, OPEN };
    return (struct cell){ .kind = state == STATE_NEW ? CELL_WRONG
                                  : state == WAITS   ? rows[event].waiting
                                  : state == OPEN    ? rows[event].pending
                                                     : rows[event].over,
                          .to = leads_on ? rows[event].to : state };
}

/* The six places where the next step depends on more than state and event. */
static struct cell refine(enum ask_state state, enum ask_event event, struct cell cell,
                          const struct lifecycle_facts *facts)
{
    if (state == STATE_NEW && event == EVENT_CREATED && facts->wait_for_terminal)
        cell.to = WAITS;
    if (event == EVENT_INTERFACE_SWITCHED && state_is_open(state) && facts->wait_for_terminal)
        return (struct cell){ CELL_SAYS, WAITS };
    if (event == EVENT_UNDONE && state_is_decided_by_person(state) && facts->within_undo &&
        !facts->is_delivered)
        return (struct cell){ CELL_REOPENS, OPEN };
    if (event == EVENT_EXPIRED && cell.kind == CELL_ENDS && facts->submits_defaults &&
        !facts->is_destructive)
        cell.to = STATE_AUTO_SUBMITTED;
    if (event == EVENT_RULE_APPLIED && facts->is_destructive)
        return (struct cell){ CELL_WRONG, state };
    if (event == EVENT_TOLD && state == STATE_TIMEOUT)
        return (struct cell){ CELL_MOVES, state };
    return cell;
}

struct lifecycle_step lifecycle_next(enum ask_state state, enum ask_event event,
                                     const struct lifecycle_facts *facts)
{
    struct cell cell = refine(state, event, cell_of(state, event), facts);
    struct lifecycle_step step = cell_steps[cell.kind];

    if (cell.kind == CELL_DELIVERS && facts->is_delivered)
        step = cell_steps[CELL_IGNORED];
    step.state = cell.to;
    return step;
}

bool state_is_open(enum ask_state state)
{
    return state_kinds[state] == KIND_OPEN;
}

bool state_is_over(enum ask_state state)
{
    return state_kinds[state] > KIND_OPEN;
}

bool state_is_decided_by_person(enum ask_state state)
{
    return state_kinds[state] == KIND_BY_PERSON;
}

const char *state_name(enum ask_state state)
{
    return state_names[state];
}

const char *state_text(enum ask_state state)
{
    return i18n_text(state_texts[state]);
}

enum ask_state state_find(const char *name)
{
    size_t state = text_index(name, state_names, STATE_COUNT);

    return state < STATE_COUNT ? (enum ask_state)state : STATE_NEW;
}

const char *event_name(enum ask_event event)
{
    return event_names[event];
}

uint32_t state_bit(enum ask_state state)
{
    return 1U << state;
}

uint32_t lifecycle_states_for(enum ask_event event, const struct lifecycle_facts *facts)
{
    uint32_t states = 0;

    for (int state = 0; state < STATE_COUNT; state++) {
        struct lifecycle_step step = lifecycle_next((enum ask_state)state, event, facts);

        if (step.is_legal && !step.is_ignored)
            states |= state_bit((enum ask_state)state);
    }
    return states;
}
