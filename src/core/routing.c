/*
 * routing.c - where an ask is announced (R2.6). A named interface counts only where people can be
 * reached through it; else the ask goes the way of `auto`, and the agent is told.
 */
#include "core/routing.h"

#include "base/text.h"

enum { ROUTING_BROWSER_MS = 60000 };

const char *const interface_choices[] = {
    [INTERFACE_AUTO - 1] = "auto",         [INTERFACE_WEB - 1] = "web",
    [INTERFACE_TERMINAL - 1] = "terminal", [INTERFACE_CLIENT - 1] = "client",
    [INTERFACE_COUNT - 1] = NULL,
};

const char *interface_name(enum ask_interface interface)
{
    return interface == INTERFACE_NONE ? "" : interface_choices[interface - 1];
}

enum ask_interface interface_find(const char *name)
{
    size_t index = text_index(name, interface_choices, INTERFACE_COUNT - 1);

    return index < INTERFACE_COUNT - 1 ? (enum ask_interface)(index + 1) : INTERFACE_NONE;
}

static bool is_usable(const struct routing_facts *facts, enum ask_interface interface)
{
    const bool usable[INTERFACE_COUNT] = {
        [INTERFACE_WEB] = facts->portal_built && facts->portal_on,
        [INTERFACE_TERMINAL] = facts->terminal_built && facts->terminal_on,
        [INTERFACE_CLIENT] = facts->client_form_works,
    };

    return usable[interface];
}

/* The agent's choice, else the person's, else `auto`. An unusable one leaves it to the next; only
 * the agent's is worth a warning. */
static enum ask_interface choose_interface(const struct routing_facts *facts, bool *ret_unavailable)
{
    bool is_named = facts->asked != INTERFACE_NONE && facts->asked != INTERFACE_AUTO;

    *ret_unavailable = is_named && !is_usable(facts, facts->asked);
    if (is_named && !*ret_unavailable)
        return facts->asked;
    return is_usable(facts, facts->saved) ? facts->saved : INTERFACE_AUTO;
}

/* A window that opens is louder than a notification, so it also waits for the client's form. */
static bool opens_browser(const struct routing_facts *facts, const struct route *route)
{
    bool is_wanted = route->interface == INTERFACE_WEB;

    if (route->interface == INTERFACE_AUTO)
        is_wanted = !route->present_client && !facts->page_connected && !facts->inbox_connected;
    if (!is_wanted || !is_usable(facts, INTERFACE_WEB))
        return false;
    return facts->since_browser_ms < 0 || facts->since_browser_ms >= ROUTING_BROWSER_MS;
}

struct route routing_decide(const struct routing_facts *facts)
{
    struct route route = { 0 };

    route.interface = choose_interface(facts, &route.interface_unavailable);
    /* The settings alone, not what is built: people can still use the command line and REST. */
    route.has_channel = facts->portal_on || facts->terminal_on || facts->inbox_connected ||
                        facts->client_form_works;
    route.present_client = facts->client_form_works && (route.interface == INTERFACE_AUTO ||
                                                        route.interface == INTERFACE_CLIENT);
    route.wait_for_terminal = route.interface == INTERFACE_TERMINAL;
    route.silent_ms = route.present_client ? ROUTING_SILENT_MS : 0;
    route.open_browser = opens_browser(facts, &route);
    return route;
}

/* The three reasons to ask. */

enum { POLICY_PATHS_ALONE = 2 }; /* so many ways an agent may weigh by itself */

unsigned policy_reasons(const struct policy_situation *situation)
{
    return (situation->paths > POLICY_PATHS_ALONE ? POLICY_PATHS : 0U) |
           (situation->is_destructive ? POLICY_DESTRUCTIVE : 0U) |
           (situation->missing_count > 0 ? POLICY_MISSING : 0U);
}

const char *policy_reason_text(enum policy_reason reason)
{
    switch (reason) {
    case POLICY_PATHS:
        return "More than two approaches are viable: the user must choose.";
    case POLICY_DESTRUCTIVE:
        return "The action is destructive: the user must approve it first.";
    case POLICY_MISSING:
        return "Configuration is missing: ask the user; do not guess.";
    }
    return "";
}
