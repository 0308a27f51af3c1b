/*
 * sqlite_sweep.c - retention (R9.1): what is too old goes, then what is too many.
 * An ask goes with its texts, answers, drafts and words; of its events only the places in the chain
 * stay.
 */
#include "store/write.h"

#include <stdlib.h>

#include "base/crash_point.h"
#include "base/mem.h"

enum { SWEEP_MAX_BATCH = 1000 };

struct victim {
    int64_t number, seq;
};
struct victims {
    struct victim *list;
    int64_t count, room;
};

static int pick(struct write *write, enum write_statement how, int64_t bound_ms, int64_t limit,
                struct victims *victims)
{
    struct statement select = statement_of(&write->statements, how);

    statement_integer(&select, bound_ms);
    statement_integer(&select, limit);
    while (victims->count < victims->room && statement_step(&select)) {
        victims->list[victims->count++] = (struct victim){
            .number = sqlite3_column_int64(select.handle, 0),
            .seq = sqlite3_column_int64(select.handle, 1),
        };
    }
    return statement_end(&select);
}

/* Counting all takes long, so it is done once for many batches: others only add to it. */
static int count_ended(struct write *write, int64_t needed)
{
    struct statement count;

    if (write->ended >= needed)
        return SQLITE_OK;
    count = statement_of(&write->statements, WRITE_SWEEP_COUNT);
    write->ended = statement_step(&count) ? sqlite3_column_int64(count.handle, 0) : 0;
    return statement_end(&count);
}

static int pick_all(struct write *write, const struct job_sweep *sweep, struct victims *victims)
{
    int64_t excess, room;
    int rc = count_ended(write, sweep->keep_ended + 2 * victims->room);

    if (rc == SQLITE_OK)
        rc = pick(write, WRITE_SWEEP_OLD, sweep->older_than_ms, victims->room, victims);
    if (rc != SQLITE_OK)
        return rc;
    excess = write->ended - victims->count - sweep->keep_ended;
    room = victims->room - victims->count;
    if (excess > 0 && room > 0)
        rc = pick(write, WRITE_SWEEP_MANY, sweep->older_than_ms, excess < room ? excess : room,
                  victims);
    return rc;
}

static int run_on(struct write *write, enum write_statement how, int64_t number)
{
    struct statement statement = statement_of(&write->statements, how);

    statement_integer(&statement, number);
    return statement_run(&statement);
}

/* Goes on to the event before; a damaged chain that does not lead back ends the walk. */
static int empty_event(struct write *write, int64_t *seq)
{
    struct statement update = statement_of(&write->statements, WRITE_SWEEP_EVENT);
    int64_t earlier = 0;
    int rc;

    statement_integer(&update, *seq);
    while (statement_step(&update))
        earlier = sqlite3_column_int64(update.handle, 0);
    rc = statement_end(&update);
    CRASH_POINT(store_sweep_emptied);
    *seq = earlier < *seq ? earlier : 0;
    return rc;
}

static int drop(struct write *write, const struct victim *victim)
{
    int64_t seq = victim->seq;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && seq > 0)
        rc = empty_event(write, &seq);
    if (rc == SQLITE_OK)
        rc = run_on(write, WRITE_SWEEP_DRAFTS, victim->number);
    if (rc == SQLITE_OK)
        rc = index_drop(write, victim->number);
    if (rc == SQLITE_OK)
        rc = run_on(write, WRITE_SWEEP_ASK, victim->number);
    CRASH_POINT(store_sweep_dropped);
    return rc;
}

/* Once in a while what is over is left behind, so that a start need not look at it. */
static int move_on(struct write *write)
{
    struct statement find = statement_of(&write->statements, WRITE_UNSETTLED);

    statement_integer(&find, write->head.unsettled);
    write->head.unsettled =
        statement_step(&find) ? sqlite3_column_int64(find.handle, 0) : write->head.seq + 1;
    return statement_end(&find);
}

int sweep_run(struct write *write, struct job *job)
{
    const struct job_sweep *sweep = &job->of.sweep;
    struct victims victims = { .room = sweep->batch };
    int rc;

    if (victims.room > SWEEP_MAX_BATCH)
        victims.room = SWEEP_MAX_BATCH;
    victims.list = mem_new((size_t)victims.room * sizeof *victims.list);
    rc = pick_all(write, sweep, &victims);
    CRASH_POINT(store_sweep_picked);
    for (int64_t i = 0; rc == SQLITE_OK && i < victims.count; i++)
        rc = drop(write, &victims.list[i]);
    for (int64_t i = 0; rc == SQLITE_OK && i < victims.count; i++)
        rc = index_drop_words(write, victims.list[i].number);
    if (rc == SQLITE_OK && victims.count < victims.room) /* the last batch */
        rc = conversation_sweep(write, sweep->older_than_ms);
    if (rc == SQLITE_OK)
        rc = move_on(write);
    free(victims.list);
    write->ended -= victims.count;
    write->gaps += victims.count;
    write->is_sweeping = victims.count == victims.room;
    job->reply.seq = victims.count;
    return rc;
}
