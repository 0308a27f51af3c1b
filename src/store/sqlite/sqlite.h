/*
 * sqlite.h - the store of one user's hub: one SQLite file, WAL, one writer thread.
 *
 * Writes are queued for the writer thread, which takes all that wait into one transaction; reads
 * run on the loop's thread over a connection of their own. A file that turns out to be damaged is
 * moved aside, never overwritten, and meta "recovered_from" names it.
 */
#ifndef STORE_SQLITE_SQLITE_H
#define STORE_SQLITE_SQLITE_H
#include <stdbool.h>

struct error;
struct loop;
struct store;

bool sqlite_store_open(struct loop *loop, const char *path, struct store **ret_store,
                       struct error *err);
/* For tests: `vfs_name` is a registered SQLite VFS, NULL the system's own. */
bool sqlite_store_open_with_vfs(struct loop *loop, const char *path, const char *vfs_name,
                                struct store **ret_store, struct error *err);

#endif
