/*
 * routing.h - where an ask is announced (R2.6). A person who may answer can do so on any channel.
 */
#ifndef CORE_ROUTING_H
#define CORE_ROUTING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stored as numbers: append only. */
enum ask_interface {
    INTERFACE_NONE, /* none was named */
    INTERFACE_AUTO,
    INTERFACE_WEB,
    INTERFACE_TERMINAL,
    INTERFACE_CLIENT,
    INTERFACE_COUNT,
};

enum { ROUTING_SILENT_MS = 15000 }; /* what a client's form gets before others make a noise */

/* What is true at the moment of routing; the engine collects it. */
struct routing_facts {
    enum ask_interface asked;          /* the agent's explicit choice, or INTERFACE_NONE */
    enum ask_interface saved;          /* the person's saved choice, or INTERFACE_NONE */
    bool portal_on, terminal_on;       /* host settings */
    bool portal_built, terminal_built; /* false until the channel exists in this build */
    bool client_form_works;            /* the calling client can show a form */
    bool page_connected, inbox_connected;
    int64_t since_browser_ms; /* since we last opened a browser; -1: never */
};

struct route {
    enum ask_interface interface; /* in force, what results report */
    bool has_channel;             /* false: no_human_channel */
    bool present_client;
    bool wait_for_terminal; /* starts in pending_terminal_launch */
    bool open_browser;
    int64_t silent_ms;          /* others do not notify for this long */
    bool interface_unavailable; /* warning: the named channel is not built yet */
};

struct route routing_decide(const struct routing_facts *facts);
extern const char *const interface_choices[];             /* what an agent may name, NULL-ended */
const char *interface_name(enum ask_interface interface); /* "auto"; "" for NONE */
enum ask_interface interface_find(const char *name);      /* INTERFACE_NONE if unknown */

/* When an agent must ask (R11.2). Pure. */

struct policy_situation {
    int64_t paths; /* viable ways the agent sees */
    bool is_destructive;
    size_t missing_count; /* names of missing configuration */
};
enum policy_reason { POLICY_PATHS = 1, POLICY_DESTRUCTIVE = 2, POLICY_MISSING = 4 };

/* A set of policy_reason; empty: the agent may go on by itself. */
unsigned policy_reasons(const struct policy_situation *situation);
const char *policy_reason_text(enum policy_reason reason); /* for agents, English */

#endif
