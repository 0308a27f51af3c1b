/* restore_inside.h - what restore.c and restore_rows.c share; nobody else's. */
#ifndef STORE_RESTORE_INSIDE_H
#define STORE_RESTORE_INSIDE_H
#include <sqlite3.h>

#include "store/backup_line.h"
#include "store/database.h"
#include "store/event.h"

enum restore_mode {
    RESTORE_FRESH,   /* the store was empty, or holds the beginning of this backup */
    RESTORE_COMPARE, /* it has everything already: only make sure */
};

struct restore {
    struct database database;
    struct backup_place place;
    struct backup_head head; /* of the backup */
    enum restore_mode mode;
    struct event_head last; /* event that is there */
    bool is_last_known;     /* its hash is; not of one that was emptied */
    int64_t first_seq;      /* events up to this one were there before */
    sqlite3_stmt *inserts[BACKUP_TABLES], *look;
    bool is_begun;
    int64_t in_batch, added;
    int64_t asks; /* lines of them */
};

/* restore.c */
int restore_begin(struct restore *restore);
int restore_commit(struct restore *restore);
/* True where the SQLite code is good; else `err`, which is kept if it says something already. */
bool restore_is_done(struct restore *restore, int rc, struct error *err);

/* restore_rows.c: one row, and the end of its batch. */
bool restore_row(struct restore *restore, const struct backup_line *line, struct error *err);

#endif
