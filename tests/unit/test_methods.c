/*
 * test_methods.c - every row of the table of methods: it has its function, it is for its role
 * alone, and if it reads, notifications to its caller wait until after the reply.
 * Proves: R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "engine/state.h"

static const char news[] = "{\"jsonrpc\":\"2.0\",\"method\":\"news\",\"params\":{}}";

static bool is_engines(int method)
{
    return !(methods[method].flags & METHOD_OF_HUB);
}

static struct caller *caller_of(const struct scene *scene, int method, bool is_right)
{
    bool is_agents = methods[method].roles & ROLE_AGENT;

    return is_agents == is_right ? scene->agent : scene->person;
}

static void test_every_row_is_for_its_role_alone(void **state)
{
    static struct call calls[METHOD_COUNT]; /* some wait until their stage is closed */
    struct scene scene;
    struct call wrong = { 0 };

    scene_open(&scene, state, "cli", "");
    for (int method = 0; method < METHOD_COUNT; method++) {
        const struct method_row *row = &methods[method];

        if (row->roles != (ROLE_AGENT | ROLE_PERSON)) {
            call_run(&wrong, caller_of(&scene, method, !row->roles), (enum method)method, "{}");
            assert_failed(&wrong, ERROR_wrong_role, "");
        }
        if (!row->roles) /* the connection decides */
            continue;
        call_start(&calls[method], caller_of(&scene, method, true), (enum method)method, "{}");
        stage_settle(scene.stage);
        assert_int_not_equal(calls[method].err.code, ERROR_wrong_role);
        if (row->flags & METHOD_OF_HUB) /* the engine replies immediately that it may */
            assert_worked(&calls[method]);
        call_release(&calls[method]);
    }
    call_release(&wrong);
    scene_close(&scene);
}

static void test_every_name_is_found(void **state)
{
    (void)state;
    for (int method = 0; method < METHOD_COUNT; method++) {
        if (methods[method].name)
            assert_int_equal(method_find(methods[method].name), method);
    }
    assert_int_equal(method_find("ask/nothing"), METHOD_COUNT);
    assert_int_equal(method_find(""), METHOD_COUNT);
}

/* A store that is far away: what is read arrives when the test says so. */
static struct {
    store_done *done;
    store_each *each;
    store_found *found;
    void *context;
} far;

static void far_get(struct store *port, const char *ask_id, int64_t seq, store_done *done,
                    void *context)
{
    (void)port;
    (void)ask_id;
    (void)seq;
    far.done = done;
    far.context = context;
}

static void far_list(struct store *port, const struct store_list_query *query, store_each *each,
                     void *context)
{
    (void)port;
    (void)query;
    far.each = each;
    far.context = context;
}

static void far_history(struct store *port, const struct store_history_query *query,
                        store_found *found, void *context)
{
    (void)port;
    (void)query;
    far.found = found;
    far.context = context;
}

static void far_arrives(struct stage *stage)
{
    if (far.done)
        far.done(far.context, &(struct store_reply){ .outcome = STORE_MISSING });
    if (far.each)
        far.each(far.context, NULL, NULL);
    if (far.found)
        far.found(far.context, NULL, 0, NULL);
    stage_release(stage);
}

static void check_news(struct scene *scene, int method)
{
    struct caller *caller = caller_of(scene, method, true);
    struct stage *stage = scene->stage;
    struct call call = { .label = "call" };
    bool reads = methods[method].flags & METHOD_READS;
    struct store_ops ops = stage->ops;

    memset(&far, 0, sizeof far);
    stage->ops.get = far_get;
    stage->ops.list = far_list;
    stage->ops.history = far_history;
    stage->store.holds_replies = true;
    call_start(&call, caller, (enum method)method, "{'session_id':'%s'}", scene->id);
    stage_settle(stage);
    if (reads && call.replies)
        fail_msg("%s did not read", methods[method].name);
    caller_forget(caller);
    session_send((struct session *)caller->session, news, strlen(news));
    if (caller_count(caller, "news") != !reads)
        fail_msg("%s: news were %s", methods[method].name, reads ? "not held" : "held");
    far_arrives(stage);
    stage->ops = ops;
    if (reads) {
        assert_int_equal(call.replies, 1);
        assert_int_equal(caller_count(caller, "news"), 1);
        assert_true(
            stage_place(stage, "call succeeded") <
            stage_place(stage, caller == scene->agent ? "agent heard news" : "person heard news"));
    }
    call_release(&call);
}

static void test_what_reads_holds_the_news(void **state)
{
    for (int method = 0; method < METHOD_COUNT; method++) {
        struct scene scene;

        if (!is_engines(method))
            continue;
        scene_open(&scene, state, "cli", "");
        check_news(&scene, method);
        scene_close(&scene);
        stage_tear_down(state);
        stage_set_up(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_every_row_is_for_its_role_alone),
        CASE(test_every_name_is_found),
        CASE(test_what_reads_holds_the_news),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
