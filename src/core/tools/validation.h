/*
 * validation.h - decides whether a call whose every argument is well-formed makes sense as a
 * whole. Pure. Every rule is a row of its tool's; all that are broken are reported. The form tells
 * what was asked, the arguments what was said: some rules are about saying it at all.
 */
#ifndef CORE_TOOLS_VALIDATION_H
#define CORE_TOOLS_VALIDATION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "i18n/i18n.h"

struct answer;
struct ask_call;
struct ask_tool;
struct field;
struct form;

/* What a rule looks at. */
struct subject {
    const struct ask_tool *tool;
    const struct json *arguments;
    const struct form *form;
    const struct field *field; /* the first; NULL when collecting */
    const struct rule *rule;   /* the one that looks */
    struct error *err;
};

struct rule {
    unsigned calls; /* bits of its tool's own: which calls it is about */
    enum error_code code;
    const char *argument, *property; /* the culprit; a property of its item, or "" */
    bool (*holds)(const struct subject *subject);
};

/* `call` is what the tool built of `arguments`. On false, `err` points at the wrong ones. */
bool validation_check(const struct ask_tool *tool, const struct json *arguments,
                      const struct ask_call *call, struct error *err);

/* The culprit is the argument itself, not an item of it. */
#define RULE_WHOLE SIZE_MAX

/* Always false; the path is the rule's argument, or its item's property. */
bool validation_refuse(const struct subject *subject, size_t item, enum text_id text, ...);
bool validation_is_given(const struct subject *subject, const char *argument);
/* It is given, with more than what counts anyway. */
bool validation_is_said(const struct subject *subject, const char *argument);

/* Rules of every list of options. */
bool validation_ids_differ(const struct subject *subject);
bool validation_labels_differ(const struct subject *subject);

/* The answers of ask_user_question as agents get them, whichever front asked. */

/* Members answers and answer_list (R3.2). */
void questions_write_answers(struct json_writer *writer, const struct form *form,
                             const struct answer *answer);

#endif
