/*
 * job.h - one write on its way: asked for on the loop's thread, run by a store's writer, answered
 * on the loop's thread again. A job owns copies of all texts in its one allocation.
 */
#ifndef STORE_JOB_H
#define STORE_JOB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ports/store.h"
#include "store/columns.h"

enum job_what {
    JOB_CREATE,
    JOB_CHANGE,
    JOB_MARK,
    JOB_ABANDON,
    JOB_DRAFT,
    JOB_SETTING,
    JOB_TOKEN,
    JOB_REVOKE,
    JOB_USE, /* of a token: as JOB_REVOKE */
    JOB_RULE,
    JOB_RULE_REVOKE,
    JOB_KEY,
    JOB_META,
    JOB_CLIENT,
    JOB_CONVERSATION,
    JOB_CONVERSATION_STEP,
    JOB_SHIFT,
    JOB_SWEEP,
    JOB_INDEX,
    JOB_KINDS
};

struct job_kind {
    bool is_new_ask;   /* refused while the disk is nearly full */
    bool needs_sync;   /* always: a person did it, or others rely on it */
    bool writes_event; /* reply.seq is the number of one */
    bool gives_way;    /* nobody waits for it: comes behind what somebody does */
    /* Of what is in `of`, as the statement of either store takes it. */
    struct columns columns;
};
extern const struct job_kind job_kinds[JOB_KINDS];
/* Where parts of longer lists begin. */
enum {
    CREATE_FORM = 20,
    CREATE_ASKER = 22,
    CHANGE_ACTOR = 17,
    CHANGE_ANSWER = 19,
    CHANGE_KEY = 20,
    CHANGE_REMOVES = 21,
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
enum { JOB_CLIENTS_MOST = 1000, JOB_BATCH_MOST = 1000 };

struct job_create {
    struct ask ask;
    struct store_principal principal;
    bool has_principal;
};
struct job_mark {
    const char *ask_id;
    uint32_t set_flags, clear_flags;
};
struct job_draft {
    const char *ask_id, *person, *json;
    int64_t now_ms;
};
struct job_setting {
    const char *person, *name, *value;
};
struct job_revoke {
    uint8_t hash[32];
    int64_t now_ms;
};
struct job_meta {
    const char *name, *value;
};
struct job_client {
    struct store_client client; /* without a name: all cut-offs are forgotten */
    bool is_form;               /* the fact is about its form */
    int64_t fact;
};
struct job_conversation {
    struct store_conversation conversation;
    struct store_principal principal;
    const char *events;
};
struct job_sweep {
    int64_t older_than_ms, keep_ended, batch, most_us;
};
struct job_index {
    int64_t now_ms, batch, most_us;
};

struct job {
    struct job *next;
    enum job_what what;
    store_done *done;
    void *context;
    bool needs_sync;
    size_t bytes;             /* with its texts */
    struct store_reply reply; /* reply.row is the job's own */
    struct job_sent {         /* of PostgreSQL's queue (postgres/batch.c) */
        int64_t added_ms;
        int number;     /* of its statement in the transaction; -1: it has none */
        bool is_alone;  /* something about it was refused: it has a transaction to itself */
        bool wants_row; /* see BATCH_ROWLESS */
    } sent;
    union job_of {
        struct job_create create;
        struct store_change change;
        struct job_mark mark;
        struct job_draft draft;
        struct job_setting setting;
        struct store_token token;
        struct job_revoke revoke;
        struct store_rule rule; /* to be revoked: its id, and created_ms is when */
        struct store_key key;
        struct job_meta meta;
        struct job_client client;
        int64_t shift_by_ms;
        int64_t abandoned_ms; /* when that was found out */
        struct job_sweep sweep;
        struct job_index index;
        struct job_conversation conversation;
        struct store_conversation_step step;
    } of;
};

struct job_list {
    struct job *first, *last;
    int64_t count;
};

struct job *job_copy(const struct job *borrowed);
void job_free(struct job *job);
void job_set_row(struct job *job, const struct store_row *row); /* copies; NULL: none */
void job_list_add(struct job_list *list, struct job *take_job);
struct job *job_list_take(struct job_list *list); /* the first; NULL: it is empty */
void job_list_append(struct job_list *list, struct job_list *take_tail);

#endif
