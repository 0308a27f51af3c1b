/*
 * client_process.h - which of the processes above a front is the agent's client (R12.1). Pure.
 * Whatever runs below the client is the agent's; what is above it is not.
 */
#ifndef CORE_CLIENT_PROCESS_H
#define CORE_CLIENT_PROCESS_H
#include <stdbool.h>

enum client_rank {
    CLIENT_FOUND, /* this is the client */
    CLIENT_ABOVE, /* a shell or a runner: look at its parent */
    CLIENT_NONE,  /* a person's terminal or a service: no client is above */
};

struct client_facts {
    const char *program; /* the executable */
    const char *title;   /* what it calls itself, the first word of it */
    const char *script;  /* its first argument that is not an option */
    bool leads_terminal; /* the first process of a terminal's session */
};
enum client_rank client_rank(const struct client_facts *process);

#endif
