/* acts.h - what people, and agents about their own asks, do. */
#ifndef ENGINE_ACTS_H
#define ENGINE_ACTS_H
#include "core/lifecycle.h"
#include "engine/inside.h"

struct json;
struct json_writer;
struct store_list_query;
struct wait_terms;

/* Defines a handler that calls `function` with a first argument of its own. */
#define HANDLER(id, function, argument)                                                            \
    void id##_method(struct engine *engine, struct visit *visit, const struct json *params,        \
                     desk_done *done, void *context)                                               \
    {                                                                                              \
        function(argument, engine, visit, params, done, context);                                  \
    }

/* decide.c */
/* Through the agent's own client. `done` is the engine's own. */
void decide_by_client(enum ask_event event, struct engine *engine, struct visit *visit,
                      const char *id, const struct json *content, desk_done *done, void *context);

/* What was said to a conversation, about the ask of its question. `done` is the engine's own. */
void decide_question(enum ask_event event, struct engine *engine, struct visit *visit,
                     const char *id, const struct json *params, desk_done *done, void *context);

/* The code of a destructive ask, as it came with an answer: good once, on the connection it was
 * shown on. On false `err` says why not. */
bool challenge_takes(const struct errand *errand, const char *typed, struct error *err);
void look_reply(struct errand *errand); /* errand->id whole, then it ends */
/* `which` alone, where it is left out or names a group of states. */
bool list_read_group(const struct json *params, enum store_list_which *ret_which);
/* which, agent, before and before_ms of a list. */
bool list_read_query(const struct json *params, struct store_list_query *query, struct error *err);
void list_write_next(struct json_writer *writer, int64_t ms, int64_t number);

/* retime.c: what is said about an ask that stays open, from errand->id; `done` is told of it */
struct retime_words {
    enum ask_event event;
    const char *said;
    int64_t version; /* only if it has this one; 0: any */
    bool is_ours;    /* `done` is the engine's own */
};
void retime_say(const struct errand *errand, const struct retime_words *words, desk_done *done,
                void *context);

/* ask_back.c: a person asks back, the agent explains */
void back_tell_waiters(struct engine *engine, struct live *live, const char *question);
/* What others were asked back here is told to who waits here. */
void back_tell_of(struct engine *engine, const struct live *live);
bool back_is_news(const struct live *live); /* nobody was told yet what is asked back */
/* That this open ask is asked back, and what. */
void back_reply(const struct errand *errand, const struct store_row *row);
/* `explanation` of the params of ask/wait, whose session_id is one; then it waits. */
void back_explain(struct engine *engine, struct visit *visit, const struct json *params,
                  const struct wait_terms *terms, desk_done *done, void *context);
/* One object of `talk`. */
void back_write(const struct store_said *said, struct json_writer *writer);

/* history.c */
/* `summary` and `confirmed`, where something was answered. */
void history_write_answer(struct json_writer *writer, const struct store_row *row);

/* unseen.c: asks that timed out and nobody looked */
/* A person opened this ask; an agent's own process is none. */
void seen_mark(struct engine *engine, struct visit *visit, const char *id);

/* announce.c */
void later_load(struct engine *engine);
int64_t later_until_ms(const struct engine *engine, const char *id); /* 0: it is not put off */

/* hidden.c */
void hidden_load(struct engine *engine);
void hidden_release(struct engine *engine);
/* `hidden`, the ids of the options that are; nothing where none can be. */
void hidden_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer);

/* preferences.c */
void preferences_load(struct engine *engine); /* the person's, as the store has them */

#endif
