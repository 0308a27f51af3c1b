/*
 * compat.h - tools of other servers under their own names and in their own shapes (R14.2): what
 * they were called with becomes the arguments of a tool of ours, and its result what they would
 * have returned. The ask in between is like any other. Offered only if the setting compat is on. A
 * tool is a row in compat.c, with its functions in a file next to it and in docs/compatibility.md.
 */
#ifndef MCP_COMPAT_COMPAT_H
#define MCP_COMPAT_COMPAT_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "core/outcome.h"

struct error;
struct json;
struct json_writer;

/* What our tool returned; the result is of the tool that was asked with. */
struct compat_outcome {
    enum ending ending;
    const struct json *result;
};
/* `text` is what the model reads; left empty, it is `structured`. */
struct compat_reply {
    struct text text, structured;
};

enum compat_act { COMPAT_AS_IT_IS, COMPAT_TRANSLATED, COMPAT_REFUSED };
struct compat {
    /* Writes the arguments, an object, of the tool that *ret_tool names. REFUSED: `err` says why.
     */
    enum compat_act (*translate)(const struct json *given, const char **ret_tool,
                                 struct json_writer *writer, struct error *err);
    void (*present)(const struct json *given, const struct compat_outcome *outcome,
                    struct compat_reply *reply);
};
/* Dismissed, declined, withdrawn, or not understood here. */
bool compat_is_refused(enum ending ending);
/* The first member that is a text with something in it; NULL: none. */
const char *compat_text(const struct json *given, const char *const *names);
/* A title of at most 200 characters. */
void compat_write_title(struct json_writer *writer, const char *title, const char *otherwise);
/* A prompt that is long enough to be shown, whatever they wrote. */
void compat_write_prompt(struct json_writer *writer, const char *prompt, const char *tool);
void compat_write_timeout(struct json_writer *writer, const struct json *given);
/* {VALUE_KEY: "1", LABEL_KEY: words} for each; so that any words may be an option. False: none. */
bool compat_write_options(struct json_writer *writer, const char *key, const struct json *options,
                          const char *value_key, const char *label_key);
/* The words of an option by the value that was chosen; NULL: no such. */
const char *compat_option(const struct json *options, const char *value);
/* What was written, with the note to the agent behind it; the caller frees. */
char *compat_written(const struct json *result);
/* While it is pending: what the person asks back and how to explain, or `how` to go on. */
void compat_write_back(struct json_writer *writer, const struct json *result, const char *how);
/* How it ended where nobody answered, for objects: pending, session_id, timeout … */
void compat_write_ending(struct json_writer *writer, const struct compat_outcome *outcome,
                         const char *tool);

extern const struct compat compat_provide_choice, compat_poll_selection,
    compat_interactive_feedback, compat_request_user_input, compat_get_user_input,
    compat_get_multiline_input, compat_get_user_choice, compat_show_confirmation_dialog;

#endif
