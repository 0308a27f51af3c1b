/* batch_inside.h - what batch.c (sending) and doubt.c (finding out afterwards) share of a queue. */
#ifndef STORE_POSTGRES_BATCH_INSIDE_H
#define STORE_POSTGRES_BATCH_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/metrics.h"
#include "store/job.h"
#include "store/postgres/batch.h"
#include "store/postgres/fault.h"

enum batch_state {
    BATCH_NONE,
    BATCH_SENT,
    BATCH_IN_DOUBT, /* nobody knows; to be asked as soon as there is a connection */
    BATCH_ASKED,
    BATCH_ROWLESS, /* committed; rows that are wanted have to be read again */
    BATCH_READING,
};

struct batch_queue {
    struct batch_parts parts;
    struct pg_link *link;
    struct loop_timer *timer;
    struct loop_turn *turn;
    struct job_list waiting;
    int64_t not_before_ms; /* a pause after somebody was in the way; 0: none */
    int64_t moved_ms;      /* when the last transaction was known to be committed */

    /* the transaction under way */
    enum batch_state state;
    struct job_list current;
    char id[27];
    int count, end_number; /* statements of jobs; sayso_end's, COMMIT is the next */
    int tries;
    bool is_committed;
    enum fault fault; /* the first thing that was refused, */
    char refusal[6];  /* its SQLSTATE, */
    int refused;      /* and its number */

    struct metrics_histogram batches;
    int64_t doubts, retries;
};

/* batch.c */
void batch_complete(struct batch_queue *queue); /* each job of the transaction has its reply */
void batch_put_back(struct batch_queue *queue); /* nothing of it was stored: once more */
void batch_pause(struct batch_queue *queue, int64_t ms);
/* doubt.c */
void doubt_go_on(struct batch_queue *queue); /* when connected, and after a pause */

#endif
