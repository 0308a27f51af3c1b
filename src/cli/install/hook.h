/*
 * hook.h - the hook that runs `sayso gate` before an agent's tools, in the client's own
 * configuration: one item of a list, among others that stay as they are (docs/gate.md).
 */
#ifndef CLI_INSTALL_HOOK_H
#define CLI_INSTALL_HOOK_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/install/clients.h"
#include "cli/install/config_text.h"

struct error;
struct json;
struct text;

struct hook {
    const char *client; /* its name in clients.c, and of --client */
    const struct config_format *format;
    const char *home_variable, *home, *file; /* as in struct client */
    const char *project;
    const char *event;   /* below "hooks" */
    const char *matcher; /* every tool; NULL: it has none, and an item is the command itself */
    const char *command_key, *timeout_key;
    int64_t timeout_per_s; /* 1000: it counts in milliseconds */
    bool has_version;      /* a member "version" that must be 1 */
    bool needs_trust;      /* runs only after the person looked at it in the client */
};
enum { HOOK_TIMEOUT_S = 600, HOOK_WAIT_S = 570 };

const struct hook *hook_find(const struct client *client); /* NULL: none is known */
bool hook_file(const struct hook *hook, bool is_project, char out[CLIENT_PATH_BYTES],
               struct error *err);

/* The item; `like` is one that stands there, whose command is taken, or NULL. */
struct json *hook_make(const struct hook *hook, const struct client *client, const char *program,
                       const struct json *like);
/* Where ours is, or goes: it alone, not one that runs other commands too. */
struct config_list hook_list(const struct hook *hook);
/* The program whose gate it runs; "": that can't be told. The caller frees. */
char *hook_program(const struct hook *hook, const struct json *item);
/* Adds or replaces it. False: this can't be done, err says why. */
bool hook_put(const struct hook *hook, const struct json *item, struct text *text,
              struct error *err);

#endif
