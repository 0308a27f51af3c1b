/*
 * current_settings.h - the host's settings as they are now, for a process that shares the file with
 * others: read again when it is another one or there is none, so a change takes effect
 * immediately. The file is checked once per turn of the loop, not for each call of that turn.
 */
#ifndef MCP_STDIO_CURRENT_SETTINGS_H
#define MCP_STDIO_CURRENT_SETTINGS_H
#include <stdbool.h>
#include <sys/stat.h>

struct settings;

/* Zeroed: nothing was read yet. */
struct current_settings {
    struct settings *settings; /* owned */
    char *path;                /* owned; NULL: there is no place for a file */
    bool is_seen;              /* in this turn */
    struct stat file;          /* the one that was read; zeroed: none */
};
const struct settings *current_settings(struct current_settings *current);
void current_settings_end_turn(struct current_settings *current);
void current_settings_release(struct current_settings *current);

#endif
