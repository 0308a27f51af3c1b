/*
 * batch.h - runs a list of jobs as one transaction on the writer's connection (group commit).
 * A job that is refused leaves its neighbours alone: they are run once more, each job with a
 * savepoint. If the transaction itself fails, every job of it fails. Afterwards each job->reply
 * says what became of it.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "store/write.h"

struct batch_runner {
    struct write write;
    const char *path;       /* of the database, borrowed */
    atomic_bool *is_broken; /* borrowed; also read and set by the loop's thread */
    bool is_full_sync;      /* what PRAGMA synchronous is now */
    bool uses_savepoints;   /* a job of this batch was refused */
};

int batch_runner_init(struct batch_runner *runner, sqlite3 *db, const char *path,
                      atomic_bool *is_broken); /* an SQLite code */
void batch_runner_release(struct batch_runner *runner);
void batch_run(struct batch_runner *runner, struct job *jobs);

#endif
