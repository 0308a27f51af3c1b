/* rules.h - answers that stand. */
#ifndef ENGINE_PEOPLE_RULES_H
#define ENGINE_PEOPLE_RULES_H
#include "core/rule.h"
#include "engine/state.h"

void rules_load(struct engine *engine);
void rules_reload(struct engine *engine); /* others made or revoked some */
void rules_release(struct engine *engine);
/* The id of the one for asks like this; NULL: there is none. */
const char *rules_match(const struct engine *engine, const struct rule_subject *subject);
/* False: it is gone, or does not fit any more. True: it is on its way to the store, and if it comes
 * to nothing the ask is shown. */
bool rules_apply(struct engine *engine, struct live *live, const char *id);

#endif
