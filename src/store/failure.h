/*
 * failure.h - what an SQLite code means for us: whose fault it is and what mends it.
 * A disk that is full or read-only mends itself under a running hub. After any other I/O error we
 * cannot know what the disk kept, so nothing is acknowledged any more until a restart read it.
 */
#ifndef STORE_FAILURE_H
#define STORE_FAILURE_H
#include <sqlite3.h>
#include <stdbool.h>

struct error;

enum failure {
    FAILURE_JOB, /* this one write was refused; its neighbours are fine */
    FAILURE_FULL,
    FAILURE_READ_ONLY,
    FAILURE_BUSY,
    FAILURE_MEMORY,
    FAILURE_BROKEN, /* only a restart mends it */
    FAILURE_COUNT,
};

/* Of the newest failed call on `db`, which may be NULL where the code says enough. */
enum failure failure_of(sqlite3 *db, int rc);
bool failure_is_corruption(int rc);
/* The system refused a read or a write of the file or its log since they were opened. */
bool failure_was_disk(sqlite3 *db);
/* Fills `err` (storage_failed) with what happened and what to do. */
void failure_describe(enum failure failure, sqlite3 *db, const char *path, struct error *err);

#endif
