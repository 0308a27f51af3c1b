/* delivery.h - calls that wait for a person, and results on their way to the agent. */
#ifndef ENGINE_DELIVERY_DELIVERY_H
#define ENGINE_DELIVERY_DELIVERY_H
#include "engine/state.h"

struct submission;

/* wait.c: parked calls */
void wait_on_alarm(struct engine *engine, struct alarm *alarm);
struct wait_terms {
    int64_t wait_ms;   /* -1: until it is over */
    bool resumes;      /* the client is not shown that it is pending */
    bool is_retried;   /* by state: what was delivered before is marked as replayed */
    bool wants_launch; /* a fresh command to open it in a terminal, if it is open */
    struct client_side client;
    struct round_trip round_trip; /* where it is retried */
};
void wait_add(struct method_call call, struct active_ask *active, const struct wait_terms *terms);
/* All who wait for this ask wait for that one instead. */
void wait_move(struct engine *engine, struct active_ask *active, const char *id);
/* Its client shows the form and will call again: told so, and then it stands for that client. */
void wait_turn_silent(struct engine *engine, struct waiter *waiter, const char *json);
void wait_end_silent(struct engine *engine, struct active_ask *active,
                     const struct session *session);
/* Only those of this session; the ask stays as it is. */
void wait_fail_session(struct engine *engine, struct active_ask *active,
                       const struct session *session, const struct error *err);
void wait_fail(struct engine *engine, struct active_ask *active, const struct error *err);
/* Its creation is on disk: waits whose time was up before may end now. */
void wait_stored(struct engine *engine, struct active_ask *active);
/* All who wait get this reply, which is not the end of the ask. False: no call was told. */
bool wait_tell_open(struct engine *engine, struct active_ask *active, const struct reply *reply);
/* How patient its client is became known: those of its waits that would be too long end sooner. */
void wait_bound_session(struct engine *engine, struct session *session);
void wait_drop_session(struct engine *engine, struct session *session);
/* without a word to the store */
void wait_forget_session(struct engine *engine, struct session *session);
/* How long the person still has; who asks knows from ask/created. `session` NULL: all who wait. */
void wait_tell_time(const struct engine *engine, const struct active_ask *active,
                    struct session *session);

/* Ends every wait of this ask, which is over, and the ask. `change` is the decision that was just
 * committed; NULL: the store knows how it ended. `known` may be NULL. */
void wait_finish(struct engine *engine, struct active_ask *active,
                 const struct store_change *change, const struct known *known);

/* For who comes for an ask that was asked before, and may be over; `id` is whole. */
void wait_begin(struct method_call call, const char *id, const struct wait_terms *terms);
void wait_reply_row(const struct operation *operation, const struct store_row *row,
                    bool is_replayed);

/* engine/cluster/follow.c: the mark that no agent waits */
void detached_save(struct engine *engine, struct active_ask *active, bool is_detached);

/* delivery.c: results that the agent has */
void delivery_init(struct engine *engine);
void delivery_release(struct engine *engine);
/* Its delivery is on the way to the store: no other call gets it. */
bool wait_is_delivering(const struct engine *engine, const char *id);

/* Which answers the agents have not confirmed. */
void undelivered_add(struct engine *engine, const char *id, const char *principal,
                     const uint8_t call_match[MATCH_BYTES]);
/* False: it was not among them. */
bool undelivered_remove(struct engine *engine, const char *id, const char *principal);
/* One of this very call is among them. */
bool undelivered_knows(const struct engine *engine, const uint8_t call_match[MATCH_BYTES]);
/* False: the store has none for this call. */
bool undelivered_may_match(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                           bool has_key);

/* Results the agent's side was given and has not confirmed. */
bool in_flight_has(const struct engine *engine, const char *id);
/* False: this agent does not have it. */
bool in_flight_confirm(struct engine *engine, const char *principal, const char *id);
void in_flight_return(struct engine *engine, struct session *session, const char *id);
void in_flight_return_all(struct engine *engine, struct session *session);

/* Late answers. */
void notices_mark(struct engine *engine, struct principal *principal); /* it has a new one */
void notices_repeat(struct session *session); /* what it was told may not have arrived */
/* The agent has what went along with the results of these asks. */
void notices_heard(struct engine *engine, struct session *session, const struct json *with);
/* Hands a result over, with what else there is to tell this session, unless it is gone. */
void notices_reply(struct method_call call, const struct reply *reply);

/* hold.c: how long a client lets its calls be held */
store_done client_timeout_loaded; /* gets an operation, which ends */
int64_t client_timeout_bound_ms(struct session *session, int64_t wait_ms); /* -1: no end */
/* Everything that was learned; `done` gets the operation. */
void client_timeout_forget(struct engine *engine, store_done *done, struct operation *operation);

/* State with which a client comes back for its ask; `round` counts from 1. */
bool resume_may(const struct engine *engine, const struct session *session, int round_trip);
bool resume_seal(struct engine *engine, const uint8_t call_match[MATCH_BYTES], const char *id,
                 const struct round_trip *round_trip, struct text *out);
/* `ret_id` has ASK_ID_BYTES. False, whatever is wrong with it. */
bool resume_open(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                 const char *sealed, char *ret_id, struct round_trip *ret_round_trip);

/* client_form.c: the agent's own client as a channel (R4.2, R4.3) */
struct client_side client_read(const struct json *params);
/* To clients of this ask that can show it and do not; `form_json` NULL: only the store has it. */
void client_offer(struct engine *engine, struct active_ask *active, const char *form_json);
bool client_shows(const struct active_ask *active); /* one does, or is to bring it back */
/* An ask is over, or was taken back: who still shows it learns so, where the result does not say
 * it. A client that showed it to the very end without a word is taken to show it to no one. */
void client_end(struct engine *engine, struct active_ask *active, enum ask_event event);

/* What is known of a client's own forms. */
store_done form_fact_loaded; /* gets an operation, which ends */
bool form_fact_may_show(const struct engine *engine, const struct session *session,
                        const struct client_side *client);

/* With what it brought, to an ask that is alive. */
void round_trip_resume(struct submission *submission, struct active_ask *active);

#endif
