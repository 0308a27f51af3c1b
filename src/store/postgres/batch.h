/*
 * batch.h - the connection that writes. What queues up while one transaction is under way is the
 * next: BEGIN, a statement a job, COMMIT, sent at once and answered once.
 *
 * Nobody is told anything before it is known. Where the connection is lost under a transaction,
 * the database is asked by the transaction's own id what became of it, and whatever of it may
 * still be on its way is made void. A job that can't even be sent within five seconds fails.
 */
#ifndef STORE_POSTGRES_BATCH_H
#define STORE_POSTGRES_BATCH_H
#include <stdbool.h>
#include <stdint.h>

#include "base/metrics.h"
#include "store/postgres/libpq.h"
#include "store/writes.h"

struct address;
struct batch_queue;
struct loop;

struct batch_parts {
    struct loop *loop;
    struct address *address; /* borrowed */
    int64_t hub;             /* who we are among those that share the database */
    /* Of each job that is stored, right before its completion runs; may be NULL. */
    void (*on_stored)(void *context, const struct job *job);
    void *context;
};
struct batch_queue *batch_queue_open(const struct batch_parts *parts);
/* What is still queued fails. NULL is fine. */
void batch_queue_close(struct batch_queue *queue);
void batch_queue_add(struct batch_queue *queue, struct job *take_job);
bool batch_queue_is_empty(const struct batch_queue *queue);     /* all jobs are answered */
bool batch_queue_is_ready(const struct batch_queue *queue);     /* it is connected */
int64_t batch_queue_silent_ms(const struct batch_queue *queue); /* see pg_link_silent_ms */
int batch_queue_pid(const struct batch_queue *queue);           /* see pg_link_pid */
void batch_queue_write_metrics(const struct batch_queue *queue, struct text *out);

/* What batch.c (sending) and batch.c (finding out afterwards) share of a queue. */

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

#endif
