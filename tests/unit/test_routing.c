/*
 * test_routing.c - where an ask is announced, as named cases and over every combination of facts.
 * Proves: R2.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "core/routing.h"

/* Everything there is; a case takes away what it is about. */
#define ALL_BUILT                                                                                  \
    .portal_on = true, .terminal_on = true, .portal_built = true, .terminal_built = true
#define ALL_FRESH ALL_BUILT, .since_browser_ms = -1

static const struct {
    const char *name;
    struct routing_facts facts;
    struct route route;
} cases[] = {
    { "auto with nobody connected opens a browser",
      { ALL_FRESH },
      { .interface = INTERFACE_AUTO, .has_channel = true, .open_browser = true } },
    { "auto with a page connected",
      { ALL_FRESH, .asked = INTERFACE_AUTO, .page_connected = true },
      { .interface = INTERFACE_AUTO, .has_channel = true } },
    { "auto with an inbox connected",
      { ALL_FRESH, .inbox_connected = true },
      { .interface = INTERFACE_AUTO, .has_channel = true } },
    { "the client's own form comes first, the others are silent",
      { ALL_FRESH, .client_form_works = true },
      { .interface = INTERFACE_AUTO,
        .has_channel = true,
        .present_client = true,
        .silent_ms = 15000 } },
    { "auto is the person's saved interface",
      { ALL_FRESH, .asked = INTERFACE_AUTO, .saved = INTERFACE_TERMINAL },
      { .interface = INTERFACE_TERMINAL, .has_channel = true, .wait_for_terminal = true } },
    { "the agent's choice is stronger than the saved one",
      { ALL_FRESH, .asked = INTERFACE_WEB, .saved = INTERFACE_TERMINAL, .page_connected = true },
      { .interface = INTERFACE_WEB, .has_channel = true, .open_browser = true } },
    { "web is announced there and not in the client",
      { ALL_FRESH, .asked = INTERFACE_WEB, .client_form_works = true },
      { .interface = INTERFACE_WEB, .has_channel = true, .open_browser = true } },
    { "terminal hands off at once, whoever is connected",
      { ALL_FRESH, .asked = INTERFACE_TERMINAL, .inbox_connected = true,
        .client_form_works = true },
      { .interface = INTERFACE_TERMINAL, .has_channel = true, .wait_for_terminal = true } },
    { "client opens no browser",
      { ALL_FRESH, .asked = INTERFACE_CLIENT, .client_form_works = true },
      { .interface = INTERFACE_CLIENT,
        .has_channel = true,
        .present_client = true,
        .silent_ms = 15000 } },
    { "client without a working form acts as auto",
      { ALL_FRESH, .asked = INTERFACE_CLIENT },
      { .interface = INTERFACE_AUTO,
        .has_channel = true,
        .open_browser = true,
        .interface_unavailable = true } },
    { "terminal before it is built acts as auto",
      { .asked = INTERFACE_TERMINAL, .portal_on = true, .terminal_on = true, .portal_built = true },
      { .interface = INTERFACE_AUTO, .has_channel = true, .interface_unavailable = true } },
    { "web before it is built acts as auto and opens nothing",
      { .asked = INTERFACE_WEB, .portal_on = true, .terminal_on = true, .since_browser_ms = -1 },
      { .interface = INTERFACE_AUTO, .has_channel = true, .interface_unavailable = true } },
    { "auto in place of an unbuilt channel is the saved interface",
      { .asked = INTERFACE_WEB,
        .saved = INTERFACE_TERMINAL,
        .terminal_on = true,
        .terminal_built = true },
      { .interface = INTERFACE_TERMINAL,
        .has_channel = true,
        .wait_for_terminal = true,
        .interface_unavailable = true } },
    { "a saved interface that is not built is no concern of the agent's",
      { .saved = INTERFACE_TERMINAL, .portal_on = true, .terminal_on = true },
      { .interface = INTERFACE_AUTO, .has_channel = true } },
    { "a portal that is off is not opened",
      { .asked = INTERFACE_WEB, .portal_built = true, .terminal_on = true, .since_browser_ms = -1 },
      { .interface = INTERFACE_AUTO, .has_channel = true, .interface_unavailable = true } },
    { "a browser was opened a moment ago",
      { ALL_BUILT, .asked = INTERFACE_WEB, .since_browser_ms = 59999 },
      { .interface = INTERFACE_WEB, .has_channel = true } },
    { "a browser was opened a minute ago",
      { ALL_BUILT, .since_browser_ms = 60000 },
      { .interface = INTERFACE_AUTO, .has_channel = true, .open_browser = true } },
    { "nothing is there",
      { .portal_built = true, .terminal_built = true },
      { .interface = INTERFACE_AUTO } },
    { "an inbox is a channel even where both are off",
      { .inbox_connected = true },
      { .interface = INTERFACE_AUTO, .has_channel = true } },
    { "a page of a portal that is off is none",
      { .page_connected = true },
      { .interface = INTERFACE_AUTO } },
};

static bool is_same(const struct route *a, const struct route *b)
{
    return a->interface == b->interface && a->has_channel == b->has_channel &&
           a->present_client == b->present_client && a->wait_for_terminal == b->wait_for_terminal &&
           a->open_browser == b->open_browser && a->silent_ms == b->silent_ms &&
           a->interface_unavailable == b->interface_unavailable;
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct route route = routing_decide(&cases[i].facts);

        if (!is_same(&route, &cases[i].route))
            fail_msg("%s", cases[i].name);
    }
}

static void check_properties(const struct routing_facts *facts)
{
    const bool can_follow[INTERFACE_COUNT] = { true, true, facts->portal_built && facts->portal_on,
                                               facts->terminal_built && facts->terminal_on,
                                               facts->client_form_works };
    struct route route = routing_decide(facts);
    bool has_none = !facts->portal_on && !facts->terminal_on && !facts->inbox_connected &&
                    !facts->client_form_works;
    bool is_recent = facts->since_browser_ms >= 0 && facts->since_browser_ms < 60000;
    bool is_alone = !facts->page_connected && !facts->inbox_connected;

    assert_int_equal(route.has_channel, !has_none);
    assert_true(route.interface > INTERFACE_NONE && route.interface < INTERFACE_COUNT);
    /* An ask is not sent where no person can be reached. */
    assert_false(route.wait_for_terminal && !(facts->terminal_built && facts->terminal_on));
    assert_false(route.open_browser && !(facts->portal_built && facts->portal_on));
    assert_false(route.present_client && !facts->client_form_works);
    assert_false(route.open_browser && is_recent);
    assert_false(route.open_browser && route.interface != INTERFACE_WEB && !is_alone);
    assert_int_equal(route.wait_for_terminal, route.interface == INTERFACE_TERMINAL);
    assert_int_equal(route.silent_ms, route.present_client ? 15000 : 0);
    /* A choice is followed where it can be, and the agent is told where its own cannot. */
    assert_int_equal(route.interface_unavailable, !can_follow[facts->asked]);
    if (facts->asked > INTERFACE_AUTO && can_follow[facts->asked])
        assert_int_equal(route.interface, facts->asked);
    else if (facts->saved > INTERFACE_AUTO && can_follow[facts->saved])
        assert_int_equal(route.interface, facts->saved);
    else
        assert_int_equal(route.interface, INTERFACE_AUTO);
}

static void test_every_combination(void **state)
{
    static const int64_t since[] = { -1, 0, 59999, 60000 };
    const unsigned sets = 1U << 7;

    (void)state;
    for (unsigned n = 0; n < INTERFACE_COUNT * INTERFACE_COUNT * ARRAY_LEN(since) * sets; n++) {
        unsigned rest = n / sets;
        struct routing_facts facts = { .portal_on = n & 1,
                                       .terminal_on = n >> 1 & 1,
                                       .portal_built = n >> 2 & 1,
                                       .terminal_built = n >> 3 & 1,
                                       .client_form_works = n >> 4 & 1,
                                       .page_connected = n >> 5 & 1,
                                       .inbox_connected = n >> 6 & 1 };

        facts.since_browser_ms = since[rest % ARRAY_LEN(since)];
        rest /= ARRAY_LEN(since);
        facts.asked = (enum ask_interface)(rest % INTERFACE_COUNT);
        facts.saved = (enum ask_interface)(rest / INTERFACE_COUNT);
        check_properties(&facts);
    }
}

static void test_names(void **state)
{
    static const char *const unknown[] = { "", "browser", "Auto", "web ", NULL };

    (void)state;
    assert_string_equal(interface_name(INTERFACE_NONE), "");
    for (int i = INTERFACE_AUTO; i < INTERFACE_COUNT; i++)
        assert_int_equal(interface_find(interface_name((enum ask_interface)i)), i);
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_int_equal(interface_find(unknown[i]), INTERFACE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_every_combination),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
