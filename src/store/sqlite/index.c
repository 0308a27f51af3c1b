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
    INDEX_MAX_GAPS = 32, /* tidying rewrites the whole index, so not for each */
    INDEX_GAPS_PART = 4, /* and while many go, when they are a fourth of those that stay */
};

static int64_t read_next(struct write_context *writing)
{
    struct statement read = write_statement(writing, STATEMENT_INDEX_NEXT, NULL, 0);
    int64_t next = statement_step(&read) ? sqlite3_column_int64(read.handle, 0) : 1;

    write_end(writing, &read);
    return next;
}

void index_reopen(struct write_context *writing, int64_t number)
{
    if (number >= read_next(writing))
        return;
    write_run_on(writing, STATEMENT_UNINDEX_WORDS, number);
    write_run_on(writing, STATEMENT_INDEX_LEAVE, number);
}

static void add_words(struct write_context *writing, sqlite3_stmt *row, int64_t number)
{
    struct text body = { 0 };

    search_text((const char *)sqlite3_column_text(row, 3),
                (const char *)sqlite3_column_text(row, 4), &body);
    write_run_with(writing, STATEMENT_INDEX_WORDS,
                   VALUES(value_number(number), value_text(text_string(&body))));
    text_release(&body);
}

static void take_up(struct write_context *writing, sqlite3_stmt *row, int64_t number, bool is_left)
{
    bool is_settled = sqlite3_column_int(row, 1) != 0;
    const char *agent = (const char *)sqlite3_column_text(row, 2);

    if (is_left)
        write_run_on(writing, STATEMENT_INDEX_TAKE, number);
    else if (agent)
        write_run_with(writing, STATEMENT_INDEX_AGENT,
                       VALUES(value_text(agent), value_number(number)));
    if (is_settled)
        add_words(writing, row, number);
    else
        write_run_on(writing, STATEMENT_INDEX_LEAVE, number);
    CRASH_POINT(store_index_taken);
}

struct taken {
    int64_t count, last; /* how many, and the number of the last one */
    bool is_cut;         /* there may be more */
};

/* Up to `batch` asks: new ones from `from` on, or (`to`) those that were left, up to that one. */
static void take_some(struct write_context *writing, const struct store_index *index, int64_t from,
                      int64_t to, struct taken *taken)
{
    struct statement pick = write_statement(
        writing, to ? STATEMENT_INDEX_PICK_LEFT : STATEMENT_INDEX_PICK,
        VALUES(value_number(index->now_ms), value_number(from), value_number(index->batch)));

    if (to)
        statement_bind(&pick, VALUES(value_number(to)));
    while (writing->rc == SQLITE_OK && !taken->is_cut && statement_step(&pick)) {
        taken->last = sqlite3_column_int64(pick.handle, 0);
        taken->count++;
        take_up(writing, pick.handle, taken->last, to > 0);
        taken->is_cut = taken->count == index->batch || slice_is_over(&writing->slice);
    }
    write_end(writing, &pick);
}

/* A window of those that were left, the next one the next time. */
static void take_left(struct write_context *writing, const struct store_index *index,
                      int64_t *ret_count)
{
    struct statement window =
        write_statement(writing, STATEMENT_INDEX_WINDOW,
                        VALUES(value_number(writing->left_from), value_number(INDEX_WINDOW)));
    struct taken taken = { 0 };
    int64_t to = 0, seen = 0;

    if (statement_step(&window)) {
        to = sqlite3_column_int64(window.handle, 0);
        seen = sqlite3_column_int64(window.handle, 1);
    }
    write_end(writing, &window);
    if (to > 0)
        take_some(writing, index, writing->left_from, to, &taken);
    if (taken.is_cut)
        writing->left_from = taken.last + 1;
    else
        writing->left_from = seen == INDEX_WINDOW ? to + 1 : 0;
    *ret_count += taken.count + (writing->left_from > 0 && taken.count == 0);
}

/* A step is bounded by what it writes. Where much is gone it reads far more, so the index is
 * rewritten before that is so. */
static bool must_be_anew(const struct write_context *writing)
{
    /* what is rewritten while more goes will be rewritten again */
    int64_t many = writing->is_sweeping ? writing->ended / INDEX_GAPS_PART : 0;

    return writing->gaps >= INDEX_MAX_GAPS && writing->gaps >= many;
}

/* Merges a few pages; what was deleted goes from the file with the pages that held it. */
static bool merge_step(struct write_context *writing)
{
    bool is_anew = must_be_anew(writing), is_over;
    int64_t before = sqlite3_total_changes64(writing->db);

    write_run(writing, is_anew ? STATEMENT_INDEX_TIDY : STATEMENT_INDEX_MERGE);
    is_over = sqlite3_total_changes64(writing->db) - before < 2;
    CRASH_POINT(store_index_merged);
    if (is_anew) {
        CRASH_POINT(store_sweep_tidied);
        writing->gaps = is_over ? 0 : writing->gaps;
    }
    return is_over && !is_anew;
}

bool index_merge(struct write_context *writing)
{
    bool is_done;

    do {
        is_done = merge_step(writing);
    } while (writing->rc == SQLITE_OK && !is_done && !slice_is_over(&writing->slice));
    return is_done && writing->rc == SQLITE_OK;
}

/* New ones, and of those that were left what has settled. */
static int64_t take_batch(struct write_context *writing, const struct store_index *index)
{
    struct taken taken = { 0 };
    int64_t from = read_next(writing), count = 0;

    take_left(writing, index, &count);
    take_some(writing, index, from, 0, &taken);
    if (taken.count > 0)
        write_run_on(writing, STATEMENT_INDEX_MOVE, taken.last + 1);
    CRASH_POINT(store_index_moved);
    return count + taken.count;
}

void index_run(struct write_context *writing, struct write *write)
{
    const struct store_index *index = &write->of.index;

    slice_begin(&writing->slice, index->max_us);
    write->reply.seq = index_merge(writing) ? take_batch(writing, index) : 1;
}
