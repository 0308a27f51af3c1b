/*
 * job.h - one run of `sayso install`, handed through its parts: install.c asks and writes, plan.c
 * says what the file becomes, tell.c what a person or a script hears.
 */
#ifndef CLI_INSTALL_JOB_H
#define CLI_INSTALL_JOB_H
#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/install/clients.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "cli/install/hook.h"
#include "i18n/i18n.h"

struct arguments;
struct settings;

struct job {
    const struct arguments *arguments;
    const struct client *client;
    const struct hook *hook; /* NULL: it is about the entry of an MCP server */
    const struct config_format *format;
    const char *name; /* of the entry */
    bool is_undo, is_print, is_yes, is_project;
    struct entry_options entry;
    char program[CLIENT_PATH_BYTES];
    char tools[1024]; /* as typed */
    struct config_file file;
    struct text after;
    bool keeps_backup, is_restored, is_file_removed;
    const char *act; /* what became of it, for --json */
};

/* plan.c: fills `after` and `act`. False: said why not. */
bool job_plan_install(struct job *job);
bool job_plan_undo(struct job *job);
bool job_has_change(const struct job *job);

/* tell.c */
bool job_fail(const struct job *job, const struct error *err); /* false */
/* A sentence for people, an error for scripts; false. */
bool job_refuse(const struct job *job, enum error_code code, enum text_id id, const char *more);
void job_print_json(const struct job *job, const char *diff);
/* Which time-out was set and why; what sayso does in any case. */
void job_tell_times(const struct job *job);
void job_tell_done(const struct job *job);
struct settings *
job_load_settings(void); /* as far as no hub is needed for them; the caller frees */

#endif
