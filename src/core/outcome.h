/* outcome.h - how an ask ended, in the words of its result. */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H
#include <stdbool.h>

struct response_facts;

struct outcome {
    const char *status;        /* of provide_choice */
    const char *action;        /* of the elicit tools */
    const char *reply;         /* of ask_user_question */
    const char *summary;       /* how it ended; stands before the values where there are any */
    const char *reply_summary; /* the same for ask_user_question; NULL: as above */
    const char *instructions;  /* for agents; NULL: none needed. Where it is open, how to collect
                                  the answer stands between these */
    const char *afterwards;    /* and these; NULL: nothing more */
    bool is_open;
    bool is_hand_off; /* the command is what it is about */
    bool has_rule;
    bool has_values;  /* the answer counts */
    bool has_decider; /* a person, or a standing answer of theirs */
    bool is_explicit, is_auto, is_declined, is_withdrawn;
};

/* Of this ask, or what holds while it is open. */
const struct outcome *outcome_find(const struct response_facts *facts);

#endif
