/*
 * test_lifecycle.c - every cell of the state machine against a table of its own, written from the
 * requirements and not from the code, and what must hold over all cells, facts and effects.
 * Proves: R5.1, R5.2, R5.3, R5.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle.h"

/* A cell is two letters: what happens, and the state it leads to. */
#define STATE_LETTERS "NLPSACDTW" /* in the order of enum ask_state */

static const struct kind {
    char letter;
    bool is_legal, is_ignored;
    enum error_code refusal;
    bool raises_version, needs_sync;
    enum ask_effect effects[LIFECYCLE_MAX_EFFECTS + 1];
} kinds[] = {
    { .letter = '-', .refusal = ERROR_wrong_state },
    { .letter = '!', .refusal = ERROR_already_answered },
    { .letter = '.', .is_legal = true, .is_ignored = true },
    /* opens */
    { .letter = 'o',
      .is_legal = true,
      .raises_version = true,
      .effects = { DO_SAVE, DO_START_CLOCK, DO_PRESENT, DO_PUBLISH } },
    /* a person decides, or the agent takes it back: who did it is told */
    { .letter = 'd',
      .is_legal = true,
      .raises_version = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_STOP_CLOCK, DO_WITHDRAW, DO_ACK, DO_REPLY, DO_PUBLISH } },
    /* ends by itself: nothing to acknowledge */
    { .letter = 'e',
      .is_legal = true,
      .raises_version = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_STOP_CLOCK, DO_WITHDRAW, DO_REPLY, DO_PUBLISH } },
    /* a person takes the decision back */
    { .letter = 'u',
      .is_legal = true,
      .raises_version = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_START_CLOCK, DO_PRESENT, DO_ACK, DO_PUBLISH } },
    /* the deadline or the form is another one */
    { .letter = 't',
      .is_legal = true,
      .raises_version = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_START_CLOCK, DO_ACK, DO_PUBLISH } },
    /* noted; a power cut may lose it */
    { .letter = 'n', .is_legal = true, .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    /* said by a person, the ask goes on as it is */
    { .letter = 's',
      .is_legal = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    /* said by a person, and the ask is another one by that */
    { .letter = 'm',
      .is_legal = true,
      .raises_version = true,
      .needs_sync = true,
      .effects = { DO_SAVE, DO_ACK, DO_PUBLISH } },
    /* the agent has it */
    { .letter = 'h', .is_legal = true, .effects = { DO_SAVE } },
};

/* All that is over looks alike without facts: too late for everybody, fine for the agent's side. */
#define OVER(letter, told)                                                                         \
    {                                                                                              \
        "-" letter, "!" letter, "." letter, "!" letter, "!" letter, "-" letter, "!" letter,        \
            "!" letter, "." letter, "!" letter, "!" letter, "." letter, "." letter, "!" letter,    \
            "h" letter, "!" letter, "!" letter, "!" letter, told letter                            \
    }

/* Columns: created attached terminal_lost draft_changed answered undone, cancelled declined expired
 * extended interface_switched agent_detached, agent_reattached agent_withdrew delivered asked_back
 * form_changed rule_applied told. */
static const char *const wanted[STATE_COUNT][EVENT_COUNT] = {
    [STATE_NEW] = { "oP", "-N", "-N", "-N", "-N", "-N", "-N", "-N", "-N", "-N", "-N", "-N", "-N",
                    "-N", "-N", "-N", "-N", "-N", "-N" },
    [STATE_PENDING_TERMINAL_LAUNCH] = { "-L", "nP", ".L", "nL", "dS", "-L", "dC", "dD", "eT", "tL",
                                        "mP", "nL", "nL", "dW", ".L", "tL", "tL", "eA", "-L" },
    [STATE_PENDING] = { "-P", "nP", "nP", "nP", "dS", "-P", "dC", "dD", "eT", "tP", "sP", "nP",
                        "nP", "dW", ".P", "tP", "tP", "eA", "-P" },
    [STATE_SUBMITTED] = OVER("S", "-"),
    [STATE_AUTO_SUBMITTED] = OVER("A", "-"),
    [STATE_CANCELLED] = OVER("C", "-"),
    [STATE_DECLINED] = OVER("D", "-"),
    [STATE_TIMEOUT] = OVER("T", "m"),
    [STATE_WITHDRAWN] = OVER("W", "-"),
};

static const struct kind *find_kind(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].letter == letter)
            return &kinds[i];
    }
    fail_msg("no kind '%c'", letter);
    return NULL;
}

static size_t count_effects(const enum ask_effect *effects)
{
    size_t count = 0;

    while (count <= LIFECYCLE_MAX_EFFECTS && effects[count] != DO_NOTHING)
        count++;
    return count;
}

static void check_step(const char *name, enum ask_state state, enum ask_event event,
                       const struct lifecycle_facts *facts, const char *cell)
{
    const struct kind *kind = find_kind(cell[0]);
    enum ask_state to = (enum ask_state)(strchr(STATE_LETTERS, cell[1]) - STATE_LETTERS);
    struct lifecycle_step step = lifecycle_next(state, event, facts);
    const char *wrong = NULL;

    if (step.is_legal != kind->is_legal)
        wrong = "is_legal";
    else if (step.refusal != kind->refusal)
        wrong = "refusal";
    else if (step.is_ignored != kind->is_ignored)
        wrong = "is_ignored";
    else if (step.state != to)
        wrong = "state";
    else if (step.raises_version != kind->raises_version)
        wrong = "raises_version";
    else if (step.needs_sync != kind->needs_sync)
        wrong = "needs_sync";
    else if (count_effects(step.effects) != count_effects(kind->effects) ||
             memcmp(step.effects, kind->effects,
                    count_effects(kind->effects) * sizeof *kind->effects) != 0)
        wrong = "effects";
    if (wrong)
        fail_msg("%s: %s in %s: wrong %s, wanted %s", name, event_name(event), state_name(state),
                 wrong, cell);
}

static void test_every_cell(void **test_state)
{
    const struct lifecycle_facts none = { 0 };

    (void)test_state;
    for (int state = 0; state < STATE_COUNT; state++) {
        for (int event = 0; event < EVENT_COUNT; event++)
            check_step("cell", (enum ask_state)state, (enum ask_event)event, &none,
                       wanted[state][event]);
    }
}

/* Where the facts matter; everything else is as in the table above. */
static const struct {
    const char *name;
    enum ask_state state;
    enum ask_event event;
    struct lifecycle_facts facts;
    const char *cell;
} facts_cases[] = {
    { "a hand-off waits for its terminal",
      STATE_NEW,
      EVENT_CREATED,
      { .wait_for_terminal = true },
      "oL" },
    { "an answer within its window is taken back",
      STATE_SUBMITTED,
      EVENT_UNDONE,
      { .within_undo = true },
      "uP" },
    { "so is a cancellation", STATE_CANCELLED, EVENT_UNDONE, { .within_undo = true }, "uP" },
    { "so is a no", STATE_DECLINED, EVENT_UNDONE, { .within_undo = true }, "uP" },
    { "not what the agent has",
      STATE_SUBMITTED,
      EVENT_UNDONE,
      { .within_undo = true, .is_delivered = true },
      "-S" },
    { "not what nobody decided: defaults",
      STATE_AUTO_SUBMITTED,
      EVENT_UNDONE,
      { .within_undo = true },
      "-A" },
    { "not what nobody decided: time", STATE_TIMEOUT, EVENT_UNDONE, { .within_undo = true }, "-T" },
    { "not what the agent did", STATE_WITHDRAWN, EVENT_UNDONE, { .within_undo = true }, "-W" },
    { "nothing to take back yet", STATE_PENDING, EVENT_UNDONE, { .within_undo = true }, "-P" },
    { "nothing to take back before that",
      STATE_PENDING_TERMINAL_LAUNCH,
      EVENT_UNDONE,
      { .within_undo = true },
      "-L" },
    { "a fresh launch waits for a terminal again",
      STATE_PENDING,
      EVENT_INTERFACE_SWITCHED,
      { .wait_for_terminal = true },
      "sL" },
    { "also where none came",
      STATE_PENDING_TERMINAL_LAUNCH,
      EVENT_INTERFACE_SWITCHED,
      { .wait_for_terminal = true },
      "sL" },
    { "not of what is over",
      STATE_SUBMITTED,
      EVENT_INTERFACE_SWITCHED,
      { .wait_for_terminal = true },
      "!S" },
    { "the person's setting submits defaults",
      STATE_PENDING,
      EVENT_EXPIRED,
      { .submits_defaults = true },
      "eA" },
    { "also where no terminal came",
      STATE_PENDING_TERMINAL_LAUNCH,
      EVENT_EXPIRED,
      { .submits_defaults = true },
      "eA" },
    { "never of a destructive ask",
      STATE_PENDING,
      EVENT_EXPIRED,
      { .submits_defaults = true, .is_destructive = true },
      "eT" },
    { "a destructive ask times out",
      STATE_PENDING,
      EVENT_EXPIRED,
      { .is_destructive = true },
      "eT" },
    { "defaults do not reopen what is over",
      STATE_TIMEOUT,
      EVENT_EXPIRED,
      { .submits_defaults = true },
      ".T" },
    { "no rule to a destructive ask",
      STATE_PENDING,
      EVENT_RULE_APPLIED,
      { .is_destructive = true },
      "-P" },
    { "nor while it waits for a terminal",
      STATE_PENDING_TERMINAL_LAUNCH,
      EVENT_RULE_APPLIED,
      { .is_destructive = true },
      "-L" },
    { "delivered twice is delivered once",
      STATE_SUBMITTED,
      EVENT_DELIVERED,
      { .is_delivered = true },
      ".S" },
    { "a timeout is delivered too, once",
      STATE_TIMEOUT,
      EVENT_DELIVERED,
      { .is_delivered = true },
      ".T" },
};

static void test_facts(void **test_state)
{
    (void)test_state;
    for (size_t i = 0; i < ARRAY_LEN(facts_cases); i++)
        check_step(facts_cases[i].name, facts_cases[i].state, facts_cases[i].event,
                   &facts_cases[i].facts, facts_cases[i].cell);
}

/* Calls `check` for each state, event and combination of facts. */
static void for_all_steps(void (*check)(enum ask_state state, enum ask_event event,
                                        const struct lifecycle_facts *facts,
                                        const struct lifecycle_step *step))
{
    for (unsigned bits = 0; bits < 32; bits++) {
        struct lifecycle_facts facts = {
            .wait_for_terminal = bits & 1,
            .is_delivered = bits & 2,
            .within_undo = bits & 4,
            .submits_defaults = bits & 8,
            .is_destructive = bits & 16,
        };

        for (int state = 0; state < STATE_COUNT; state++) {
            for (int event = 0; event < EVENT_COUNT; event++) {
                struct lifecycle_step step =
                    lifecycle_next((enum ask_state)state, (enum ask_event)event, &facts);

                check((enum ask_state)state, (enum ask_event)event, &facts, &step);
            }
        }
    }
}

/* Place of an effect in the list, or -1. */
static int place_of(const struct lifecycle_step *step, enum ask_effect effect)
{
    for (int i = 0; i < (int)count_effects(step->effects); i++) {
        if (step->effects[i] == effect)
            return i;
    }
    return -1;
}

static void check_effects(enum ask_state state, enum ask_event event,
                          const struct lifecycle_facts *facts, const struct lifecycle_step *step)
{
    size_t count = count_effects(step->effects);
    int ack = place_of(step, DO_ACK), reply = place_of(step, DO_REPLY);

    (void)facts;
    (void)event;
    assert_true(count <= LIFECYCLE_MAX_EFFECTS);
    if (!step->is_legal || step->is_ignored) {
        assert_int_equal(count, 0);
        assert_int_equal(step->state, state);
        assert_false(step->raises_version);
        assert_true(step->is_legal == (step->refusal == ERROR_NONE));
        return;
    }
    assert_int_equal(step->effects[0], DO_SAVE);
    for (size_t i = 1; i < count; i++)
        assert_int_not_equal(step->effects[i], DO_SAVE);
    if (ack >= 0 && reply >= 0)
        assert_true(ack < reply);
    /* the agent is told when it is over, and only then */
    assert_true((reply >= 0) == (state_is_open(state) && !state_is_open(step->state)));
    assert_true((place_of(step, DO_STOP_CLOCK) >= 0) == (reply >= 0));
    assert_true((place_of(step, DO_WITHDRAW) >= 0) == (reply >= 0));
}

static void test_effects_are_in_order(void **test_state)
{
    (void)test_state;
    for_all_steps(check_effects);
}

static bool is_persons_act(enum ask_event event)
{
    static const bool acts[EVENT_COUNT] = {
        [EVENT_ANSWERED] = true,           [EVENT_UNDONE] = true,   [EVENT_CANCELLED] = true,
        [EVENT_DECLINED] = true,           [EVENT_EXTENDED] = true, [EVENT_ASKED_BACK] = true,
        [EVENT_INTERFACE_SWITCHED] = true, [EVENT_TOLD] = true,
    };

    return acts[event];
}

/* R5.3: the version rises with state, deadline and form, and not with drafts or attaches; giving a
 * fresh launch is the other side of attaching. */
static void check_rules(enum ask_state state, enum ask_event event,
                        const struct lifecycle_facts *facts, const struct lifecycle_step *step)
{
    bool is_launch = event == EVENT_INTERFACE_SWITCHED && facts->wait_for_terminal;
    bool changes_state = step->state != state && event != EVENT_ATTACHED && !is_launch;
    bool changes_ask = event == EVENT_EXTENDED || event == EVENT_FORM_CHANGED ||
                       event == EVENT_ASKED_BACK ||
                       event == EVENT_TOLD; /* so that of two people one tells it */

    if (!step->is_legal || step->is_ignored)
        return;
    if (step->raises_version != (changes_state || changes_ask))
        fail_msg("%s in %s: version", event_name(event), state_name(state));
    if (is_persons_act(event) && !step->needs_sync)
        fail_msg("%s in %s is a person's and not synced", event_name(event), state_name(state));
}

static void test_version_and_sync(void **test_state)
{
    (void)test_state;
    for_all_steps(check_rules);
}

/* Silence is never consent (R5.6), and what is over stays over unless its person takes it back. */
static void check_endings(enum ask_state state, enum ask_event event,
                          const struct lifecycle_facts *facts, const struct lifecycle_step *step)
{
    bool is_over = state != STATE_NEW && !state_is_open(state);

    if (step->state == STATE_SUBMITTED && state != STATE_SUBMITTED)
        assert_int_equal(event, EVENT_ANSWERED);
    if (step->state == STATE_AUTO_SUBMITTED && state != STATE_AUTO_SUBMITTED) {
        assert_true(event == EVENT_RULE_APPLIED ||
                    (event == EVENT_EXPIRED && facts->submits_defaults));
        assert_false(facts->is_destructive);
    }
    if (is_over && step->state != state) {
        assert_int_equal(event, EVENT_UNDONE);
        assert_true(facts->within_undo && !facts->is_delivered);
        assert_int_equal(step->state, STATE_PENDING);
    }
}

static void test_endings(void **test_state)
{
    (void)test_state;
    for_all_steps(check_endings);
}

static void check_states_for(enum ask_state state, enum ask_event event,
                             const struct lifecycle_facts *facts, const struct lifecycle_step *step)
{
    bool is_in = lifecycle_states_for(event, facts) & state_bit(state);

    assert_true(is_in == (step->is_legal && !step->is_ignored));
}

static void test_states_for_agrees(void **test_state)
{
    (void)test_state;
    for_all_steps(check_states_for);
    for (int event = 0; event < EVENT_COUNT; event++)
        assert_int_equal(
            lifecycle_states_for((enum ask_event)event, &(struct lifecycle_facts){ 0 }) >>
                STATE_COUNT,
            0);
}

/* As the requirement spells them: they are on the wire and in people's scripts. */
static void test_names(void **test_state)
{
    static const char *const states[STATE_COUNT] = {
        "new",
        "pending_terminal_launch",
        "pending",
        "submitted",
        "auto_submitted",
        "cancelled",
        "declined",
        "timeout",
        "withdrawn",
    };
    static const char *const events[EVENT_COUNT] = {
        "created",
        "attached",
        "terminal_lost",
        "draft_changed",
        "answered",
        "undone",
        "cancelled",
        "declined",
        "expired",
        "extended",
        "interface_switched",
        "agent_detached",
        "agent_reattached",
        "agent_withdrew",
        "delivered",
        "asked_back",
        "form_changed",
        "rule_applied",
        "told",
    };

    (void)test_state;
    for (int state = 0; state < STATE_COUNT; state++) {
        assert_string_equal(state_name((enum ask_state)state), states[state]);
        assert_int_equal(state_find(states[state]), state);
        assert_int_equal(state_bit((enum ask_state)state), 1 << state);
        assert_true(state_is_open((enum ask_state)state) ==
                    (strncmp(states[state], "pending", 7) == 0));
        assert_true(state_is_over((enum ask_state)state) ==
                    (STATE_LETTERS[state] != 'N' && !state_is_open((enum ask_state)state)));
        assert_true(state_is_decided_by_person((enum ask_state)state) ==
                    (strchr("SCD", STATE_LETTERS[state]) != NULL));
    }
    for (int event = 0; event < EVENT_COUNT; event++)
        assert_string_equal(event_name((enum ask_event)event), events[event]);
    assert_int_equal(state_find(NULL), STATE_NEW);
    assert_int_equal(state_find(""), STATE_NEW);
    assert_int_equal(state_find("Pending"), STATE_NEW);
    assert_int_equal(state_find("pending "), STATE_NEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_effects_are_in_order),
        cmocka_unit_test(test_version_and_sync),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_states_for_agrees),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
