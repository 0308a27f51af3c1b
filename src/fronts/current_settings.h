/*
 * current_settings.h - the host's settings as they are now, for a process that shares the file with
 * others: read anew when it is another one, so a change counts at once. The file is looked at once
 * a turn of the loop, not for each of the calls that one turn brings.
 */
#ifndef FRONTS_CURRENT_SETTINGS_H
#define FRONTS_CURRENT_SETTINGS_H
#include <stdbool.h>
#include <sys/stat.h>

struct settings;

/* Zeroed: nothing was read yet. */
struct current_settings {
    struct settings *settings; /* owned */
    char *path;                /* owned; NULL: there is no place for a file */
    bool has_file;
    bool is_seen;     /* in this turn */
    struct stat file; /* the one that was read */
};
const struct settings *current_settings(struct current_settings *current);
void current_settings_end_turn(struct current_settings *current);
void current_settings_release(struct current_settings *current);

#endif
