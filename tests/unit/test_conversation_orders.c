/*
 * test_conversation_orders.c - random orders of events: no result is lost or doubled, every call
 * gets exactly one, answers are always valid JSON; whatever happens, and whenever the conversation
 * is stored and read back. SAYSO_SCALE multiplies the events.
 * Proves: R3.4
 */
#include "conversation_fixture.h"

enum { EVENTS_AT_SCALE_1 = 100000, TURN_CALLS = 5, KNOWN = 4096 };

/* What a host and a person know from outside: which ids were given, and what came back for each. */
struct world {
    struct conversation conversation;
    uint64_t random;
    unsigned last_id;
    unsigned char results[KNOWN]; /* by the number in the id, modulo */
    unsigned oldest_open;
    uint64_t accepted, refused, ignored, answered, restarts;
};

static unsigned chance(struct world *world, unsigned below)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return (unsigned)(world->random >> 33) % below;
}

static unsigned number_of(const char *id)
{
    return (unsigned)strtoul(id + 1, NULL, 10);
}

static void expect_valid_json(const char *content)
{
    struct json *json = NULL;

    if (!json_parse(content, strlen(content), &json, NULL))
        fail_msg("no JSON: %s", content);
    assert_int_equal(json_kind(json_member(json, "answers")), KIND_OBJECT);
    assert_int_equal(json_length(json_member(json, "answer_list")),
                     json_length(json_member(json, "answers")));
    json_free(json);
}

/* A call is running, to come, asked, or has its one result. */
static void expect_nothing_lost(const struct world *world, bool is_over)
{
    const struct conversation *conversation = &world->conversation;
    unsigned open = (unsigned)conversation->remaining_count + (conversation->current.id != NULL);

    for (unsigned number = world->oldest_open; number < world->last_id; number++) {
        unsigned results = world->results[number % KNOWN];

        assert_true(results <= 1);
        if (is_over)
            assert_int_equal(results, 1);
        open -= results == 0;
    }
    assert_int_equal(open, 0);
}

static void take_step(struct world *world, const struct conversation_step *step)
{
    enum conversation_state state = world->conversation.state;
    size_t last = 0;

    for (size_t i = 0; i < step->result_count; i++) {
        unsigned number = number_of(step->results[i].tool_use_id);

        assert_true(number >= world->oldest_open && number < world->last_id);
        world->results[number % KNOWN]++;
    }
    if (step->is_ignored) {
        assert_int_equal(step->result_count, 0);
        assert_int_equal(step->effects[0], EFFECT_NONE);
        return;
    }
    assert_int_equal(step->effects[0] == EFFECT_PERSIST_RESULTS, step->result_count > 0);
    assert_int_equal(step->effects[step->result_count > 0], EFFECT_PERSIST_STATE);
    while (step->effects[last + 1] != EFFECT_NONE)
        last++;
    assert_int_equal(step->effects[last] == EFFECT_EXECUTE_TOOL,
                     state == CONVERSATION_TOOL_EXECUTING);
    if (state == CONVERSATION_TOOL_EXECUTING)
        assert_string_not_equal(world->conversation.current.name, ask_name);
    expect_nothing_lost(world, state == CONVERSATION_IDLE || state == CONVERSATION_LLM_REQUESTING);
}

static void random_answers(struct world *world, struct text *out)
{
    static const char *const pieces[] = {
        "Redis", "None", "\\\"", "\\\\", "\\n", "x", "\xf0\x9f\x98\x80", "{", "\\u0001"
    };
    unsigned count = 1 + chance(world, 3);

    text_add_text(out, "{\"answers\":{\"Which?\":\"");
    while (count--)
        text_add_text(out, pieces[chance(world, ARRAY_LEN(pieces))]);
    text_add_text(out, "x\",\"How?\":[");
    text_add_text(out, chance(world, 2) ? "\"A\"" : "\"B\",\"A\"");
    text_add_text(out, chance(world, 2) ? "]}}" : ",\"more\"]}}");
}

static enum error_code random_calls(struct world *world, struct conversation_step *step)
{
    static char *const inputs[] = { question_input, bad_input, no_json };
    struct tool_use calls[TURN_CALLS];
    char ids[TURN_CALLS][16];
    size_t count = 1 + chance(world, TURN_CALLS);
    unsigned next = world->last_id;
    bool is_repeated = chance(world, 16) == 0;
    enum error_code code;

    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "t%u", is_repeated ? next : next + (unsigned)i);
        calls[i] = chance(world, 2) ? call(ids[i], ask_name, inputs[chance(world, 3)])
                                    : call(ids[i], shell_name, plain_input);
    }
    if (world->conversation.state <= CONVERSATION_LLM_REQUESTING && (!is_repeated || count == 1)) {
        world->oldest_open = next;
        world->last_id = next + (unsigned)count;
        for (unsigned number = next; number < world->last_id; number++)
            world->results[number % KNOWN] = 0;
    }
    code = say_calls(&world->conversation, calls, count, step);
    if (is_repeated && count > 1)
        assert_true(code == ERROR_conflicting_arguments || code == ERROR_wrong_state);
    return code;
}

/* Of the current call, of an old one, or of one that never was. */
static enum error_code random_result(struct world *world, struct conversation_step *step)
{
    const char *current = world->conversation.current.id;
    char id[16];

    snprintf(id, sizeof id, "t%u", world->last_id + 2 - chance(world, TURN_CALLS + 3));
    return say_result(&world->conversation, current && chance(world, 3) ? current : id, "done",
                      step);
}

static enum error_code random_event(struct world *world, struct conversation_step *step)
{
    enum conversation_event_kind kind =
        (enum conversation_event_kind)chance(world, CONVERSATION_EVENT_COUNT);
    bool is_waiting = world->conversation.state == CONVERSATION_AWAITING;
    struct text body = { 0 };
    enum error_code code;

    if (kind == SAID_QUESTION_PENDING) /* only an executor says it, and it never does here */
        kind = SAID_TOOL_COMPLETE;
    if (is_waiting && chance(world, 4) == 0) /* else most questions would end otherwise */
        kind = SAID_RESPONSE;
    if (kind == SAID_TOOL_CALLS)
        return random_calls(world, step);
    if (kind == SAID_TOOL_COMPLETE)
        return random_result(world, step);
    if (kind != SAID_RESPONSE)
        return say_plain(&world->conversation, kind, step);
    random_answers(world, &body);
    code = say_answers(&world->conversation, text_string(&body), step);
    text_release(&body);
    if (is_waiting) {
        assert_int_equal(code, ERROR_NONE);
        expect_valid_json(step->results[0].content);
        world->answered++;
    }
    return code;
}

static void restart(struct world *world)
{
    struct conversation again;

    expect_same_again(&world->conversation, &again);
    conversation_release(&world->conversation);
    world->conversation = again;
    world->restarts++;
}

static void test_random_orders(void **state)
{
    const char *scale = getenv("SAYSO_SCALE");
    uint64_t count = (uint64_t)(EVENTS_AT_SCALE_1 * (scale ? strtod(scale, NULL) : 1));
    struct world world = { .random = 88172645463325252ULL };

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        struct conversation_step step;
        enum error_code code = random_event(&world, &step);

        if (code == ERROR_NONE)
            take_step(&world, &step);
        world.refused += code != ERROR_NONE;
        world.ignored += step.is_ignored;
        world.accepted += code == ERROR_NONE && !step.is_ignored;
        conversation_step_release(&step);
        if (chance(&world, 16) == 0)
            restart(&world);
    }
    print_message("# counted: events=%llu accepted=%llu refused=%llu ignored=%llu answered=%llu "
                  "restarts=%llu lost=0 doubled=0\n",
                  (unsigned long long)count, (unsigned long long)world.accepted,
                  (unsigned long long)world.refused, (unsigned long long)world.ignored,
                  (unsigned long long)world.answered, (unsigned long long)world.restarts);
    conversation_release(&world.conversation);
    assert_true(count < 1000 || (world.accepted > count / 8 && world.answered > count / 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_orders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
