/* plan.h - one run of `sayso install`: install.c asks, writes and tells; plan.c makes the text. */
#ifndef CLI_INSTALL_PLAN_H
#define CLI_INSTALL_PLAN_H
#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "i18n/i18n.h"

struct arguments;

/* One file, and what of ours is in it. */
struct change {
    const struct config_format *format;
    struct config_list list; /* where ours is in a list, as hooks and rules are; else no format */
    const char *name;        /* of what is ours, for people */
    struct config_file file;
    struct text after;
    bool keeps_backup, is_restored, is_file_removed;
    bool is_theirs;  /* a rule that was there before us: a backup that has it says so */
    const char *act; /* what became of it, for --json */
    int lock;        /* -1: none */
};

enum { JOB_MAX_CHANGES = 2 };
struct job {
    const struct arguments *arguments;
    const struct client *client;
    const char *name; /* of the entry */
    char *rule;       /* owned; NULL: none for this client, or none is wanted */
    bool is_gate;     /* it is about a hook, else about the entry of an MCP server */
    bool is_undo, is_print, is_yes, is_project;
    struct entry_options entry;
    char program[CLIENT_PATH_BYTES];
    char tools[1024]; /* as typed */
    struct change changes[JOB_MAX_CHANGES];
    size_t change_count;
};

/* plan.c: fills `after` and `act` of a change. False: said why not. */
bool job_plan_install(struct job *job, struct change *change);
bool job_plan_undo(struct job *job, struct change *change);
bool job_has_change(const struct change *change);

/* install.c */
bool job_fail(const struct job *job, const struct error *err); /* false */
/* A sentence for people, an error for scripts; false. */
bool job_refuse(const struct job *job, const struct change *change, enum error_code code,
                enum text_id id, const char *more);

#endif
