/* hook.h - what clients keep beside a server's entry: hooks, and rules of permission. */
#ifndef CLI_INSTALL_HOOK_H
#define CLI_INSTALL_HOOK_H
#include <stdbool.h>

#include "cli/install/clients.h"
#include "cli/install/config_text.h"

/* The hook that runs `sayso gate` before an agent's tools, in the client's own configuration: one
 * item of a list, among others that stay as they are (docs/gate.md). For clients whose row in
 * clients.c has one. */

enum { HOOK_TIMEOUT_S = 600, HOOK_WAIT_S = 570 };

bool hook_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
               struct error *err);

/* The item; `like` is one that stands there, whose command is taken, or NULL. */
struct json *hook_make(const struct client *client, const char *program, const struct json *like);
/* Where ours is, or goes: it alone, not one that runs other commands too. */
struct config_list hook_list(const struct client *client);
/* The program whose gate it runs; "": that can't be told. The caller frees. */
char *hook_program(const struct client *client, const struct json *item);
/* Adds or replaces it. False: this can't be done, err says why. */
bool hook_put(const struct client *client, const struct json *item, struct text *text,
              struct error *err);

/* The rule that lets a client run the tools of our server, and of no other, without asking for
 * permission, for clients that keep such rules apart from the servers' entries. Source:
 * code.claude.com/docs/en/permissions */

/* The caller frees. NULL for a client without rules, and for a name whose rule would be about a
 * tool of another server. */
char *permission_rule(const struct client *client, const char *server);
/* Where it is, or goes, in the file of the client's hooks; borrows it. */
struct config_list permission_list(const char *rule);
struct json *permission_make(const char *rule); /* the item of that list */
/* Whether a rule allows all tools of the server, and none denies them or makes the client ask. */
bool permission_is_given(const struct text *settings, const char *rule);

#endif
