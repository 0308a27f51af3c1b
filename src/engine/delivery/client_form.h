/*
 * client_form.h - the agent's own client as a channel (R4.2, R4.3), asked within a call or by its
 * rounds.
 */
#ifndef ENGINE_DELIVERY_CLIENT_FORM_H
#define ENGINE_DELIVERY_CLIENT_FORM_H
#include "engine/state.h"

struct json;
struct submission;

/* client_form.c: the agent's own client as a channel (R4.2, R4.3) */
struct client_side client_read(const struct json *params);
/* To clients of this ask that can show it and do not; `form_json` NULL: only the store has it. */
void client_offer(struct engine *engine, struct live *live, const char *form_json);
bool client_shows(const struct live *live); /* one does, or is to bring it back */
/* An ask is over, or was taken back: who still shows it learns so, where the result does not say
 * it. Who showed it to the very end without a word shows it to nobody. */
void client_end(struct engine *engine, struct live *live, enum ask_event event);

/* What is known of a client's own forms. */
store_done form_fact_loaded; /* gets an errand, which ends */
bool form_fact_may_show(const struct engine *engine, const struct visit *visit,
                        const struct client_side *client);

/* With what it brought, to an ask that is alive. */
void round_resume(struct submission *submission, struct live *live);

#endif
