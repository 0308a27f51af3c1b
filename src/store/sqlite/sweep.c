/*
 * sweep.c - retention (R9.1): what is too old goes, then what is too many.
 * An ask goes with its texts, answers, drafts and words; of its events only the places in the chain
 * stay. Principals that have nothing left go last.
 */
#include <stdlib.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "store/sqlite/write.h"

enum {
    SWEEP_COUNT_AHEAD = 100000,
    SWEEP_WINDOW = 4096, /* numbers looked at in one go for the first that is not settled */
};

struct victim {
    int64_t number, seq;
};
struct victims {
    struct victim *list;
    int64_t count, room;
};

static void pick(struct write_context *writing, enum sqlite_statement how, int64_t bound_ms,
                 int64_t limit, struct victims *victims)
{
    struct statement select =
        write_statement(writing, how, VALUES(value_number(bound_ms), value_number(limit)));

    while (victims->count < victims->room && statement_step(&select)) {
        victims->list[victims->count++] = (struct victim){
            .number = sqlite3_column_int64(select.handle, 0),
            .seq = sqlite3_column_int64(select.handle, 1),
        };
    }
    write_end(writing, &select);
}

/* Counting takes long, so one count serves many batches; write_ask.c adds what ends after it. */
static void count_ended(struct write_context *writing, int64_t needed)
{
    struct statement count;

    if (writing->ended >= needed || writing->is_ended_exact)
        return;
    count = write_statement(writing, STATEMENT_SWEEP_COUNT,
                            VALUES(value_number(needed + SWEEP_COUNT_AHEAD)));
    writing->ended = statement_step(&count) ? sqlite3_column_int64(count.handle, 0) : 0;
    writing->is_ended_exact = writing->ended < needed + SWEEP_COUNT_AHEAD;
    write_end(writing, &count);
}

static void pick_all(struct write_context *writing, const struct store_sweep *sweep,
                     struct victims *victims)
{
    int64_t excess, room;

    count_ended(writing, sweep->keep_ended + 2 * victims->room);
    pick(writing, STATEMENT_SWEEP_OLD, sweep->older_than_ms, victims->room, victims);
    excess = writing->ended - victims->count - sweep->keep_ended;
    room = victims->room - victims->count;
    if (excess > 0 && room > 0)
        pick(writing, STATEMENT_SWEEP_MANY, sweep->older_than_ms, excess < room ? excess : room,
             victims);
}

/* Goes on to the event before; a damaged chain that does not lead back ends the walk. */
static void empty_event(struct write_context *writing, int64_t *seq)
{
    struct statement update =
        write_statement(writing, STATEMENT_SWEEP_EVENT, VALUES(value_number(*seq)));
    int64_t earlier = 0;

    while (statement_step(&update))
        earlier = sqlite3_column_int64(update.handle, 0);
    write_end(writing, &update);
    CRASH_POINT(store_sweep_emptied);
    *seq = earlier < *seq ? earlier : 0;
}

static void drop(struct write_context *writing, const struct victim *victim)
{
    static const enum sqlite_statement parts[] = { STATEMENT_SWEEP_DRAFTS, STATEMENT_INDEX_TAKE,
                                                   STATEMENT_UNINDEX_AGENT, STATEMENT_SWEEP_ASK };
    int64_t seq = victim->seq;

    while (seq > 0)
        empty_event(writing, &seq);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        write_run_on(writing, parts[i], victim->number);
    CRASH_POINT(store_sweep_dropped);
}

/* Until the slice is over, but one at least. The words come last, all of them together, because
 * every statement that might be undone alone makes the index write what it has gathered. */
static int64_t drop_some(struct write_context *writing, struct victims *victims)
{
    int64_t dropped = 0;

    while (writing->rc == SQLITE_OK && dropped < victims->count) {
        drop(writing, &victims->list[dropped++]);
        if (slice_is_over(&writing->slice))
            break;
    }
    for (int64_t i = 0; i < dropped; i++) {
        write_run_on(writing, STATEMENT_UNINDEX_WORDS, victims->list[i].number);
        CRASH_POINT(store_sweep_unindexed);
    }
    return dropped;
}

/* Once in a while what is over is left behind, so that a start need not look at it. */
static void move_on(struct write_context *writing)
{
    bool is_found = false;

    while (writing->rc == SQLITE_OK && !is_found && writing->head.unsettled <= writing->head.seq) {
        int64_t to = writing->head.unsettled + SWEEP_WINDOW;
        struct statement find =
            write_statement(writing, STATEMENT_UNSETTLED,
                            VALUES(value_number(writing->head.unsettled), value_number(to)));

        is_found = statement_step(&find);
        if (is_found)
            writing->head.unsettled = sqlite3_column_int64(find.handle, 0);
        else
            writing->head.unsettled = to <= writing->head.seq ? to : writing->head.seq + 1;
        write_end(writing, &find);
        if (slice_is_over(&writing->slice))
            break;
    }
}

/* In the order of what the next one needs: room in the index, then what goes, then the rest. */
static void run_slice(struct write_context *writing, const struct store_sweep *sweep,
                      struct victims *victims, int64_t *ret_count)
{
    int64_t dropped;
    bool is_last;

    pick_all(writing, sweep, victims);
    CRASH_POINT(store_sweep_picked);
    dropped = drop_some(writing, victims);
    writing->ended -= dropped;
    writing->gaps += dropped;
    is_last = dropped == victims->count && victims->count < victims->room;
    writing->is_sweeping = !is_last;
    *ret_count = dropped;
    if (is_last) {
        conversation_sweep(writing, sweep, ret_count);
        write_run_on(writing, STATEMENT_SWEEP_PRINCIPALS, sweep->older_than_ms);
        *ret_count += sqlite3_changes(writing->db);
        writing->principal[0] = '\0'; /* it may be one of them */
    }
    move_on(writing);
}

void sweep_run(struct write_context *writing, struct write *write)
{
    const struct store_sweep *sweep = &write->of.sweep;
    struct victims victims = { .room = sweep->batch };

    slice_begin(&writing->slice, sweep->max_us);
    write->reply.seq = 1;
    if (!index_merge(writing))
        return;
    victims.list = mem_new((size_t)victims.room * sizeof *victims.list);
    run_slice(writing, sweep, &victims, &write->reply.seq);
    free(victims.list);
}
