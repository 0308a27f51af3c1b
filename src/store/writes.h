/*
 * writes.h - one write on its way: asked for on the loop's thread, run by a store's writer,
 * answered on the loop's thread again. A write owns copies of all texts in its one allocation. Both
 * stores take a write apart the same way and only differ in how their writes are run.
 */
#ifndef STORE_WRITES_H
#define STORE_WRITES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/columns.h"
#include "store/reads.h"
#include "store/store.h"

struct write;

/* What both stores begin with. */
struct queued_store {
    struct store port; /* first: a struct store * is one of these */
    void (*add)(struct queued_store *store, struct write *take_write);
    /* All that is handed in is borrowed. */
    void (*read)(struct store *store, enum read_statement which, const struct column_value *values,
                 size_t count, const struct reading *reading);
};
/* The member `write` of both. */
void store_write(struct store *store, enum write_kind what, const void *values, store_done *done,
                 void *context);

enum write_flags {
    WRITE_IS_NEW = 1,     /* refused while the disk is nearly full */
    WRITE_IS_SYNCED = 2,  /* always: a person did it, or others rely on it */
    WRITE_HAS_EVENT = 4,  /* reply.seq is the number of one */
    WRITE_GIVES_WAY = 8,  /* no caller waits for it: comes after what callers wait for */
    WRITE_IS_OF_FILE = 16 /* PostgreSQL has no function for it */
};
/* Of each a row of store/writes.def. */
struct write_row {
    const char *name;
    struct columns columns; /* of its values, as the statement of either store takes them */
    unsigned flags;
};
extern const struct write_row write_rows[WRITE_KINDS];
/* Where parts of longer lists begin. */
enum {
    CREATE_FORM = 20,
    CREATE_ASKER = 22,
    CHANGE_ACTOR = 17,
    CHANGE_ANSWER = 19,
    CHANGE_KEY = 20,
    CHANGE_REMOVES = 21,
    CHANGE_LAUNCH = 23,
    CHANGE_WHEN = 25,
    CHANGE_COPIED = 26,
    TOKEN_CREATED = 5,
    RULE_CREATED = 5,
    KEY_ID = 3,
    CONVERSATION_LINES = 8,
    STEP_LINES = 7,
};
/* What is read, in the order of its columns. */
extern const struct columns setting_columns, meta_columns, token_columns, rule_columns, key_columns,
    said_columns, conversation_columns, conversation_event_columns;
#define CONVERSATION_SELECT                                                                        \
    "SELECT id, principal, token_id, label, state, body, key, created_ms, ask, earlier_ask,"       \
    " version, changed_ms, last_event FROM conversations "
enum { WRITE_CLIENTS_MAX = 1000 };

struct write {
    struct write *next;
    enum write_kind what;
    store_done *done;
    void *context;
    bool needs_sync;
    size_t bytes;             /* with its texts */
    struct store_reply reply; /* reply.row is the write's own */
    struct write_sent {       /* of PostgreSQL's queue (store/postgres/batch.c) */
        int64_t added_ms;
        int number;     /* of its statement in the transaction; -1: it has none */
        bool is_alone;  /* something about it was refused: it has a transaction to itself */
        bool wants_row; /* see BATCH_ROWLESS */
    } sent;
    union write_values {
#define WRITE(name, type, flags) struct type name;
#include "store/writes.def"
#undef WRITE
    } of;
};

struct write_list {
    struct write *first, *last;
    int64_t count;
};

bool change_brings_answer(const struct store_change *change);
/* It changes nothing else of its asks: neither store keeps an event in their chains. */
bool change_only_delivers(const struct store_change *change);
struct write *write_new(enum write_kind what, const void *values, store_done *done, void *context);
void write_free(struct write *write);
void write_set_failed(struct write *write, const struct error *err); /* what it will be told */
void write_reset(struct write *write);                               /* as before it was run */
void write_answer(struct write *take_write); /* its completion may add writes */
void write_set_row(struct write *write, const struct store_row *row); /* copies; NULL: none */
void write_list_add(struct write_list *list, struct write *take_write);
struct write *write_list_take(struct write_list *list); /* the first; NULL: it is empty */
void write_list_append(struct write_list *list, struct write_list *take_tail);

/* Jobs in the order they are run: all that callers wait for together, and what gives way one at
 * a time, when there is nothing else or many went before it. */
enum { WRITE_QUEUE_MAX_BEFORE = 20 }; /* batches that go before a write that gives way */
struct write_queue {
    struct write_list awaited, patient;
    int went_before; /* the first of the patient ones */
};
void write_queue_add(struct write_queue *queue, struct write *take_write);
void write_queue_append(struct write_queue *queue, struct write_queue *take_tail);
bool write_queue_is_empty(const struct write_queue *queue);
struct write_list write_queue_take(struct write_queue *queue); /* the next transaction */

#endif
