/*
 * test_engine_url.c - clients that open an address for their person: told where the portal answers
 * an ask, where a form cannot be had. What they say to it decides nothing, they wait on.
 * Proves: R4.2 R4.3 R5.3 (in one process)
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

#define URL_ALONE  "'client':{'era':'legacy','form':false,'url':true}"
#define URL_TOO    "'client':{'era':'legacy','form':true,'url':true}"
#define URL_MODERN "'client':{'era':'modern','form':false,'url':true}"

static const char portal_url[] = "http://127.0.0.1:7297";

static struct caller *enter_with_portal(struct stage *stage)
{
    stage->portal_url = portal_url;
    stage_restart(stage);
    return enter_client(stage, "1");
}

/* The address in the last client/present; "": it was a form, or nothing. */
static const char *shown_url(const struct caller *client)
{
    static char url[96];
    struct json *told = caller_event(client, "client/present");
    const char *found = json_member_text(json_at(told, "/params"), "url");

    snprintf(url, sizeof url, "%s", found ? found : "");
    json_free(told);
    return url;
}

static void test_an_address_only_where_a_form_cannot_be_had(void **state)
{
    static const struct {
        const char *client, *arguments;
        bool has_portal, portal_on;
        size_t shown;
        bool is_url;
    } cases[] = {
        { URL_ALONE, "", true, true, 1, true },
        { URL_ALONE, "", false, true, 0, false }, /* there is no portal */
        { URL_ALONE, "", true, false, 0, false }, /* it is switched off */
        { URL_TOO, "", true, true, 1, false },
        { URL_TOO, ",'destructive':true", true, true, 1, true },
        { URL_TOO, ",'destructive':true", false, true, 0, false },
        { LEGACY, ",'destructive':true", true, true, 0, false },
        { URL_ALONE, ",'interface':'client'", true, true, 1, true },
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call asked = { 0 };
        struct caller *client;
        char title[24];

        snprintf(title, sizeof title, "Ask %zu", i);
        stage->portal_url = cases[i].has_portal ? portal_url : NULL;
        stage_set(stage, "portal", cases[i].portal_on ? "on" : "off");
        stage_restart(stage);
        client = enter_client(stage, "1");
        ask(&asked, client, title, cases[i].arguments, cases[i].client);
        if (caller_count(client, "client/present") != cases[i].shown ||
            (shown_url(client)[0] != '\0') != cases[i].is_url)
            fail_msg("case %zu: %zu, %s", i, caller_count(client, "client/present"),
                     shown_url(client));
        if (cases[i].is_url)
            assert_non_null(strstr(shown_url(client), shown_id(client)));
        call_release(&asked);
    }
}

static void test_what_is_said_to_an_address_decides_and_teaches_nothing(void **state)
{
    static const char *const said[] = {
        "'mode':'url','action':'accept','shown_ms':9000",
        "'mode':'url','action':'decline','shown_ms':1",
        "'mode':'url','action':'decline','shown_ms':9000",
        "'mode':'url','action':'cancel','shown_ms':9000",
        "'mode':'url','action':'accept','content':{'choice':'a'},'shown_ms':9000",
        "'mode':'url','shown_ms':9000",
    };
    struct stage *stage = *state;
    struct caller *client = enter_with_portal(stage), *person = enter_person(stage, "web");

    stage_set(stage, "deliver_after", "0");
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct call asked = { 0 }, did = { 0 };
        char title[24];

        snprintf(title, sizeof title, "Ask %zu", i);
        caller_forget(client);
        ask(&asked, client, title, "", URL_ALONE);
        assert_int_equal(caller_count(client, "client/present"), 1);
        return_form(client, shown_id(client), said[i]);
        assert_int_equal(asked.replies, 0);
        call_run(&did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}",
                 shown_id(client));
        assert_worked(&did);
        assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
        assert_string_equal(call_text(&asked, "/answered_by/via"), "web");
        call_release(&asked);
        call_release(&did);
    }
}

static void test_an_address_nobody_followed_says_nothing_about_forms(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_with_portal(stage);
    struct call asked = { 0 };

    ask(&asked, client, "One", ",'destructive':true,'timeout_seconds':10", URL_TOO);
    assert_int_equal(caller_count(client, "client/present"), 1);
    stage_advance(stage, 10000);
    assert_string_equal(call_text(&asked, "/action_status"), "timeout");
    ask(&asked, client, "Two", "", URL_TOO);
    assert_int_equal(caller_count(client, "client/present"), 2);
    assert_string_equal(shown_url(client), "");
    return_form(client, shown_id(client), "'action':'decline','shown_ms':1");
    ask(&asked, client, "Three", "", URL_TOO); /* no person there to follow the address */
    assert_int_equal(caller_count(client, "client/present"), 2);
    call_release(&asked);
}

static void test_answered_while_it_is_offered_it_is_withdrawn(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_with_portal(stage), *person = enter_person(stage, "web");
    struct call asked = { 0 }, did = { 0 };

    stage_set(stage, "deliver_after", "5");
    ask(&asked, client, "One", "", URL_ALONE);
    call_run(&did, person, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_int_equal(caller_count(client, "client/withdraw"), 1);
    stage_advance(stage, 5000);
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    call_release(&asked);
    call_release(&did);
}

/* It calls again as soon as its person agreed to look, and then waits for the portal's answer. */
static void test_a_modern_client_comes_back_to_wait(void **state)
{
    static const char *const brought[] = { "{'action':'accept'}", "{'action':'decline'}",
                                           "{'action':'accept','content':{'choice':'a'}}", NULL };
    struct stage *stage = *state;
    struct caller *client = enter_with_portal(stage), *person = enter_person(stage, "web");

    stage_set(stage, "deliver_after", "0");
    for (size_t i = 0; i < ARRAY_LEN(brought); i++) {
        struct call asked = { 0 }, did = { 0 };
        char title[24], *sealed;

        snprintf(title, sizeof title, "Ask %zu", i);
        ask(&asked, client, title, "", URL_MODERN);
        sealed = state_of(&asked);
        assert_non_null(strstr(call_text(&asked, "/input_required/url"), "/choice/"));
        stage_advance(stage, 3000);
        come_back_as(&asked, client, title, URL_MODERN, sealed, brought[i]);
        assert_int_equal(asked.replies, 0);
        call_run(&did, person, METHOD_ask_answer, "{'selected_ids':['b']}");
        assert_worked(&did);
        assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
        assert_string_equal(call_text(&asked, "/answered_by/via"), "web");
        free(sealed);
        call_release(&asked);
        call_release(&did);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_an_address_only_where_a_form_cannot_be_had),
        CASE(test_what_is_said_to_an_address_decides_and_teaches_nothing),
        CASE(test_an_address_nobody_followed_says_nothing_about_forms),
        CASE(test_answered_while_it_is_offered_it_is_withdrawn),
        CASE(test_a_modern_client_comes_back_to_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
