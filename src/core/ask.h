/*
 * ask.h - an ask as the store keeps it, what is told about one, and what time limits clients have.
 */
#ifndef CORE_ASK_H
#define CORE_ASK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle.h"
#include "core/routing.h"

struct text;

/* One request for a human decision as the store keeps it. Times are UTC milliseconds. */

enum { ASK_ID_BYTES = 27, PRINCIPAL_BYTES = 33, DIGEST_BYTES = 32 };

enum ask_flags {
#define ASK_FLAG(id, number) ASK_##id = number,
#include "core/ask_flags.def"
#undef ASK_FLAG
};

struct ask {
    char id[ASK_ID_BYTES];
    char principal[PRINCIPAL_BYTES]; /* hex of the hashed principal key */
    const char *tool;                /* texts are borrowed; the giver says for how long */
    const char *title;               /* copied out of the form for lists */
    const char *form_json, *arguments_json;
    const char *origin_json;           /* who asked: client name and version, pid, cwd, … */
    const char *idempotency_key;       /* NULL: none */
    uint8_t digest[DIGEST_BYTES];      /* of tool and canonical arguments */
    uint8_t launch_hash[DIGEST_BYTES]; /* of the code that opens it in a terminal; zero: none */
    enum ask_state state;
    enum ask_interface interface;
    uint32_t flags;
    int64_t version, form_version;
    int64_t created_ms, deadline_ms; /* deadline_ms 0: it waits for ever */
    int64_t original_ms;  /* length of the time last given; bounds what a restart may leave */
    int64_t hold_used_ms; /* added because a person typed */
    int64_t deliver_after_ms, delivered_ms, decided_ms; /* 0: not (yet) */
    bool joins; /* one to be made: the same call's, that is open elsewhere, is as good */
};

bool ask_id_is_valid(const char *id); /* 26 of a-z2-7 */

/* Late answers of earlier asks, announced in the result of another call (R5.7). A notice says that
 * there is an answer and how to collect it, never what it is: collecting makes it delivered. Of an
 * ask that timed out it says what a person told the agent later, which is no answer to collect. */

enum { NOTICES_MAX = 8 }; /* in one result */
struct notice {
    const char *session_id, *title;
    enum ask_state state;
    int64_t decided_ms;    /* UTC */
    const char *told_json; /* what a person said after the deadline; NULL: it was answered */
};

/* Adds them to a result, which is one whole JSON object; `more` is how many found no place. */
void notices_add(const struct notice *notices, size_t count, size_t more, struct text *result);

/*
 * What a client's giving up on a held call teaches about its time limit (R5.7). Pure.
 *
 * A person who presses Esc cancels a call too, so one cancellation proves nothing unless the client
 * says that its time was up: else two must have come after nearly the same time. What is known is
 * one number: 0 nothing, negative seen once after so many ms, positive learned.
 */

/* What is known once a call was given up after `held_ms`. */
int64_t client_timeout_learn(int64_t known_ms, int64_t held_ms, bool says_time_was_up);
/* How long a call may be held by what is known; -1: no limit is known. */
int64_t client_timeout_hold_ms(int64_t known_ms);
/* Whether the reason a client gives for a cancellation is its own clock. */
bool client_timeout_is_time_up(const char *reason);

/* That an agent waits, for a person who sees none of our screens; harmless words, all borrowed. */

struct announcement {
    const char *session_id, *title, *agent;
    const char *url;  /* NULL: there is no portal */
    bool is_reminder; /* it was told of before, and has waited for long */
    bool is_destructive;
    bool is_watched; /* a page or an inbox is open, which makes itself known */
    int64_t waited_ms, remaining_s;
};

#endif
