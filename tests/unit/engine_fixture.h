/*
 * engine_fixture.h - a stage for tests about the engine: the real engine over the real store that
 * was chosen, a clock set by hand, and a store in between that takes notes, fails on request, or
 * keeps writes and their completions back. Whatever the store is, this engine has it for itself,
 * unless the stage is shared. To be included behind cmocka's headers.
 */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H
#include <cmocka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "chosen_store.h"
#include "engine/engine.h"
#include "rpc/service.h"
#include "settings/settings.h"
#include "store/store.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, stage_set_up, stage_tear_down)

enum { STAGE_NOTES = 256 };
/* What its clock says at first. */
#define STAGE_BOOT_MS INT64_C(5000000)
#define STAGE_UTC_MS  INT64_C(1700000000000)

struct stage_clock {
    struct clock port; /* first */
    int64_t boot_ms, utc_ms;
    int64_t wake_ms;          /* -1: at no time */
    const struct stage *real; /* shared: time is what it is; NULL: it is set by hand */
};

struct passage;
/* What stands between the engine and its store. */
struct stage_store {
    struct store port; /* first */
    struct store *inner;
    struct stage *stage;
    bool fails_create, fails_reads, fails_drafts, fails_settings, fails_sweeps, fails_shifts;
    bool fails_tokens, fails_keys, fails_conversations, fails_marks;
    bool misses_reads;     /* every ask looked for has been removed */
    uint32_t fails_events; /* changes with these events (bits) fail */
    uint32_t holds_writes; /* changes with these events do not reach the store yet */
    bool holds_replies;    /* completions are kept back, what they speak of is committed */
    bool holds_missing;    /* the next read that finds nothing is kept back */
    struct reading *missing;
    bool holds_form_fact; /* the next reply about a client's form is kept back */
    struct reading *form_fact;
    struct store_reply form_fact_reply;
    void (*meanwhile)(void *context); /* once: before the next create reaches the store */
    void *meanwhile_context;
    struct passage *held;     /* in order */
    struct passage *failures; /* to be told at the next turn */
    size_t outstanding;       /* writes the inner store has */
    size_t reading;           /* reads it has not ended */
    int writes[WRITE_KINDS];  /* how many of each were asked for */
};

struct stage {
    char directory[64], path[96], settings_path[96];
    char where[POSTGRES_URL_BYTES]; /* the store: a path or a URL */
    struct loop *loop;
    struct store_ops ops;
    bool is_shared; /* others have the same store: they are followed, by the store's clock */
    const struct store_news *news; /* where what others did is passed on, once it is noted */
    void *news_context;
    bool drops_news; /* of conversations, as if they were slow */
    bool is_settling;
    struct stage_store store;
    struct stage_clock clock;
    struct settings *settings;
    struct engine *engine;
    struct service *service;
    struct caller *callers; /* owned */
    bool terminal_built;
    bool fails_lists;       /* no list of asks can be read, from the next start on */
    const char *portal_url; /* from the next start; NULL: there is no portal */
    const char *program;    /* NULL: /usr/bin/sayso */
    bool announces;         /* from the next start: who is told of an ask is noted */
    char *notes[STAGE_NOTES];
    size_t note_count;
};

/* A connection at the service; its notifications are kept as lines. The stage frees it. */
struct caller {
    struct caller *next;
    struct stage *stage;
    const char *name;
    struct session *session; /* NULL: left */
    struct text lines;
    size_t line_count;
};

/* One act and what came of it. */
struct call {
    struct stage *stage;
    const char *label; /* noted as "label replied" */
    int replies;
    struct error err;
    struct json *json; /* owned */
    bool is_final;
    enum reply_kind kind;
    char session_id[ASK_ID_BYTES];
    struct caller *leaves; /* who leaves from within the reply */
};

/* engine_reads.c */
void stage_add_reads(struct store_ops *ops);
void stage_get(struct store *port, const char *ask_id, int64_t seq, store_done *done,
               void *context);
void stage_find_undelivered(struct store *port, const char *principal, const uint8_t *digest,
                            const char *key, store_done *done, void *context);

/* On the store at this place with others, or NULL: on a new one that is its own. */
struct stage *stage_open(const char *shared_where);
void stage_close(struct stage *stage);
int stage_set_up(void **state);
int stage_tear_down(void **state);
/* The hub ends in good order and another one starts on the same file. */
void stage_restart(struct stage *stage);
/* The hub is gone immediately: nothing is written any more, no session is closed. */
void stage_crash(struct stage *stage);
void stage_set(struct stage *stage, const char *name, const char *value);

/* Runs the loop until the store has nothing left to do, then flushes as the hub does. */
void stage_settle(struct stage *stage);
void stage_release_missing(struct stage *stage); /* what holds_missing kept back */
void stage_release_form_fact(struct stage *stage);
void stage_release(struct stage *stage); /* lets go of what is held, in order, then settles */
/* For a shared one, where time goes by itself: until what others do has led to this. */
void stage_wait(struct stage *stage, bool (*is_done)(void *context), void *context);
/* Time goes by; every wake-up comes when it was wanted. */
void stage_advance(struct stage *stage, int64_t ms);
/* Time went by and we were not there; then one wake-up. */
void stage_sleep(struct stage *stage, int64_t ms);

void stage_note(struct stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));
int stage_place(const struct stage *stage, const char *note); /* of the first; -1: not noted */
int stage_count(const struct stage *stage, const char *note);
void stage_forget(struct stage *stage);

struct identity visitor_agent(const char *name);
struct identity visitor_person(const char *via);
struct caller *caller_enter(struct stage *stage, const char *name, const struct identity *identity);
void caller_leave(struct caller *caller); /* fine when it left before */
void callers_release(struct stage *stage);
/* Of the newest notification with this method; NULL: none. The caller frees it. */
struct json *caller_event(const struct caller *caller, const char *method);
size_t caller_count(const struct caller *caller, const char *method);
void caller_forget(struct caller *caller);

/* Starts an act; `params` is JSON with ' for ". */
void call_start(struct call *call, struct caller *caller, enum method act, const char *params, ...)
    __attribute__((format(printf, 4, 5)));
/* Starts it, settles, and expects one reply. */
void call_run(struct call *call, struct caller *caller, enum method act, const char *params, ...)
    __attribute__((format(printf, 4, 5)));
void call_release(struct call *call);
const char *call_text(const struct call *call, const char *pointer); /* "" where there is none */
int64_t call_number(const struct call *call, const char *pointer);   /* -1 where there is none */
bool call_is_yes(const struct call *call, const char *pointer);
const struct json *json_at(const struct json *root, const char *pointer);
void assert_failed(const struct call *call, enum error_code code, const char *path);
void assert_worked(const struct call *call);

/* A good call of provide_choice as params of ask/create; `more` goes into its arguments. */
void ask_start(struct call *call, struct caller *agent, const char *title, const char *more,
               int wait_s);
/* An ask that is stored and waits; its id in *out. */
void ask_open(struct call *call, struct caller *agent, const char *title, const char *more,
              char out[ASK_ID_BYTES]);

/* An agent that waits for one ask, and a person. Each asks something else. */
struct scene {
    struct stage *stage;
    struct caller *agent, *person;
    struct call asked, did;
    char id[ASK_ID_BYTES];
};
void scene_open(struct scene *scene, void **state, const char *via, const char *more);
/* With interface terminal: the agent has its command immediately and waits for nothing. */
void scene_open_handed(struct scene *scene, void **state, const char *more);
void scene_close(struct scene *scene);
void scene_answer(struct scene *scene, const char *option); /* the reply is in did */
void scene_do(struct scene *scene, enum method act, const char *more);
void scene_get(struct scene *scene, struct call *call); /* the person looks at it */
void scene_assert(struct scene *scene, const char *status, int64_t version);

#endif
