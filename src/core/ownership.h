/* ownership.h - whose a process is, and whose the machine is (R12.1, R12.2). Pure. */
#ifndef CORE_OWNERSHIP_H
#define CORE_OWNERSHIP_H
#include <stdbool.h>
#include <stdint.h>

/* Which process above a front is the agent's client (R12.1): what runs below it is the agent's. */

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

/* Whether a machine has one human user, by its account files (R12.2). In doubt it has not. */

/* As text, each as it lies in /etc. */
struct account_files {
    const char *login_defs, *nsswitch, *passwd;
};
/* True: the only account with a login shell in UID_MIN to UID_MAX is theirs, and none is remote. */
bool sole_user_is(const struct account_files *files, int64_t uid);

#endif
