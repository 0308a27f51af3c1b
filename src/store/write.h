/* write.h - what the statements on the writer's thread share. Nothing here is for other threads. */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H
#include <sqlite3.h>
#include <stdint.h>

#include "store/event.h"
#include "store/job.h"
#include "store/statement.h"

struct write {
    sqlite3 *db; /* borrowed from the writer */
    struct event_head head;
    struct statements statements;
};

enum write_statement {
    WRITE_PRINCIPAL,
    WRITE_ASK,
    WRITE_TEXTS,
    WRITE_EVENT,
    WRITE_COUNTER,
    WRITE_CHANGE,
    WRITE_DELIVERED,
    WRITE_ANSWER,
    WRITE_ANSWER_TO_DRAFT,
    WRITE_ANSWER_UNDECIDE,
    WRITE_DRAFT,
    WRITE_DRAFT_REMOVE,
    WRITE_SETTING,
    WRITE_SETTING_REMOVE,
    WRITE_TOKEN,
    WRITE_TOKEN_REVOKE,
    WRITE_KEY,
    WRITE_META,
    WRITE_CUT_OFF,
    WRITE_CUT_OFF_ROOM,
    WRITE_CUT_OFF_FORGET,
    WRITE_SHIFT_OPEN,
    WRITE_SHIFT_DELIVERY,
    WRITE_SWEEP_OLD,
    WRITE_SWEEP_MANY,
    WRITE_SWEEP_COUNT,
    WRITE_SWEEP_EVENT,
    WRITE_SWEEP_ANSWER,
    WRITE_SWEEP_ASK,
    WRITE_LOOK,
    WRITE_FIND,
    WRITE_FIND_KEY,
    WRITE_ASK_EXISTS,
    WRITE_BEGIN,
    WRITE_COMMIT,
    WRITE_SAVEPOINT,
    WRITE_RELEASE,
    WRITE_UNDO,
    WRITE_FORGET,
    WRITE_COUNT,
};
extern const char *const write_sql[WRITE_COUNT];

extern const struct job_kind job_kind_create, job_kind_change, job_kind_draft, job_kind_setting,
    job_kind_token, job_kind_revoke, job_kind_key, job_kind_meta, job_kind_shift, job_kind_sweep,
    job_kind_cut_off;

int write_run(struct write *write, enum write_statement which); /* one without parameters */
/* Appends to the chain and sets event->seq. */
int write_event(struct write *write, struct event *event);
int write_counter(struct write *write);

#endif
