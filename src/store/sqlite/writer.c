#include "store/sqlite/writer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash_point.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/os.h"
#include "i18n/i18n.h"
#include "store/sqlite/database.h"
#include "store/sqlite/write.h"
#include "store/writes.h"

enum { RESERVED_BYTES = 1024 * 1024 }; /* kept for answers when the disk fills up (E4) */

static sqlite_write *const runs[WRITE_KINDS] = {
#define WRITE(name, type, flags) [WRITE_##name] = name##_run,
#include "store/writes.def"
#undef WRITE
};

struct batch_runner {
    struct write_context writing;
    const char *path;       /* of the database, borrowed */
    atomic_bool *is_broken; /* borrowed; also read and set by the loop's thread */
    bool is_full_sync;      /* what PRAGMA synchronous is now */
    bool uses_savepoints;   /* a write of this batch was refused */
};

/* After what was written since is taken back. */
static void go_back(struct write_context *writing, const struct event_head *head)
{
    writing->rc = SQLITE_OK;
    writing->head = *head;
    writing->principal[0] = '\0';
    writing->ended = 0;
    writing->is_ended_exact = false;
    memset(writing->hints, 0, sizeof writing->hints);
}

static int use_sync(struct batch_runner *runner, bool is_full)
{
    int rc = SQLITE_OK;

    if (is_full != runner->is_full_sync)
        rc = statement_exec(runner->writing.db,
                            is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    if (rc == SQLITE_OK)
        runner->is_full_sync = is_full;
    return rc;
}

/* A batch waits for the disk if one of its writes must, such as what a person did. */
static bool needs_sync(const struct write *writes)
{
    const struct write *write = DELIBERATE_FAULT(acknowledged_before_sync) ? NULL : writes;

    while (write && !write->needs_sync)
        write = write->next;
    return write != NULL;
}

/* What is left in writing->rc fails the whole batch. */
static void run_write_alone(struct batch_runner *runner, struct write *write)
{
    struct write_context *writing = &runner->writing;
    struct event_head head = writing->head;
    struct error err;
    enum failure failure;

    write_run(writing, STATEMENT_SAVEPOINT);
    if (writing->rc != SQLITE_OK)
        return;
    runs[write->what](writing, write);
    if (writing->rc == SQLITE_OK) {
        write_run(writing, STATEMENT_RELEASE);
        return;
    }
    failure = failure_of(writing->db, writing->rc);
    if (failure != FAILURE_JOB || sqlite3_get_autocommit(writing->db))
        return;
    failure_describe(failure, writing->db, runner->path, &err);
    write_set_failed(write, &err);
    go_back(writing, &head);
    write_run(writing, STATEMENT_UNDO);
    write_run(writing, STATEMENT_RELEASE);
}

/* A savepoint keeps a copy of every page that changes, so first all writes do without; only if one
 * of them is refused, they are run again with a savepoint each. */
static void run_write(struct batch_runner *runner, struct write *write)
{
    struct write_context *writing = &runner->writing;

    if (runner->uses_savepoints) {
        run_write_alone(runner, write);
        return;
    }
    runs[write->what](writing, write);
    runner->uses_savepoints =
        writing->rc != SQLITE_OK && failure_of(writing->db, writing->rc) == FAILURE_JOB;
}

static void run_writes(struct batch_runner *runner, struct write *writes)
{
    bool has_asked = false, is_nearly_full = false;
    struct error err;

    for (struct write *write = writes; runner->writing.rc == SQLITE_OK && write;
         write = write->next) {
        if ((write_rows[write->what].flags & WRITE_IS_NEW) && !has_asked) {
            int64_t left = os_free_bytes(runner->path);

            has_asked = true;
            is_nearly_full = left >= 0 && left < RESERVED_BYTES;
            if (is_nearly_full)
                error_say(&err, ERROR_storage_failed, "", TEXT_REASON_DISK_NEARLY_FULL, "path",
                          runner->path, NULL);
        }
        if ((write_rows[write->what].flags & WRITE_IS_NEW) && is_nearly_full)
            write_set_failed(write, &err);
        else
            run_write(runner, write);
    }
}

static void run_transaction(struct batch_runner *runner, struct write *writes)
{
    struct write_context *writing = &runner->writing;
    const struct event_head before = writing->head, *head = &writing->head;

    writing->rc = use_sync(runner, needs_sync(writes));
    CRASH_POINT(store_before_begin);
    write_run(writing, STATEMENT_BEGIN);
    CRASH_POINT(store_after_begin);
    run_writes(runner, writes);
    if (head->seq != before.seq || head->unsettled != before.unsettled)
        write_run_with(writing, STATEMENT_COUNTER,
                       VALUES(value_number(head->seq), value_bytes(head->hash, HASH_BYTES),
                              value_number(head->unsettled)));
    CRASH_POINT(store_before_commit);
    write_run(writing, STATEMENT_COMMIT);
    CRASH_POINT(store_after_commit);
}

static void roll_back(sqlite3 *db)
{
    if (!sqlite3_get_autocommit(db))
        statement_exec(db, "ROLLBACK");
}

/*
 * A commit that failed late, in its sync, may stand complete in the log, where the next start would
 * find it, though everybody was told that it failed. One more small commit, unsynced, overwrites
 * its first frame. If that fails too, a full disk has nothing complete to find; of a broken one
 * that can't be known.
 */
static void forget_failed_commit(struct batch_runner *runner)
{
    struct write_context *writing = &runner->writing;

    writing->rc = use_sync(runner, false);
    write_run(writing, STATEMENT_BEGIN);
    write_run(writing, STATEMENT_FORGET);
    write_run(writing, STATEMENT_COMMIT);
    roll_back(writing->db);
}

static void fail_all(struct write *writes, const struct error *err)
{
    for (struct write *write = writes; write; write = write->next)
        write_set_failed(write, err);
}

/* Runs a list of writes as one transaction on the writer's connection (group commit). A write that
 * is refused leaves its neighbors alone: they are run once more, each write with a savepoint. If
 * the transaction itself fails, every write of it fails. Afterwards each write->reply says what
 * became of it. */
static void batch_run(struct batch_runner *runner, struct write *writes)
{
    struct event_head head = runner->writing.head;
    sqlite3 *db = runner->writing.db;
    struct error err;
    enum failure failure;

    if (atomic_load(runner->is_broken)) {
        error_say(&err, ERROR_storage_failed, "", TEXT_REASON_DISK_FAILED_EARLIER, "path",
                  runner->path, NULL);
        fail_all(writes, &err);
        return;
    }
    runner->uses_savepoints = false;
    run_transaction(runner, writes);
    if (runner->uses_savepoints) {
        roll_back(db);
        go_back(&runner->writing, &head);
        for (struct write *write = writes; write; write = write->next)
            write_reset(write);
        run_transaction(runner, writes);
    }
    if (runner->writing.rc == SQLITE_OK)
        return;
    failure = failure_of(db, runner->writing.rc);
    failure_describe(failure, db, runner->path, &err);
    roll_back(db);
    go_back(&runner->writing, &head);
    fail_all(writes, &err);
    if (failure == FAILURE_BROKEN)
        atomic_store(runner->is_broken, true);
    if (failure != FAILURE_BUSY)
        forget_failed_commit(runner);
}

enum {
    LOG_MAX_PAGES = 1000, /* 4 MB; below journal_size_limit, or the file shrinks and grows again */
    EARLY_WRITES = 32,
    LINGER_US = 100,
    LINGER_WRITES = 8, /* after more, what the others do needs every processor */
    IDLE_S = 2,        /* without work the log is folded into the file */
};

struct writer {
    struct loop_wake *wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct write_queue queue;         /* under the lock */
    struct write_list done;           /* under the lock */
    bool is_closing;                  /* under the lock */
    struct metrics_histogram batches; /* under the lock */
    atomic_bool is_idle;              /* the thread has nothing to do; only a hint */
    atomic_bool is_wanted;            /* a caller waits for what is in the queue; only a hint */

    /* the thread's own */
    struct batch_runner runner;
    int log_pages;      /* in the log after the newest commit */
    int folded_pages;   /* that many of them a checkpoint has seen */
    bool is_log_folded; /* nothing left to do when idle */

    /* the loop's own */
    struct loop_turn *turn;
    struct write_queue added; /* not handed over yet */
    int64_t last_seq;
};

static const int64_t batch_bounds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024 };
static const struct metrics_scale batch_scale = { batch_bounds, ARRAY_LEN(batch_bounds), 1 };

static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    struct writer *writer = context;

    (void)db;
    (void)name;
    writer->log_pages = pages;
    if (pages < writer->folded_pages)
        writer->folded_pages = 0; /* the log was begun again */
    writer->is_log_folded = false;
    return SQLITE_OK;
}

/* Never waits for readers: what they hold back, a later one does. A sync that fails here is as bad
 * as in a commit, for the log would be used again as if it had worked. */
static void checkpoint(struct writer *writer, int mode)
{
    sqlite3 *db = writer->runner.writing.db;
    int rc;

    if (atomic_load(writer->runner.is_broken))
        return;
    CRASH_POINT(store_before_checkpoint);
    sqlite3_busy_timeout(db, 0);
    rc = sqlite3_wal_checkpoint_v2(db, NULL, mode, NULL, NULL);
    sqlite3_busy_timeout(db, DATABASE_BUSY_MS);
    CRASH_POINT(store_after_checkpoint);
    writer->folded_pages = writer->log_pages;
    if (rc != SQLITE_OK && failure_of(db, rc) == FAILURE_BROKEN)
        atomic_store(writer->runner.is_broken, true);
}

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Under the lock. Returns once there is work or the end has come. */
static void wait_for_work(struct writer *writer)
{
    while (write_queue_is_empty(&writer->queue) && !writer->is_closing) {
        struct timespec until;

        if (writer->is_log_folded) {
            pthread_cond_wait(&writer->has_work, &writer->lock);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_S;
        if (pthread_cond_timedwait(&writer->has_work, &writer->lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&writer->lock);
            checkpoint(writer, SQLITE_CHECKPOINT_TRUNCATE);
            writer->is_log_folded = true;
            sqlite3_db_release_memory(writer->runner.writing.db);
            pthread_mutex_lock(&writer->lock);
        }
    }
}

/* What follows mostly comes soon, and a processor that has gone to sleep is slow to begin again:
 * not to sleep for a moment takes less of its time than to be woken. */
static void linger(const struct writer *writer)
{
    int64_t until_us = now_us() + LINGER_US;

    while (atomic_load(&writer->is_idle) && now_us() < until_us && sched_yield() == 0) {
    }
}

static void *writer_main(void *context)
{
    struct writer *writer = context;

    pthread_mutex_lock(&writer->lock);
    for (int64_t last_count = 0;;) {
        struct write_list batch;

        atomic_store(&writer->is_idle, write_queue_is_empty(&writer->queue));
        pthread_mutex_unlock(&writer->lock);
        if (last_count <= LINGER_WRITES)
            linger(writer);
        pthread_mutex_lock(&writer->lock);
        wait_for_work(writer);
        batch = write_queue_take(&writer->queue);
        atomic_store(&writer->is_wanted, writer->queue.awaited.first != NULL);
        if (!batch.first)
            break;
        pthread_mutex_unlock(&writer->lock);
        batch_run(&writer->runner, batch.first);
        CRASH_POINT(store_before_hand_back);
        pthread_mutex_lock(&writer->lock);
        last_count = batch.count;
        metrics_observe(&writer->batches, &batch_scale, last_count);
        write_list_append(&writer->done, &batch);
        pthread_mutex_unlock(&writer->lock);
        loop_wake_send(writer->wake);
        CRASH_POINT(store_after_hand_back);
        if (writer->log_pages - writer->folded_pages > LOG_MAX_PAGES)
            checkpoint(writer, SQLITE_CHECKPOINT_PASSIVE);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* A completion may add writes, and look at last_seq: it must not see ahead of its own write. */
static void answer_all(struct writer *writer, struct write *writes)
{
    while (writes) {
        struct write *write = writes;

        writes = write->next;
        if (write->reply.outcome == STORE_DONE && (write_rows[write->what].flags & WRITE_HAS_EVENT))
            writer->last_seq = write->reply.seq;
        write_answer(write);
    }
}

static void hand_back(void *context)
{
    struct writer *writer = context;
    struct write *writes;

    pthread_mutex_lock(&writer->lock);
    writes = writer->done.first;
    writer->done = (struct write_list){ 0 };
    pthread_mutex_unlock(&writer->lock);
    answer_all(writer, writes);
}

/* One turn of the loop is one batch: its writes share a transaction, and the thread is woken once.
 * Of a long turn the thread gets a part early when it has nothing else to do, so that both work. */
static void hand_over(void *context)
{
    struct writer *writer = context;

    if (write_queue_is_empty(&writer->added))
        return;
    pthread_mutex_lock(&writer->lock);
    write_queue_append(&writer->queue, &writer->added);
    atomic_store(&writer->is_idle, false); /* it is looked at without the lock */
    atomic_store(&writer->is_wanted, writer->queue.awaited.first != NULL);
    pthread_mutex_unlock(&writer->lock);
    pthread_cond_signal(&writer->has_work); /* not under the lock: it would wake to wait for it */
}

static void init_sync(struct writer *writer)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&writer->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->has_work, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Signals belong to the loop's thread. */
static bool start_thread(struct writer *writer)
{
    sigset_t all, before;
    bool ok;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = pthread_create(&writer->thread, NULL, writer_main, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

/* Agents wait at the hub that has the file open, and it was closed. A mark that can't be written
 * now is no harm: readers of live asks have it in memory. */
static void abandon(struct writer *writer)
{
    struct write write = { .what = WRITE_abandon, .of.abandon.at_ms = loop_utc_ms() };

    if (abandon_is_needed(&writer->runner.writing))
        batch_run(&writer->runner, &write);
}

struct writer *writer_new(struct loop *loop, sqlite3 *db, const char *path, atomic_bool *is_broken,
                          int *ret_rc)
{
    struct writer *writer = mem_new(sizeof *writer);

    writer->runner.writing.db = db;
    writer->runner.writing.slice.is_wanted = &writer->is_wanted;
    writer->runner.path = path;
    writer->runner.is_broken = is_broken;
    writer->runner.is_full_sync = true;
    statements_init(&writer->runner.writing.statements, db, sqlite_write_sql, STATEMENT_COUNT);
    *ret_rc = event_head_read(db, &writer->runner.writing.head);
    if (*ret_rc == SQLITE_OK)
        abandon(writer);
    writer->last_seq = writer->runner.writing.head.seq;
    init_sync(writer);
    sqlite3_wal_hook(db, on_commit, writer);
    writer->wake = loop_wake_new(loop, hand_back, writer);
    writer->turn = loop_turn_new(loop, hand_over, writer);
    if (*ret_rc == SQLITE_OK && start_thread(writer))
        return writer;
    if (*ret_rc == SQLITE_OK)
        *ret_rc = SQLITE_NOMEM;
    loop_turn_free(writer->turn);
    loop_wake_free(writer->wake);
    statements_release(&writer->runner.writing.statements);
    free(writer);
    return NULL;
}

void writer_add(struct writer *writer, struct write *take_write)
{
    write_queue_add(&writer->added, take_write);
    if (writer->added.awaited.count >= EARLY_WRITES && atomic_load(&writer->is_idle))
        hand_over(writer);
}

int64_t writer_last_seq(const struct writer *writer)
{
    return writer->last_seq;
}

void writer_write_metrics(struct writer *writer, struct text *out)
{
    struct metrics_histogram batches;

    pthread_mutex_lock(&writer->lock);
    batches = writer->batches;
    pthread_mutex_unlock(&writer->lock);
    metrics_write_histogram(out, "sayso_store_batch_writes", "Writes in one transaction.", &batches,
                            &batch_scale);
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    loop_turn_free(writer->turn);
    hand_over(writer);
    pthread_mutex_lock(&writer->lock);
    writer->is_closing = true;
    pthread_cond_signal(&writer->has_work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    atomic_store(&writer->is_idle, false); /* what comes now is ours to write */
    hand_back(writer);
    while (!write_queue_is_empty(&writer->added)) {
        struct write *writes = write_queue_take(&writer->added).first;

        batch_run(&writer->runner, writes);
        answer_all(writer, writes);
    }
    sqlite3_wal_hook(writer->runner.writing.db, NULL, NULL);
    statements_release(&writer->runner.writing.statements);
    loop_wake_free(writer->wake);
    pthread_cond_destroy(&writer->has_work);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

/* While a caller waits, a slice ends after a fifth of its time. With none at all the work would
 * never be done. */
enum { SLICE_PART = 5 };

void slice_begin(struct slice *slice, int64_t max_us)
{
    slice->began_us = now_us();
    slice->max_us = max_us;
}

bool slice_is_over(const struct slice *slice)
{
    int64_t took_us;

    if (slice->max_us == 0)
        return false;
    took_us = now_us() - slice->began_us;
    return took_us >= slice->max_us || (slice->is_wanted && atomic_load(slice->is_wanted) &&
                                        took_us >= slice->max_us / SLICE_PART);
}
