/*
 * response.h - the result an agent gets, the same over every front and channel (R2.2).
 * Pure: what happened comes in as facts, JSON goes out.
 */
#ifndef CORE_RESPONSE_H
#define CORE_RESPONSE_H
#include <stdbool.h>
#include <stdint.h>

#include "core/fields/answer.h"
#include "core/fields/form.h"
#include "core/lifecycle.h"
#include "core/outcome.h"
#include "core/routing.h"

struct response_facts;

struct answered_by {
    const char *person; /* NULL: no person decided */
    const char *via;    /* "cli" "terminal" "web" "client" "api" */
    int64_t uid, pid;
    const char *tty;        /* NULL: none */
    const char *token;      /* label of the token it came with; NULL: a local process */
    bool same_process_tree; /* the answering process descends from the asking agent's */
};
/* How a tool words its results. */
struct response_shape {
    bool has_status; /* action_status of R2.2 */
    bool has_action; /* action of R4.1 */
    bool has_reply;  /* status of R3.2 */
    /* Answering no is declining, as an agent may look at the action alone: this is false then. */
    const char *no_key;
    /* What was decided, where something was; NULL: as the selection of R2.2. */
    void (*write_values)(struct json_writer *writer, const struct form *form,
                         const struct answer *answer);
};
extern const struct response_shape response_selection; /* provide_choice */

struct response_facts {
    const struct response_shape *shape; /* NULL: response_unknown */
    const char *session_id;
    enum ask_state state;
    enum ask_interface interface;
    const struct form *form;     /* may be NULL while pending */
    const struct answer *answer; /* NULL: none */
    const char *cancel_note;     /* what the person wrote on cancelling; NULL: none */
    bool hides_placeholder;      /* of the person's own setting, when it was decided */
    struct answered_by by;
    int64_t answered_ms; /* UTC; 0: not yet */
    bool is_replayed;
    const char *asked_back;             /* NULL: the person did not ask back */
    const char *rule;                   /* standing answer that applied; NULL */
    const char *url, *terminal_command; /* NULL where there is none; printed only while pending */
    const char *const *warnings;        /* NULL-ended; may be NULL */
};

/* The structured result as one JSON object, and what kind of reply it is. */
enum reply_kind response_write(const struct response_facts *facts, struct text *out);
/* One line for people and for selection.summary: labels chosen, own words, or how it ended. */
void response_summary(const struct response_facts *facts, struct text *out);

/* "2026-11-15T12:00:00.000Z" */
void response_write_time(int64_t utc_ms, char out[32]);

#endif
