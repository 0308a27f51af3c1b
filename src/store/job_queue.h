/*
 * job_queue.h - jobs in the order they are run: all that somebody waits for together, and what
 * gives way (job_kinds) one at a time, when there is nothing else or many went before it.
 */
#ifndef STORE_JOB_QUEUE_H
#define STORE_JOB_QUEUE_H
#include "store/job.h"

enum { JOB_QUEUE_MOST_BEFORE = 20 }; /* batches that go before a job that gives way */

struct job_queue {
    struct job_list awaited, patient;
    int went_before; /* the first of the patient ones */
};

void job_queue_add(struct job_queue *queue, struct job *take_job);
void job_queue_append(struct job_queue *queue, struct job_queue *take_tail);
bool job_queue_is_empty(const struct job_queue *queue);
struct job_list job_queue_take(struct job_queue *queue); /* the next transaction */

#endif
