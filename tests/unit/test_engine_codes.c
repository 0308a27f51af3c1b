/*
 * test_engine_codes.c - the code of a destructive ask: who may answer with it, on which connection,
 * how long and after how many wrong ones.
 * Proves: R2.6, R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/state.h"

static struct caller *enter_person(struct stage *stage, const char *name, const char *via,
                                   const char *tty)
{
    struct identity identity = visitor_person(via);

    identity.tty = tty;
    return caller_enter(stage, name, &identity);
}

/* A destructive ask: by whom, through what, with which code. */
static const struct {
    const char *name, *via, *tty;
    bool has_code, answers;
} destroyers[] = {
    { "a script", "cli", "", true, false },
    { "a person at a terminal", "cli", "/dev/pts/3", true, true },
    { "without the code", "cli", "/dev/pts/3", false, false },
    { "attached", "terminal", "/dev/pts/3", true, true },
    { "attached to nothing", "terminal", "", true, false },
    { "the portal", "web", "", true, true },
    { "the portal without the code", "web", "", false, false },
    { "REST", "api", "", true, false },
    { "the agent's own client", "client", "", true, false },
};

static void test_destructive_asks_want_a_code(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(destroyers); i++) {
        struct scene scene;
        struct caller *person;
        char code[8];

        scene_open(&scene, state, "cli", ",'destructive':true");
        person = enter_person(scene.stage, "person", destroyers[i].via, destroyers[i].tty);
        call_run(&scene.did, person, METHOD_ask_challenge, "{'session_id':'%s'}", scene.id);
        assert_worked(&scene.did);
        snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
        assert_int_equal(strlen(code), 3);
        call_run(&scene.did, person, METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['b'],'code':'%s'}", scene.id,
                 destroyers[i].has_code ? code : "");
        if ((scene.did.err.code == ERROR_NONE) != destroyers[i].answers)
            fail_msg("%s: %s", destroyers[i].name, scene.did.err.message);
        if (!destroyers[i].answers)
            assert_string_equal(error_name(scene.did.err.code), "wrong_state");
        call_run(&scene.did, person, METHOD_ask_cancel, "{'session_id':'%s'}", scene.id);
        if (!destroyers[i].answers)
            assert_worked(&scene.did); /* stopping is never refused */
        caller_leave(person);
        scene_close(&scene);
    }
}

/* A destructive yes or no. */
static void open_confirm(struct call *call, struct stage *stage, size_t number, char id[])
{
    struct identity bot = visitor_agent("another bot");
    struct caller *agent = caller_enter(stage, "another agent", &bot);
    struct json *created;

    call_start(call, agent, METHOD_ask_create,
               "{'tool':'elicit_confirm','arguments':{'message':'Delete %zu?','destructive':true},"
               "'wait_seconds':-1,'tag':'t'}",
               number);
    stage_settle(stage);
    created = caller_event(agent, "ask/created");
    assert_non_null(created);
    snprintf(id, ASK_ID_BYTES, "%s", json_text(json_at(created, "/params/session_id")));
    json_free(created);
}

/* Whatever the channel, and whatever the form: a no, and the option recommended as the safe one. */
static void test_saying_no_takes_no_code(void **state)
{
    static const struct {
        const char *via, *tty;
    } ways[] = { { "cli", "" }, { "terminal", "" }, { "web", "" }, { "api", "" } };
    struct caller *person;
    struct scene scene;
    char id[ASK_ID_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct call asked = { .label = "ask" };

        scene_open(&scene, state, "cli", ",'destructive':true");
        person = enter_person(scene.stage, "person", ways[i].via, ways[i].tty);
        call_run(&scene.did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}",
                 scene.id);
        assert_string_equal(error_name(scene.did.err.code), "wrong_state");
        call_run(&scene.did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['a']}",
                 scene.id);
        assert_worked(&scene.did);
        open_confirm(&asked, scene.stage, i, id);
        call_run(&scene.did, person, METHOD_ask_answer,
                 "{'session_id':'%s','fields':{'confirmed':true}}", id);
        assert_string_equal(error_name(scene.did.err.code), "wrong_state");
        call_run(&scene.did, person, METHOD_ask_answer,
                 "{'session_id':'%s','fields':{'confirmed':false}}", id);
        assert_worked(&scene.did);
        caller_leave(person);
        call_release(&asked);
        scene_close(&scene);
    }
}

static void test_a_code_is_one_persons_and_good_once(void **state)
{
    struct scene scene;
    struct caller *mine, *yours;
    char code[8];
    const char *params = "{'session_id':'%s','selected_ids':['%s'],'code':'%s'}";

    scene_open(&scene, state, "cli", ",'destructive':true");
    mine = enter_person(scene.stage, "mine", "cli", "/dev/pts/1");
    yours = enter_person(scene.stage, "yours", "cli", "/dev/pts/2");
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, "b", "");
    assert_failed(&scene.did, ERROR_wrong_state, "/code"); /* none was shown */
    call_run(&scene.did, mine, METHOD_ask_challenge, "{}");
    snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
    call_run(&scene.did, yours, METHOD_ask_answer, params, scene.id, "b", code);
    assert_failed(&scene.did, ERROR_wrong_state, "/code");
    scene.stage->store.fails_events = 1U << EVENT_ANSWERED;
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, "b", code);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    scene.stage->store.fails_events = 0;
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, "b", code);
    assert_failed(&scene.did, ERROR_wrong_state, "/code"); /* spent */
    call_run(&scene.did, mine, METHOD_ask_challenge, "{}");
    snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, "b", code);
    assert_worked(&scene.did);
    call_run(&scene.did, mine, METHOD_ask_challenge, "{'session_id':'%s'}", scene.id);
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_close(&scene);
}

/* Memory is used again: who enters now may lie where the one lay who left. */
static void test_a_code_goes_with_its_connection(void **state)
{
    struct scene scene;
    struct caller *gone, *next;
    char code[8];

    scene_open(&scene, state, "cli", ",'destructive':true");
    gone = enter_person(scene.stage, "gone", "cli", "/dev/pts/1");
    call_run(&scene.did, gone, METHOD_ask_challenge, "{}");
    snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
    caller_leave(gone);
    for (int i = 0; i < 20; i++) {
        next = enter_person(scene.stage, "next", "cli", "/dev/pts/1");
        call_run(&scene.did, next, METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['b'],'code':'%s'}", scene.id, code);
        assert_failed(&scene.did, ERROR_wrong_state, "/code");
        caller_leave(next);
    }
    scene_close(&scene);
}

static void test_a_code_expires(void **state)
{
    struct scene scene;
    char code[8];
    const char *params = "{'session_id':'%s','selected_ids':['b'],'code':'%s'}";

    for (int is_late = 0; is_late < 2; is_late++) {
        struct caller *person;

        scene_open(&scene, state, "cli", ",'destructive':true,'timeout_seconds':86400");
        person = enter_person(scene.stage, "slow", "cli", "/dev/pts/1");
        call_run(&scene.did, person, METHOD_ask_challenge, "{}");
        snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
        stage_advance(scene.stage, is_late ? 600000 : 599999);
        call_run(&scene.did, person, METHOD_ask_answer, params, scene.id, code);
        if (is_late) {
            assert_failed(&scene.did, ERROR_wrong_state, "/code");
            assert_non_null(strstr(scene.did.err.message, "expired"));
            call_run(&scene.did, person, METHOD_ask_challenge, "{}");
            snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
            call_run(&scene.did, person, METHOD_ask_answer, params, scene.id, code);
        }
        assert_worked(&scene.did);
        scene_close(&scene);
    }
}

static void test_wrong_codes_count(void **state)
{
    struct scene scene;
    struct caller *person, *other;
    char code[8], wrong[8];
    const char *params = "{'session_id':'%s','selected_ids':['b'],'code':'%s'}";

    scene_open(&scene, state, "cli", ",'destructive':true");
    person = enter_person(scene.stage, "person", "cli", "/dev/pts/1");
    other = enter_person(scene.stage, "other", "cli", "/dev/pts/2");
    call_run(&scene.did, person, METHOD_ask_challenge, "{}");
    snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
    snprintf(wrong, sizeof wrong, "%s", strcmp(code, "000") == 0 ? "001" : "000");
    for (int i = 0; i < 10; i++) { /* another's guesses cost this one nothing */
        call_run(&scene.did, other, METHOD_ask_answer, params, scene.id, wrong);
        assert_failed(&scene.did, ERROR_wrong_state, "/code");
    }
    for (int i = 0; i < 3; i++) {
        call_run(&scene.did, person, METHOD_ask_answer, params, scene.id, wrong);
        assert_failed(&scene.did, ERROR_wrong_state, "/code");
        assert_int_equal(strstr(scene.did.err.message, "too many") != NULL, i == 2);
    }
    call_run(&scene.did, person, METHOD_ask_answer, params, scene.id, code);
    assert_failed(&scene.did, ERROR_wrong_state, "/code"); /* gone */
    call_run(&scene.did, person, METHOD_ask_challenge, "{}");
    snprintf(code, sizeof code, "%s", call_text(&scene.did, "/code"));
    call_run(&scene.did, person, METHOD_ask_answer, params, scene.id, code);
    assert_worked(&scene.did);
    scene_close(&scene);
}

static void show_code(struct scene *scene, struct caller *person, const char *id, char code[8])
{
    call_run(&scene->did, person, METHOD_ask_challenge, "{'session_id':'%s'}", id);
    assert_worked(&scene->did);
    snprintf(code, 8, "%s", call_text(&scene->did, "/code"));
}

/* Others may ask for codes again and again: the code that a person was shown stays valid. */
static void test_a_code_is_left_alone_by_others(void **state)
{
    struct scene scene;
    struct caller *mine, *yours;
    char code[8], old[8], others[8], second[ASK_ID_BYTES], second_code[8];
    struct call asked = { 0 };
    const char *params = "{'session_id':'%s','selected_ids':['b'],'code':'%s'}";

    scene_open(&scene, state, "cli", ",'destructive':true");
    ask_open(&asked, scene.agent, "Another one", ",'destructive':true", second);
    mine = enter_person(scene.stage, "mine", "web", "");
    yours = enter_person(scene.stage, "yours", "cli", ""); /* it could never answer */
    show_code(&scene, mine, second, second_code);
    show_code(&scene, mine, scene.id, old);
    do
        show_code(&scene, mine, scene.id, code);
    while (strcmp(code, old) == 0);
    for (int i = 0; i < 50 || strcmp(code, others) == 0; i++)
        show_code(&scene, yours, scene.id, others);
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, others);
    assert_failed(&scene.did, ERROR_wrong_state, "/code"); /* shown to another */
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, old);
    assert_failed(&scene.did, ERROR_wrong_state, "/code"); /* there is a newer one */
    caller_leave(yours);
    call_run(&scene.did, mine, METHOD_ask_answer, params, scene.id, code);
    assert_worked(&scene.did);
    call_run(&scene.did, mine, METHOD_ask_answer, params, second, second_code);
    assert_worked(&scene.did);
    call_release(&asked);
    scene_close(&scene);
}

/* A page that is open for weeks is shown many: those of asks that are over don't stay. */
static void test_codes_go_with_their_asks(void **state)
{
    struct scene scene;
    struct caller *page;
    struct call asked[20] = { 0 };
    size_t kept = 0;
    char title[32], id[ASK_ID_BYTES], code[8];

    scene_open(&scene, state, "cli", ",'destructive':true,'timeout_seconds':86400");
    page = enter_person(scene.stage, "page", "web", "");
    show_code(&scene, page, scene.id, code);
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        snprintf(title, sizeof title, "Number %zu", i);
        ask_open(&asked[i], scene.agent, title, ",'destructive':true", id);
        show_code(&scene, page, id, code);
        show_code(&scene, page, id, code);
        call_run(&scene.did, page, METHOD_ask_cancel, "{'session_id':'%s'}", id);
        assert_worked(&scene.did);
        stage_advance(scene.stage, 60000); /* it can't be undone any more */
        call_release(&asked[i]);
    }
    for (const struct shown_code *at = ((struct session *)page->session)->codes; at; at = at->next)
        kept++;
    assert_int_equal(kept, 2); /* of the one that is open, and the last */
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_destructive_asks_want_a_code),
        CASE(test_saying_no_takes_no_code),
        CASE(test_a_code_is_one_persons_and_good_once),
        CASE(test_a_code_goes_with_its_connection),
        CASE(test_a_code_expires),
        CASE(test_wrong_codes_count),
        CASE(test_a_code_is_left_alone_by_others),
        CASE(test_codes_go_with_their_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
