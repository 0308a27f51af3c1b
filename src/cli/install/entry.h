/* entry.h - what stands in a client's configuration for us, as JSON whatever its format: the entry
 * of a server, a hook, and a rule of permission. */
#ifndef CLI_INSTALL_ENTRY_H
#define CLI_INSTALL_ENTRY_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/install/clients.h"
#include "cli/install/config_text.h"

struct entry_options {
    const char *program; /* absolute path */
    const char *as_name; /* NULL: none */
    const char *tools;   /* "" or NULL: the setting says */
    int port;            /* 0: on standard input and output; else over HTTP */
    bool needs_token;
    bool is_trusted; /* its tools run without permission, where the entry says so */
    /* One that stands there: its program, arguments, environment and address are taken. */
    const struct json *like;
};
struct json *entry_make(const struct client *client, const struct entry_options *options);

/* What our program needs of this environment where a client would not hand it on: {name: value}. */
struct json *entry_environment(void);

/* True for one that starts a sayso, or that leads to this machine's /mcp. */
bool entry_is_ours(const struct client *client, const struct json *entry);
/* The program it starts; NULL: it goes over HTTP. */
const char *entry_program(const struct client *client, const struct json *entry);
int entry_port(const struct client *client, const struct json *entry); /* 0: not over HTTP */
int64_t entry_timeout_s(const struct client *client, const struct json *entry); /* -1: none */

/* Puts the entry into a text that was checked: a new one whole, into an old one what differs. What
 * we don't know stays as it is. False: this can't be done, err says why. */
bool entry_put(const struct client *client, const char *name, const struct json *entry,
               struct text *text, struct error *err);
struct json *entry_find(const struct client *client, const char *name, const struct text *text);
bool entry_drop(const struct client *client, const char *name, struct text *text,
                struct error *err);

/* The hooks that run `sayso gate` before an agent's tools (docs/gate.md), or `sayso prompts` where
 * the client asks its user (docs/prompts.md): an item of a list for each event, in the client's own
 * configuration, if its row has them. */

enum hook_use { HOOK_GATE, HOOK_PROMPTS };
enum { HOOK_TIMEOUT_S = 600, HOOK_MARGIN_S = 30 /* ours is over so much earlier */ };

bool hook_is_known(const struct client *client, enum hook_use use);
bool hook_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
               struct error *err);
/* NULL behind the last. */
const struct hook_event *hook_event_at(const struct client *client, enum hook_use use,
                                       size_t index);
/* Where ours of this event is, or goes: it alone, not one that runs other commands too. */
struct config_list hook_list(const struct client *client, enum hook_use use, size_t index);

/* The items by event; `like` are those that stand there, whose commands are taken, or NULL. */
struct json *hooks_make(const struct client *client, enum hook_use use, const char *program,
                        const struct json *like);
struct json *hooks_find(const struct client *client, enum hook_use use, const struct text *text);
/* Adds or replaces them. False: this can't be done, err says why. */
bool hooks_put(const struct client *client, enum hook_use use, const struct json *hooks,
               struct text *text, struct error *err);
bool hooks_drop(const struct client *client, enum hook_use use, struct text *text,
                struct error *err);
/* The program that an item of ours runs; "": that can't be told. The caller frees. */
char *hook_program(const struct client *client, enum hook_use use, const struct json *item);

/* The rule that lets a client run our server's tools, and no others, without asking: where rules
 * are apart from the entries (code.claude.com/docs/en/permissions). */

/* The caller frees. NULL: no rules, or a name whose rule would be about another server's tool. */
char *permission_rule(const struct client *client, const char *server);
/* Where it is, or goes, in the file of the client's hooks; borrows it. */
struct config_list permission_list(const char *rule);
struct json *permission_make(const char *rule); /* the item of that list */
/* Whether a rule allows all tools of the server, and none denies them or makes the client ask. */
bool permission_is_given(const struct text *settings, const char *rule);

#endif
