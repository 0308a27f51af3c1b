/* job_queue.c - see job_queue.h. */
#include "store/job_queue.h"

void job_queue_add(struct job_queue *queue, struct job *take_job)
{
    job_list_add(job_kinds[take_job->what].gives_way ? &queue->patient : &queue->awaited, take_job);
}

void job_queue_append(struct job_queue *queue, struct job_queue *take_tail)
{
    job_list_append(&queue->awaited, &take_tail->awaited);
    job_list_append(&queue->patient, &take_tail->patient);
}

bool job_queue_is_empty(const struct job_queue *queue)
{
    return !queue->awaited.first && !queue->patient.first;
}

struct job_list job_queue_take(struct job_queue *queue)
{
    bool is_its_turn = !queue->awaited.first || queue->went_before >= JOB_QUEUE_MOST_BEFORE;
    struct job_list next = { 0 };

    if (queue->patient.first && is_its_turn) {
        job_list_add(&next, job_list_take(&queue->patient));
        queue->went_before = 0;
    } else {
        job_list_append(&next, &queue->awaited);
        queue->went_before += queue->patient.first != NULL;
    }
    return next;
}
