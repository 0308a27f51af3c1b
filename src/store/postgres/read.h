/*
 * read.h - what the store reads from PostgreSQL: the functions of struct store_ops (ports/store.h)
 * for a store that begins with a pool. What a caller hands in is copied; what it is told comes
 * later, exactly once, also when the read fails or the pool is closed.
 */
#ifndef STORE_POSTGRES_READ_H
#define STORE_POSTGRES_READ_H
#include "store/requests.h"

struct pool;

struct pg_store {
    struct queued_store queued; /* first: a struct store * is one of these */
    struct pool *pool;
};

static inline struct pool *pool_of(struct store *store)
{
    return ((struct pg_store *)store)->pool;
}

/* An answer whose undo window has just ended is waited for, should it be undone at this moment. */
void pg_get(struct store *store, const char *ask_id, store_done *done, void *context);
void pg_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                         const char *idempotency_key, store_done *done, void *context);
void pg_list_undelivered(struct store *store, const char *principal, size_t limit, store_each *each,
                         void *context);
void pg_list(struct store *store, const struct store_list_query *query, store_each *each,
             void *context);
void pg_list_live(struct store *store, int64_t now_ms, store_each *each, void *context);
void pg_get_draft(struct store *store, const char *ask_id, const char *person,
                  store_draft_done *done, void *context);
void pg_list_said(struct store *store, const char *ask_id, store_said_each *each, void *context);
void pg_get_cut_off(struct store *store, const struct store_client *client, store_done *done,
                    void *context);
void pg_get_form_fact(struct store *store, const struct store_client *client, store_done *done,
                      void *context);

/* history.c */
void pg_history(struct store *store, const struct store_history_query *query, store_found *each,
                void *context);

/* conversations.c */
void pg_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                         void *context);
void pg_find_conversation(struct store *store, const char *principal, const char *key,
                          store_conversation_each *each, void *context);
void pg_list_conversations(struct store *store, const struct store_conversation_query *query,
                           store_conversation_each *each, void *context);
void pg_list_conversation_events(struct store *store, const char *id, int64_t after, size_t limit,
                                 store_conversation_event_each *each, void *context);

#endif
