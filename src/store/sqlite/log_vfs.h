/*
 * log_vfs.h - an SQLite VFS that writes the frames of one transaction into the log with one write.
 * SQLite writes each page and the header before it with a call of its own. Nothing of a commit is
 * held back: its last frame says that it is the last, and takes all before it along.
 */
#ifndef STORE_SQLITE_LOG_VFS_H
#define STORE_SQLITE_LOG_VFS_H

/* Registers one over `base_name` (NULL: the system's own) unless there is one. Returns its name,
 * or NULL if there is no such base. */
const char *log_vfs_over(const char *base_name);

#endif
