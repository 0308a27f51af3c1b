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
#include "store/requests.h"
#include "store/sqlite_read.h"
#include "store/writer.h"

struct sqlite_store {
    struct queued_store queued; /* first: a struct store * is one of these */
    struct database database;
    struct reader reader;
    struct writer *writer;
    atomic_bool is_broken;
};

static struct sqlite_store *own(struct store *store)
{
    return (struct sqlite_store *)store;
}

static void store_add(struct queued_store *store, struct job *take_job)
{
    writer_add(own(&store->port)->writer, take_job);
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
    reader_list_undelivered(&own(store)->reader, principal, request_limit(limit), each, context);
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
                            store_draft_done *done, void *context)
{
    reader_get_draft(&own(store)->reader, ask_id, person, done, context);
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
    REQUEST_OPS,
    STORE_OPS,
};

bool sqlite_store_open_with_vfs(struct loop *loop, const char *path, const char *vfs_name,
                                struct store **ret_store, struct error *err)
{
    struct sqlite_store *store = mem_new(sizeof *store);
    int rc;

    store->queued = (struct queued_store){ { &sqlite_ops }, store_add };
    atomic_init(&store->is_broken, false);
    /* The counters behind it are a lock that both threads would meet at every allocation. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!database_open(path, vfs_name, &store->database, err)) {
        free(store);
        return false;
    }
    reader_init(&store->reader, store->database.reader, store->database.path, &store->is_broken);
    if (*reader_meta(&store->reader, "importing")) {
        error_set(err, ERROR_storage_failed, "",
                  "a backup was not read in completely: run sayso import with it again, or sayso "
                  "import --discard");
        store_close(&store->queued.port);
        return false;
    }
    store->writer =
        writer_new(loop, store->database.writer, store->database.path, &store->is_broken, &rc);
    if (!store->writer) {
        failure_describe(failure_of(store->database.writer, rc), store->database.writer,
                         store->database.path, err);
        store_close(&store->queued.port);
        return false;
    }
    *ret_store = &store->queued.port;
    return true;
}

bool sqlite_store_open(struct loop *loop, const char *path, struct store **ret_store,
                       struct error *err)
{
    return sqlite_store_open_with_vfs(loop, path, NULL, ret_store, err);
}
