/* sqlite_read.h - what the store reads, on the loop's thread over a connection of its own. */
#ifndef STORE_SQLITE_READ_H
#define STORE_SQLITE_READ_H
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/text.h"
#include "ports/store.h"
#include "store/requests.h"
#include "store/statement.h"

struct reader {
    struct queued_store queued; /* first: a struct store * is one of these */
    sqlite3 *db;                /* borrowed */
    const char *path;           /* borrowed */
    atomic_bool *is_broken;     /* borrowed */
    struct statements statements;
    struct statements history;       /* of sqlite_history.c */
    struct statements conversations; /* of sqlite_conversation.c */
    struct text meta;                /* what reader_meta returned last */
};

void reader_init(struct reader *reader, sqlite3 *db, const char *path, atomic_bool *is_broken);
void reader_release(struct reader *reader);

static inline struct reader *reader_of(struct store *store)
{
    return (struct reader *)store;
}

/* Those of struct store_ops, for a store that begins with a reader. */
void reader_get(struct store *store, const char *ask_id, store_done *done, void *context);
void reader_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                             const char *idempotency_key, store_done *done, void *context);
void reader_list_undelivered(struct store *store, const char *principal, size_t limit,
                             store_each *each, void *context);
void reader_list(struct store *store, const struct store_list_query *query, store_each *each,
                 void *context);
/* sqlite_history.c */
extern const char *const history_sql[];
extern const size_t history_sql_count;
void reader_history(struct store *store, const struct store_history_query *query, store_found *each,
                    void *context);
/* Ends a statement. False: `err`, and is_broken where only a restart mends it. */
bool reader_end(struct reader *reader, struct statement *statement, struct error *err);
/* All reads until reader_rest see the same. False: it is so already, and who began it ends it. */
bool reader_begin(struct reader *reader);
void reader_rest(struct reader *reader);
/* sqlite_conversation.c */
extern const char *const conversation_sql[];
extern const size_t conversation_sql_count;
void reader_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                             void *context);
void reader_find_conversation(struct store *store, const char *principal, const char *key,
                              store_conversation_each *each, void *context);
void reader_list_conversations(struct store *store, const struct store_conversation_query *query,
                               store_conversation_each *each, void *context);
void reader_list_conversation_events(struct store *store, const char *id, int64_t after,
                                     size_t limit, store_conversation_event_each *each,
                                     void *context);
void reader_list_live(struct store *store, int64_t now_ms, store_each *each, void *context);
void reader_get_draft(struct store *store, const char *ask_id, const char *person,
                      store_draft_done *done, void *context);
void reader_list_said(struct store *store, const char *ask_id, store_said_each *each,
                      void *context);
void reader_list_settings(struct store *store, const char *person, store_pair *each, void *context);
void reader_list_tokens(struct store *store, store_token_each *each, void *context);
void reader_list_rules(struct store *store, store_rule_each *each, void *context);
void reader_list_keys(struct store *store, const char *purpose, store_key_each *each,
                      void *context);
void reader_get_cut_off(struct store *store, const struct store_client *client, store_done *done,
                        void *context);
void reader_get_form_fact(struct store *store, const struct store_client *client, store_done *done,
                          void *context);
const char *reader_meta(struct store *store, const char *name);

#endif
