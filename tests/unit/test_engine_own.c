/* test_engine_own.c - which processes are the agent's own, and what they may not do. Proves: R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"

/* Whether the one who answers sits below the agent that asked is kept and told. */
static void test_an_agents_own_answer_is_seen(void **state)
{
    struct stage *stage = *state;
    struct os_process self;
    struct identity bot = visitor_agent("bot"), person = visitor_person("cli");
    struct caller *agent, *answerer;
    struct call asked = { .label = "ask" }, did = { .label = "act" };
    char id[ASK_ID_BYTES];

    assert_true(os_process(getpid(), &self));
    person.pid = self.pid;
    person.start = self.start;
    for (int is_same = 0; is_same < 2; is_same++) {
        bot.pid = self.pid;
        bot.start = self.start + (is_same ? 0 : 1); /* a pid that was used again */
        agent = caller_enter(stage, "agent", &bot);
        answerer = caller_enter(stage, "person", &person);
        ask_open(&asked, agent, is_same ? "Own" : "Other", "", id);
        call_run(&did, answerer, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['a']}", id);
        assert_worked(&did);
        assert_int_equal(call_number(&asked, "/answered_by/pid"), self.pid);
        assert_string_equal(call_text(&asked, "/answered_by/person"), "owner");
        assert_true(call_is_yes(&asked, "/answered_by/same_process_tree") == is_same);
        caller_leave(agent);
        caller_leave(answerer);
    }
    call_release(&asked);
    call_release(&did);
}

/* A person who asks and answers in place on a terminal is no agent, unless an agent's client is
 * above: one that speaks MCP, runs the gate, or is a program of its own. */
static void test_who_asks_and_answers_in_place(void **state)
{
    struct stage *stage = *state;
    struct os_process self;
    struct identity bot = visitor_agent("sayso ask"), person = visitor_person("terminal");
    struct caller *agent, *answerer;
    struct call asked = { .label = "ask" }, did = { .label = "act" };
    char id[ASK_ID_BYTES];

    assert_true(os_process(getpid(), &self));
    bot.pid = person.pid = self.pid;
    bot.start = person.start = self.start;
    person.tty = "/dev/pts/9";
    for (int is_known = 0; is_known < 2; is_known++) {
        agent = caller_enter(stage, "agent", &bot);
        answerer = caller_enter(stage, "person", &person);
        ask_open(&asked, agent, is_known ? "Known" : "Unknown", ",'destructive':true", id);
        call_run(&did, answerer, METHOD_ask_challenge, "{'session_id':'%s'}", id);
        if (is_known) {
            assert_failed(&did, ERROR_wrong_state, "/session_id");
        } else {
            char code[8];

            assert_worked(&did);
            snprintf(code, sizeof code, "%s", call_text(&did, "/code"));
            call_run(&did, answerer, METHOD_ask_answer,
                     "{'session_id':'%s','selected_ids':['a'],'code':'%s'}", id, code);
            assert_worked(&did);
            assert_false(call_is_yes(&asked, "/answered_by/same_process_tree"));
            bot.name = "a client";
            caller_leave(agent);
            agent = caller_enter(stage, "agent", &bot); /* from now on it is known */
            bot.name = "sayso ask";
        }
        caller_leave(agent);
        caller_leave(answerer);
    }
    call_release(&asked);
    call_release(&did);
}

/* Else an agent that is told that it can't answer would run the command that lets it. */
static void test_whose_answers_count_is_not_an_agents_to_set(void **state)
{
    static const char *const guarded[] = { "{'name':'cli_answers','value':'any'}",
                                           "{'name':'cli_answers'}",
                                           "{'name':'timeout_action','value':'submit_defaults'}" };
    struct stage *stage = *state;
    struct os_process self;
    struct identity bot = visitor_agent("bot"), person = visitor_person("cli");
    struct caller *answerer;
    struct call did = { .label = "act" };

    assert_true(os_process(getpid(), &self));
    bot.pid = person.pid = self.pid;
    bot.start = person.start = self.start;
    answerer = caller_enter(stage, "person", &person);
    for (int is_known = 0; is_known < 2; is_known++) {
        for (size_t i = 0; i < ARRAY_LEN(guarded); i++) {
            call_run(&did, answerer, METHOD_settings_set, guarded[i]);
            if (is_known)
                assert_failed(&did, ERROR_not_allowed, "");
            else
                assert_worked(&did);
        }
        call_run(&did, answerer, METHOD_settings_set, "{'name':'theme','value':'dark'}");
        assert_worked(&did); /* a person's own taste is not guarded */
        if (!is_known)
            caller_enter(stage, "agent", &bot); /* from now on its client is known */
    }
    call_release(&did);
}

/* Starts a process below `depth` others, as deep shells are; its id comes through the pipe. */
static int64_t start_below(int depth, int hold[2])
{
    int said[2];
    pid_t pid = 0;

    assert_int_equal(pipe(said), 0);
    pid = fork();
    if (pid == 0) {
        char byte;

        while (depth-- > 0 && (pid = fork()) == 0)
            continue;
        if (pid == 0) {
            pid = getpid();
            if (write(said[1], &pid, sizeof pid) != sizeof pid)
                _exit(1);
        }
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) != 0); /* until the test is over */
    }
    assert_int_equal(read(said[0], &pid, sizeof pid), sizeof pid);
    close(said[0]);
    close(said[1]);
    return pid;
}

/* The person's own script asked, so the answer is delivered immediately (R5.2). */
static void test_ones_own_script_has_no_undo_window(void **state)
{
    struct stage *stage = *state;
    struct os_process self;
    struct identity bot = visitor_agent("sayso ask"), person = visitor_person("terminal");
    struct call asked = { .label = "ask" }, did = { .label = "act" };
    char id[ASK_ID_BYTES];

    assert_true(os_process(getpid(), &self));
    person.tty = "/dev/pts/9";
    person.pid = self.pid;
    person.start = self.start;
    for (int is_own = 0; is_own < 2; is_own++) {
        bot.pid = is_own ? self.pid : getppid();
        bot.start = is_own ? self.start : 1;
        ask_open(&asked, caller_enter(stage, "agent", &bot), is_own ? "Own" : "Other", "", id);
        call_run(&did, caller_enter(stage, "person", &person), METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['a']}", id);
        assert_worked(&did);
        assert_int_equal(asked.replies, is_own);
        assert_int_equal(call_number(&did, "/undo_ms") > 0, !is_own);
    }
    call_release(&asked);
    call_release(&did);
}

static struct identity visitor_at(struct identity identity, int64_t pid)
{
    struct os_process process;

    identity.pid = pid;
    identity.start = os_process(pid, &process) ? process.start : 0;
    return identity;
}

/* A destructive ask and a setting of the host, by a process that says it is a person's. */
static void assert_refused(struct stage *stage, const struct identity *person, const char *id)
{
    struct caller *answerer = caller_enter(stage, "person", person);
    struct call did = { .label = "act" };

    call_run(&did, answerer, METHOD_ask_challenge, "{'session_id':'%s'}", id);
    assert_failed(&did, ERROR_wrong_state, "/session_id");
    call_run(&did, answerer, METHOD_settings_set, "{'name':'cli_answers'}");
    assert_failed(&did, ERROR_not_allowed, "");
    caller_leave(answerer);
    call_release(&did);
}

/* One that is gone when it is looked at, and one that is too deep below others, may be an agent's;
 * one that was looked at before it went is what it was. */
static void test_who_cannot_be_traced_is_an_agents(void **state)
{
    struct stage *stage = *state;
    const int depth = getenv("SAYSO_VALGRIND") ? 0 : OS_MAX_ANCESTORS + 2; /* each is large there */
    struct identity bot = visitor_at(visitor_agent("bot"), getpid());
    struct identity gone = visitor_person("cli"), deep = visitor_person("cli");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct call asked = { .label = "ask" };
    char id[ASK_ID_BYTES];
    int hold[2];
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    assert_int_equal(pipe(hold), 0);
    ask_open(&asked, agent, "Remove it?", ",'destructive':true", id);
    gone.pid = child;
    assert_refused(stage, &gone, id);
    deep = visitor_at(deep, start_below(depth, hold));
    assert_refused(stage, &deep, id);
    close(hold[0]);
    close(hold[1]);
    call_release(&asked);
}

/* However many agents there are, none makes the hub forget another's client. */
static void test_no_client_is_pushed_out(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot"), person = visitor_person("cli");
    struct call asked = { .label = "ask" };
    struct caller *agent = NULL;
    char id[ASK_ID_BYTES];
    int64_t pid = 0;
    int hold[2];

    assert_int_equal(pipe(hold), 0);
    for (int i = 0; i < 60; i++) {
        pid = start_below(0, hold);
        bot = visitor_at(bot, pid);
        agent = caller_enter(stage, "agent", &bot);
    }
    ask_open(&asked, agent, "Remove it?", ",'destructive':true", id);
    person = visitor_at(person, pid);
    assert_refused(stage, &person, id);
    close(hold[0]);
    close(hold[1]);
    call_release(&asked);
}

/* After a deadline too: for a destructive ask an agent's process tells nothing; what it says about
 * others is marked. It looks at nothing, and ends no session. */
static void test_what_an_agent_says_after_the_deadline(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_at(visitor_agent("bot"), getpid());
    struct identity identity = visitor_at(visitor_person("cli"), getpid());
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *own = caller_enter(stage, "own", &identity);
    struct call asked = { .label = "ask" }, did = { .label = "act" };
    char ids[2][ASK_ID_BYTES];

    for (int i = 0; i < 2; i++) {
        ask_open(&asked, agent, i ? "Remove it?" : "Deploy", i ? ",'destructive':true" : "",
                 ids[i]);
        call_run(&did, own, METHOD_ask_seen, "{'session_id':'%s'}", ids[i]);
        stage_advance(stage, 301000);
        call_run(&did, own, METHOD_ask_unseen, "{}");
        assert_int_equal(call_number(&did, "/count"), i + 1);
    }
    call_run(&did, own, METHOD_ask_seen, "{}");
    assert_failed(&did, ERROR_not_allowed, "");
    call_run(&did, own, METHOD_ask_tell, "{'session_id':'%s','global_annotation':'yes'}", ids[1]);
    assert_failed(&did, ERROR_wrong_state, "/session_id");
    call_run(&did, own, METHOD_ask_tell, "{'session_id':'%s','global_annotation':'yes'}", ids[0]);
    assert_worked(&did);
    ask_start(&asked, agent, "Next", "", 0);
    stage_settle(stage);
    stage_advance(stage, 1);
    assert_true(call_is_yes(&asked, "/notices/0/told_after_deadline/said_by/same_process_tree"));
    call_release(&asked);
    call_release(&did);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_an_agents_own_answer_is_seen),
        CASE(test_who_asks_and_answers_in_place),
        CASE(test_whose_answers_count_is_not_an_agents_to_set),
        CASE(test_who_cannot_be_traced_is_an_agents),
        CASE(test_no_client_is_pushed_out),
        CASE(test_what_an_agent_says_after_the_deadline),
        CASE(test_ones_own_script_has_no_undo_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
