/*
 * database.h - opens the two connections to the file: files for us alone, no symbolic links, tables
 * up to date, and a damaged file moved aside first.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H
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

#endif
