/* requests.c - see requests.h. */
#include "store/requests.h"

#include <string.h>

#include "store/job.h"

#define JOB_OF(kind) .what = JOB_##kind, .done = done, .context = context

static void add(struct store *store, const struct job *job)
{
    struct queued_store *own = (struct queued_store *)store;
    struct job *copy = job_copy(job);

    copy->needs_sync |= job_kinds[job->what].needs_sync;
    own->add(own, copy);
}

/* Rows of what gives way. */
static int64_t batch_limit(size_t rows)
{
    return rows < JOB_BATCH_MOST ? (int64_t)rows : JOB_BATCH_MOST;
}

int64_t request_limit(size_t number)
{
    return number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

void request_create(struct store *store, const struct ask *ask,
                    const struct store_principal *principal, store_done *done, void *context)
{
    struct job job = { JOB_OF(CREATE), .of.create.ask = *ask };

    if (principal)
        job.of.create.principal = *principal;
    job.of.create.has_principal = principal != NULL;
    add(store, &job);
}

void request_change(struct store *store, const struct store_change *change, store_done *done,
                    void *context)
{
    add(store,
        &(struct job){ JOB_OF(CHANGE), .needs_sync = change->needs_sync, .of.change = *change });
}

void request_mark(struct store *store, const char *ask_id, uint32_t set_flags, uint32_t clear_flags,
                  store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(MARK), .of.mark = { ask_id, set_flags, clear_flags } });
}

void request_save_draft(struct store *store, const char *ask_id, const char *person,
                        const char *json, int64_t now_ms, store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(DRAFT), .of.draft = { ask_id, person, json, now_ms } });
}

void request_save_setting(struct store *store, const char *person, const char *name,
                          const char *value_or_null, store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(SETTING), .of.setting = { person, name, value_or_null } });
}

void request_save_token(struct store *store, const struct store_token *token, store_done *done,
                        void *context)
{
    add(store, &(struct job){ JOB_OF(TOKEN), .of.token = *token });
}

static void add_revoke(struct store *store, struct job *job, const uint8_t hash[32])
{
    memcpy(job->of.revoke.hash, hash, sizeof job->of.revoke.hash);
    add(store, job);
}

void request_revoke_token(struct store *store, const uint8_t hash[32], int64_t now_ms,
                          store_done *done, void *context)
{
    add_revoke(store, &(struct job){ JOB_OF(REVOKE), .of.revoke.now_ms = now_ms }, hash);
}

void request_use_token(struct store *store, const uint8_t hash[32], int64_t now_ms,
                       store_done *done, void *context)
{
    add_revoke(store, &(struct job){ JOB_OF(USE), .of.revoke.now_ms = now_ms }, hash);
}

void request_save_rule(struct store *store, const struct store_rule *rule, store_done *done,
                       void *context)
{
    add(store, &(struct job){ JOB_OF(RULE), .of.rule = *rule });
}

void request_revoke_rule(struct store *store, const char *id, int64_t now_ms, store_done *done,
                         void *context)
{
    add(store, &(struct job){ JOB_OF(RULE_REVOKE), .of.rule = { .id = id, .created_ms = now_ms } });
}

void request_save_key(struct store *store, const struct store_key *key, store_done *done,
                      void *context)
{
    add(store, &(struct job){ JOB_OF(KEY), .of.key = *key });
}

void request_save_meta(struct store *store, const char *name, const char *value, store_done *done,
                       void *context)
{
    add(store, &(struct job){ JOB_OF(META), .of.meta = { name, value } });
}

void request_save_cut_off(struct store *store, const struct store_client *client,
                          int64_t cut_off_ms, store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(CLIENT), .of.client = { *client, false, cut_off_ms } });
}

void request_save_form_fact(struct store *store, const struct store_client *client, int64_t fact,
                            store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(CLIENT), .of.client = { *client, true, fact } });
}

void request_forget_cut_offs(struct store *store, store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(CLIENT), .needs_sync = true });
}

void request_shift_deadlines(struct store *store, int64_t by_ms, store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(SHIFT), .of.shift_by_ms = by_ms });
}

void request_sweep(struct store *store, const struct store_sweep *sweep, store_done *done,
                   void *context)
{
    add(store,
        &(struct job){ JOB_OF(SWEEP), .of.sweep = { .older_than_ms = sweep->older_than_ms,
                                                    .keep_ended = request_limit(sweep->keep_ended),
                                                    .batch = batch_limit(sweep->batch),
                                                    .most_us = sweep->most_us } });
}

void request_index(struct store *store, const struct store_index *index, store_done *done,
                   void *context)
{
    add(store, &(struct job){ JOB_OF(INDEX), .of.index = { .now_ms = index->now_ms,
                                                           .batch = batch_limit(index->batch),
                                                           .most_us = index->most_us } });
}

void request_create_conversation(struct store *store, const struct store_conversation *conversation,
                                 const struct store_principal *principal, const char *events,
                                 store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(CONVERSATION),
                              .of.conversation = { *conversation, *principal, events } });
}

void request_save_conversation(struct store *store, const struct store_conversation_step *step,
                               store_done *done, void *context)
{
    add(store, &(struct job){ JOB_OF(CONVERSATION_STEP), .of.step = *step });
}
