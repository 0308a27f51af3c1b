/*
 * validation.h - decides whether a call whose every argument is well-formed makes sense as a
 * whole. Pure. Every rule is one row in validation.c, elicit_rules.c or
 * ask_user_question.c; the first broken rule is reported. The form tells what was asked, the
 * arguments what was said: some rules are about saying it at all.
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

/* On false, `err` names the offending argument by JSON pointer so that the agent can repair its
 * call. `call` is what that tool built of `arguments`. */
typedef bool validation_check(const struct json *arguments, const struct ask_call *call,
                              struct error *err);
validation_check validation_check_choice, validation_check_questions,
    validation_check_elicit_choice;
validation_check validation_check_elicit_input, validation_check_elicit_confirm;
validation_check validation_check_elicit_number;

/* What the tables of rules share: validation.c has provide_choice's, elicit_rules.c those of
 * the elicit tools. */

struct subject {
    const struct ask_tool *tool;
    const struct json *arguments;
    const struct form *form;
    const struct field *field; /* NULL when collecting */
};

struct rule {
    unsigned calls; /* bits of its own table: which calls it is about */
    enum error_code code;
    const char *argument, *property; /* the culprit; a property of its item, or "" */
    bool (*holds)(const struct rule *rule, const struct subject *subject, struct error *err);
};

/* The culprit is the argument itself, not an item of it. */
#define RULE_WHOLE SIZE_MAX

/* Runs them all. */
bool validation_run(const struct rule *rules, size_t count, unsigned calls,
                    const struct subject *subject, struct error *err);
/* Always false; the path is the rule's argument, or its item's property. */
bool validation_refuse(const struct rule *rule, size_t item, struct error *err, enum text_id text,
                       ...);
bool validation_is_given(const struct subject *subject, const char *argument);
/* The rule's argument is given, with more than what counts anyway. */
bool validation_is_said(const struct rule *rule, const struct subject *subject);

/* Rules of every list of options. */
bool validation_ids_differ(const struct rule *rule, const struct subject *subject,
                           struct error *err);
bool validation_labels_differ(const struct rule *rule, const struct subject *subject,
                              struct error *err);

/* The answers of ask_user_question as agents get them, whichever front asked. */

/* Members answers and answer_list (R3.2). */
void questions_write_answers(struct json_writer *writer, const struct form *form,
                             const struct answer *answer);

#endif
