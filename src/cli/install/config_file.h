/*
 * config_file.h - a client's configuration file: read with care, replaced as a whole, with what
 * was there before kept beside it. Readers see the old file or the new one.
 */
#ifndef CLI_INSTALL_CONFIG_FILE_H
#define CLI_INSTALL_CONFIG_FILE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct error;

struct config_file {
    char *path;   /* owned; behind symbolic links */
    char *backup; /* owned; its name */
    struct text bytes;
    bool is_there, is_project;
    unsigned mode; /* of one that is there */
    int64_t group;
};

/* One that is not there is fine. Refused: what is no file, belongs to another user, or is reached
 * through a link into a directory that others may write in. */
bool config_file_read(const char *path, bool is_project, struct config_file *ret_file,
                      struct error *err);
void config_file_release(struct config_file *file);
/* What is kept is FILE.before-sayso-KIND instead: the same file may be changed twice, for two
 * reasons that are undone one by one. */
void config_file_name_backup(struct config_file *file, const char *kind);
/* False, and no error: there is no backup. */
bool config_file_read_backup(const struct config_file *file, struct text *out);

/* Locks the directory of the file against other runs, creates it if missing, and removes what a
 * killed run left there. `held`: a lock of this process, -1 for none; its directory isn't locked
 * twice. close() releases it. Returns -1 with `err`. */
int config_file_lock(const struct config_file *file, int held, struct error *err);
/* Keeps the file as it is now, although it doesn't change. */
bool config_file_back_up(const struct config_file *file, struct error *err);
/* Removes a backup that equals the file: a run was killed after restoring it. Needs the lock. */
void config_file_drop_same_backup(const struct config_file *file);
/* Replaces it; `keeps_backup`: the one that is there is of the first time and stays. */
bool config_file_write(const struct config_file *file, const struct text *bytes, bool keeps_backup,
                       struct error *err);
/* As it was before us: the backup goes. `bytes` NULL: it was not there. */
bool config_file_restore(const struct config_file *file, const struct text *bytes,
                         struct error *err);

#endif
