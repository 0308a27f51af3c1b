/* rules.h - answers that stand, for rules.c (in force, applied) and rule_methods.c (what people do,
 * and which might). */
#ifndef ENGINE_PEOPLE_RULES_H
#define ENGINE_PEOPLE_RULES_H
#include "core/rule.h"
#include "engine/state.h"

struct rule {
    struct rule *next;
    char id[ASK_ID_BYTES];
    uint8_t kind[HASH_BYTES];
    char *facts_json, *answer_json, *actor_json; /* owned */
    int64_t created_ms, expires_ms;
};

void rules_keep(struct engine *engine, const struct store_rule *stored);
void rules_drop(struct engine *engine, const char *id); /* fine if there is none */
void rules_tell(const struct engine *engine);           /* who watches: they are others now */
bool rule_is_in_force(const struct engine *engine, const struct rule *rule);
void rule_hash_kind(const struct rule_subject *subject, bool any_prompt, uint8_t out[HASH_BYTES]);
const struct rule *rules_of_kind(const struct engine *engine, const uint8_t kind[HASH_BYTES]);

void rules_load(struct engine *engine);
void rules_reload(struct engine *engine); /* others made or revoked some */
void rules_release(struct engine *engine);
/* The id of the one for asks like this; NULL: there is none. */
const char *rules_match(const struct engine *engine, const struct rule_subject *subject);
/* False: it is gone, or does not fit any more. True: it is on its way to the store, and if it comes
 * to nothing the ask is shown. */
bool rules_apply(struct engine *engine, struct live *live, const char *id);

/* An ask out of the store, as far as answers that stand look at it. */
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
