/*
 * form.h - the words above a form's fields: the title unless the field has it, the prompt,
 * or each of several questions on a line of its own; cut for a client that would cut them, with
 * where the rest is.
 */
#ifndef MCP_FORM_H
#define MCP_FORM_H
#include <stdbool.h>
#include <stddef.h>

#include "core/visible_text.h"
#include "i18n/i18n.h"

struct form;
struct known_client;
struct text;

/* After what `out` has. Of a client that cuts: as many lines as it shows, none of them blank.
 * `is_cut`: there is more than the message has. `place`: where a person finds all of it, an address
 * or a command. */
void form_message_add(const struct form *form, const struct known_client *client,
                      enum language language, bool is_cut, const char *place, struct text *out);

/* As much of a text as fits, made harmless to show and cut between characters. */
void form_add_shown(struct text *out, const char *text, enum visible_lines lines, size_t chars);

#endif
