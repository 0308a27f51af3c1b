/* job.c - see job.h. */
#include "store/job.h"

#include <stdlib.h>

#include "store/row.h"

struct job *job_copy(const struct job *borrowed)
{
    return row_copy_with_texts(borrowed, sizeof *borrowed, borrowed->kind->texts,
                               borrowed->kind->text_count);
}

void job_set_row(struct job *job, const struct store_row *row)
{
    free((void *)job->reply.row);
    job->reply.row = row ? row_copy(row) : NULL;
}

void job_free(struct job *job)
{
    if (job)
        job_set_row(job, NULL);
    free(job);
}

void job_list_add(struct job_list *list, struct job *take_job)
{
    take_job->next = NULL;
    if (list->last)
        list->last->next = take_job;
    else
        list->first = take_job;
    list->last = take_job;
    list->count++;
}

void job_list_append(struct job_list *list, struct job_list *take_tail)
{
    if (!take_tail->first)
        return;
    if (list->last)
        list->last->next = take_tail->first;
    else
        list->first = take_tail->first;
    list->last = take_tail->last;
    list->count += take_tail->count;
    *take_tail = (struct job_list){ 0 };
}
