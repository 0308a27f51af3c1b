/*
 * observer.h - judges a history by what was said to whom, and by nothing else: it sees the lines
 * that clients sent and got, and knows when hubs died. The first promise that is broken ends the
 * history. The promises are those of the project's table of reliability:
 *   P1, P2  an answer that was acknowledged is what the agent gets, over kills and power cuts
 *   P3      one decision wins
 *   P4      an agent hears of its own asks and answers alone
 *   P5      open asks survive a restart with their deadline
 *   P6      no deadline is early, nor late by more than is promised
 *   P7      a selection was chosen by a person: silence, cancelling and drafts never make one
 *   P8      an answer that no agent confirmed is found by the next identical call, one that was
 *           confirmed is not
 *   P9      the same call has one open ask at a time
 */
#ifndef SIMULATE_OBSERVER_H
#define SIMULATE_OBSERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cable;
struct json;

enum { ASKS_MAX = 96, ACTS_MAX = 256, ID_CHARS = 26, AGENTS_MAX = 4, CALLS = 3 };
enum end_seen { END_NONE, END_ANSWERED, END_CANCELLED, END_TIMEOUT, END_WITHDRAWN };
enum fate { FATE_UNKNOWN, FATE_ACKNOWLEDGED, FATE_REFUSED };
enum act_kind { ACT_ANSWER, ACT_CANCEL, ACT_DECLINE };

/* An ask, as far as anybody was told. */
struct ask_seen {
    char id[ID_CHARS + 1];
    int principal, call;
    long changed_at;                  /* the step in which something new was heard of it */
    bool may_be_lost;                 /* the power went, and nothing said that it was on disk */
    bool is_retimed;                  /* a person asked for another deadline */
    int64_t ends_from_ms, ends_to_ms; /* when its time is up, on the boot clock */
    int retimes_open;                 /* sent, and not answered yet */
    bool is_contested;                /* several were at a time */
    int withdrawals;                  /* sent, and not refused */
    bool is_withdrawing, is_withdrawn;
    bool is_declining;         /* its client's form was declined, with nothing to know it by */
    bool is_confirming;        /* an agent said that it has the result */
    long confirmed_at;         /* the step in which that was acknowledged; 0: not yet */
    enum end_seen ending;      /* as an agent was told */
    int nonce;                 /* of what it was given; 0: of nothing */
    long ended_at;             /* the step */
    const struct cable *hands; /* the newest that got its result */
    long given_at;             /* the step in which a client got it through a front; 0: not yet */
};

/* What a person did to an ask; its nonce is in what the agent gets. */
struct act_seen {
    int nonce;
    struct ask_seen *ask;
    enum act_kind kind;
    enum fate fate;
    int tries;
    long acknowledged_at;
    int64_t acknowledged_ms, undo_ms; /* undo_ms: how long it could be taken back then */
    bool is_undoing, is_undone;
    bool is_told; /* an agent has it */
};

/* A call an agent made. */
struct agent_request {
    int id;
    const char *method; /* NULL: free */
    int call;
    bool is_heard;                   /* what became of it: its id, or a reply */
    bool is_first;                   /* of this call on its connection */
    bool has_state;                  /* it comes back for the ask that this names */
    bool is_unconfirmed;             /* its front died before it could confirm what it wrote */
    struct ask_seen *ask, *expected; /* expected: P8 says that it gets this one */
    long sent_at;
    int64_t sent_ms;
};

struct observer {
    struct ask_seen asks[ASKS_MAX];
    size_t ask_count;
    struct act_seen acts[ACTS_MAX];
    size_t act_count;
    int unheard[AGENTS_MAX][CALLS];      /* calls of which nothing was heard */
    int64_t first_ms[AGENTS_MAX][CALLS]; /* when it was first called; 0: never */
    bool is_shared[AGENTS_MAX];          /* principals of several agents at a time */
    char broken[512];                    /* "": nothing yet */
};
extern struct observer observer;

void observer_begin(void);
void observer_break(const char *promise, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Agents. `line` is what it got, `json` the same. */
void observer_on_call(int principal, struct agent_request *request);
void observer_on_agent_line(int principal, const struct cable *cable, struct agent_request *request,
                            const char *line, const struct json *json);
struct ask_seen *observer_find(const char *id);
bool observer_is_over(const struct json *result);

/* People. */
struct act_seen *observer_on_act(struct ask_seen *ask, enum act_kind kind);
void observer_on_acted(struct act_seen *act, const struct json *json);
void observer_on_undoing(struct act_seen *act);
void observer_on_undone(struct act_seen *act, bool is_done);
void observer_on_retiming(struct ask_seen *ask, int64_t ms);
void observer_on_retimed(struct ask_seen *ask, int64_t sent_ms, int64_t ms, bool is_done);
/* A list of what is open, asked for in that step. */
void observer_on_list(const struct json *asks, long sent_at, int64_t sent_ms, bool is_last);

/* When the next of the open asks must be over; -1: none of them is known to end. */
int64_t observer_next_late_ms(void);
bool observer_has_confirmed(void); /* an agent confirmed a result, and that was acknowledged */
void observer_on_power_cut(void);

#endif
