/*
 * permission.h - the rule that lets a client run the tools of our server, and of no other, without
 * asking for permission, for clients that keep such rules apart from the servers' entries.
 * Source: code.claude.com/docs/en/permissions
 */
#ifndef CLI_INSTALL_PERMISSION_H
#define CLI_INSTALL_PERMISSION_H
#include <stdbool.h>

#include "cli/install/clients.h"
#include "cli/install/config_text.h"

/* The caller frees. NULL for a client without rules, and for a name whose rule would be about a
 * tool of another server. */
char *permission_rule(const struct client *client, const char *server);
bool permission_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
                     struct error *err);
struct config_list permission_list(const char *rule); /* where it is, or goes; borrows it */
struct json *permission_make(const char *rule);       /* the item of that list */
/* Whether a rule allows all tools of the server, and none denies them or makes the client ask. */
bool permission_is_given(const struct text *settings, const char *rule);

#endif
