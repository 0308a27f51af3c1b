/* writer.c - see writer.h. */
#include "store/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "loop/loop.h"
#include "store/batch.h"
#include "store/database.h"
#include "store/failure.h"
#include "store/job.h"

enum {
    LOG_MAX_PAGES = 1000, /* 4 MB; below journal_size_limit, or the file shrinks and grows again */
    EARLY_JOBS = 32,
    IDLE_S = 2, /* without work the log is folded into the file */
};

struct writer {
    struct loop_wake *wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct job_queue queue;           /* under the lock */
    struct job_list done;             /* under the lock */
    bool is_closing;                  /* under the lock */
    struct metrics_histogram batches; /* under the lock */
    atomic_bool is_idle;              /* the thread has nothing to do; only a hint */
    atomic_bool is_wanted;            /* somebody waits for what is in the queue; only a hint */

    /* the thread's own */
    struct batch_runner runner;
    int log_pages;      /* in the log after the newest commit */
    int folded_pages;   /* that many of them a checkpoint has seen */
    bool is_log_folded; /* nothing left to do when idle */

    /* the loop's own */
    struct loop_turn *turn;
    struct job_queue added; /* not handed over yet */
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
    sqlite3 *db = writer->runner.write.db;
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

/* Under the lock. Returns once there is work or the end has come. */
static void wait_for_work(struct writer *writer)
{
    while (job_queue_is_empty(&writer->queue) && !writer->is_closing) {
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
            sqlite3_db_release_memory(writer->runner.write.db);
            pthread_mutex_lock(&writer->lock);
        }
    }
}

static void *writer_main(void *context)
{
    struct writer *writer = context;

    pthread_mutex_lock(&writer->lock);
    for (;;) {
        struct job_list batch;

        atomic_store(&writer->is_idle, job_queue_is_empty(&writer->queue));
        wait_for_work(writer);
        batch = job_queue_take(&writer->queue);
        atomic_store(&writer->is_wanted, writer->queue.awaited.first != NULL);
        if (!batch.first)
            break;
        pthread_mutex_unlock(&writer->lock);
        batch_run(&writer->runner, batch.first);
        CRASH_POINT(store_before_hand_back);
        pthread_mutex_lock(&writer->lock);
        metrics_observe(&writer->batches, &batch_scale, batch.count);
        job_list_append(&writer->done, &batch);
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

/* A completion may add jobs, and look at last_seq: it must not see ahead of its own job. */
static void answer_all(struct writer *writer, struct job *jobs)
{
    while (jobs) {
        struct job *job = jobs;

        jobs = job->next;
        if (job->reply.outcome == STORE_DONE && (job_kinds[job->what].flags & WRITE_HAS_EVENT))
            writer->last_seq = job->reply.seq;
        if (job->done)
            job->done(job->context, &job->reply);
        job_free(job);
    }
}

static void hand_back(void *context)
{
    struct writer *writer = context;
    struct job *jobs;

    pthread_mutex_lock(&writer->lock);
    jobs = writer->done.first;
    writer->done = (struct job_list){ 0 };
    pthread_mutex_unlock(&writer->lock);
    answer_all(writer, jobs);
}

/* One turn of the loop is one batch: its jobs share a transaction, and the thread is woken once. Of
 * a long turn the thread gets a part early when it has nothing else to do, so that both work. */
static void hand_over(void *context)
{
    struct writer *writer = context;

    if (job_queue_is_empty(&writer->added))
        return;
    atomic_store(&writer->is_idle, false);
    pthread_mutex_lock(&writer->lock);
    job_queue_append(&writer->queue, &writer->added);
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
    struct job job = { .what = WRITE_abandon, .of.abandon.at_ms = loop_utc_ms() };

    if (abandon_is_needed(&writer->runner.write))
        batch_run(&writer->runner, &job);
}

struct writer *writer_new(struct loop *loop, sqlite3 *db, const char *path, atomic_bool *is_broken,
                          int *ret_rc)
{
    struct writer *writer = mem_new(sizeof *writer);

    *ret_rc = batch_runner_init(&writer->runner, db, path, is_broken);
    writer->runner.write.slice.is_wanted = &writer->is_wanted;
    if (*ret_rc == SQLITE_OK)
        abandon(writer);
    writer->last_seq = writer->runner.write.head.seq;
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
    batch_runner_release(&writer->runner);
    free(writer);
    return NULL;
}

void writer_add(struct writer *writer, struct job *take_job)
{
    job_queue_add(&writer->added, take_job);
    if (writer->added.awaited.count >= EARLY_JOBS && atomic_load(&writer->is_idle))
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
    while (!job_queue_is_empty(&writer->added)) {
        struct job *jobs = job_queue_take(&writer->added).first;

        batch_run(&writer->runner, jobs);
        answer_all(writer, jobs);
    }
    sqlite3_wal_hook(writer->runner.write.db, NULL, NULL);
    batch_runner_release(&writer->runner);
    loop_wake_free(writer->wake);
    pthread_cond_destroy(&writer->has_work);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}
