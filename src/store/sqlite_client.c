/* sqlite_client.c - what is remembered of clients: after how long they give up on a call. */
#include "base/crash_point.h"
#include "base/mem.h"
#include "store/write.h"

static int forget_all(struct write *write)
{
    return write_run(write, WRITE_CUT_OFF_FORGET);
}

static int cut_off_run(struct write *write, struct job *job)
{
    const struct job_cut_off *cut_off = &job->of.cut_off;
    struct statement insert;
    int rc;

    if (!cut_off->client.name)
        return forget_all(write);
    rc = write_run(write, WRITE_CUT_OFF_ROOM); /* names are the clients' to invent */
    if (rc != SQLITE_OK)
        return rc;
    insert = statement_of(&write->statements, WRITE_CUT_OFF);
    statement_text(&insert, cut_off->client.name);
    statement_text(&insert, cut_off->client.version);
    statement_text(&insert, cut_off->client.transport);
    statement_integer(&insert, cut_off->cut_off_ms);
    rc = statement_run(&insert);
    CRASH_POINT(store_cut_off_written);
    return rc;
}

static const size_t cut_off_texts[] = {
    offsetof(struct job, of.cut_off.client.name),
    offsetof(struct job, of.cut_off.client.version),
    offsetof(struct job, of.cut_off.client.transport),
};
const struct job_kind job_kind_cut_off = {
    .run = cut_off_run,
    .texts = cut_off_texts,
    .text_count = ARRAY_LEN(cut_off_texts),
};
