/* write.h - what the statements on the writer's thread share. Nothing here is for other threads. */
#ifndef STORE_SQLITE_WRITE_H
#define STORE_SQLITE_WRITE_H
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/ask.h"
#include "store/columns.h"
#include "store/event.h"
#include "store/sqlite/statement.h"
#include "store/writes.h"

/* How long work that no caller waits for may hold the writer: as long as it was told, or a part of
 * that if a job that a caller waits for came in the meantime. Work in slices checks the time after
 * each small step, so a slice is longer than said by one step and the commit. */

struct slice {
    const atomic_bool *is_wanted; /* the writer, by a caller; borrowed, NULL: never */
    int64_t began_us, max_us;     /* max_us 0: without an end */
};

void slice_begin(struct slice *slice, int64_t max_us);
bool slice_is_over(const struct slice *slice);

/* Many more than asks come between two changes of one. With one place each, every thirtieth was
 * lost at 64 in flight, and to search for an ask that no index has yet takes longer than all its
 * writes. */
enum { WRITE_HINT_SETS = 1024, WRITE_HINT_WAYS = 4 };

/* An ask as the transaction has it. */
struct found {
    int64_t number; /* 0: there is none */
    int64_t state, version, seq;
};

struct write_context {
    sqlite3 *db; /* borrowed from the writer */
    int rc;      /* what went wrong first in this transaction, or SQLITE_OK */
    struct event_head head;
    struct statements statements;
    struct slice slice;              /* of a write that gives way */
    char principal[PRINCIPAL_BYTES]; /* that was written last: need not be again */
    int64_t gaps;                    /* asks that are gone whose words still lie in the index */
    bool is_sweeping;                /* and more will be gone in a moment */
    int64_t ended;                   /* asks that are over: so many at least */
    bool is_ended_exact;             /* and no more */
    int64_t left_from;               /* where the look at `unindexed` goes on */
    /* What was written of asks lately: most changes come soon. Only a guess, which the statement
     * that makes use of it confirms. */
    struct write_hint {
        char id[ASK_ID_BYTES];
        struct found ask;
    } hints[WRITE_HINT_SETS][WRITE_HINT_WAYS];
};

enum sqlite_statement {
#define STATEMENT(id, ...) STATEMENT_##id,
#include "store/sqlite_write.def"
#undef STATEMENT
    STATEMENT_COUNT
};
extern const char *const sqlite_write_sql[STATEMENT_COUNT];

/* A write in the transaction that is open; fills write->reply. */
typedef void sqlite_write(struct write_context *writing, struct write *write);
#define WRITE(name, type, flags) sqlite_write name##_run;
#include "store/writes.def"
#undef WRITE

/* What goes wrong is kept in writing->rc, and from then on no statement does anything. */
struct statement write_statement(struct write_context *writing, enum sqlite_statement which,
                                 const struct column_value *values, size_t count);
/* Ends its use. True: it was one that changes rows, and it did. */
bool write_end(struct write_context *writing, struct statement *statement);
/* Step, then end. */
/* one without parameters */
bool write_run(struct write_context *writing, enum sqlite_statement which);
/* with one */
bool write_run_on(struct write_context *writing, enum sqlite_statement which, int64_t number);
bool write_run_with(struct write_context *writing, enum sqlite_statement which,
                    const struct column_value *values, size_t count);
/* Appends to the chain and sets event->seq. */
void write_event(struct write_context *writing, struct event *event);

struct found write_look(struct write_context *writing, const char *id, int64_t seq);
void write_hint(struct write_context *writing, const char *id, const struct found *ask);
struct found write_hinted(struct write_context *writing, const char *id); /* a guess */

/* it may change: is taken up again later */
void index_reopen(struct write_context *writing, int64_t number);
/* What was added to the index is merged in small steps, as long as the slice lasts. True: all. */
bool index_merge(struct write_context *writing);
/* Inserts the principal of an ask or a conversation, unless it is there. */
void write_principal(struct write_context *writing, const struct store_principal *principal,
                     int64_t now_ms);
/* Some conversations that did not change since and wait for no person. */
void conversation_sweep(struct write_context *writing, const struct store_sweep *sweep,
                        int64_t *ret_count);

/* Some open ask is not marked as one that no agent waits for. */
bool abandon_is_needed(struct write_context *writing);

/* Of a change that only delivers; returns how many asks there were to deliver. */
size_t deliver_run(struct write_context *writing, struct write *write);

#endif
