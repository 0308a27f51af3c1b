/* conversations.c - conversations of agent hosts and what happened in them, read. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/job.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/postgres/result.h"
#include "store/requests.h"

#define CONVERSATION_SELECT                                                                        \
    "SELECT id, principal, token_id, label, state, body, key, created_ms, ask, earlier_ask,"       \
    " version, changed_ms, last_event FROM conversations "

static const struct sql get_sql = { "conversation", CONVERSATION_SELECT "WHERE id = $1::text" };
static const struct sql find_sql = { "conversation_find", CONVERSATION_SELECT
                                     "WHERE principal = $1::text AND key = $2::text" };
/* Not named: planned with the filters it has. */
static const struct sql list_sql = {
    NULL, CONVERSATION_SELECT "WHERE ($1::text IS NULL OR principal = $1)"
                              " AND ($2::text IS NULL OR state = $2)"
                              " AND ($3::text IS NULL OR (created_ms, id) <"
                              " (SELECT b.created_ms, b.id FROM conversations b WHERE b.id = $3))"
                              " ORDER BY created_ms DESC, id DESC LIMIT $4::bigint"
};
static const struct sql events_sql = { "conversation_events",
                                       "SELECT number, kind, body FROM conversation_events"
                                       " WHERE conversation = $1::text AND number > $2::bigint"
                                       " ORDER BY number LIMIT $3::bigint" };

struct reading {
    store_conversation_each *each;
    store_conversation_event_each *event;
    void *context;
    bool is_list; /* its end is told apart */
};

static struct reading *reading_new(store_conversation_each *each,
                                   store_conversation_event_each *event, void *context)
{
    struct reading *reading = mem_new(sizeof *reading);

    *reading = (struct reading){ .each = each, .event = event, .context = context };
    return reading;
}

static void on_conversations(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;
    int count = err ? 0 : result_count(result);

    for (int i = 0; i < count; i++) {
        struct store_conversation conversation;

        result_read(result, i, 0, &conversation_columns, &conversation);
        reading->each(reading->context, &conversation, NULL);
    }
    if (reading->is_list || count == 0)
        reading->each(reading->context, NULL, err);
    free(reading);
}

void pg_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                         void *context)
{
    struct params params = { 0 };

    params_text(&params, id);
    pool_read(pool_of(store), &get_sql, &params, on_conversations,
              reading_new(each, NULL, context));
}

void pg_find_conversation(struct store *store, const char *principal, const char *key,
                          store_conversation_each *each, void *context)
{
    struct params params = { 0 };

    params_text(&params, principal);
    params_text(&params, key);
    pool_read(pool_of(store), &find_sql, &params, on_conversations,
              reading_new(each, NULL, context));
}

void pg_list_conversations(struct store *store, const struct store_conversation_query *query,
                           store_conversation_each *each, void *context)
{
    struct reading *reading = reading_new(each, NULL, context);
    struct params params = { 0 };

    reading->is_list = true;
    params_text(&params, query->principal);
    params_text(&params, query->state);
    params_text(&params, query->before_id);
    params_integer(&params, request_limit(query->limit));
    pool_read(pool_of(store), &list_sql, &params, on_conversations, reading);
}

static void on_events(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;

    for (int i = 0; !err && i < result_count(result); i++) {
        struct store_conversation_event event;

        result_read(result, i, 0, &conversation_event_columns, &event);
        reading->event(reading->context, &event, NULL);
    }
    reading->event(reading->context, NULL, err);
    free(reading);
}

void pg_list_conversation_events(struct store *store, const char *id, int64_t after, size_t limit,
                                 store_conversation_event_each *each, void *context)
{
    struct params params = { 0 };

    params_text(&params, id);
    params_integer(&params, after);
    params_integer(&params, request_limit(limit));
    pool_read(pool_of(store), &events_sql, &params, on_events, reading_new(NULL, each, context));
}
