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

struct client {
    const char *name, *alias; /* on the command line */
    const char *title;        /* as people know it */
    const struct config_format *format;
    const char *container; /* the member that holds the servers */

    const char *home_variable; /* that moves its directory; NULL: none */
    const char *home;          /* "~/…" or, below the configuration directory, "…" */
    const char *files[3];      /* the first that exists, else the first whose directory does */
    const char *project;       /* in the working directory; NULL: it has none */
    const char *project_too;   /* taken where it exists; NULL: none */

    const char *timeout_key; /* NULL: it has none */
    int64_t timeout_per_s;   /* 1000: it counts in milliseconds */
    int64_t patience_s;      /* of one call, as it comes; 0: not known */

    const char *local_type, *remote_type; /* NULL: it needs none */
    const char *url_key;                  /* NULL: no HTTP from this file */
    const char *token_key;                /* NULL: a header */
    const char *token_value;              /* refers to the variable MCP_SAYSO_TOKEN */
    const char *env_key;
    const char
        *trust_key;     /* in an entry whose tools run without permission; NULL: none, or rules */
    bool has_rules;     /* permission.h: they are kept apart from the entry */
    bool is_one_list;   /* program and arguments in one list */
    bool strips;        /* servers don't get the environment of the person's shell */
    const char *extras; /* more members, as JSON with a comma before it; NULL: none */
};

size_t client_count(void);
const struct client *client_at(size_t index);
const struct client *client_find(const char *name); /* NULL: none */
/* The file with its servers; it may not be there yet. */
bool client_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
                 struct error *err);

#endif
