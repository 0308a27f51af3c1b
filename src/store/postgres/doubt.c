/*
 * doubt.c - what became of a transaction whose end was not heard (batch.h). sayso_resolve waits for
 * it if it is under way, says what it did, or makes it void: should its words still arrive, its
 * own sayso_end fails. So afterwards there is no doubt, whatever the network does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "store/job.h"
#include "store/postgres/address.h"
#include "store/postgres/batch_inside.h"
#include "store/postgres/link.h"
#include "store/postgres/params.h"
#include "store/postgres/result.h"
#include "store/postgres/sql.h"
#include "store/postgres/write.h"
#include "store/row.h"

enum { DOUBT_PAUSE_MS = 200 };

static const struct sql sql_resolve = { "sayso_resolve", "SELECT sayso_resolve($1)" };
static const struct sql sql_row = { "row_again", "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN
                                                 "WHERE k.id = $1" };
/* Of an ask that was there when one was to be made: its outcome tells the number. */
static const struct sql sql_row_other = { "row_other", "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN
                                                       "WHERE k.number = $1" };

static const struct {
    char letter;
    enum store_outcome outcome;
} outcomes[] = {
    { 'D', STORE_DONE },
    { 'L', STORE_LOST },
    { 'R', STORE_REPEATED },
    { 'M', STORE_MISSING },
};

static enum store_outcome outcome_of(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        if (outcomes[i].letter == letter)
            return outcomes[i].outcome;
    }
    return STORE_FAILED;
}

/* Only changes have a row, and what was not made because it is there. */
static bool wants_row(const struct job *job)
{
    if (job->what == WRITE_create)
        return job->reply.outcome == STORE_REPEATED;
    return job->what == WRITE_change &&
           (job->reply.outcome == STORE_LOST || job->reply.outcome == STORE_REPEATED ||
            (job->reply.outcome == STORE_DONE && !job->of.change.skips_row));
}

/* "D12 L0 R5 ": a letter and a number a job, in the order they were sent. */
static void take_outcomes(struct batch_queue *queue, const char *said)
{
    bool is_row_wanted = false;

    for (struct job *job = queue->current.first; job; job = job->next) {
        char *end = NULL;

        if (job->sent.number >= 0) {
            enum store_outcome outcome = outcome_of(*said);
            int64_t seq = *said ? strtoll(said + 1, &end, 10) : 0;

            write_take_outcome(job, outcome, seq);
            if (outcome == STORE_FAILED)
                fault_describe(FAULT_SCHEMA, "", &job->reply.err);
            said = end ? end + (*end == ' ') : said;
        }
        job->sent.wants_row = wants_row(job);
        is_row_wanted |= job->sent.wants_row;
    }
    queue->state = BATCH_ROWLESS;
    if (!is_row_wanted)
        batch_complete(queue);
}

static void on_resolved(void *context, int number, const PGresult *result)
{
    struct batch_queue *queue = context;

    (void)number;
    queue->fault = fault_of(result);
    if (queue->fault == FAULT_SESSION)
        address_set_pooled(queue->parts.address);
    if (queue->fault != FAULT_NONE)
        return;
    if (result_is_null(result, 0, 0)) {
        int64_t now = loop_boot_ms();

        for (struct job *job = queue->current.first; job; job = job->next)
            job->sent.added_ms = now; /* the time in doubt does not count */
        batch_put_back(queue);
    } else {
        take_outcomes(queue, result_text(result, 0, 0));
    }
}

static void on_resolve_end(void *context, bool is_lost)
{
    struct batch_queue *queue = context;

    if (queue->state == BATCH_ASKED) {
        queue->state = BATCH_IN_DOUBT;
        if (!is_lost)
            batch_pause(queue, DOUBT_PAUSE_MS);
    } else if (queue->state == BATCH_ROWLESS && !is_lost) {
        doubt_go_on(queue);
    }
}

static void ask(struct batch_queue *queue)
{
    const struct pg_exchange exchange = { on_resolved, on_resolve_end, queue };
    struct params params = { 0 };

    queue->state = BATCH_ASKED;
    params_text(&params, queue->id);
    pg_link_begin(queue->link, &exchange);
    pg_link_add(queue->link, &sql_resolve, &params);
    pg_link_end(queue->link);
    params_release(&params);
}

/* A row that is gone by now was dropped by retention: its ask is over for everybody. */
static void on_row(void *context, int number, const PGresult *result)
{
    struct batch_queue *queue = context;
    struct job *job = queue->current.first;
    struct store_row row;

    if (fault_of(result) != FAULT_NONE)
        return;
    for (; job; job = job->next) {
        if (job->sent.wants_row && job->sent.number == number)
            break;
    }
    if (!job)
        return;
    job->sent.wants_row = false;
    if (result_count(result) > 0) {
        result_read(result, 0, 0, &row_columns, &row);
        job_set_row(job, &row);
    } else {
        job->reply.outcome = STORE_MISSING;
    }
}

static bool is_row_missing(const struct batch_queue *queue)
{
    const struct job *job = queue->current.first;

    while (job && !job->sent.wants_row)
        job = job->next;
    return job;
}

static void on_rows_end(void *context, bool is_lost)
{
    struct batch_queue *queue = context;

    queue->state = BATCH_ROWLESS;
    if (!is_row_missing(queue))
        batch_complete(queue);
    else if (!is_lost)
        batch_pause(queue, DOUBT_PAUSE_MS);
}

static void read_rows(struct batch_queue *queue)
{
    const struct pg_exchange exchange = { on_row, on_rows_end, queue };
    int count = 0;

    queue->state = BATCH_READING;
    pg_link_begin(queue->link, &exchange);
    for (struct job *job = queue->current.first; job; job = job->next) {
        struct params params = { 0 };

        if (!job->sent.wants_row)
            continue;
        job->sent.number = count++;
        if (job->what == WRITE_create) {
            params_integer(&params, job->reply.seq);
            pg_link_add(queue->link, &sql_row_other, &params);
        } else {
            params_text(&params, job->of.change.ask_id);
            pg_link_add(queue->link, &sql_row, &params);
        }
        params_release(&params);
    }
    pg_link_end(queue->link);
}

void doubt_go_on(struct batch_queue *queue)
{
    if (!pg_link_is_ready(queue->link))
        return;
    if (queue->state == BATCH_IN_DOUBT)
        ask(queue);
    else if (queue->state == BATCH_ROWLESS)
        read_rows(queue);
}
