/*
 * test_engine_prefilled.c - what the agent wrote into an ask in advance: its notes come back the
 * same from every channel, and the result says whether the person saw its hint.
 * Proves: R2.2 R2.3 R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define OPTIONS                                                                                    \
    "'options':[{'id':'a','label':'Alpha','recommended':true,'annotation':'on a'},"                \
    "{'id':'b','label':'Beta','annotation':'on b'},{'id':'c','label':'Gamma'}]"
static const struct {
    const char *name, *given, *option_notes, *common;
} cases[] = {
    { "nothing said of them", "", "{'a':'on a'}", "on all" },
    { "said again, as a page does", ",'option_annotations':{'a':'on a','b':'on b'}", "{'a':'on a'}",
      "on all" },
    { "taken away", ",'option_annotations':{'a':''},'global_annotation':''", "", "" },
    { "rewritten", ",'option_annotations':{'a':'mine','b':'not b','c':'nor c'}",
      "{'a':'mine','b':'not b','c':'nor c'}", "on all" },
    { "another for all", ",'global_annotation':'mine'", "{'a':'on a'}", "mine" },
};
static const char *const vias[] = { "terminal", "web", "cli", "api" };

static void begin(struct scene *scene, void **state, const char *via, const char *mode,
                  const char *more)
{
    struct identity agent = visitor_agent("bot"), person = visitor_person(via);
    static int number;
    char title[32];
    struct json *created;

    *scene =
        (struct scene){ .stage = *state, .asked = { .label = "ask" }, .did = { .label = "act" } };
    scene->agent = caller_enter(scene->stage, "agent", &agent);
    scene->person = caller_enter(scene->stage, "person", &person);
    snprintf(title, sizeof title, "Notes %d", ++number);
    call_start(
        &scene->asked, scene->agent, METHOD_ask_create,
        "{'tool':'provide_choice','wait_seconds':-1,'tag':'%s','arguments':{'title':'%s',"
        "'prompt':'Two versions are ready, one must go out today.','selection_mode':'%s'%s}}",
        title, title, mode, more);
    stage_settle(scene->stage);
    created = caller_event(scene->agent, "ask/created");
    assert_non_null(created);
    snprintf(scene->id, sizeof scene->id, "%s", json_text(json_at(created, "/params/session_id")));
    json_free(created);
}

static void assert_json(const struct call *call, const char *path, const char *wanted)
{
    char *found = json_encode(json_at(call->json, path)), *quoted = mem_text(wanted);

    for (char *at = strchr(quoted, '\''); at; at = strchr(at, '\''))
        *at = '"';
    assert_string_equal(json_at(call->json, path) ? found : "", quoted);
    free(found);
    free(quoted);
}

/* In memory, and once more as it is read back from the store. */
static void assert_notes(struct scene *scene, size_t i)
{
    struct call read = { .label = "read" };

    stage_advance(scene->stage, 5000);
    assert_worked(&scene->asked);
    call_run(&read, scene->agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}",
             scene->id);
    for (int k = 0; k < 2; k++) {
        const struct call *call = k == 0 ? &scene->asked : &read;

        print_message("%s, %s\n", cases[i].name, k == 0 ? "told" : "read");
        assert_json(call, "/selection/option_annotations", cases[i].option_notes);
        assert_string_equal(call_text(call, "/selection/global_annotation"), cases[i].common);
    }
    call_release(&read);
}

static void test_notes_come_back_from_every_channel(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(vias); i++) {
        struct scene scene;
        char more[256];

        begin(&scene, state, vias[i % ARRAY_LEN(vias)], "multi",
              ",'global_annotation':'on all'," OPTIONS);
        snprintf(more, sizeof more, ",'selected_ids':['a']%s", cases[i / ARRAY_LEN(vias)].given);
        scene_do(&scene, METHOD_ask_answer, more);
        assert_worked(&scene.did);
        assert_notes(&scene, i / ARRAY_LEN(vias));
        scene_close(&scene);
    }
}

static void test_notes_of_a_client_s_form(void **state)
{
    struct call asked = { 0 };
    struct caller *client = enter_client(*state, "1");

    ask(&asked, client, "By form", ",'global_annotation':'on all'", LEGACY);
    return_form(client, shown_id(client),
                "'action':'accept','content':{'choice':'b'},'shown_ms':9000");
    assert_worked(&asked);
    assert_string_equal(call_text(&asked, "/selection/global_annotation"), "on all");
    call_release(&asked);
}

/* What was taken away stays away in the draft that an undone answer becomes. */
static void test_undone_notes_stay_away(void **state)
{
    struct scene scene;
    struct call got = { .label = "get" };

    begin(&scene, state, "web", "multi", ",'global_annotation':'on all'," OPTIONS);
    scene_do(&scene, METHOD_ask_answer,
             ",'selected_ids':['a'],'option_annotations':{'a':''},'global_annotation':''");
    scene_do(&scene, METHOD_ask_undo, "");
    assert_worked(&scene.did);
    call_run(&got, scene.person, METHOD_ask_get, "{'session_id':'%s'}", scene.id);
    assert_json(&got, "/draft/option_annotations", "{'a':''}");
    assert_json(&got, "/draft/global_annotation", "''");
    call_release(&got);
    scene_close(&scene);
}

static void test_notes_that_are_off_are_none(void **state)
{
    struct scene scene;

    stage_set(*state, "notes", "off");
    begin(&scene, state, "cli", "multi", ",'global_annotation':'on all'," OPTIONS);
    scene_do(&scene, METHOD_ask_answer, ",'selected_ids':['a']");
    assert_worked(&scene.asked);
    assert_json(&scene.asked, "/selection/option_annotations", "");
    assert_json(&scene.asked, "/selection/global_annotation", "");
    scene_close(&scene);
}

/* Seen is what the agent wrote and wants shown, unless the person has switched hints off. */
static void test_the_hint_as_it_was_seen(void **state)
{
    static const struct {
        const char *more, *setting;
        bool is_seen;
    } hints[] = {
        { ",'placeholder':'a word'", "on", true },
        { ",'placeholder':'a word'", "off", false },
        { ",'placeholder':'a word','placeholder_visible':false", "on", false },
        { "", "on", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(hints) * 2; i++) {
        struct scene scene;
        struct call read = { .label = "read" };

        stage_set(*state, "placeholder", hints[i / 2].setting);
        begin(&scene, state, "cli", "text_input", hints[i / 2].more);
        scene_do(&scene, i % 2 ? METHOD_ask_cancel : METHOD_ask_answer, ",'custom_input':'word'");
        assert_worked(&scene.asked);
        stage_set(*state, "placeholder", "on"); /* what is switched later changes nothing */
        call_run(&read, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}",
                 scene.id);
        assert_int_equal(call_is_yes(&scene.asked, "/selection/placeholder_visible"),
                         hints[i / 2].is_seen);
        assert_int_equal(call_is_yes(&read, "/selection/placeholder_visible"),
                         hints[i / 2].is_seen);
        call_release(&read);
        scene_close(&scene);
    }
}

/* At a deadline no person has seen it. */
static void test_a_hint_that_nobody_saw(void **state)
{
    static const char *const actions[] = { "none", "submit_defaults" };

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        struct scene scene;

        stage_set(*state, "timeout_action", actions[i]);
        begin(&scene, state, "cli", "hybrid",
              ",'placeholder':'a word','timeout_seconds':5,'default_selection_ids':['a']," OPTIONS);
        assert_false(call_is_yes(&scene.asked, "/selection/placeholder_visible"));
        stage_advance(scene.stage, 5000);
        assert_worked(&scene.asked);
        assert_int_equal(call_is_yes(&scene.asked, "/auto_submitted"), i);
        assert_false(call_is_yes(&scene.asked, "/selection/placeholder_visible"));
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_notes_come_back_from_every_channel),
        CASE(test_notes_of_a_client_s_form),
        CASE(test_undone_notes_stay_away),
        CASE(test_notes_that_are_off_are_none),
        CASE(test_the_hint_as_it_was_seen),
        CASE(test_a_hint_that_nobody_saw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
