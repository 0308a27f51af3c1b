/* batch.c - see batch.h. */
#include "store/batch.h"

#include <string.h>

#include "base/crash_point.h"
#include "base/os.h"
#include "i18n/i18n.h"
#include "store/failure.h"

enum { RESERVED_BYTES = 1024 * 1024 }; /* kept for answers when the disk fills up (E4) */

static job_run *const runs[WRITE_KINDS] = {
#define WRITE(name, type, flags) [WRITE_##name] = name##_run,
#include "ports/writes.def"
#undef WRITE
};

int batch_runner_init(struct batch_runner *runner, sqlite3 *db, const char *path,
                      atomic_bool *is_broken)
{
    *runner = (struct batch_runner){
        .write.db = db, .path = path, .is_broken = is_broken, .is_full_sync = true
    };
    statements_init(&runner->write.statements, db, write_sql, STATEMENT_COUNT);
    return event_head_read(db, &runner->write.head);
}

void batch_runner_release(struct batch_runner *runner)
{
    statements_release(&runner->write.statements);
}

static void job_fail(struct job *job, const struct error *err)
{
    job_set_row(job, NULL);
    job->reply = (struct store_reply){ .outcome = STORE_FAILED, .err = *err };
}

/* After what was written since is taken back. */
static void go_back(struct write *write, const struct event_head *head)
{
    write->head = *head;
    write->principal[0] = '\0';
    write->ended = 0;
    write->is_ended_exact = false;
    memset(write->hints, 0, sizeof write->hints);
}

static int use_sync(struct batch_runner *runner, bool is_full)
{
    int rc = SQLITE_OK;

    if (is_full != runner->is_full_sync)
        rc = sqlite3_exec(runner->write.db,
                          is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        runner->is_full_sync = is_full;
    return rc;
}

/* What nobody did needs no disk: a batch with something a person did waits for it. */
static bool needs_sync(const struct job *jobs)
{
    const struct job *job = DELIBERATE_FAULT(acknowledged_before_sync) ? NULL : jobs;

    while (job && !job->needs_sync)
        job = job->next;
    return job != NULL;
}

static void refuse_new(const struct batch_runner *runner, struct job *job)
{
    struct error err;

    error_say(&err, ERROR_storage_failed, "", TEXT_REASON_DISK_NEARLY_FULL, "path", runner->path,
              NULL);
    job_fail(job, &err);
}

/* Returns an SQLite code only for what fails the whole batch. */
static int run_job_alone(struct batch_runner *runner, struct job *job)
{
    struct write *write = &runner->write;
    struct event_head head = write->head;
    struct error err;
    enum failure failure;
    int rc = write_run(write, STATEMENT_SAVEPOINT);

    if (rc != SQLITE_OK)
        return rc;
    rc = runs[job->what](write, job);
    if (rc == SQLITE_OK)
        return write_run(write, STATEMENT_RELEASE);
    failure = failure_of(write->db, rc);
    if (failure != FAILURE_JOB || sqlite3_get_autocommit(write->db))
        return rc;
    failure_describe(failure, write->db, runner->path, &err);
    job_fail(job, &err);
    go_back(write, &head);
    rc = write_run(write, STATEMENT_UNDO);
    return rc == SQLITE_OK ? write_run(write, STATEMENT_RELEASE) : rc;
}

/* A savepoint keeps a copy of every page that changes, so first all jobs do without; only if one
 * of them is refused, they are run again with a savepoint each. */
static int run_job(struct batch_runner *runner, struct job *job)
{
    int rc;

    if (runner->uses_savepoints)
        return run_job_alone(runner, job);
    rc = runs[job->what](&runner->write, job);
    runner->uses_savepoints = rc != SQLITE_OK && failure_of(runner->write.db, rc) == FAILURE_JOB;
    return rc;
}

static int run_jobs(struct batch_runner *runner, struct job *jobs)
{
    bool has_asked = false, is_nearly_full = false;
    int rc = SQLITE_OK;

    for (struct job *job = jobs; rc == SQLITE_OK && job; job = job->next) {
        if ((job_kinds[job->what].flags & WRITE_IS_NEW) && !has_asked) {
            int64_t left = os_free_bytes(runner->path);

            has_asked = true;
            is_nearly_full = left >= 0 && left < RESERVED_BYTES;
        }
        if ((job_kinds[job->what].flags & WRITE_IS_NEW) && is_nearly_full)
            refuse_new(runner, job);
        else
            rc = run_job(runner, job);
    }
    return rc;
}

static int run_transaction(struct batch_runner *runner, struct job *jobs)
{
    struct write *write = &runner->write;
    struct event_head head = write->head;
    int rc = use_sync(runner, needs_sync(jobs));

    CRASH_POINT(store_before_begin);
    if (rc == SQLITE_OK)
        rc = write_run(write, STATEMENT_BEGIN);
    CRASH_POINT(store_after_begin);
    if (rc == SQLITE_OK)
        rc = run_jobs(runner, jobs);
    if (rc == SQLITE_OK && (write->head.seq != head.seq || write->head.unsettled != head.unsettled))
        rc = write_counter(write);
    CRASH_POINT(store_before_commit);
    if (rc == SQLITE_OK)
        rc = write_run(write, STATEMENT_COMMIT);
    CRASH_POINT(store_after_commit);
    return rc;
}

static void roll_back(sqlite3 *db)
{
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/*
 * A commit that failed late, in its sync, may stand complete in the log, where the next start would
 * find it, though everybody was told that it failed. One more small commit, unsynced, overwrites
 * its first frame. If that fails too, a full disk has nothing complete to find; of a broken one
 * nobody can know.
 */
static void forget_failed_commit(struct batch_runner *runner)
{
    struct write *write = &runner->write;

    if (use_sync(runner, false) == SQLITE_OK && write_run(write, STATEMENT_BEGIN) == SQLITE_OK &&
        write_run(write, STATEMENT_FORGET) == SQLITE_OK)
        write_run(write, STATEMENT_COMMIT);
    roll_back(write->db);
}

static void fail_all(struct job *jobs, const struct error *err)
{
    for (struct job *job = jobs; job; job = job->next)
        job_fail(job, err);
}

static void forget_replies(struct job *jobs)
{
    for (struct job *job = jobs; job; job = job->next) {
        job_set_row(job, NULL);
        job->reply = (struct store_reply){ .outcome = STORE_DONE };
    }
}

void batch_run(struct batch_runner *runner, struct job *jobs)
{
    struct event_head head = runner->write.head;
    sqlite3 *db = runner->write.db;
    struct error err;
    enum failure failure;
    int rc;

    if (atomic_load(runner->is_broken)) {
        error_say(&err, ERROR_storage_failed, "", TEXT_REASON_DISK_FAILED_EARLIER, "path",
                  runner->path, NULL);
        fail_all(jobs, &err);
        return;
    }
    runner->uses_savepoints = false;
    rc = run_transaction(runner, jobs);
    if (runner->uses_savepoints) {
        roll_back(db);
        go_back(&runner->write, &head);
        forget_replies(jobs);
        rc = run_transaction(runner, jobs);
    }
    if (rc == SQLITE_OK)
        return;
    failure = failure_of(db, rc);
    failure_describe(failure, db, runner->path, &err);
    roll_back(db);
    go_back(&runner->write, &head);
    fail_all(jobs, &err);
    if (failure == FAILURE_BROKEN)
        atomic_store(runner->is_broken, true);
    if (failure != FAILURE_BUSY)
        forget_failed_commit(runner);
}
