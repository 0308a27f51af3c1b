/*
 * ask.h - one request for a human decision as the store keeps it. Times are UTC milliseconds.
 */
#ifndef CORE_ASK_H
#define CORE_ASK_H
#include <stdbool.h>
#include <stdint.h>

#include "core/lifecycle.h"
#include "core/routing.h"

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
    int64_t hold_used_ms; /* added because somebody typed */
    int64_t deliver_after_ms, delivered_ms, decided_ms; /* 0: not (yet) */
    bool joins; /* one to be made: the same call's, that is open elsewhere, is as good */
};

bool ask_id_is_valid(const char *id); /* 26 of a-z2-7 */

#endif
