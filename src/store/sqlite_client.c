/* sqlite_client.c - what is remembered of clients: after how long they give up on a call, and
 * whether their forms work. */
#include "base/crash_point.h"
#include "base/mem.h"
#include "store/write.h"

static int forget_all(struct write *write)
{
    return write_run(write, WRITE_CUT_OFF_FORGET);
}

int client_run(struct write *write, struct job *job)
{
    const struct job_client *client = &job->of.client;
    struct statement insert;
    int rc;

    if (!client->client.name)
        return forget_all(write);
    rc = write_run(write, WRITE_CUT_OFF_ROOM); /* names are the clients' to invent */
    if (rc != SQLITE_OK)
        return rc;
    insert = statement_of(&write->statements, client->is_form ? WRITE_FORM_FACT : WRITE_CUT_OFF);
    statement_text(&insert, client->client.name);
    statement_text(&insert, client->client.version);
    statement_text(&insert, client->client.transport);
    statement_integer(&insert, client->fact);
    rc = statement_run(&insert);
    CRASH_POINT(store_cut_off_written);
    return rc;
}
