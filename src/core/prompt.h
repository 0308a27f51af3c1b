/*
 * prompt.h - what an agent's client asks its user by itself, as an ask of ours and back (R15): a
 * permission, questions, another server's form, what to do next. Pure. Only what a person decided,
 * or a rule of theirs, becomes a decision; from all else follows none.
 */
#ifndef CORE_PROMPT_H
#define CORE_PROMPT_H
#include <stdbool.h>
#include <stdint.h>

#include "base/json_writer.h"

/* Where the client asks by itself: it has no window, it waits for us, or it has asked already. */
enum prompt_dialog { DIALOG_NONE, DIALOG_LATER, DIALOG_OPEN };
enum prompt_kind { PROMPT_PERMISSION, PROMPT_QUESTIONS, PROMPT_FORM, PROMPT_NEXT };

/* Everything is borrowed; texts may be NULL unless it says otherwise. */
struct prompt {
    enum prompt_kind kind;
    const char *client; /* as people know it; never NULL */
    const char *session;
    const char *event, *tool;       /* of the client; never NULL of a permission */
    const struct json *input;       /* what the tool is called with, or the form's schema */
    const struct json *suggestions; /* what "always" would mean */
    const char *message;            /* of a form, or the agent's last one */
    const char *server;             /* of a form */
    const char *digest;             /* of tool and input: equal ones, equal asks; never NULL */
    const char *key;                /* of this call alone; never NULL */
    enum prompt_dialog dialog;      /* its own */
    bool is_destructive;            /* as the gate has it */
    int64_t wait_s;
};

/* NULL, or why there is nothing to ask; the members up to `server` are filled in. */
const char *prompt_read(const struct json *hook, struct prompt *prompt);
/* The same of a call of a permission tool (--permission-prompt-tool): {tool_name, input}. */
const char *prompt_read_call(const struct json *given, struct prompt *prompt);
/* What `digest` is made of: equal texts, equal asks. */
void prompt_write_identity(const struct prompt *prompt, struct text *out);
/* The arguments of an ask, into an object that is open; returns the name of its tool. NULL: what it
 * is about can't be shown whole, and nothing was written. */
const char *prompt_write_arguments(const struct prompt *prompt, struct json_writer *writer);
/* The client's own words for what came of that ask, into an object that is open. False: no one
 * decided, and nothing was written. */
bool prompt_write_decision(const struct prompt *prompt, const struct json *result,
                           struct json_writer *writer);
/* The same as a permission tool returns it (--permission-prompt-tool): there it must say no. */
void prompt_write_permission(const struct prompt *prompt, const struct json *result,
                             struct json_writer *writer);

/* Members of what a tool is called with, each whole in a block of its own. `but_for` NULL: all. */
void prompt_add_input(struct text *out, const struct json *input, const char *const *but_for,
                      size_t count);

#endif
