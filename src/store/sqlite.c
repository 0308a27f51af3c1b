/* sqlite.c - see sqlite.h. Puts the parts together: database, writer thread, reader. */
#include "store/sqlite.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "ports/store.h"
#include "store/database.h"
#include "store/failure.h"
#include "store/job.h"
#include "store/sqlite_read.h"
#include "store/write.h"
#include "store/writer.h"

struct sqlite_store {
    struct store port; /* first: a struct store * is one of these */
    struct database database;
    struct reader reader;
    struct writer *writer;
    atomic_bool is_broken;
};

static struct sqlite_store *own(struct store *store)
{
    return (struct sqlite_store *)store;
}

static void add(struct store *store, const struct job *job)
{
    writer_add(own(store)->writer, job_copy(job));
}

static void store_create(struct store *store, const struct ask *ask,
                         const struct store_principal *principal, store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_create, .done = done, .context = context };

    job.of.create.ask = *ask;
    if (principal)
        job.of.create.principal = *principal;
    job.of.create.has_principal = principal != NULL;
    add(store, &job);
}

static void store_change(struct store *store, const struct store_change *change, store_done *done,
                         void *context)
{
    struct job job = { .kind = &job_kind_change,
                       .done = done,
                       .context = context,
                       .needs_sync = change->needs_sync,
                       .of.change = *change };

    add(store, &job);
}

static void store_save_draft(struct store *store, const char *ask_id, const char *person,
                             const char *json, int64_t now_ms, store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_draft,
                       .done = done,
                       .context = context,
                       .of.draft = { ask_id, person, json, now_ms } };

    add(store, &job);
}

static void store_save_setting(struct store *store, const char *person, const char *name,
                               const char *value_or_null, store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_setting,
                       .done = done,
                       .context = context,
                       .needs_sync = true, /* a person did it */
                       .of.setting = { person, name, value_or_null } };

    add(store, &job);
}

static void store_save_token(struct store *store, const struct store_token *token, store_done *done,
                             void *context)
{
    struct job job = { .kind = &job_kind_token,
                       .done = done,
                       .context = context,
                       .needs_sync = true, /* a person did it */
                       .of.token = *token };

    add(store, &job);
}

static void store_revoke_token(struct store *store, const uint8_t hash[32], int64_t now_ms,
                               store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_revoke,
                       .done = done,
                       .context = context,
                       .needs_sync = true,
                       .of.revoke.now_ms = now_ms };

    memcpy(job.of.revoke.hash, hash, sizeof job.of.revoke.hash);
    add(store, &job);
}

static void store_save_rule(struct store *store, const struct store_rule *rule, store_done *done,
                            void *context)
{
    struct job job = { .kind = &job_kind_rule,
                       .done = done,
                       .context = context,
                       .needs_sync = true, /* a person did it */
                       .of.rule = *rule };

    add(store, &job);
}

static void store_revoke_rule(struct store *store, const char *id, int64_t now_ms, store_done *done,
                              void *context)
{
    struct job job = { .kind = &job_kind_rule_revoke,
                       .done = done,
                       .context = context,
                       .needs_sync = true,
                       .of.rule = { .id = id, .created_ms = now_ms } };

    add(store, &job);
}

static void store_save_key(struct store *store, const struct store_key *key, store_done *done,
                           void *context)
{
    struct job job = { .kind = &job_kind_key,
                       .done = done,
                       .context = context,
                       .needs_sync = true, /* what it seals is in others' hands */
                       .of.key = *key };

    add(store, &job);
}

static void store_save_meta(struct store *store, const char *name, const char *value,
                            store_done *done, void *context)
{
    struct job job = {
        .kind = &job_kind_meta, .done = done, .context = context, .of.meta = { name, value }
    };

    add(store, &job);
}

static void store_save_cut_off(struct store *store, const struct store_client *client,
                               int64_t cut_off_ms, store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_client,
                       .done = done,
                       .context = context,
                       .of.client = { *client, false, cut_off_ms } };

    add(store, &job);
}

static void store_save_form_fact(struct store *store, const struct store_client *client,
                                 int64_t fact, store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_client,
                       .done = done,
                       .context = context,
                       .of.client = { *client, true, fact } };

    add(store, &job);
}

static void store_forget_cut_offs(struct store *store, store_done *done, void *context)
{
    struct job job = {
        .kind = &job_kind_client, .done = done, .context = context, .needs_sync = true
    };

    add(store, &job);
}

static void store_shift_deadlines(struct store *store, int64_t by_ms, store_done *done,
                                  void *context)
{
    struct job job = {
        .kind = &job_kind_shift, .done = done, .context = context, .of.shift_by_ms = by_ms
    };

    add(store, &job);
}

static int64_t as_limit(size_t number)
{
    return number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

static void store_sweep(struct store *store, int64_t older_than_ms, size_t keep_ended, size_t batch,
                        store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_sweep,
                       .done = done,
                       .context = context,
                       .of.sweep = { older_than_ms, as_limit(keep_ended), as_limit(batch) } };

    add(store, &job);
}

static void store_index(struct store *store, int64_t now_ms, size_t batch, store_done *done,
                        void *context)
{
    struct job job = { .kind = &job_kind_index,
                       .done = done,
                       .context = context,
                       .of.index = { now_ms, as_limit(batch) } };

    add(store, &job);
}

static void store_get(struct store *store, const char *ask_id, store_done *done, void *context)
{
    reader_get(&own(store)->reader, ask_id, done, context);
}

static void store_find_undelivered(struct store *store, const char *principal,
                                   const uint8_t *digest, const char *idempotency_key,
                                   store_done *done, void *context)
{
    reader_find_undelivered(&own(store)->reader, principal, digest, idempotency_key, done, context);
}

static void store_list_undelivered(struct store *store, const char *principal, size_t limit,
                                   store_each *each, void *context)
{
    reader_list_undelivered(&own(store)->reader, principal, as_limit(limit), each, context);
}

static void store_history(struct store *store, const struct store_history_query *query,
                          store_found *each, void *context)
{
    reader_history(&own(store)->reader, query, each, context);
}

static void store_list(struct store *store, const struct store_list_query *query, store_each *each,
                       void *context)
{
    reader_list(&own(store)->reader, query, each, context);
}

static void store_list_live(struct store *store, int64_t now_ms, store_each *each, void *context)
{
    reader_list_live(&own(store)->reader, now_ms, each, context);
}

static void store_create_conversation(struct store *store,
                                      const struct store_conversation *conversation,
                                      const struct store_principal *principal, const char *events,
                                      store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_conversation,
                       .done = done,
                       .context = context,
                       .of.conversation = { *conversation, *principal, events } };

    add(store, &job);
}

/* What a host was told is kept needs the disk: it throws its own copy away. */
static void store_save_conversation(struct store *store, const struct store_conversation_step *step,
                                    store_done *done, void *context)
{
    struct job job = { .kind = &job_kind_conversation_step,
                       .done = done,
                       .context = context,
                       .needs_sync = true,
                       .of.step = *step };

    add(store, &job);
}

static void store_get_conversation(struct store *store, const char *id,
                                   store_conversation_each *each, void *context)
{
    reader_get_conversation(&own(store)->reader, id, each, context);
}

static void store_find_conversation(struct store *store, const char *principal, const char *key,
                                    store_conversation_each *each, void *context)
{
    reader_find_conversation(&own(store)->reader, principal, key, each, context);
}

static void store_list_conversations(struct store *store,
                                     const struct store_conversation_query *query,
                                     store_conversation_each *each, void *context)
{
    reader_list_conversations(&own(store)->reader, query, each, context);
}

static void store_list_conversation_events(struct store *store, const char *id, int64_t after,
                                           size_t limit, store_conversation_event_each *each,
                                           void *context)
{
    reader_list_conversation_events(&own(store)->reader, id, after, (int64_t)limit, each, context);
}

static void store_get_draft(struct store *store, const char *ask_id, const char *person,
                            store_pair *each, void *context)
{
    reader_get_draft(&own(store)->reader, ask_id, person, each, context);
}

static void store_list_said(struct store *store, const char *ask_id, store_said_each *each,
                            void *context)
{
    reader_list_said(&own(store)->reader, ask_id, each, context);
}

static void store_list_settings(struct store *store, const char *person, store_pair *each,
                                void *context)
{
    reader_list_settings(&own(store)->reader, person, each, context);
}

static void store_list_tokens(struct store *store, store_token_each *each, void *context)
{
    reader_list_tokens(&own(store)->reader, each, context);
}

static void store_list_rules(struct store *store, store_rule_each *each, void *context)
{
    reader_list_rules(&own(store)->reader, each, context);
}

static void store_list_keys(struct store *store, const char *purpose, store_key_each *each,
                            void *context)
{
    reader_list_keys(&own(store)->reader, purpose, each, context);
}

static void store_get_cut_off(struct store *store, const struct store_client *client,
                              store_done *done, void *context)
{
    reader_get_cut_off(&own(store)->reader, client, done, context);
}

static void store_get_form_fact(struct store *store, const struct store_client *client,
                                store_done *done, void *context)
{
    reader_get_form_fact(&own(store)->reader, client, done, context);
}

static const char *store_meta(struct store *store, const char *name)
{
    return reader_meta(&own(store)->reader, name);
}

static bool store_is_broken(struct store *store)
{
    return atomic_load(&own(store)->is_broken);
}

static void store_write_metrics(struct store *store, struct text *out)
{
    writer_write_metrics(own(store)->writer, out);
}

static int64_t store_last_seq(struct store *store)
{
    return writer_last_seq(own(store)->writer);
}

static void store_close(struct store *store)
{
    struct sqlite_store *sqlite = own(store);

    writer_free(sqlite->writer);
    reader_release(&sqlite->reader);
    CRASH_POINT(store_drained);
    database_close(&sqlite->database, !atomic_load(&sqlite->is_broken));
    free(sqlite);
}

static const struct store_ops sqlite_ops = {
    .close = store_close,
    .create = store_create,
    .change = store_change,
    .save_draft = store_save_draft,
    .save_setting = store_save_setting,
    .save_token = store_save_token,
    .revoke_token = store_revoke_token,
    .save_rule = store_save_rule,
    .revoke_rule = store_revoke_rule,
    .save_key = store_save_key,
    .save_meta = store_save_meta,
    .save_cut_off = store_save_cut_off,
    .forget_cut_offs = store_forget_cut_offs,
    .save_form_fact = store_save_form_fact,
    .shift_deadlines = store_shift_deadlines,
    .sweep = store_sweep,
    .index = store_index,
    .get = store_get,
    .find_undelivered = store_find_undelivered,
    .list_undelivered = store_list_undelivered,
    .list = store_list,
    .history = store_history,
    .list_live = store_list_live,
    .create_conversation = store_create_conversation,
    .save_conversation = store_save_conversation,
    .get_conversation = store_get_conversation,
    .find_conversation = store_find_conversation,
    .list_conversations = store_list_conversations,
    .list_conversation_events = store_list_conversation_events,
    .get_draft = store_get_draft,
    .list_said = store_list_said,
    .list_settings = store_list_settings,
    .list_tokens = store_list_tokens,
    .list_rules = store_list_rules,
    .list_keys = store_list_keys,
    .get_cut_off = store_get_cut_off,
    .get_form_fact = store_get_form_fact,
    .meta = store_meta,
    .is_broken = store_is_broken,
    .last_seq = store_last_seq,
    .write_metrics = store_write_metrics,
};

bool sqlite_store_open_with_vfs(struct loop *loop, const char *path, const char *vfs_name,
                                struct store **ret_store, struct error *err)
{
    struct sqlite_store *store = mem_new(sizeof *store);
    int rc;

    store->port.ops = &sqlite_ops;
    atomic_init(&store->is_broken, false);
    /* The counters behind it are a lock that both threads would meet at every allocation. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!database_open(path, vfs_name, &store->database, err))
        goto failed;
    store->writer =
        writer_new(loop, store->database.writer, store->database.path, &store->is_broken, &rc);
    if (!store->writer) {
        failure_describe(failure_of(store->database.writer, rc), store->database.writer,
                         store->database.path, err);
        database_close(&store->database, false);
        goto failed;
    }
    reader_init(&store->reader, store->database.reader, store->database.path, &store->is_broken);
    if (*reader_meta(&store->reader, "importing")) {
        error_set(err, ERROR_storage_failed, "",
                  "a backup was not read in completely: run sayso import with it again, or sayso "
                  "import --discard");
        store_close(&store->port);
        return false;
    }
    *ret_store = &store->port;
    return true;
failed:
    free(store);
    return false;
}

bool sqlite_store_open(struct loop *loop, const char *path, struct store **ret_store,
                       struct error *err)
{
    return sqlite_store_open_with_vfs(loop, path, NULL, ret_store, err);
}
