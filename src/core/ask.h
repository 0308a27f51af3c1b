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

/* Stored as bits: append only. */
enum ask_flags {
    ASK_DETACHED = 1,    /* no agent waits; the form stays and says so */
    ASK_DESTRUCTIVE = 2, /* copied from the form, so that lists need not read it */
    ASK_DEFAULTS_IGNORED = 4,
    ASK_CANCEL_ALWAYS = 8,
    ASK_INTERFACE_UNAVAILABLE = 16,
    ASK_TALKED = 32,     /* something was said about it: a question back, an explanation */
    ASK_ASKED_BACK = 64, /* the person waits for an explanation */
    ASK_UNTOLD = 128,    /* the agent's own client shows it first: nobody else was told yet */
    ASK_REMINDED = 256,  /* people were told once more */
    ASK_LOOKED_AT = 512, /* a person opened it while it was pending */
    ASK_TOLD = 1024,     /* after the deadline a person told the agent something, once; */
    ASK_HEARD = 2048,    /* and the agent has it */
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
