/* model_world.c - see model_world.h. The hub's part follows engine/ step by step. */
#include "model_world.h"

#include <string.h>

enum { TIMEOUT = 2, WINDOW = 1 }; /* ticks; every extension is as long as the first time */
/* Who decided: no person, one of two people, or the first of them by cancelling. */
enum decision { NOBODY, FIRST, SECOND, CANCELLER };
enum result {
    NO_RESULT,
    GOT_FIRST,
    GOT_SECOND,
    GOT_CANCELLED,
    GOT_TIMEOUT,
    GOT_WITHDRAWN,
    GOT_WRONG
};
enum fate { QUEUED, DONE, LOST, FAILED };

static enum result result_of(const struct world *world)
{
    static const enum result by_decision[] = { GOT_WRONG, GOT_FIRST, GOT_SECOND, GOT_WRONG };

    switch (world->state) {
    case STATE_SUBMITTED:
        return by_decision[world->decision];
    case STATE_CANCELLED:
        return GOT_CANCELLED;
    case STATE_TIMEOUT:
        return GOT_TIMEOUT;
    case STATE_WITHDRAWN:
        return GOT_WITHDRAWN;
    default:
        return NO_RESULT;
    }
}

static bool is_open(unsigned state)
{
    return state_is_open((enum ask_state)state);
}

static bool spend(struct world *world)
{
    return world->acts_left > 0 && world->acts_left-- > 0;
}

/* What the hub knows beside state and event, as engine/ collects it. */
static struct lifecycle_facts facts_of(const struct world *world, enum ask_event event,
                                       unsigned who)
{
    return (struct lifecycle_facts){
        .wait_for_terminal = event == EVENT_CREATED && who,
        .within_undo = event == EVENT_UNDONE && !is_open(world->active_state) && world->alarm,
    };
}

/* What lifecycle_states_for says of one state: the WHERE of the conditional update. */
static bool may_start_from(const struct rules *rules, unsigned state, unsigned event,
                           const struct lifecycle_facts *facts)
{
    struct lifecycle_step step = rules->step((enum ask_state)state, (enum ask_event)event, facts);

    return step.is_legal && !step.is_ignored;
}

/* False: refused, or no room; `seen` is the state the hub decides by. */
static bool request(struct world *world, const struct rules *rules, enum ask_event event,
                    unsigned who, unsigned seen)
{
    struct lifecycle_facts facts = facts_of(world, event, who);
    struct lifecycle_step step = rules->step((enum ask_state)seen, event, &facts);
    struct write write = { .event = (uint8_t)event, .who = (uint8_t)who, .seen = (uint8_t)seen };

    if (!step.is_legal || step.is_ignored || world->write_count == QUEUE_MAX)
        return false;
    if (event == EVENT_EXPIRED && !rules->expires_any_version)
        write.if_version = world->active_version;
    if (event == EVENT_EXTENDED || event == EVENT_UNDONE || event == EVENT_CREATED)
        write.deadline = world->now + TIMEOUT;
    if (rules->acknowledges_early && (event == EVENT_ANSWERED || event == EVENT_CANCELLED)) {
        write.was_acknowledged = true;
        world->acknowledged[world->opening] = who;
    }
    world->writes[world->write_count++] = write;
    return true;
}

static void apply(struct world *world, struct write *write, const struct lifecycle_step *step)
{
    if (write->event == EVENT_EXPIRED && world->now < world->deadline)
        world->broken = EARLY;
    world->state = step->state;
    world->version += step->raises_version;
    if (write->event == EVENT_ANSWERED || write->event == EVENT_CANCELLED) {
        world->decision = write->who;
        world->deliver_after = write->who != SECOND ? world->now + WINDOW : 0;
    }
    if (write->event == EVENT_UNDONE) {
        world->decision = NOBODY;
        world->deliver_after = 0;
        world->opening++;
    }
    if (write->event == EVENT_DELIVERED)
        world->is_delivered = true;
    if (write->deadline > world->deadline || write->event == EVENT_EXTENDED)
        world->deadline = write->deadline;
    write->opening = world->opening;
}

static struct write *next_queued(struct world *world)
{
    for (unsigned i = 0; i < world->write_count; i++) {
        if (world->writes[i].fate == QUEUED)
            return &world->writes[i];
    }
    return NULL;
}

/* The facts a write was made under are those of its step. */
static struct lifecycle_facts facts_of_write(const struct write *write)
{
    return (struct lifecycle_facts){
        .wait_for_terminal = write->event == EVENT_CREATED && write->who,
        .within_undo = write->event == EVENT_UNDONE,
    };
}

/* The one conditional update. */
static bool commit(struct world *world, const struct rules *rules)
{
    struct write *write = next_queued(world);
    struct lifecycle_facts facts;
    struct lifecycle_step step;

    if (!write)
        return false;
    facts = facts_of_write(write);
    step = rules->step((enum ask_state)write->seen, (enum ask_event)write->event, &facts);
    if (may_start_from(rules, world->state, write->event, &facts) &&
        (write->if_version == 0 || write->if_version == world->version)) {
        write->fate = DONE;
        apply(world, write, &step);
    } else {
        write->fate = LOST;
    }
    return true;
}

static bool refuse_commit(struct world *world, const struct rules *rules)
{
    struct write *write = next_queued(world);

    (void)rules;
    if (!write || !spend(world))
        return false;
    write->fate = FAILED;
    return true;
}

static void acknowledge(struct world *world, const struct write *write)
{
    uint8_t *winner = &world->acknowledged[write->opening];

    if (write->event != EVENT_ANSWERED && write->event != EVENT_CANCELLED)
        return;
    if (*winner != NOBODY && !write->was_acknowledged)
        world->broken = WINNER;
    *winner = write->who;
}

/* What the store has goes to the call that waits; the ask leaves memory. */
static void deliver(struct world *world)
{
    if (world->is_waiting)
        world->reply = result_of(world);
    world->is_waiting = world->is_live = 0;
    world->active_state = world->active_version = world->active_deadline = world->alarm = 0;
}

static void run_effects(struct world *world, const struct write *write,
                        const struct lifecycle_step *step)
{
    world->active_state = step->state;
    world->active_version += step->raises_version;
    if (write->deadline > world->active_deadline || write->event == EVENT_EXTENDED)
        world->active_deadline = write->deadline;
    for (const enum ask_effect *effect = step->effects; *effect != DO_NOTHING; effect++) {
        if (*effect == DO_START_CLOCK)
            world->alarm = world->active_deadline + 1;
        else if (*effect == DO_STOP_CLOCK)
            world->alarm = world->deliver_after > world->now ? world->deliver_after + 1 : 0;
        else if (*effect == DO_ACK)
            acknowledge(world, write);
        else if (*effect == DO_REPLY && !world->alarm)
            deliver(world);
    }
}

/* A write that came to nothing lets time go on. */
static void give_up(struct world *world, const struct write *write)
{
    if (write->event == EVENT_CREATED)
        world->is_live = world->is_waiting = 0;
    else if (write->event == EVENT_EXPIRED && is_open(world->active_state) && !world->alarm)
        world->alarm = world->now + 1;
    else if (write->event == EVENT_UNDONE && world->is_live && !world->alarm)
        deliver(world);
}

static bool complete(struct world *world, const struct rules *rules)
{
    struct write write = world->writes[0];
    struct lifecycle_facts facts = facts_of_write(&write);
    struct lifecycle_step step;

    if (world->write_count == 0 || write.fate == QUEUED)
        return false;
    world->write_count--;
    memmove(world->writes, world->writes + 1, sizeof write * (QUEUE_MAX - 1));
    memset(&world->writes[QUEUE_MAX - 1], 0, sizeof write);
    if (write.event == EVENT_EXPIRED)
        world->is_expiring = false;
    if (write.event == EVENT_UNDONE)
        world->is_undoing = false;
    step = rules->step((enum ask_state)write.seen, (enum ask_event)write.event, &facts);
    if (write.fate == LOST && rules->acknowledges_all)
        acknowledge(world, &write);
    if (write.fate != DONE)
        give_up(world, &write);
    else if (world->is_live && write.event != EVENT_DELIVERED)
        run_effects(world, &write, &step);
    return true;
}

static bool create(struct world *world, const struct rules *rules, bool is_hand_off)
{
    if (!world->is_up || world->state != STATE_NEW || world->is_live ||
        !request(world, rules, EVENT_CREATED, is_hand_off, STATE_NEW))
        return false;
    world->is_live = world->is_waiting = 1;
    return true;
}

static bool ask(struct world *world, const struct rules *rules)
{
    return create(world, rules, false);
}

static bool ask_for_terminal(struct world *world, const struct rules *rules)
{
    return create(world, rules, true);
}

/* The same call again after the first one broke: the same ask, or its undelivered answer. */
static bool ask_again(struct world *world, const struct rules *rules)
{
    (void)rules;
    if (!world->is_up || world->state == STATE_NEW || world->is_waiting || world->reply ||
        world->got || (!world->is_live && is_open(world->state)))
        return false;
    if (world->is_live)
        world->is_waiting = 1;
    else
        world->reply = result_of(world);
    return true;
}

static bool attach(struct world *world, const struct rules *rules)
{
    return world->is_live && world->active_state == STATE_PENDING_TERMINAL_LAUNCH &&
           request(world, rules, EVENT_ATTACHED, 0, world->active_state);
}

static bool submit(struct world *world, const struct rules *rules, unsigned who)
{
    if (!world->is_up || !request(world, rules, EVENT_ANSWERED, who, world->state) || !spend(world))
        return false;
    world->submitted[world->opening] |= (uint8_t)(1U << who);
    return true;
}

static bool submit_first(struct world *world, const struct rules *rules)
{
    return submit(world, rules, FIRST);
}

static bool submit_second(struct world *world, const struct rules *rules)
{
    return submit(world, rules, SECOND);
}

static bool cancel(struct world *world, const struct rules *rules)
{
    return world->is_up && request(world, rules, EVENT_CANCELLED, CANCELLER, world->state) &&
           spend(world);
}

static bool withdraw(struct world *world, const struct rules *rules)
{
    return world->is_up && request(world, rules, EVENT_AGENT_WITHDREW, 0, world->state) &&
           spend(world);
}

static bool extend(struct world *world, const struct rules *rules)
{
    return world->is_live && request(world, rules, EVENT_EXTENDED, 0, world->active_state) &&
           spend(world);
}

static bool undo(struct world *world, const struct rules *rules)
{
    if (!world->is_live || world->is_undoing || world->opening == OPENINGS_MAX ||
        !request(world, rules, EVENT_UNDONE, 0, world->active_state) || !spend(world))
        return false;
    world->is_undoing = true;
    return true;
}

/* The alarm rings: the deadline, or the end of the undo window. */
static bool ring(struct world *world, const struct rules *rules)
{
    if (!world->is_live || !world->alarm || world->now + 1 < world->alarm || world->is_expiring ||
        (world->is_undoing && !rules->delivers_while_undoing))
        return false;
    if (!is_open(world->active_state)) {
        deliver(world);
        return true;
    }
    if (!request(world, rules, EVENT_EXPIRED, 0, world->active_state))
        return false;
    world->is_expiring = true;
    world->alarm = 0;
    return true;
}

static bool crash(struct world *world, const struct rules *rules)
{
    (void)rules;
    if (!world->is_up || !spend(world))
        return false;
    world->is_up = world->is_live = world->is_waiting = world->reply = world->alarm = 0;
    world->active_state = world->active_version = world->active_deadline = 0;
    world->is_expiring = world->is_undoing = 0;
    memset(world->writes, 0, sizeof world->writes);
    world->write_count = 0;
    return true;
}

static bool restart(struct world *world, const struct rules *rules)
{
    (void)rules;
    if (world->is_up)
        return false;
    world->is_up = 1;
    world->is_live =
        is_open(world->state) || (!world->is_delivered && world->deliver_after > world->now);
    if (!world->is_live)
        return true;
    world->active_state = world->state;
    world->active_version = world->version;
    world->active_deadline = world->deadline;
    world->alarm = (is_open(world->state) ? world->deadline : world->deliver_after) + 1;
    return true;
}

static bool receive(struct world *world, const struct rules *rules)
{
    (void)rules;
    if (!world->reply)
        return false;
    world->got = world->reply;
    world->reply = 0;
    return true;
}

static bool lose_reply(struct world *world, const struct rules *rules)
{
    (void)rules;
    if ((!world->reply && !world->is_waiting) || !spend(world))
        return false;
    world->reply = world->is_waiting = 0;
    return true;
}

static bool confirm(struct world *world, const struct rules *rules)
{
    return world->is_up && world->got && !world->is_delivered && world->write_count == 0 &&
           request(world, rules, EVENT_DELIVERED, 0, world->state);
}

static bool tick(struct world *world, const struct rules *rules)
{
    (void)rules;
    if (world->now == TICKS_MAX)
        return false;
    world->now++;
    return true;
}

const struct happening model_happenings[] = {
    { "ask", ask },
    { "ask for a terminal", ask_for_terminal },
    { "ask again", ask_again },
    { "attach", attach },
    { "submit by the first", submit_first },
    { "submit by the second", submit_second },
    { "cancel", cancel },
    { "withdraw", withdraw },
    { "extend", extend },
    { "undo", undo },
    { "ring", ring },
    { "commit", commit },
    { "disk says no", refuse_commit },
    { "complete", complete },
    { "crash", crash },
    { "restart", restart },
    { "reply arrives", receive },
    { "reply is lost", lose_reply },
    { "delivered", confirm },
    { "tick", tick },
};

const size_t model_happening_count = sizeof model_happenings / sizeof *model_happenings;

enum broken model_judge(const struct world *world)
{
    uint8_t winner = world->acknowledged[world->opening];
    enum result result = result_of(world);

    if (world->broken)
        return (enum broken)world->broken;
    if (world->got == GOT_WRONG || result == GOT_WRONG ||
        ((world->decision == FIRST || world->decision == SECOND) &&
         !(world->submitted[world->opening] >> world->decision & 1)) ||
        (world->decision != NOBODY && world->state != STATE_SUBMITTED &&
         world->state != STATE_CANCELLED))
        return SILENCE;
    if (winner != NOBODY && world->decision != winner)
        return KEPT;
    if (world->got && world->got != result)
        return FINAL;
    return FINE;
}

struct world model_first(unsigned acts)
{
    return (struct world){ .is_up = 1, .acts_left = (uint8_t)acts };
}
