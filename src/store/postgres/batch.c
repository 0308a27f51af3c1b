#include "store/postgres/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/random.h"
#include "store/columns.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq.h"
#include "store/postgres/write.h"
#include "store/writes.h"

enum {
    BATCH_WRITES = 256,
    BATCH_BYTES = 1024 * 1024,
    BATCH_LIMIT_MS = 5000,   /* until a write must have been sent, while nothing moves */
    BATCH_SILENCE_MS = 8000, /* longer than the server's lock_timeout */
    BATCH_TRIES = 6,
    BATCH_PAUSE_MS = 20,
    BATCH_WRITER_CHARS = 13, /* of an id that are the writer's; sweep.sql knows it */
    BATCH_ASKS = 2048,       /* places for those that a batch is about */
};
enum { NUMBER_BEGIN = 0, NUMBER_LOCK = 1, NUMBER_FIRST = 2 };

static const struct sql sql_begin = { NULL, "BEGIN ISOLATION LEVEL READ COMMITTED" };
static const struct sql sql_commit = { NULL, "COMMIT" };
static const struct sql sql_rollback = { NULL, "ROLLBACK" };
static const struct sql sql_lock = { "sayso_begin", "SELECT sayso_begin($1)" };
/* Poolers do not pass on what we want of a session. */
static const struct sql sql_lock_pooled = { NULL, "SELECT sayso_begin($1) WHERE"
                                                  " set_config('lock_timeout', '5s', true) <> ''" };
static const struct sql sql_end = { "sayso_end", "SELECT sayso_end($1)" };

static const int64_t batch_bounds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
static const struct metrics_scale batch_scale = { batch_bounds, ARRAY_LEN(batch_bounds), 1 };

enum batch_state {
    BATCH_NONE,
    BATCH_SENT,
    BATCH_IN_DOUBT, /* committed or not: asked as soon as there is a connection */
    BATCH_ASKED,
    BATCH_ROWLESS, /* committed; rows that are wanted have to be read again */
    BATCH_READING,
};

/* The part that an ask's newest write is in. */
struct batch_ask {
    uint64_t hash;
    enum write_part part;
};

struct batch_queue {
    struct batch_parts parts;
    struct pg_link *link;
    struct loop_timer *timer;
    struct loop_turn *turn;
    struct write_list waiting;
    int64_t not_before_ms; /* a pause after another session was in the way; 0: none */
    int64_t moved_ms;      /* when the last transaction was known to be committed */

    /* the transaction under way */
    enum batch_state state;
    struct write_list current;
    struct batch_ask asks[BATCH_ASKS];
    char id[27];
    int count, end_number; /* statements of writes; sayso_end's, COMMIT is the next */
    int tries;
    bool is_committed;
    enum fault fault; /* the first thing that was refused, */
    char refusal[6];  /* its SQLSTATE, */
    int refused;      /* and its number */

    struct metrics_histogram batches;
    int64_t in_doubt_count, retries;
};

/* A completion may add writes. */
static void answer(struct batch_queue *queue, struct write *take_write)
{
    if (take_write->reply.outcome != STORE_FAILED && queue->parts.on_stored)
        queue->parts.on_stored(queue->parts.context, take_write);
    write_answer(take_write);
}

static void fail(struct write *take_write, const struct error *err)
{
    write_set_failed(take_write, err);
    write_answer(take_write);
}

static struct write_list end_transaction(struct batch_queue *queue)
{
    struct write_list writes = queue->current;

    queue->current = (struct write_list){ 0 };
    queue->state = BATCH_NONE;
    return writes;
}

/* each write of the transaction has its reply */
static void batch_complete(struct batch_queue *queue)
{
    struct write_list writes = end_transaction(queue);
    struct write *write;

    queue->tries = 0;
    queue->moved_ms = loop_boot_ms();
    while ((write = write_list_take(&writes)))
        answer(queue, write);
}

static void fail_all(struct batch_queue *queue)
{
    struct write_list writes = end_transaction(queue);
    struct write *write;
    struct error err;

    fault_describe(queue->fault, queue->refusal, &err);
    queue->tries = 0;
    while ((write = write_list_take(&writes)))
        fail(write, &err);
}

static void batch_pause(struct batch_queue *queue, int64_t ms)
{
    queue->not_before_ms = loop_boot_ms() + ms;
    loop_timer_at(queue->timer, queue->not_before_ms);
}

/* Who has waited long fails where the database takes nothing; while it does, others were first. */
static int64_t fails_at_ms(const struct batch_queue *queue, const struct write *write)
{
    return (write->sent.added_ms > queue->moved_ms ? write->sent.added_ms : queue->moved_ms) +
           BATCH_LIMIT_MS;
}

static void time_next(struct batch_queue *queue)
{
    if (queue->not_before_ms)
        loop_timer_at(queue->timer, queue->not_before_ms);
    else if (queue->waiting.first)
        loop_timer_at(queue->timer, fails_at_ms(queue, queue->waiting.first));
}

/* Nothing of it was stored: once more. In their old order, before those that came later. */
static void batch_put_back(struct batch_queue *queue)
{
    struct write_list writes = end_transaction(queue);

    queue->retries++;
    for (struct write *write = writes.first; write; write = write->next)
        write_reset(write);
    if (!writes.first)
        return;
    write_list_append(&writes, &queue->waiting);
    queue->waiting = writes;
    time_next(queue);
}

/* Whose statement was refused is tried alone, the others together without it. If it was none of
 * theirs, each is tried alone. */
static void separate(struct batch_queue *queue)
{
    bool is_known = queue->refused >= NUMBER_FIRST && queue->refused < queue->end_number;

    if (queue->current.first == queue->current.last || queue->current.first->sent.is_alone) {
        fail_all(queue);
        return;
    }
    for (struct write *write = queue->current.first; write; write = write->next)
        write->sent.is_alone |= !is_known || write->sent.number == queue->refused;
    batch_put_back(queue);
}

static void try_again(struct batch_queue *queue)
{
    if (++queue->tries >= BATCH_TRIES) {
        fail_all(queue);
        return;
    }
    batch_put_back(queue);
    batch_pause(queue, (int64_t)BATCH_PAUSE_MS * queue->tries);
}

/* The server said no before it came to COMMIT: nothing is stored. */
static void take_refusal(struct batch_queue *queue)
{
    if (queue->fault == FAULT_GONE)
        pg_link_reset(queue->link);
    else if (pg_link_is_ready(queue->link)) /* if it is lost, it is rolled back all the same */
        pg_link_send(queue->link, &(struct pg_exchange){ 0 }, &sql_rollback, NULL);
    switch (queue->fault) {
    case FAULT_SESSION:
        address_set_pooled(queue->parts.address);
        try_again(queue);
        break;
    case FAULT_AGAIN:
    case FAULT_GONE:
        try_again(queue);
        break;
    case FAULT_DATA:
        separate(queue);
        break;
    default:
        fail_all(queue);
    }
}

static bool is_row_missing(const struct batch_queue *queue)
{
    const struct write *write = queue->current.first;

    while (write && !write->sent.wants_row)
        write = write->next;
    return write;
}

/* Rows that are wanted are read behind the transaction (in_doubt_go_on). */
static void take_committed(struct batch_queue *queue)
{
    queue->state = BATCH_ROWLESS;
    if (!is_row_missing(queue))
        batch_complete(queue);
}

/* The first of its statement, by that one's number; NULL: it is none of theirs. */
static struct write *find_write(const struct batch_queue *queue, int number)
{
    struct write *write = queue->current.first;

    while (write && write->sent.number != number)
        write = write->next;
    return write;
}

/* How many its statement is about; they stand behind each other. */
static int count_same(const struct write *first)
{
    int count = 0;

    for (const struct write *write = first; write && write->sent.number == first->sent.number;
         write = write->next)
        count++;
    return count;
}

static void on_result(void *context, int number, const PGresult *result)
{
    struct batch_queue *queue = context;
    enum fault fault = fault_of(result);
    struct write *write;

    if (fault != FAULT_NONE && queue->fault == FAULT_NONE) {
        queue->fault = fault;
        queue->refused = number;
        strncpy(queue->refusal, fault_state(result), sizeof queue->refusal - 1);
    }
    if (fault != FAULT_NONE)
        return;
    queue->is_committed |= number == queue->end_number + 1 &&
                           strcmp(libpq.cmdStatus((PGresult *)result), "COMMIT") == 0;
    write = find_write(queue, number);
    if (write)
        write_take(write, count_same(write), result);
}

static void in_doubt_go_on(struct batch_queue *queue);

static void on_end(void *context, bool is_lost)
{
    struct batch_queue *queue = context;

    CRASH_POINT(postgres_after_commit);
    if (queue->is_committed) {
        metrics_observe(&queue->batches, &batch_scale, queue->current.count);
        take_committed(queue);
        if (queue->state == BATCH_ROWLESS)
            in_doubt_go_on(queue);
    } else if (is_lost || queue->fault == FAULT_NONE || queue->refused > queue->end_number) {
        /* A COMMIT that fails may have been heard all the same: by the disk, not by a standby. */
        queue->in_doubt_count++;
        queue->state = BATCH_IN_DOUBT;
        if (!is_lost)
            pg_link_reset(queue->link);
    } else {
        take_refusal(queue);
    }
}

/* Where an ask is in this list, or would be; NULL: there is no more room. */
static struct batch_ask *find_ask(struct batch_queue *queue, const char *id, size_t length)
{
    uint64_t hash = 14695981039346656037U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)id[i]) * 1099511628211U;
    for (size_t i = 0; i < BATCH_ASKS / 2; i++) {
        struct batch_ask *ask = &queue->asks[(hash + i) % BATCH_ASKS];

        if (ask->part == PART_NONE || ask->hash == hash) {
            ask->hash = hash;
            return ask;
        }
    }
    return NULL;
}

/* Effects come in the order they were asked for: a statement sees nothing of what it does itself,
 * and those of earlier parts are run before. */
static bool may_join(struct batch_queue *queue, const struct write *write)
{
    enum write_part part = write_part_of(write);
    const char *id = NULL;

    for (size_t length; (length = write_next_ask(write, &id)) > 0;) {
        const struct batch_ask *ask = find_ask(queue, id, length);

        if (!ask || ask->part > part || (ask->part == part && part != PART_SINGLE))
            return false;
    }
    return true;
}

static void note_asks(struct batch_queue *queue, const struct write *write)
{
    const char *id = NULL;

    for (size_t length; (length = write_next_ask(write, &id)) > 0;) {
        struct batch_ask *ask = find_ask(queue, id, length);

        if (ask)
            ask->part = write_part_of(write);
    }
}

/* In the order of parts; within one, in that they came in. */
static void take_writes(struct batch_queue *queue)
{
    struct write_list parts[PART_COUNT] = { 0 };
    struct write *write;
    size_t bytes = 0;
    bool is_alone = false;

    memset(queue->asks, 0, sizeof queue->asks);
    for (int count = 0; (write = queue->waiting.first); count++) {
        if (count > 0 && (is_alone || write->sent.is_alone || count >= BATCH_WRITES ||
                          bytes + write->bytes > BATCH_BYTES || !may_join(queue, write)))
            break;
        note_asks(queue, write);
        is_alone = write->sent.is_alone;
        bytes += write->bytes;
        write_list_add(&parts[write_part_of(write)], write_list_take(&queue->waiting));
    }
    for (int part = 0; part < PART_COUNT; part++)
        write_list_append(&queue->current, &parts[part]);
}

static void add(struct pg_link *link, const struct sql *sql, struct column_value value)
{
    struct params params = { 0 };

    params_add(&params, &value, 1);
    pg_link_add(link, sql, &params);
    params_release(&params);
}

/* A statement for those of one part, from this one on. Returns the first of the next. */
static struct write *add_part(struct batch_queue *queue, struct write *first)
{
    enum write_part part = write_part_of(first);
    struct params params = { 0 };
    struct write *write = first;
    const struct sql *sql;
    int count = 0;

    do {
        write->sent.number = part == PART_NONE ? -1 : NUMBER_FIRST + queue->count;
        write->sent.wants_row = false;
        if (part == PART_NONE)
            write_reset(write);
        write = write->next;
        count++;
    } while (write && part != PART_SINGLE && write_part_of(write) == part);
    if (part != PART_NONE) {
        queue->count++;
        write_bind(first, count, &sql, &params);
        pg_link_add(queue->link, sql, &params);
        params_release(&params);
    }
    return write;
}

static void send_batch(struct batch_queue *queue)
{
    const struct pg_exchange exchange = { on_result, on_end, queue };
    char id[sizeof queue->id];

    take_writes(queue);
    random_id(id);
    memcpy(queue->id + BATCH_WRITER_CHARS, id, sizeof id - BATCH_WRITER_CHARS);
    queue->state = BATCH_SENT;
    queue->count = 0;
    queue->is_committed = false;
    queue->fault = FAULT_NONE;
    memset(queue->refusal, 0, sizeof queue->refusal);
    CRASH_POINT(postgres_before_send);
    pg_link_begin(queue->link, &exchange);
    pg_link_add(queue->link, &sql_begin, NULL);
    add(queue->link, address_is_pooled(queue->parts.address) ? &sql_lock_pooled : &sql_lock,
        value_number(queue->parts.hub));
    for (struct write *write = queue->current.first; write;)
        write = add_part(queue, write);
    queue->end_number = NUMBER_FIRST + queue->count;
    add(queue->link, &sql_end, value_text(queue->id));
    pg_link_add(queue->link, &sql_commit, NULL);
    pg_link_end(queue->link);
    CRASH_POINT(postgres_after_send);
}

/* One turn of the loop is one batch, and the time of one transaction is the next. */
static void on_turn(void *context)
{
    struct batch_queue *queue = context;

    if (queue->waiting.first && queue->state == BATCH_NONE && queue->not_before_ms == 0 &&
        pg_link_is_ready(queue->link))
        send_batch(queue);
}

static void fail_old(struct batch_queue *queue, int64_t now)
{
    const char *why = pg_link_why(queue->link);
    struct error err;

    error_set(&err, ERROR_storage_failed, "",
              "the database does not answer%s%s; nothing was stored: try again", *why ? ": " : "",
              why);
    while (queue->waiting.first && fails_at_ms(queue, queue->waiting.first) <= now)
        fail(write_list_take(&queue->waiting), &err);
}

static void on_time(void *context)
{
    struct batch_queue *queue = context;
    int64_t now = loop_boot_ms();

    fail_old(queue, now);
    if (queue->not_before_ms && queue->not_before_ms <= now) {
        queue->not_before_ms = 0;
        in_doubt_go_on(queue);
    }
    time_next(queue);
}

static void on_ready(void *context)
{
    in_doubt_go_on(context);
}

struct batch_queue *batch_queue_open(const struct batch_parts *parts)
{
    struct batch_queue *queue = mem_new(sizeof *queue);
    const struct pg_link_plan plan = { .loop = parts->loop,
                                       .address = parts->address,
                                       .on_ready = on_ready,
                                       .context = queue,
                                       .silence_ms = BATCH_SILENCE_MS };

    queue->parts = *parts;
    random_id(queue->id); /* its beginning is that of all batches */
    queue->timer = loop_timer_new(parts->loop, on_time, queue);
    queue->turn = loop_turn_new(parts->loop, on_turn, queue);
    queue->link = pg_link_open(&plan);
    return queue;
}

void batch_queue_add(struct batch_queue *queue, struct write *take_write)
{
    bool is_first = !queue->waiting.first;

    take_write->sent.added_ms = loop_boot_ms();
    write_list_add(&queue->waiting, take_write);
    if (is_first)
        time_next(queue);
}

void batch_queue_close(struct batch_queue *queue)
{
    struct error err;

    if (!queue)
        return;
    pg_link_close(queue->link);
    loop_turn_free(queue->turn);
    error_set(
        &err, ERROR_storage_failed, "",
        queue->state == BATCH_NONE
            ? "the store is closing; nothing was stored"
            : "lost the connection to the database; the result will be known after reconnecting");
    while (queue->current.first)
        fail(write_list_take(&queue->current), &err);
    error_set(&err, ERROR_storage_failed, "", "the store is closing; nothing was stored");
    while (queue->waiting.first)
        fail(write_list_take(&queue->waiting), &err);
    loop_timer_free(queue->timer);
    free(queue);
}

bool batch_queue_is_empty(const struct batch_queue *queue)
{
    return !queue->waiting.first && queue->state == BATCH_NONE;
}

const struct pg_link *batch_queue_link(const struct batch_queue *queue)
{
    return queue->link;
}

void batch_queue_write_metrics(const struct batch_queue *queue, struct text *out)
{
    metrics_write_histogram(out, "sayso_store_batch_writes", "Writes in one transaction.",
                            &queue->batches, &batch_scale);
    metrics_write_one(out, "sayso_store_retried_batches_total", "counter",
                      "Transactions that were run again.", queue->retries);
    metrics_write_one(out, "sayso_store_doubtful_batches_total", "counter",
                      "Transactions whose end was not heard, and had to be asked for.",
                      queue->in_doubt_count);
}

/* What became of a transaction whose end was not heard (batch.h). sayso_resolve waits for it if it
 * is under way, says what it did, or makes it void: should its words still arrive, its own
 * sayso_end fails. So afterwards there is no doubt, whatever the network does. */

enum { DOUBT_PAUSE_MS = 200 };

static const struct sql sql_resolve = { "sayso_resolve", "SELECT sayso_resolve($1)" };
/* "D12 L0 R5 ": in the order they were sent. */
static void take_outcomes(struct batch_queue *queue, const char *said)
{
    for (struct write *write = queue->current.first; write; write = write->next)
        said = write->sent.number >= 0 ? write_take_said(write, said) : said;
    take_committed(queue);
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

        for (struct write *write = queue->current.first; write; write = write->next)
            write->sent.added_ms = now; /* the time in doubt does not count */
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
        in_doubt_go_on(queue);
    }
}

static void ask(struct batch_queue *queue)
{
    const struct pg_exchange exchange = { on_resolved, on_resolve_end, queue };

    queue->state = BATCH_ASKED;
    pg_link_begin(queue->link, &exchange);
    add(queue->link, &sql_resolve, value_text(queue->id));
    pg_link_end(queue->link);
}

static void on_row(void *context, int number, const PGresult *result)
{
    struct batch_queue *queue = context;
    struct write *write = find_write(queue, number);

    if (write && fault_of(result) == FAULT_NONE)
        write_take_row(write, result);
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
    struct params params = { 0 };
    const struct sql *sql;
    int count = 0;

    queue->state = BATCH_READING;
    pg_link_begin(queue->link, &exchange);
    for (struct write *write = queue->current.first; write; write = write->next) {
        write->sent.number = write->sent.wants_row ? count++ : -1;
        if (write->sent.wants_row) {
            write_bind_row(write, &sql, &params);
            pg_link_add(queue->link, sql, &params);
            params_release(&params);
        }
    }
    pg_link_end(queue->link);
}

/* When connected, and after a pause. */
static void in_doubt_go_on(struct batch_queue *queue)
{
    if (!pg_link_is_ready(queue->link))
        return;
    if (queue->state == BATCH_IN_DOUBT)
        ask(queue);
    else if (queue->state == BATCH_ROWLESS)
        read_rows(queue);
}
