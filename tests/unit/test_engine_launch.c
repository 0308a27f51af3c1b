/*
 * test_engine_launch.c - asks handed to a terminal by a command that works once: what the agent is
 * told, who may open it and how often, fresh commands, lost terminals, restarts in between.
 * Proves: R6.2, R2.4, R2.6, R5.1, R5.5, R6.4 (hidden options)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"

#define COMMAND "/usr/bin/sayso attach "
#define LAUNCH  " --launch "

/* The code at the end of the command that an agent was given. */
static const char *code_of(const struct call *call)
{
    const char *command = call_text(call, "/terminal_command");

    if (strncmp(command, COMMAND, strlen(COMMAND)) != 0)
        fail_msg("no command: '%s'", command);
    command += strlen(COMMAND);
    assert_int_equal(strcspn(command, " "), 26);
    assert_int_equal(strncmp(command + 26, LAUNCH, strlen(LAUNCH)), 0);
    command += 26 + strlen(LAUNCH);
    assert_int_equal(strlen(command), 26);
    return command;
}

static void build_terminal(struct stage *stage)
{
    stage->terminal_built = true;
    stage_restart(stage);
}

static struct caller *terminal(struct stage *stage, const char *name)
{
    struct identity identity = visitor_person("terminal");

    return caller_enter(stage, name, &identity);
}

static void attach(struct call *call, struct caller *caller, const char *code, const char *key)
{
    call_run(call, caller, METHOD_ask_attach, "{'launch':'%s','key':'%s'}", code, key);
}

/* The agent's side again, as after a restart: same name, same principal. */
static void collect(struct scene *scene, struct call *call, const char *more)
{
    struct identity identity = visitor_agent("bot");

    if (!scene->agent->session)
        scene->agent = caller_enter(scene->stage, "agent", &identity);
    call_run(call, scene->agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0%s}",
             scene->id, more);
    assert_worked(call);
}

static void test_the_agent_gets_a_command_at_once(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call got = { 0 };

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    assert_string_equal(call_text(&scene.asked, "/action_status"), "pending_terminal_launch");
    assert_string_equal(call_text(&scene.asked, "/selection/summary"),
                        call_text(&scene.asked, "/terminal_command"));
    assert_string_equal(call_text(&scene.asked, "/selection/interface"), "terminal");
    assert_non_null(strstr(call_text(&scene.asked, "/instructions"), "once"));
    assert_false(scene.asked.is_final);
    code_of(&scene.asked);
    /* collecting before that tells neither a code nor that it was cancelled */
    collect(&scene, &got, "");
    assert_string_equal(call_text(&got, "/action_status"), "pending_terminal_launch");
    assert_string_equal(call_text(&got, "/terminal_command"), "");
    scene_get(&scene, &got);
    assert_false(call_is_yes(&got, "/ask/detached"));
    call_release(&got);
    scene_close(&scene);
}

static void test_a_path_is_quoted_for_the_shell(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    stage->program = "/opt/it's here/sayso";
    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    assert_non_null(
        strstr(call_text(&scene.asked, "/terminal_command"), "'/opt/it'\\''s here/sayso' attach "));
    scene_close(&scene);
}

static void test_it_works_once(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call first = { .label = "first" }, second = { .label = "second" };
    struct caller *other;

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    other = terminal(stage, "other");
    attach(&first, scene.person, code_of(&scene.asked), "mine");
    assert_worked(&first);
    assert_string_equal(call_text(&first, "/ask/session_id"), scene.id);
    assert_string_equal(call_text(&first, "/ask/status"), "pending");
    assert_string_equal(call_text(&first, "/form/fields/0/options/1/id"), "b");
    attach(&second, other, code_of(&scene.asked), "theirs");
    assert_failed(&second, ERROR_wrong_state, "/launch");
    assert_non_null(strstr(second.err.message, "one-time command"));
    /* the same terminal whose reply was lost may say it again */
    attach(&first, scene.person, code_of(&scene.asked), "mine");
    assert_worked(&first);
    /* attaching by the id is not limited */
    call_run(&second, other, METHOD_ask_attach, "{'session_id':'%.6s'}", scene.id);
    assert_worked(&second);
    scene_assert(&scene, "pending", 1);
    scene_answer(&scene, "b");
    assert_worked(&scene.did);
    stage_advance(stage, 5000);
    collect(&scene, &first, "");
    assert_string_equal(call_text(&first, "/action_status"), "selected");
    attach(&second, other, code_of(&scene.asked), "mine");
    assert_failed(&second, ERROR_wrong_state, "/launch");
    call_release(&first);
    call_release(&second);
    scene_close(&scene);
}

/* Both are on their way to the store at the same time: its update decides. */
static void test_two_terminals_at_once(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call calls[2] = { { .label = "one" }, { .label = "two" } };
    struct caller *other;

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    other = terminal(stage, "other");
    stage->store.holds_writes = 1U << EVENT_ATTACHED;
    call_start(&calls[0], scene.person, METHOD_ask_attach, "{'launch':'%s','key':'x'}",
               code_of(&scene.asked));
    call_start(&calls[1], other, METHOD_ask_attach, "{'launch':'%s','key':'y'}",
               code_of(&scene.asked));
    assert_int_equal(calls[0].replies + calls[1].replies, 0);
    stage_release(stage);
    assert_worked(&calls[0]);
    assert_failed(&calls[1], ERROR_wrong_state, "/launch");
    scene_assert(&scene, "pending", 1);
    call_release(&calls[0]);
    call_release(&calls[1]);
    scene_close(&scene);
}

static void test_a_fresh_command_ends_the_old_one(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call fresh = { 0 }, opened = { 0 };

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    collect(&scene, &fresh, ",'interface':'terminal'");
    assert_string_equal(call_text(&fresh, "/action_status"), "pending_terminal_launch");
    assert_string_not_equal(code_of(&fresh), code_of(&scene.asked));
    attach(&opened, scene.person, code_of(&scene.asked), "k");
    assert_failed(&opened, ERROR_wrong_state, "/launch");
    attach(&opened, scene.person, code_of(&fresh), "k");
    assert_worked(&opened);
    scene_assert(&scene, "pending", 1);
    /* also after one was used, and for as long as it is open */
    collect(&scene, &fresh, ",'interface':'terminal'");
    scene_assert(&scene, "pending_terminal_launch", 1);
    attach(&opened, scene.person, code_of(&fresh), "k");
    assert_worked(&opened);
    scene_answer(&scene, "a");
    stage_advance(stage, 5000);
    collect(&scene, &fresh, ",'interface':'terminal'");
    assert_string_equal(call_text(&fresh, "/action_status"), "selected");
    assert_string_equal(call_text(&fresh, "/terminal_command"), "");
    call_release(&fresh);
    call_release(&opened);
    scene_close(&scene);
}

/* An ask that was announced everywhere can be handed to a terminal later; its waits go on. */
static void test_any_open_ask_can_be_launched(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call fresh = { 0 }, opened = { 0 };

    build_terminal(stage);
    scene_open(&scene, state, "cli", "");
    collect(&scene, &fresh, ",'interface':'terminal'");
    scene_assert(&scene, "pending_terminal_launch", 1);
    assert_int_equal(scene.asked.replies, 0);
    attach(&opened, scene.person, code_of(&fresh), "k");
    assert_worked(&opened);
    scene_answer(&scene, "b");
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    call_release(&fresh);
    call_release(&opened);
    scene_close(&scene);
}

/* The same call again, because its reply was lost: the same ask, and a command that works. */
static void test_the_same_call_gets_a_fresh_command(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call again = { 0 }, twice[2] = { 0 }, opened = { 0 };
    struct caller *agent;
    struct identity identity = visitor_agent("bot");

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    agent = caller_enter(stage, "again", &identity);
    ask_start(&again, agent, "Lost", ",'interface':'terminal'", -1);
    stage_settle(stage);
    assert_string_not_equal(call_text(&again, "/session_id"), scene.id);
    for (size_t i = 0; i < ARRAY_LEN(twice); i++) /* the second finds it before it is stored */
        ask_start(&twice[i], agent, "Twice", ",'interface':'terminal'", -1);
    stage_settle(stage);
    assert_worked(&twice[0]);
    assert_worked(&twice[1]);
    assert_string_equal(call_text(&twice[0], "/session_id"), call_text(&twice[1], "/session_id"));
    attach(&opened, scene.person, code_of(&twice[0]), "k");
    assert_failed(&opened, ERROR_wrong_state, "/launch");
    attach(&opened, scene.person, code_of(&twice[1]), "k");
    assert_worked(&opened);
    /* a terminal shows it now: the call waits as any other */
    ask_start(&again, agent, "Twice", ",'interface':'terminal'", -1);
    stage_settle(stage);
    assert_int_equal(again.replies, 0);
    for (size_t i = 0; i < ARRAY_LEN(twice); i++)
        call_release(&twice[i]);
    caller_leave(agent);
    call_release(&again);
    call_release(&opened);
    scene_close(&scene);
}

static void test_a_lost_terminal_leaves_it_pending(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call opened = { 0 }, got = { 0 };

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    attach(&opened, scene.person, code_of(&scene.asked), "k");
    assert_worked(&opened);
    stage_forget(stage);
    caller_leave(scene.person);
    stage_settle(stage);
    assert_int_equal(stage_count(stage, "terminal_lost done"), 1);
    collect(&scene, &got, "");
    assert_string_equal(call_text(&got, "/action_status"), "pending");
    scene.person = terminal(stage, "another");
    collect(&scene, &got, ",'interface':'terminal'");
    attach(&opened, scene.person, code_of(&got), "k");
    assert_worked(&opened);
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    stage_forget(stage);
    caller_leave(scene.person); /* it is answered: nothing was lost */
    stage_settle(stage);
    assert_int_equal(stage_count(stage, "terminal_lost done"), 0);
    call_release(&opened);
    call_release(&got);
    scene_close(&scene);
}

static void test_restarts(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call opened = { 0 }, got = { 0 };
    char code[27];

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    snprintf(code, sizeof code, "%s", code_of(&scene.asked));
    stage_crash(stage);
    scene.person = terminal(stage, "terminal");
    scene_assert(&scene, "pending_terminal_launch", 1);
    attach(&opened, scene.person, code, "k");
    assert_worked(&opened);
    stage_crash(stage); /* used is used, also for the next hub */
    scene.person = terminal(stage, "terminal");
    attach(&opened, scene.person, code, "other");
    assert_failed(&opened, ERROR_wrong_state, "/launch");
    attach(&opened, scene.person, code, "k");
    assert_worked(&opened);
    collect(&scene, &got, ",'interface':'terminal'");
    stage_crash(stage);
    scene.person = terminal(stage, "terminal");
    attach(&opened, scene.person, code, "k");
    assert_failed(&opened, ERROR_wrong_state, "/launch");
    attach(&opened, scene.person, code_of(&got), "k");
    assert_worked(&opened);
    call_release(&opened);
    call_release(&got);
    scene_close(&scene);
}

static void assert_not_in_files(struct stage *stage, const char *code)
{
    struct text file = { 0 };
    char wal[128];
    struct error err;

    snprintf(wal, sizeof wal, "%s-wal", stage->path);
    for (int i = 0; i < 2; i++) {
        assert_true(os_read_file(i ? wal : stage->path, 1 << 24, &file, &err));
        assert_null(memmem(file.bytes, file.used, code, 26));
        text_release(&file);
    }
}

static void assert_not_in_database(struct stage *stage, const char *code)
{
    char *everywhere =
        mem_format("SELECT count(*) FROM pg_class c, query_to_xml('SELECT t::text AS t FROM ' ||"
                   " c.relname || ' AS t', true, true, '') AS x WHERE c.relkind = 'r' AND"
                   " c.relnamespace = 'public'::regnamespace AND x::text LIKE '%%%.26s%%'",
                   code);

    assert_int_equal(chosen_number(stage->where, everywhere), 0);
    free(everywhere);
}

/* Only the hash is kept. */
static void test_the_code_is_nowhere(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    if (chosen_is_postgres())
        assert_not_in_database(stage, code_of(&scene.asked));
    else
        assert_not_in_files(stage, code_of(&scene.asked));
    scene_close(&scene);
}

static void test_never_attached_times_out(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call opened = { 0 }, got = { 0 };

    build_terminal(stage);
    scene_open_handed(&scene, state, ",'timeout_seconds':10");
    stage_advance(stage, 9999);
    scene_assert(&scene, "pending_terminal_launch", 1);
    stage_advance(stage, 1001);
    collect(&scene, &got, ",'interface':'terminal'");
    assert_string_equal(call_text(&got, "/action_status"), "timeout");
    attach(&opened, scene.person, code_of(&scene.asked), "k");
    assert_failed(&opened, ERROR_wrong_state, "/launch");
    call_release(&opened);
    call_release(&got);
    scene_close(&scene);
}

static void test_what_can_go_wrong(void **state)
{
    static const char *const bad[] = {
        "'launch':'short'",
        "'launch':''",
        "'launch':7",
        "'launch':null",
        "'launch':'AAAAAAAAAAAAAAAAAAAAAAAAAA'",
        "'launch':'aaaaaaaaaaaaaaaaaaaaaaaaaa\\u0000'",
    };
    struct stage *stage = *state;
    struct scene scene;
    struct call call = { 0 };

    build_terminal(stage);
    scene_open_handed(&scene, state, "");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        call_run(&call, scene.person, METHOD_ask_attach, "{%s}", bad[i]);
        assert_failed(&call, ERROR_bad_format, "/launch");
    }
    attach(&call, scene.person, "aaaaaaaaaaaaaaaaaaaaaaaaaa", "k");
    assert_failed(&call, ERROR_wrong_state, "/launch");
    call_run(&call, scene.agent, METHOD_ask_attach, "{'launch':'%s'}", code_of(&scene.asked));
    assert_failed(&call, ERROR_wrong_role, "");
    /* a disk that fails consumes nothing, and gives nothing away */
    stage->store.fails_events = 1U << EVENT_ATTACHED | 1U << EVENT_INTERFACE_SWITCHED;
    attach(&call, scene.person, code_of(&scene.asked), "k");
    assert_failed(&call, ERROR_storage_failed, "");
    call_run(&call, scene.agent, METHOD_ask_wait,
             "{'session_id':'%s','wait_seconds':0,'interface':'terminal'}", scene.id);
    assert_failed(&call, ERROR_storage_failed, "");
    stage->store.fails_events = 0;
    attach(&call, scene.person, code_of(&scene.asked), "k");
    assert_worked(&call);
    stage->store.fails_create = true;
    ask_start(&call, scene.agent, "Full", ",'interface':'terminal'", -1);
    stage_settle(stage);
    assert_failed(&call, ERROR_storage_failed, "");
    call_release(&call);
    scene_close(&scene);
}

/* Switched off by the host: the ask goes the way of auto, and the agent is told (R2.6). */
static void test_where_terminals_are_off(void **state)
{
    struct stage *stage = *state;
    struct scene scene;
    struct call got = { 0 };

    build_terminal(stage);
    stage_set(stage, "terminal", "off");
    scene_open(&scene, state, "cli", ",'interface':'terminal'");
    scene_assert(&scene, "pending", 1);
    collect(&scene, &got, ",'interface':'terminal'");
    assert_string_equal(call_text(&got, "/action_status"), "pending");
    assert_string_equal(call_text(&got, "/warnings/0"), "interface_unavailable");
    assert_string_equal(call_text(&got, "/terminal_command"), "");
    call_release(&got);
    scene_close(&scene);
}

/* R6.4: remembered for this question of this agent, also after a restart; for no other. */
static void test_hidden_options(void **state)
{
    static const struct {
        const char *said;
        enum error_code code;
        const char *path;
    } bad[] = {
        { "", ERROR_missing_property, "/option_id" },
        { ",'option_id':'b'", ERROR_missing_property, "/hidden" },
        { ",'option_id':'b','hidden':1", ERROR_missing_property, "/hidden" },
        { ",'option_id':'gone','hidden':true", ERROR_bad_enum, "/option_id" },
    };
    struct scene scene, other;
    struct call call = { 0 };

    scene_open(&scene, state, "terminal", "");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        scene_do(&scene, METHOD_ask_hide, bad[i].said);
        assert_failed(&scene.did, bad[i].code, bad[i].path);
    }
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b','hidden':true");
    assert_worked(&scene.did);
    scene_get(&scene, &call);
    assert_string_equal(call_text(&call, "/hidden/0"), "b");
    call_run(&call, scene.agent, METHOD_ask_hide,
             "{'session_id':'%s','option_id':'b','hidden':false}", scene.id);
    assert_failed(&call, ERROR_wrong_role, "");
    scene_open(&other, state, "terminal", "");
    scene_get(&other, &call);
    assert_string_equal(call_text(&call, "/hidden/0"), "");
    scene.stage->store.fails_settings = true;
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b','hidden':false");
    assert_failed(&scene.did, ERROR_storage_failed, "");
    scene_get(&scene, &call);
    assert_string_equal(call_text(&call, "/hidden/0"), "b");
    stage_crash(scene.stage);
    scene.person = terminal(scene.stage, "again");
    scene_get(&scene, &call);
    assert_string_equal(call_text(&call, "/hidden/0"), "b");
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b','hidden':false");
    scene_get(&scene, &call);
    assert_string_equal(call_text(&call, "/hidden/0"), "");
    call_release(&call);
    scene_close(&other);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_the_agent_gets_a_command_at_once),
        CASE(test_a_path_is_quoted_for_the_shell),
        CASE(test_it_works_once),
        CASE(test_two_terminals_at_once),
        CASE(test_a_fresh_command_ends_the_old_one),
        CASE(test_any_open_ask_can_be_launched),
        CASE(test_the_same_call_gets_a_fresh_command),
        CASE(test_a_lost_terminal_leaves_it_pending),
        CASE(test_restarts),
        CASE(test_the_code_is_nowhere),
        CASE(test_never_attached_times_out),
        CASE(test_what_can_go_wrong),
        CASE(test_where_terminals_are_off),
        CASE(test_hidden_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
