/*
 * index.c - what searches and lists of one agent are found by, filled in batches behind the
 * asks, so that asking costs no page more. Where a batch ended is written with it: a killed process
 * leaves all of it or nothing.
 */
#include "base/crash_point.h"
#include "base/text.h"
#include "core/search_text.h"
#include "store/sqlite/write.h"

enum {
    INDEX_WINDOW = 500,  /* of those that were left, looked at in one go: there may be thousands */
    INDEX_MAX_GAPS = 32, /* to tidy is to write the index anew, so not for each */
    INDEX_GAPS_PART = 4, /* and while many go, when they are a fourth of those that stay */
};

static int read_next(struct write_context *writing, int64_t *ret_next)
{
    struct statement next = statement_of(&writing->statements, STATEMENT_INDEX_NEXT);

    *ret_next = statement_step(&next) ? sqlite3_column_int64(next.handle, 0) : 1;
    return statement_end(&next);
}

int index_reopen(struct write_context *writing, int64_t number)
{
    int64_t next;
    int rc = read_next(writing, &next);

    if (rc != SQLITE_OK || number >= next)
        return rc;
    rc = write_run_on(writing, STATEMENT_UNINDEX_WORDS, number);
    return rc == SQLITE_OK ? write_run_on(writing, STATEMENT_INDEX_LEAVE, number) : rc;
}

static int add_words(struct write_context *writing, sqlite3_stmt *row, int64_t number)
{
    struct text body = { 0 };
    int rc;

    search_text((const char *)sqlite3_column_text(row, 3),
                (const char *)sqlite3_column_text(row, 4), &body);
    rc = write_run_with(writing, STATEMENT_INDEX_WORDS,
                        VALUES(value_number(number), value_text(text_string(&body))));
    text_release(&body);
    return rc;
}

static int add_agent(struct write_context *writing, sqlite3_stmt *row, int64_t number)
{
    const char *agent = (const char *)sqlite3_column_text(row, 2);

    return agent ? write_run_with(writing, STATEMENT_INDEX_AGENT,
                                  VALUES(value_text(agent), value_number(number)))
                 : SQLITE_OK;
}

static int take_up(struct write_context *writing, sqlite3_stmt *row, int64_t number, bool is_left)
{
    bool is_settled = sqlite3_column_int(row, 1) != 0;
    int rc = is_left ? write_run_on(writing, STATEMENT_INDEX_TAKE, number)
                     : add_agent(writing, row, number);

    if (rc == SQLITE_OK && is_settled)
        rc = add_words(writing, row, number);
    else if (rc == SQLITE_OK)
        rc = write_run_on(writing, STATEMENT_INDEX_LEAVE, number);
    CRASH_POINT(store_index_taken);
    return rc;
}

struct taken {
    int64_t count, last; /* how many, and the number of the last one */
    bool is_cut;         /* there may be more */
};

/* Up to `batch` asks: new ones from `from` on, or (`to`) those that were left, up to that one. */
static int take_some(struct write_context *writing, const struct store_index *index, int64_t from,
                     int64_t to, struct taken *taken)
{
    struct statement pick = statement_with(
        &writing->statements, to ? STATEMENT_INDEX_PICK_LEFT : STATEMENT_INDEX_PICK,
        VALUES(value_number(index->now_ms), value_number(from), value_number(index->batch)));
    int rc = SQLITE_OK, ended;

    if (to)
        statement_bind(&pick, VALUES(value_number(to)));
    while (rc == SQLITE_OK && !taken->is_cut && statement_step(&pick)) {
        taken->last = sqlite3_column_int64(pick.handle, 0);
        taken->count++;
        rc = take_up(writing, pick.handle, taken->last, to > 0);
        taken->is_cut = taken->count == index->batch || slice_is_over(&writing->slice);
    }
    ended = statement_end(&pick);
    return rc == SQLITE_OK ? ended : rc;
}

/* A window of those that were left, the next one the next time. */
static int take_left(struct write_context *writing, const struct store_index *index,
                     int64_t *ret_count)
{
    struct statement window =
        statement_with(&writing->statements, STATEMENT_INDEX_WINDOW,
                       VALUES(value_number(writing->left_from), value_number(INDEX_WINDOW)));
    struct taken taken = { 0 };
    int64_t to = 0, seen = 0;
    int rc;

    if (statement_step(&window)) {
        to = sqlite3_column_int64(window.handle, 0);
        seen = sqlite3_column_int64(window.handle, 1);
    }
    rc = statement_end(&window);
    if (rc == SQLITE_OK && to > 0)
        rc = take_some(writing, index, writing->left_from, to, &taken);
    if (taken.is_cut)
        writing->left_from = taken.last + 1;
    else
        writing->left_from = seen == INDEX_WINDOW ? to + 1 : 0;
    *ret_count += taken.count + (writing->left_from > 0 && taken.count == 0);
    return rc;
}

/* A step is bounded by what it writes. Where much is gone it reads far more, so the index is
 * written anew before that is so. */
static bool must_be_anew(const struct write_context *writing)
{
    /* what is written anew while more goes will be again */
    int64_t many = writing->is_sweeping ? writing->ended / INDEX_GAPS_PART : 0;

    return writing->gaps >= INDEX_MAX_GAPS && writing->gaps >= many;
}

/* Merges a few pages; what was deleted goes from the file with the pages that held it. */
static int merge_step(struct write_context *writing, bool *ret_is_done)
{
    bool is_anew = must_be_anew(writing);
    int64_t before = sqlite3_total_changes64(writing->db);
    int rc = write_run(writing, is_anew ? STATEMENT_INDEX_TIDY : STATEMENT_INDEX_MERGE);
    bool is_over = sqlite3_total_changes64(writing->db) - before < 2;

    CRASH_POINT(store_index_merged);
    if (is_anew) {
        CRASH_POINT(store_sweep_tidied);
        writing->gaps = is_over ? 0 : writing->gaps;
    }
    *ret_is_done = is_over && !is_anew;
    return rc;
}

int index_merge(struct write_context *writing, bool *ret_is_done)
{
    int rc;

    do {
        rc = merge_step(writing, ret_is_done);
    } while (rc == SQLITE_OK && !*ret_is_done && !slice_is_over(&writing->slice));
    return rc;
}

/* New ones, and of those that were left what has settled. */
static int take_batch(struct write_context *writing, const struct store_index *index,
                      int64_t *ret_count)
{
    struct taken taken = { 0 };
    int64_t from;
    int rc = read_next(writing, &from);

    if (rc == SQLITE_OK)
        rc = take_left(writing, index, ret_count);
    if (rc == SQLITE_OK)
        rc = take_some(writing, index, from, 0, &taken);
    if (rc == SQLITE_OK && taken.count > 0)
        rc = write_run_on(writing, STATEMENT_INDEX_MOVE, taken.last + 1);
    CRASH_POINT(store_index_moved);
    *ret_count += taken.count;
    return rc;
}

int index_run(struct write_context *writing, struct write *write)
{
    const struct store_index *index = &write->of.index;
    int64_t count = 0;
    bool is_merged;
    int rc;

    slice_begin(&writing->slice, index->max_us);
    rc = index_merge(writing, &is_merged);
    if (rc == SQLITE_OK && is_merged)
        rc = take_batch(writing, index, &count);
    write->reply.seq = is_merged ? count : 1;
    return rc;
}
