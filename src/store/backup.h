/*
 * backup.h - the whole store as lines, and back. Writing reads one state of the file, whether or
 * not a hub has it open, row by row. Reading in is for whoever holds the hub's lock: batches of
 * rows, each a transaction; what was interrupted goes on with the same backup, and until it is
 * complete no hub opens the store.
 */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct restore;

enum { BACKUP_MOST_BYTES = 16777216 }; /* of a line: texts and arguments, every character escaped */

/* One line with its end; `done` of `all` rows were handed on. False: it could not be taken, which
 * ends the backup. */
typedef bool backup_sink(void *context, const char *line, size_t length, int64_t done, int64_t all);
/* False: `err`; where the sink refused, without a code. */
bool store_backup(const char *path, backup_sink *sink, void *context, struct error *err);

/* Looks through a backup without a store: one line after the other, then the end. */
struct backup_check;
struct backup_check *backup_check_new(void);
bool backup_check_line(struct backup_check *check, const char *bytes, size_t length,
                       struct error *err);
bool backup_check_end(struct backup_check *check, struct error *err);
void backup_check_free(struct backup_check *check);

/* NULL: `err`. */
struct restore *restore_open(const char *path, struct error *err);
/* One line without its end. False: `err` names it; what came in earlier batches stays, for the next
 * time. */
bool restore_line(struct restore *restore, const char *bytes, size_t length, struct error *err);
struct restored {
    int64_t lines, added; /* rows that were not there before */
};
/* All lines were given: makes sure that it was all and that the chain of events holds. */
bool restore_finish(struct restore *restore, struct restored *out, struct error *err);
/* Takes back what was read of a backup that is not complete, so that the store is empty again. */
bool restore_discard(struct restore *restore, bool *ret_was_begun, struct error *err);
void restore_close(struct restore *restore); /* NULL is fine */

#endif
