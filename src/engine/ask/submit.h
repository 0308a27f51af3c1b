/* submit.h - an ask on its way in, from the call to where it is stored and shown. */
#ifndef ENGINE_ASK_SUBMIT_H
#define ENGINE_ASK_SUBMIT_H
#include "core/lifecycle.h"
#include "engine/delivery/delivery.h"

struct ask_call;
struct conversation;

/* launch.c: asks that are handed to a terminal by a command that works once (R6.2) */
struct launch_code {
    char text[ASK_ID_BYTES]; /* 130 random bits; it is not kept */
    uint8_t hash[DIGEST_BYTES];
};
void launch_init(struct engine *engine);
struct launch_code launch_make(void);
/* Zero: forgets it. */
void launch_keep(struct engine *engine, struct active_ask *active,
                 const uint8_t hash[DIGEST_BYTES]);
bool launch_is_usable(const struct engine *engine);
/* Tells the caller how to open this ask, which is open; notices go along. */
void launch_reply(struct method_call call, const struct active_ask *active,
                  const struct launch_code *code);
/* The same with a fresh code; the one before is worth nothing any more. */
void launch_renew(struct method_call call, struct active_ask *active);
void launch_lose(struct engine *engine, const struct session *session); /* a terminal is gone */

struct submission {
    struct operation operation; /* first; its text is a tag of the front, for ask/created */
    const struct ask_tool *tool;
    struct ask_call *call;
    struct ask ask;
    struct match match;
    struct lifecycle_step step;
    int64_t quiet_ms;
    struct wait_terms terms;
    char *state;           /* the client came back with it; NULL: it asks for the first time */
    struct json *response; /* and with this; NULL: nothing */
    struct submission *next_late;
    struct launch_code launch; /* of an ask that waits for a terminal */
    struct text form_json;
    bool opens_browser;      /* once it is stored */
    char rule[ASK_ID_BYTES]; /* the standing answer to it; "": none */
    char *earlier_json;      /* the answer to the same call, a moment ago; NULL: none */
    bool has_looked_back;    /* for that one */
    bool looks_again;        /* once, for an answer that came while the store looked */
    bool is_anothers;        /* the one it would join is another call's: a new one is made */
    bool is_question; /* of a conversation: admitted, has its id, and no deadline of our own */
};

/* submit.c */
void submission_tell_created(const struct submission *submission, const char *id);
void submission_park(struct submission *submission, struct active_ask *active);
void submit_held_back(struct session *session); /* what it asked before its client was known */
/* The question a conversation waits with, under the id it was given, asked by `session`, which
 * waits for it. */
void submit_question(struct method_call call, const char *id, const struct conversation *machine);

#endif
