/*
 * outcome.h - how an ask ended, in the words of its result: one table that writes them and reads
 * them back. Whether an ask is over for the agent is said by the hub (enum reply_kind) and never
 * derived from these words. Links without the rest of core: libsayso reads results too.
 */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H
#include <stdbool.h>

#include "core/lifecycle.h"

/* What a reply to ask/create and ask/wait is; beside the result on the wire (docs/wire.md). */
enum reply_kind {
    REPLY_PLAIN,   /* of other methods; also what a hub does not say */
    REPLY_FINAL,   /* the ask is over for the agent: to be confirmed once it is delivered */
    REPLY_PENDING, /* nothing to read but that it is pending */
    REPLY_TOLD,    /* pending, and the agent must read it: a terminal command, a question back */
    REPLY_INPUT,   /* its client is to be asked (input_required) */
};

enum ending {
    ENDING_PENDING,
    ENDING_ANSWERED,
    ENDING_DECLINED,
    ENDING_CANCELLED,
    ENDING_TIMEOUT,
    ENDING_WITHDRAWN,
    ENDING_UNKNOWN, /* of a hub that has other words: it is no answer */
    ENDING_COUNT,
};

/* Of provide_choice, of the elicit tools, of ask_user_question. */
struct outcome_words {
    const char *status, *action, *reply;
};
extern const struct outcome_words outcome_words[ENDING_COUNT];

struct outcome {
    enum ending ending;
    const char *status;        /* of provide_choice; NULL: its ending's */
    const char *summary;       /* how it ended; before the values where there are any; or NULL */
    const char *reply_summary; /* the same for ask_user_question; NULL: as above */
    const char *instructions;  /* for agents; NULL: none needed. While it is pending, how to collect
                                  the answer stands between these */
    const char *afterwards;    /* and these; NULL: nothing more */
    bool is_told;              /* pending, and the agent must read it */
    bool has_values;           /* the answer counts */
    bool is_auto;              /* no person acted */
};
const char *outcome_status(const struct outcome *outcome);

/* By state; behind them where more than the state counts (core/response.c). */
enum {
    OUTCOME_TEXT_ALONE = STATE_COUNT,
    OUTCOME_SAID_NO,
    OUTCOME_BY_RULE,
    OUTCOME_HAND_OFF,
    OUTCOME_ASKED_BACK,
    OUTCOME_COUNT,
};
extern const struct outcome outcome_rows[OUTCOME_COUNT];

/* Of a result, whichever of action, action_status and status it has. */
enum ending outcome_read(const struct json *result);

#endif
