/*
 * engine.h - the imperative shell around core/lifecycle: owns the asks that are alive, performs
 * effects in order (SAVE first, and nothing after a SAVE that failed), keeps deadlines, recovers.
 * It is the service of rpc/service.h. Runs on one thread; never waits.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/service.h"

struct announcement;
struct clock;
struct engine;
struct hash_part;
struct settings;
struct store;

/* Everything is borrowed and must outlive the engine. */
struct engine_parts {
    struct store *store;
    struct clock *clock;
    struct settings *settings;
    const char *person;        /* the one who answers here */
    int64_t uid;               /* whose hub it is */
    const char *settings_path; /* the host's settings file; NULL: not saved */
    bool portal_built, terminal_built;
    const char *program; /* absolute path of ours, for the command of a launch */
    const char *socket;  /* ours, for the same; NULL: none */
    /* A token was revoked or has expired: its clients are to be cut off. May be NULL. */
    void (*on_revoked)(void *context, const uint8_t *hash);
    /* A link to be opened in the person's browser; false: there is none here. Without a link it
     * only says so. May be NULL. */
    bool (*open_browser)(void *context, const char *link);
    /* To be told beside our own screens. May be NULL. */
    void (*announce)(void *context, const struct announcement *announcement);
    /* Another hub noted this of a session; `value` NULL: it holds no more. May be NULL. */
    void (*on_session_state)(void *context, const char *session, const char *what,
                             const char *value);
    void *context;
};
/* What a token that is alive stands for. */
struct engine_token {
    char id[17];
    const char *kind, *label; /* borrowed until the next turn of the loop */
    bool is_sub_agent, may_answer;
};

struct engine *engine_new(const struct engine_parts *parts); /* takes up what was alive */
void engine_free(struct engine *engine);
/* Everything that was alive is taken up; where the store is far away that takes a while. */
bool engine_is_loaded(const struct engine *engine);
struct service *engine_service(struct engine *engine);

/* From memory; `hash` is of the secret (base/crypto.h). False: unknown, revoked or expired. */
bool engine_find_token(struct engine *engine, const uint8_t *hash, struct engine_token *ret_token);

/* Shows that we know the token of this id, without saying it: a keyed hash of `text`, in hex.
 * False: no live token has it. */
bool engine_prove_token(const struct engine *engine, const char *id, const char *text,
                        struct text *out);

/* Where the portal is, "http://127.0.0.1:7297"; until it is said there is none. */
void engine_set_portal(struct engine *engine, const char *url);
/* What others call it: in the addresses that agents and notifications are given. "": as above. */
void engine_set_public_url(struct engine *engine, const char *url);
/* An address with which a browser signs in, once; false: there is no portal. */
bool engine_make_link(struct engine *engine, struct text *out);
/* A browser's one-time code for a tab's token: {id, label, token}. It is spent by the first who
 * shows it. With `browser`, "PORT KEY", it becomes a device where browsers may stay signed in: {id,
 * label, proof_key}; NULL: it can't. Fails with not_found. Once `done` was called nothing more
 * happens; it is called in any case. */
void engine_sign_in(struct engine *engine, const char *code, const char *label, const char *browser,
                    reply_done *done, void *context);
/* False: unknown, revoked, expired, enrolled at another port, or not signed by its key; or browsers
 * don't stay signed in any more. */
bool engine_know_device(struct engine *engine, const struct device_proof *shown,
                        struct engine_token *ret_token);

/* Texts that clients carry for us (base/seal.h): bound to what both calls name, good for
 * lifetime_ms. False: no key is on disk yet, or the payload is too long. */
bool engine_seal(struct engine *engine, const struct hash_part *bound, size_t bound_count,
                 int64_t lifetime_ms, const char *payload, struct text *out);
/* False, whatever is wrong with it. */
bool engine_unseal(const struct engine *engine, const struct hash_part *bound, size_t bound_count,
                   const char *sealed, size_t length, struct text *ret_payload);

/* What every hub on this store must know of an MCP session beside what its id says. It holds here
 * immediately and everywhere when `done` is called, which may be NULL; fails with rate_limited
 * where a token's sessions have too many. */
void engine_put_session_state(struct engine *engine, const struct engine_session_state *note,
                              reply_done *done, void *context);
void engine_drop_session_state(struct engine *engine, const char *session); /* all of them */
void engine_each_session_state(const struct engine *engine, const char *session,
                               engine_session_state_each *each, void *context);

/* The time by which deadlines are kept, the same at every hub. */
int64_t engine_utc_ms(const struct engine *engine);
void engine_on_time(struct engine *engine); /* the clock's wake-up */
/* Before the loop sleeps: tells watchers what changed in this turn, once per ask. */
void engine_flush(struct engine *engine);
/* The wall clock may have been set: moves stored deadlines along. */
void engine_check_clock(struct engine *engine);
/* On the way out: what a person typed in the last second goes to the store now. */
void engine_save_drafts(struct engine *engine);

/* Nothing is tidied up from now on. Who leaves, leaves with us: a store closes, or opens, with a
 * mark on all asks that agents waited for, so they are not marked one by one. */
void engine_leave(struct engine *engine);

bool engine_is_idle(const struct engine *engine); /* settled, no ask open, no session */
/* Every act was answered and everything is saved; calls that wait for a person are not counted. */
bool engine_is_settled(const struct engine *engine);
size_t engine_open_count(const struct engine *engine);
void engine_write_metrics(const struct engine *engine, struct text *out);

#endif
