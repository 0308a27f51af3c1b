/*
 * client.h - the agent's own client as a channel (R4.2, R4.3), asked within a call or by its
 * rounds.
 */
#ifndef ENGINE_CLIENT_H
#define ENGINE_CLIENT_H
#include "engine/inside.h"

struct json;
struct json_writer;
struct submission;

/* client.c: the agent's own client as a channel (R4.2, R4.3) */
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

/* Calls that come back with what their client was asked for (MCP 2026-07-28). */
void round_ask(struct engine *engine, struct waiter *waiter, const char *form_json);
/* Once more, because what came was no answer. `lacks`: an unfinished one, and what is missing;
 * else NULL, and only modern clients are asked. False: it was asked often enough. */
bool round_ask_again(struct engine *engine, struct live *live, const struct visit *visit,
                     const struct error *lacks);
/* With what it brought, to an ask that is alive. */
void round_resume(struct submission *submission, struct live *live);

#endif
