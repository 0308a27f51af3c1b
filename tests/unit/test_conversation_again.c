/*
 * test_conversation_again.c - a host that is not sure whether it was heard says it again: the same
 * turn, the same attempt, and nothing happens twice.
 * Proves: R3.4
 */
#include "conversation_fixture.h"

/* A host whose reply was lost cannot know whether its turn began: the same turn again is no error,
 * a part of it or another is. */
static void test_a_turn_told_again_is_ignored(void **state)
{
    const struct tool_use calls[] = { call("t1", shell_name, plain_input),
                                      call("t2", ask_name, question_input),
                                      call("t3", shell_name, plain_input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    for (int states = 0; states < 2; states++) { /* while a tool runs, while the question waits */
        assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
        assert_true(step.is_ignored);
        assert_int_equal(say_calls(&conversation, calls, 2, &step), ERROR_wrong_state);
        assert_int_equal(say_calls(&conversation, calls + 1, 2, &step), ERROR_wrong_state);
        if (states == 0) {
            assert_int_equal(say_result(&conversation, "t1", "one", &step), ERROR_NONE);
            conversation_step_release(&step);
        }
    }
    assert_int_equal(conversation.state, CONVERSATION_AWAITING);
    assert_int_equal(say_plain(&conversation, SAID_CANCEL, &step), ERROR_NONE);
    conversation_step_release(&step);
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    assert_true(step.is_ignored);
    assert_int_equal(conversation.state, CONVERSATION_IDLE);
    conversation_release(&conversation);
}

static void test_an_attempt_told_again_is_ignored(void **state)
{
    const struct tool_use one = call("t1", shell_name, plain_input);
    struct conversation conversation = { 0 };
    struct conversation_event event = { .kind = SAID_LLM_RETRY, .attempt = 2 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, &one, 1, &step), ERROR_NONE);
    assert_int_equal(say_result(&conversation, "t1", "done", &step), ERROR_NONE);
    conversation_step_release(&step);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(say(&conversation, &event, &step), ERROR_NONE);
        assert_int_equal(step.is_ignored, times == 1);
        assert_int_equal(conversation.attempt, 2);
    }
    event.attempt = 4;
    assert_int_equal(say(&conversation, &event, &step), ERROR_out_of_range);
    assert_int_equal(conversation.attempt, 2);
    conversation_release(&conversation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_turn_told_again_is_ignored),
        cmocka_unit_test(test_an_attempt_told_again_is_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
