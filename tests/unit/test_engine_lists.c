/*
 * test_engine_lists.c - what people see in lists, by state and by agent, page by page, and what
 * they hear while a list is being read. Proves: R9.1 R10.4 R13.1
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

static void test_lists(void **state)
{
    static const struct {
        const char *params;
        int count; /* -1: refused */
    } cases[] = {
        { "{}", 3 },
        { "{'which':'all'}", 3 },
        { "{'which':'active'}", 2 },
        { "{'which':'completed'}", 1 },
        { "{'which':'submitted'}", 1 },
        { "{'which':'pending'}", 2 },
        { "{'which':'timeout'}", 0 },
        { "{'agent':'bot'}", 3 },
        { "{'agent':'bot','which':'active','limit':1}", 1 },
        { "{'agent':'bo'}", 0 },
        { "{'limit':1}", 1 },
        { "{'limit':0}", 1 },
        { "{'limit':99999}", 3 },
        { "{'before_ms':1700000001000}", 1 },
        { "{'which':'some'}", -1 },
        { "{'which':7}", -1 },
    };
    struct scene scenes[3];
    struct call *did = &scenes[0].did;

    for (int i = 0; i < 3; i++) {
        scene_open(&scenes[i], state, "cli", "");
        stage_advance(*state, 1000);
    }
    scene_answer(&scenes[1], "a");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(did, scenes[0].person, METHOD_ask_list, "%s", cases[i].params);
        if (cases[i].count < 0)
            assert_failed(did, ERROR_bad_enum, "/which");
        else if ((int)json_length(json_at(did->json, "/asks")) != cases[i].count)
            fail_msg("%s", cases[i].params);
    }
    call_run(did, scenes[0].person, METHOD_ask_list, "{}");
    assert_string_equal(call_text(did, "/asks/0/session_id"), scenes[2].id); /* newest first */
    assert_string_equal(call_text(did, "/asks/1/status"), "submitted");
    assert_string_equal(call_text(did, "/asks/1/answered_by/via"), "cli");
    assert_string_equal(call_text(did, "/asks/0/agent"), "bot");
    assert_string_equal(call_text(did, "/asks/0/origin/directory"), "/home/me/shop");
    assert_int_equal(call_number(did, "/asks/0/remaining_seconds"), 299);
    assert_true(call_number(did, "/seq") >= 4);
    for (int i = 0; i < 3; i++)
        scene_close(&scenes[i]);
}

/* Asks made in one millisecond, new ones while a client turns the pages: each is seen once. */
static void test_pages(void **state)
{
    enum { ASKS = 7, LATER = 2 };
    struct scene scenes[ASKS + LATER];
    struct call *did = &scenes[0].did;
    char before[64] = "";
    int seen = 0, pages = 0;

    for (int i = 0; i < ASKS; i++)
        scene_open(&scenes[i], state, "cli", "");
    do {
        call_run(did, scenes[0].person, METHOD_ask_list, "{'limit':3%s%s%s}",
                 before[0] ? ",'before':'" : "", before, before[0] ? "'" : "");
        assert_worked(did);
        for (size_t i = 0; i < json_length(json_at(did->json, "/asks")); i++) {
            char at[40];

            snprintf(at, sizeof at, "/asks/%zu/session_id", i);
            assert_string_equal(call_text(did, at), scenes[ASKS - 1 - seen++].id);
        }
        snprintf(before, sizeof before, "%s",
                 json_at(did->json, "/next") ? call_text(did, "/next") : "");
        if (pages < LATER)
            scene_open(&scenes[ASKS + pages], state, "cli", "");
        pages++;
    } while (before[0]);
    assert_int_equal(seen, ASKS);
    assert_int_equal(pages, 3);
    for (int i = 0; i < ASKS + LATER; i++)
        scene_close(&scenes[i]);
}

static void test_a_cursor_is_ours(void **state)
{
    static const char *const bad[] = { "''",      "'7'",
                                       "'7-'",    "'-7'",
                                       "'0-1'",   "'a-1'",
                                       "'1-2-3'", "'99999999999999999999999999-1'",
                                       "7",       "'1 -1'" };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        call_run(&scene.did, scene.person, METHOD_ask_list, "{'before':%s}", bad[i]);
        assert_failed(&scene.did, ERROR_bad_format, "/before");
    }
    scene_close(&scene);
}

/* A client that watches counts as one inbox until it leaves, however often it calls watch. */
static void test_a_watcher_counts_once(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot"), looking = visitor_person("terminal");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *one = caller_enter(stage, "one", &looking);
    struct caller *two = caller_enter(stage, "two", &looking);
    struct call asked = { .label = "ask" }, did = { .label = "watch" };

    stage_set(stage, "portal", "off");
    stage_set(stage, "terminal", "off");
    call_run(&did, one, METHOD_ask_watch, "{}");
    call_run(&did, one, METHOD_ask_watch, "{}");
    call_run(&did, two, METHOD_ask_watch, "{}");
    caller_leave(one);
    ask_start(&asked, agent, "Seen", "", 0);
    stage_advance(stage, 1000);
    assert_worked(&asked);
    assert_true(caller_count(two, "ask/changed") > 0);
    caller_leave(two);
    ask_start(&asked, agent, "Unseen", "", 0);
    stage_settle(stage);
    assert_failed(&asked, ERROR_no_human_channel, "");
    call_release(&asked);
    call_release(&did);
}

/* A store that is far away: lists arrive when the test says so, and are empty. */
static struct {
    store_each *each;
    void *context;
} far;

static void far_list(struct store *port, const struct store_list_query *query, store_each *each,
                     void *context)
{
    (void)port;
    (void)query;
    far.each = each;
    far.context = context;
}

static void far_arrives(void)
{
    far.each(far.context, NULL, NULL);
}

struct far_scene {
    struct stage *stage;
    struct caller *agent, *inbox;
    struct call asked, watched, listed;
};

static void far_open(struct far_scene *scene, void **state)
{
    struct identity bot = visitor_agent("bot"), looking = visitor_person("terminal");

    *scene = (struct far_scene){ .stage = *state };
    scene->watched.label = "watch";
    scene->listed.label = "list";
    scene->agent = caller_enter(scene->stage, "agent", &bot);
    scene->inbox = caller_enter(scene->stage, "inbox", &looking);
    scene->stage->ops.list = far_list;
    call_start(&scene->watched, scene->inbox, METHOD_ask_watch, "{}");
    stage_settle(scene->stage);
    assert_int_equal(scene->watched.replies, 0);
}

static void far_close(struct far_scene *scene)
{
    call_release(&scene->asked);
    call_release(&scene->watched);
    call_release(&scene->listed);
}

/* The list does not know of it: heard before the list, it would be forgotten with it. */
static void test_news_wait_for_the_list(void **state)
{
    struct far_scene scene;
    char id[ASK_ID_BYTES];

    far_open(&scene, state);
    ask_open(&scene.asked, scene.agent, "Meanwhile", "", id);
    stage_settle(scene.stage);
    assert_int_equal(scene.inbox->line_count, 0);
    far_arrives();
    assert_int_equal(scene.watched.replies, 1);
    assert_int_equal(caller_count(scene.inbox, "ask/changed"), 1);
    assert_true(stage_place(scene.stage, "inbox heard ask/changed") >
                stage_place(scene.stage, "watch replied"));
    ask_open(&scene.asked, scene.agent, "Later", "", id); /* told immediately: nothing is read */
    stage_settle(scene.stage);
    assert_int_equal(caller_count(scene.inbox, "ask/changed"), 2);
    far_close(&scene);
}

/* Reads may overtake each other: the older list may be the one that comes last. */
static void test_news_wait_for_all_lists(void **state)
{
    struct far_scene scene;
    store_each *first_each = NULL;
    void *first_context = NULL;
    char id[ASK_ID_BYTES];

    far_open(&scene, state);
    first_each = far.each;
    first_context = far.context;
    call_start(&scene.listed, scene.inbox, METHOD_ask_list, "{}");
    ask_open(&scene.asked, scene.agent, "Meanwhile", "", id);
    far_arrives();
    assert_int_equal(scene.listed.replies, 1);
    assert_int_equal(scene.inbox->line_count, 0);
    first_each(first_context, NULL, NULL);
    assert_int_equal(scene.watched.replies, 1);
    assert_int_equal(caller_count(scene.inbox, "ask/changed"), 1);
    far_close(&scene);
}

static void test_news_of_a_list_that_fails_or_is_nobodys(void **state)
{
    struct far_scene scene;
    struct error err;
    char id[ASK_ID_BYTES];

    far_open(&scene, state);
    ask_open(&scene.asked, scene.agent, "Meanwhile", "", id);
    error_set(&err, ERROR_storage_failed, "", "away");
    far.each(far.context, NULL, &err);
    assert_failed(&scene.watched, ERROR_storage_failed, "");
    assert_int_equal(caller_count(scene.inbox, "ask/changed"), 1);
    call_start(&scene.listed, scene.inbox, METHOD_ask_list, "{}");
    ask_open(&scene.asked, scene.agent, "Unheard", "", id);
    caller_leave(scene.inbox);
    far_arrives();
    assert_int_equal(scene.listed.replies, 0);
    assert_int_equal(caller_count(scene.inbox, "ask/changed"), 1);
    far_close(&scene);
}

/* Who types a lot while a list does not come: told as it is, and to look again. */
static void test_news_that_wait_are_bounded(void **state)
{
    enum { DRAFT_BYTES = 40000, DRAFTS = 8 };
    struct far_scene scene;
    struct identity typing = visitor_person("web");
    struct caller *page = caller_enter(*state, "page", &typing);
    struct call drafted = { .label = "draft" };
    char id[ASK_ID_BYTES], *words = mem_new(DRAFT_BYTES + 1);

    memset(words, 'w', DRAFT_BYTES);
    far_open(&scene, state);
    ask_open(&scene.asked, scene.agent, "Meanwhile", "", id);
    for (int i = 0; i < DRAFTS; i++)
        call_run(&drafted, page, METHOD_ask_draft,
                 "{'session_id':'%s','draft':{'custom_input':'%s%d'}}", id, words, i);
    assert_int_equal(scene.watched.replies, 0);
    assert_int_equal(caller_count(scene.inbox, "resync"), 1);
    assert_int_equal(caller_count(scene.inbox, "ask/drafted"), 7);
    far_arrives();
    assert_int_equal(caller_count(scene.inbox, "ask/drafted"), DRAFTS);
    assert_int_equal(caller_count(scene.inbox, "resync"), 1);
    call_release(&drafted);
    free(words);
    far_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_lists),
        CASE(test_pages),
        CASE(test_a_cursor_is_ours),
        CASE(test_a_watcher_counts_once),
        CASE(test_news_wait_for_the_list),
        CASE(test_news_wait_for_all_lists),
        CASE(test_news_of_a_list_that_fails_or_is_nobodys),
        CASE(test_news_that_wait_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
