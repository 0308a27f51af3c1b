/*
 * database.h - opens the two connections to the file: files for us alone, no symbolic links,
 * tables up to date, and a damaged file moved aside first.
 */
#ifndef STORE_SQLITE_DATABASE_H
#define STORE_SQLITE_DATABASE_H
#include <sqlite3.h>
#include <stdbool.h>

struct error;

enum { DATABASE_BUSY_MS = 5000 };

struct database {
    char *path;               /* owned; absolute, its directory free of symbolic links */
    sqlite3 *writer, *reader; /* owned */
};

/* Absolute, and without the links that SQLITE_OPEN_NOFOLLOW would refuse in a home directory; the
 * file itself may still be one. The caller frees it; NULL: its directory is not there (errno). */
char *database_resolve(const char *path);
bool database_has_log(const char *path);
/* An SQLite code; SQLITE_CORRUPT if the pages do not hold together. */
int database_check_pages(sqlite3 *db);
bool database_open(const char *path, const char *vfs_name, struct database *out, struct error *err);
/* `is_clean`: the log is folded into the file and removed; else both stay as they are, and the next
 * start looks closer. */
void database_close(struct database *database, bool is_clean);

/* What an SQLite code means for us: whose fault it is and what fixes it. A disk that is full or
 * read-only may recover under a running hub. After any other I/O error we cannot know what the
 * disk kept, so nothing is acknowledged any more until a restart read it. */

enum failure {
    FAILURE_JOB, /* this one write was refused; its neighbors are fine */
    FAILURE_FULL,
    FAILURE_READ_ONLY,
    FAILURE_BUSY,
    FAILURE_MEMORY,
    FAILURE_BROKEN, /* only a restart fixes it */
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
