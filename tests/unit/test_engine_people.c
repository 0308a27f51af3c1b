/*
 * test_engine_people.c - the person's side: naming an ask, lists, watching, settings, who may
 * answer what through which channel, and what an answer keeps of the person who gave it.
 * Proves: R2.6, R5.9, R8.1, R9.1, R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static struct caller *enter_person(struct stage *stage, const char *name, const char *via,
                                   const char *tty)
{
    struct identity identity = visitor_person(via);

    identity.tty = tty;
    return caller_enter(stage, name, &identity);
}

static void test_naming_an_ask(void **state)
{
    struct scene scene, second;
    char common[ASK_ID_BYTES];

    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.person, METHOD_ask_extend, "{'seconds':500}");
    assert_string_equal(call_text(&scene.did, "/session_id"), scene.id); /* the only one */
    call_run(&scene.did, scene.person, METHOD_ask_extend, "{'session_id':'%.4s','seconds':500}",
             scene.id);
    assert_string_equal(call_text(&scene.did, "/session_id"), scene.id);
    call_run(&scene.did, scene.person, METHOD_ask_extend, "{'session_id':'%.3s','seconds':500}",
             scene.id);
    assert_failed(&scene.did, ERROR_bad_format, "/session_id");
    snprintf(common, sizeof common, "%s", scene.id);
    common[0] = common[0] == 'a' ? 'b' : 'a';
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'%.25s'}", common);
    assert_failed(&scene.did, ERROR_not_found, "/session_id");
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'%s'}", common);
    assert_failed(&scene.did, ERROR_not_found, "/session_id");
    scene_open(&second, state, "cli", "");
    call_run(&scene.did, scene.person, METHOD_ask_cancel, "{}");
    assert_failed(&scene.did, ERROR_conflicting_arguments, "/session_id");
    scene_answer(&scene, "a");
    scene_answer(&second, "a");
    call_run(&scene.did, scene.person, METHOD_ask_cancel, "{}");
    assert_failed(&scene.did, ERROR_not_found, "/session_id");
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'%.8s'}", scene.id);
    assert_worked(&scene.did); /* what is over is found too */
    scene_close(&scene);
    scene_close(&second);
}

static void test_bad_names(void **state)
{
    static const struct {
        bool is_agent;
        const char *params;
        enum error_code code;
    } cases[] = {
        { false, "{'session_id':7}", ERROR_bad_type },
        { false, "{'session_id':null}", ERROR_bad_type },
        { false, "{'session_id':'abcd\\u0000efgh'}", ERROR_bad_type },
        { false, "{'session_id':'ABCD'}", ERROR_bad_format },
        { false, "{'session_id':'abc1'}", ERROR_bad_format },
        { false, "{'session_id':'abcdefghijklmnopqrstuvwxyz2'}", ERROR_bad_format },
        { true, "{}", ERROR_missing_property },
        { true, "{'session_id':'abcd'}", ERROR_bad_format },
        { true, "{'session_id':'abcdefghijklmnopqrstuvwxyz'}", ERROR_not_found },
    };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(&scene.did, cases[i].is_agent ? scene.agent : scene.person,
                 cases[i].is_agent ? METHOD_ask_withdraw : METHOD_ask_cancel, "%s",
                 cases[i].params);
        assert_failed(&scene.did, cases[i].code, "/session_id");
    }
    scene_assert(&scene, "pending", 1);
    scene_close(&scene);
}

static void on_planted(void *context, const struct store_reply *reply)
{
    (void)context;
    assert_int_equal(reply->outcome, STORE_DONE);
}

/* An ask with this id, as if left by an earlier hub. */
static void plant(struct stage *stage, const char *id)
{
    struct ask ask = {
        .tool = "provide_choice",
        .title = "Planted",
        .form_json = "{}",
        .arguments_json = "{}",
        .origin_json = "{}",
        .state = STATE_PENDING,
        .interface = INTERFACE_AUTO,
        .version = 1,
        .form_version = 1,
        .created_ms = stage->clock.utc_ms,
        .deadline_ms = stage->clock.utc_ms + 60000,
        .original_ms = 60000,
    };
    struct store_principal principal = { .id = ask.principal, .kind = "local", .name = "bot" };

    snprintf(ask.id, sizeof ask.id, "%s", id);
    memset(ask.principal, '0', PRINCIPAL_BYTES - 1);
    store_write_create(&stage->store.port, &(struct store_create){ ask, principal }, on_planted,
                       NULL);
    stage_settle(stage);
}

static void test_a_prefix_that_two_share(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    plant(scene.stage, "twins2aaaaaaaaaaaaaaaaaaaa");
    plant(scene.stage, "twins3aaaaaaaaaaaaaaaaaaaa");
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'twins'}");
    assert_failed(&scene.did, ERROR_conflicting_arguments, "/session_id");
    call_run(&scene.did, scene.person, METHOD_ask_cancel, "{'session_id':'twin'}");
    assert_failed(&scene.did, ERROR_conflicting_arguments, "/session_id");
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'twins3'}");
    assert_worked(&scene.did);
    assert_string_equal(scene.did.session_id, "twins3aaaaaaaaaaaaaaaaaaaa");
    scene_close(&scene);
}

static void watch(struct caller *person)
{
    struct call watched = { .label = "watch" };

    call_run(&watched, person, METHOD_ask_watch, "{}");
    assert_worked(&watched);
    call_release(&watched);
}

static const char *heard(struct json *take_event, const char *pointer, char *out, size_t size)
{
    const char *text = json_text(json_at(take_event, pointer));

    snprintf(out, size, "%s", text ? text : "");
    json_free(take_event);
    return out;
}

/* Committed and in every list, but the store's reply has not reached the engine: a person who sees
 * it there may act on it. Acts that need it in memory wait for that reply. */
static void test_an_act_before_its_ask_is_known_to_be_stored(void **state)
{
    static const struct {
        enum method act;
        const char *more;
    } cases[] = {
        { METHOD_ask_extend, ",'seconds':500" },
        { METHOD_ask_back, ",'text':'Why?'" },
        { METHOD_ask_attach, "" },
        { METHOD_ask_answer, ",'selected_ids':['a']" },
        { METHOD_ask_cancel, "" },
    };
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *person = enter_person(stage, "person", "cli", "");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call asked = { .label = "ask" }, listed = { .label = "list" }, did = { 0 };
        char title[32];

        did.label = "act";
        snprintf(title, sizeof title, "Case %zu", i);
        stage->store.holds_replies = true;
        ask_start(&asked, agent, title, "", -1);
        stage_settle(stage);
        call_run(&listed, person, METHOD_ask_list, "{}");
        assert_string_equal(call_text(&listed, "/asks/0/title"), title);
        call_start(&did, person, cases[i].act, "{'session_id':'%s'%s}",
                   call_text(&listed, "/asks/0/session_id"), cases[i].more);
        stage_settle(stage);
        assert_int_equal(did.replies, 0);
        stage_release(stage);
        assert_int_equal(did.replies, 1);
        if (did.err.code != ERROR_NONE)
            fail_msg("case %zu: %s", i, did.err.message);
        call_release(&asked);
        call_release(&listed);
        call_release(&did);
    }
}

/* Whatever happens to an ask within one turn of the loop is one snapshot. */
static void test_watchers_get_one_snapshot_a_turn(void **state)
{
    struct scene scene;
    struct caller *watcher;
    char status[40];

    scene_open(&scene, state, "terminal", "");
    watcher = enter_person(scene.stage, "watcher", "terminal", "");
    watch(watcher);
    assert_int_equal(watcher->line_count, 0);
    for (int i = 0; i < 5; i++)
        call_start(&scene.did, scene.person, METHOD_ask_extend, "{'session_id':'%s','seconds':%d}",
                   scene.id, 100 + i);
    scene.stage->store.holds_replies = true;
    stage_settle(scene.stage);
    assert_int_equal(watcher->line_count, 0);
    stage_release(scene.stage);
    assert_int_equal(caller_count(watcher, "ask/changed"), 1);
    caller_forget(watcher);
    scene_answer(&scene, "a");
    assert_int_equal(caller_count(watcher, "ask/changed"), 1);
    heard(caller_event(watcher, "ask/changed"), "/params/ask/status", status, sizeof status);
    assert_string_equal(status, "submitted");
    caller_forget(watcher);
    stage_advance(scene.stage, 10000);
    assert_int_equal(watcher->line_count, 0); /* nothing changed, nothing said */
    assert_int_equal(scene.person->line_count, 0);
    scene_close(&scene);
}

/* How it ended is seen even where the ask leaves memory immediately. */
static void test_watchers_see_every_ending(void **state)
{
    static const struct {
        enum method act;
        bool is_agents;
        const char *status;
    } cases[] = {
        { METHOD_ask_answer, false, "submitted" }, { METHOD_ask_cancel, false, "cancelled" },
        { METHOD_ask_decline, false, "declined" }, { METHOD_ask_withdraw, true, "withdrawn" },
        { METHOD_COUNT, false, "timeout" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene scene;
        struct caller *watcher;
        char status[40];

        scene_open(&scene, state, "cli", "");
        watcher = enter_person(scene.stage, "watcher", "terminal", "");
        watch(watcher);
        if (cases[i].act < METHOD_COUNT)
            call_run(&scene.did, cases[i].is_agents ? scene.agent : scene.person, cases[i].act,
                     "{'session_id':'%s','selected_ids':['a']}", scene.id);
        else
            stage_advance(scene.stage, 300000);
        heard(caller_event(watcher, "ask/changed"), "/params/ask/status", status, sizeof status);
        assert_string_equal(status, cases[i].status);
        assert_int_equal(caller_count(watcher, "ask/changed"), 1);
        caller_leave(watcher);
        scene_close(&scene);
    }
}

static void test_drafts_are_shown_on_other_devices(void **state)
{
    struct scene scene;
    struct caller *phone;
    char seen[40];

    scene_open(&scene, state, "web", "");
    phone = enter_person(scene.stage, "phone", "web", "");
    watch(phone);
    watch(scene.person);
    scene_do(&scene, METHOD_ask_draft, ",'draft':{'selected_ids':['b']}");
    assert_worked(&scene.did);
    heard(caller_event(phone, "ask/drafted"), "/params/draft/selected_ids/0", seen, sizeof seen);
    assert_string_equal(seen, "b");
    assert_int_equal(caller_count(scene.person, "ask/drafted"), 0);
    assert_int_equal(caller_count(scene.agent, "ask/drafted"), 0);
    scene_close(&scene);
}

static void test_settings(void **state)
{
    struct scene scene;
    struct caller *watcher;
    struct stat found;
    char seen[40];

    scene_open(&scene, state, "cli", "");
    watcher = enter_person(scene.stage, "watcher", "terminal", "");
    watch(watcher);
    call_run(&scene.did, scene.person, METHOD_settings_list, "{}");
    assert_int_equal(json_length(json_at(scene.did.json, "/settings")), SETTING_COUNT);
    call_run(&scene.did, scene.person, METHOD_settings_set, "{'name':'deliver_after','value':'9'}");
    assert_worked(&scene.did);
    assert_int_equal(call_number(&scene.did, "/value"), 9);
    assert_string_equal(call_text(&scene.did, "/source"), "saved");
    heard(caller_event(watcher, "settings/changed"), "/params/settings/0/name", seen, sizeof seen);
    assert_string_equal(seen, "deliver_after");
    assert_int_not_equal(stat(scene.stage->settings_path, &found), 0); /* a person's row */
    call_run(&scene.did, scene.person, METHOD_settings_set,
             "{'name':'retention_days','value':'7'}");
    assert_worked(&scene.did);
    assert_int_equal(stat(scene.stage->settings_path, &found), 0); /* the host's file */
    call_run(&scene.did, scene.person, METHOD_settings_set, "{'name':'deliver_after'}");
    assert_int_equal(call_number(&scene.did, "/value"), 5);
    assert_string_equal(call_text(&scene.did, "/source"), "built_in");
    call_run(&scene.did, scene.person, METHOD_settings_list, "{'name':'retention_days'}");
    assert_int_equal(call_number(&scene.did, "/settings/0/value"), 7);
    assert_string_equal(call_text(&scene.did, "/settings/0/scope"), "host");
    scene_close(&scene);
}

static void test_bad_settings(void **state)
{
    static const struct {
        const char *params;
        enum error_code code;
        const char *path;
    } cases[] = {
        { "{}", ERROR_bad_enum, "/name" },
        { "{'name':'colour','value':'red'}", ERROR_bad_enum, "/name" },
        { "{'name':'deliver_after','value':'often'}", ERROR_bad_format, "/deliver_after" },
        { "{'name':'deliver_after','value':'61'}", ERROR_out_of_range, "/deliver_after" },
        /* not a text is no wish to go back to the default */
        { "{'name':'deliver_after','value':7}", ERROR_bad_type, "/value" },
        { "{'name':'notes','value':false}", ERROR_bad_type, "/value" },
    };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    stage_set(scene.stage, "deliver_after", "9");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(&scene.did, scene.person, METHOD_settings_set, "%s", cases[i].params);
        if (scene.did.err.code == ERROR_NONE)
            fail_msg("%s", cases[i].params);
        assert_string_equal(scene.did.err.path, cases[i].path);
    }
    assert_int_equal(settings_integer(scene.stage->settings, SETTING_DELIVER_AFTER), 9);
    call_run(&scene.did, scene.person, METHOD_settings_list, "{'name':'colour'}");
    assert_failed(&scene.did, ERROR_bad_enum, "/name");
    scene_close(&scene);
}

/* What could not be kept is not in force either, and no client is told that it is. */
static void test_settings_that_cannot_be_saved(void **state)
{
    struct scene scene;
    struct caller *watcher;

    scene_open(&scene, state, "cli", "");
    watcher = enter_person(scene.stage, "watcher", "terminal", "");
    watch(watcher);
    scene.stage->store.fails_settings = true;
    call_run(&scene.did, scene.person, METHOD_settings_set, "{'name':'deliver_after','value':'9'}");
    assert_failed(&scene.did, ERROR_storage_failed, "");
    assert_int_equal(settings_integer(scene.stage->settings, SETTING_DELIVER_AFTER), 5);
    call_run(&scene.did, scene.person, METHOD_settings_set, "{'name':'list_count','value':'70'}");
    assert_worked(&scene.did);
    caller_forget(watcher);
    assert_int_equal(unlink(scene.stage->settings_path), 0);
    assert_int_equal(mkdir(scene.stage->settings_path, 0700), 0); /* nothing can be written there */
    call_run(&scene.did, scene.person, METHOD_settings_set, "{'name':'list_count','value':'80'}");
    assert_int_not_equal(scene.did.err.code, ERROR_NONE);
    assert_int_not_equal(settings_integer(scene.stage->settings, SETTING_LIST_COUNT), 80);
    assert_int_equal(watcher->line_count, 0);
    assert_int_equal(rmdir(scene.stage->settings_path), 0);
    scene_close(&scene);
}

static void test_answers_from_the_command_line(void **state)
{
    static const struct {
        const char *setting, *via, *tty;
        bool answers;
    } cases[] = {
        { "any", "cli", "", true },           { "tty", "cli", "", false },
        { "tty", "cli", "/dev/pts/3", true }, { "off", "cli", "/dev/pts/3", false },
        { "off", "terminal", "", true },      { "off", "web", "", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene scene;
        struct caller *person;

        stage_set(*state, "cli_answers", cases[i].setting);
        scene_open(&scene, state, "cli", "");
        person = enter_person(scene.stage, "person", cases[i].via, cases[i].tty);
        call_run(&scene.did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['a']}",
                 scene.id);
        if (cases[i].answers)
            assert_worked(&scene.did);
        else
            assert_failed(&scene.did, ERROR_wrong_state, "");
        stage_set(*state, "cli_answers", "off");
        call_run(&scene.did, scene.agent, METHOD_ask_withdraw, "{'session_id':'%s'}", scene.id);
        if (cases[i].answers)
            assert_failed(&scene.did, ERROR_already_answered, "/session_id");
        else
            assert_worked(&scene.did); /* agents are not meant */
        caller_leave(person);
        scene_close(&scene);
    }
}

static void test_nobody_can_be_reached(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot), *inbox;
    struct call asked = { .label = "ask" };

    stage_set(stage, "portal", "off");
    stage_set(stage, "terminal", "off");
    ask_start(&asked, agent, "Anybody", "", -1);
    assert_failed(&asked, ERROR_no_human_channel, "");
    inbox = enter_person(stage, "inbox", "terminal", "");
    watch(inbox);
    ask_start(&asked, agent, "Anybody", ",'interface':'web'", 0);
    stage_advance(stage, 1000);
    assert_worked(&asked);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    assert_string_equal(call_text(&asked, "/warnings/0"), "interface_unavailable");
    call_release(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_naming_an_ask),
        CASE(test_bad_names),
        CASE(test_a_prefix_that_two_share),
        CASE(test_an_act_before_its_ask_is_known_to_be_stored),
        CASE(test_watchers_get_one_snapshot_a_turn),
        CASE(test_watchers_see_every_ending),
        CASE(test_drafts_are_shown_on_other_devices),
        CASE(test_settings),
        CASE(test_bad_settings),
        CASE(test_settings_that_cannot_be_saved),
        CASE(test_answers_from_the_command_line),
        CASE(test_nobody_can_be_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
