/* job.c - see job.h. */
#include "store/job.h"

#include <stdlib.h>

#include "base/spare.h"
#include "store/row.h"

struct job *job_copy(const struct job *borrowed)
{
    const struct columns *columns = &job_kinds[borrowed->what].columns;
    size_t bytes = sizeof *borrowed + columns_text_bytes(columns, &borrowed->of);
    struct job *job = spare_new(bytes);

    *job = *borrowed;
    job->bytes = bytes;
    columns_copy_texts(columns, &job->of, (char *)(job + 1));
    return job;
}

void job_set_row(struct job *job, const struct store_row *row)
{
    free((void *)job->reply.row);
    job->reply.row = row ? row_copy(row) : NULL;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    job_set_row(job, NULL);
    spare_free(job, job->bytes);
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

struct job *job_list_take(struct job_list *list)
{
    struct job *job = list->first;

    if (!job)
        return NULL;
    list->first = job->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    job->next = NULL;
    return job;
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
