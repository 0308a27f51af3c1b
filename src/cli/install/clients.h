/*
 * clients.h - the programs that `sayso install` knows: where each keeps its MCP servers and how an
 * entry looks there. To add one: a row in clients.c, one in docs/connect.md.
 */
#ifndef CLI_INSTALL_CLIENTS_H
#define CLI_INSTALL_CLIENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_format;
struct error;

enum { CLIENT_PATH_BYTES = 4096, CLIENT_TIMEOUT_S = 3600 };

/* A member that says how long it waits. */
struct config_time {
    const char *key;
    int64_t per_s; /* 1000: it counts in milliseconds */
};

/* An event at which a hook runs, and how long the client then waits for it. */
struct hook_event {
    const char *name; /* below "hooks"; NULL: none */
    int64_t timeout_s;
};
enum { HOOK_EVENTS = 3 };

/* What runs before its tools, and when it asks its user; entry.h. */
struct hook {
    struct {
        const struct config_format *format;
        const char *event;
        const char *matcher; /* every tool; NULL: it has none, and an item is the command itself */
        const char *command_key;
    };
    struct {
        const char *home;    /* as of the client; NULL: the same */
        const char *file;    /* NULL: no hook is known */
        const char *project; /* in the working directory */
    };
    struct config_time timeout;
    struct hook_event prompts[HOOK_EVENTS]; /* at which it asks; the first has no name: none */
    bool has_version;                       /* a member "version" that must be 1 */
    bool needs_trust; /* runs only after the person looked at it in the client */
};

struct client {
    struct {
        const char *name, *alias; /* on the command line */
        const char *title;        /* as people know it */
    };
    struct {
        const struct config_format *format;
        const char *container; /* the member that holds the servers */
        const char *env_key;
    };
    struct {
        const char *home;          /* "~/…" or, below the configuration directory, "…" */
        const char *home_variable; /* that moves its directory; NULL: none */
    };
    const char *files[3];       /* the first that exists, else the first whose directory does */
    const char *project;        /* in the working directory; NULL: it has none */
    const char *project_too;    /* taken where it exists; NULL: none */
    struct config_time timeout; /* no key: it has none */
    struct {
        const char *local, *remote;
    } types; /* NULL: it needs none */
    struct {
        const char *key;         /* NULL: no HTTP from this file */
        const char *token_key;   /* NULL: a header */
        const char *token_value; /* refers to the variable MCP_SAYSO_TOKEN */
    } url;
    const char
        *trust_key;     /* in an entry whose tools run without permission; NULL: none, or rules */
    bool has_rules;     /* entry.h: they are kept apart from the entry */
    bool is_one_list;   /* program and arguments in one list */
    bool strips;        /* servers don't get the environment of the person's shell */
    const char *extras; /* more members, as JSON with a comma before it; NULL: none */
    struct hook hook;
};

size_t client_count(void);
const struct client *client_at(size_t index);
const struct client *client_find(const char *name); /* NULL: none */
/* `home` of a row as a path. False: there is no home directory. */
bool client_home(const struct client *client, const char *home, char out[CLIENT_PATH_BYTES]);
/* The file with its servers; it may not be there yet. */
bool client_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
                 struct error *err);

#endif
