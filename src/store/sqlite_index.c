/*
 * sqlite_index.c - what searches and lists of one agent are found by, filled in batches behind the
 * asks, so that asking costs no page more. Where a batch ended is written with it: a killed process
 * leaves all of it or nothing.
 */
#include "store/write.h"

#include "base/crash_point.h"
#include "base/text.h"
#include "core/search_text.h"

enum {
    INDEX_MAX_BATCH = 1000,
    INDEX_MAX_GAPS = 32, /* to tidy is to write the index anew, so not for each */
};

static int run_on(struct write *write, enum write_statement how, int64_t number)
{
    struct statement statement = statement_of(&write->statements, how);

    statement_integer(&statement, number);
    return statement_run(&statement);
}

static int read_next(struct write *write, int64_t *ret_next)
{
    struct statement next = statement_of(&write->statements, WRITE_INDEX_NEXT);

    *ret_next = statement_step(&next) ? sqlite3_column_int64(next.handle, 0) : 1;
    return statement_end(&next);
}

int index_drop(struct write *write, int64_t number)
{
    int rc = run_on(write, WRITE_INDEX_TAKE, number);

    return rc == SQLITE_OK ? run_on(write, WRITE_UNINDEX_AGENT, number) : rc;
}

int index_drop_words(struct write *write, int64_t number)
{
    int rc = run_on(write, WRITE_UNINDEX_WORDS, number);

    CRASH_POINT(store_sweep_unindexed);
    return rc;
}

int index_reopen(struct write *write, int64_t number)
{
    int64_t next;
    int rc = read_next(write, &next);

    if (rc != SQLITE_OK || number >= next)
        return rc;
    rc = run_on(write, WRITE_UNINDEX_WORDS, number);
    return rc == SQLITE_OK ? run_on(write, WRITE_INDEX_LEAVE, number) : rc;
}

static int add_words(struct write *write, sqlite3_stmt *row, int64_t number)
{
    struct text body = { 0 };
    struct statement insert;
    int rc;

    search_text((const char *)sqlite3_column_text(row, 3),
                (const char *)sqlite3_column_text(row, 4), &body);
    insert = statement_of(&write->statements, WRITE_INDEX_WORDS);
    statement_integer(&insert, number);
    statement_text(&insert, text_string(&body));
    rc = statement_run(&insert);
    text_release(&body);
    return rc;
}

static int add_agent(struct write *write, sqlite3_stmt *row, int64_t number)
{
    const char *agent = (const char *)sqlite3_column_text(row, 2);
    struct statement insert;

    if (!agent)
        return SQLITE_OK;
    insert = statement_of(&write->statements, WRITE_INDEX_AGENT);
    statement_text(&insert, agent);
    statement_integer(&insert, number);
    return statement_run(&insert);
}

static int take_up(struct write *write, sqlite3_stmt *row, int64_t number, bool is_left)
{
    bool is_settled = sqlite3_column_int(row, 1) != 0;
    int rc = is_left ? run_on(write, WRITE_INDEX_TAKE, number) : add_agent(write, row, number);

    if (rc == SQLITE_OK && is_settled)
        rc = add_words(write, row, number);
    else if (rc == SQLITE_OK)
        rc = run_on(write, WRITE_INDEX_LEAVE, number);
    CRASH_POINT(store_index_taken);
    return rc;
}

/* Takes up to `batch` asks from `from` on; *ret_last is the number of the last, 0 if there was
 * none. */
static int take_some(struct write *write, const struct job_index *index, bool is_left, int64_t from,
                     int64_t *ret_count, int64_t *ret_last)
{
    struct statement pick =
        statement_of(&write->statements, is_left ? WRITE_INDEX_PICK_LEFT : WRITE_INDEX_PICK);
    int64_t room = index->batch < INDEX_MAX_BATCH ? index->batch : INDEX_MAX_BATCH;
    int rc = SQLITE_OK, ended;

    *ret_last = 0;
    statement_integer(&pick, index->now_ms);
    statement_integer(&pick, from);
    statement_integer(&pick, room);
    while (rc == SQLITE_OK && statement_step(&pick)) {
        *ret_last = sqlite3_column_int64(pick.handle, 0);
        rc = take_up(write, pick.handle, *ret_last, is_left);
        ++*ret_count;
    }
    ended = statement_end(&pick);
    return rc == SQLITE_OK ? ended : rc;
}

/* Merges a few pages; what was deleted goes from the file with the pages that held it. */
static int tidy(struct write *write, int64_t *ret_count)
{
    int64_t before = sqlite3_total_changes64(write->db);
    int rc;

    if (write->gaps < INDEX_MAX_GAPS || write->is_sweeping)
        return SQLITE_OK; /* what is merged while more goes would be merged again */
    rc = write_run(write, WRITE_INDEX_TIDY);
    if (rc == SQLITE_OK && sqlite3_total_changes64(write->db) - before < 2)
        write->gaps = 0;
    else
        ++*ret_count;
    CRASH_POINT(store_sweep_tidied);
    return rc;
}

static int index_run(struct write *write, struct job *job)
{
    int64_t from, count = 0, last, unused;
    int rc = read_next(write, &from);

    if (rc == SQLITE_OK)
        rc = take_some(write, &job->of.index, true, 0, &count, &unused);
    if (rc == SQLITE_OK)
        rc = take_some(write, &job->of.index, false, from, &count, &last);
    if (rc == SQLITE_OK && last > 0)
        rc = run_on(write, WRITE_INDEX_MOVE, last + 1);
    CRASH_POINT(store_index_moved);
    if (rc == SQLITE_OK)
        rc = tidy(write, &count);
    job->reply.seq = count;
    return rc;
}

const struct job_kind job_kind_index = { .run = index_run };
