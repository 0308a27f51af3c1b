/* rule_case.h - an ask out of the store, as far as answers that stand look at it. */
#ifndef ENGINE_RULE_CASE_H
#define ENGINE_RULE_CASE_H
#include "engine/rules.h"

enum { RULES_LOOKED_AT = 500 }; /* of the newest asks, for what was answered before */

struct rule_case {
    struct form form;
    struct json *origin;
    struct rule_subject subject;
};

/* False: it holds no form that is known; nothing is to be ended then. */
bool rule_case_begin(struct rule_case *read, const struct store_row *row);
void rule_case_end(struct rule_case *read);
/* The members that say for which asks, and what is answered. */
void rule_case_write(const struct rule_case *read, const struct store_row *row, bool any_prompt,
                     struct json_writer *writer);
/* What may be shown of them: of a case that was read, and of one that was written before. */
void rule_case_write_shown(const struct rule_case *read, const struct store_row *row,
                           struct json_writer *writer);
void rule_facts_write_shown(const char *facts_json, struct json_writer *writer);

#endif
