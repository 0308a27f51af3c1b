/*
 * validation_inside.h - what the tables of rules share: validation.c has provide_choice's,
 * validation_elicit.c those of the elicit tools.
 */
#ifndef CORE_VALIDATION_INSIDE_H
#define CORE_VALIDATION_INSIDE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "i18n/i18n.h"

struct ask_tool;
struct field;
struct form;
struct json;

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

#endif
