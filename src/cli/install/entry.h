/* entry.h - what stands in a client's configuration for us, as JSON whatever its format. */
#ifndef CLI_INSTALL_ENTRY_H
#define CLI_INSTALL_ENTRY_H
#include <stdbool.h>
#include <stdint.h>

struct client;
struct error;
struct json;
struct text;

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

#endif
