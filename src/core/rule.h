/*
 * rule.h - which asks are of one kind, so that a person may let an answer stand for all of them.
 * Pure. A kind is a text: equal texts, one kind. What an agent may vary from case to case without
 * making it another question is the prompt alone, and only where the title says what it is about.
 */
#ifndef CORE_RULE_H
#define CORE_RULE_H
#include <stdbool.h>

#include "core/fields/form.h"

struct rule_subject {
    const char *principal; /* whose asks */
    const char *directory; /* in which project; NULL: none is known */
    const char *tool;
    const struct form *form;
};

/* `any_prompt`: whatever the prompt says. */
void rule_write_kind(const struct rule_subject *subject, bool any_prompt, struct text *out);
/* False: what is wrong with letting an answer stand for asks like this. */
bool rule_check(const struct rule_subject *subject, bool any_prompt, struct error *err);

#endif
