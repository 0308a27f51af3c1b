/*
 * requests.h - the writes of the port as jobs, for the stores that queue them: each takes a request
 * apart the same way and only differs in how its jobs are run.
 */
#ifndef STORE_REQUESTS_H
#define STORE_REQUESTS_H
#include "ports/store.h"

struct job;

struct queued_store {
    struct store port; /* first: a struct store * is one of these */
    void (*add)(struct queued_store *store, struct job *take_job);
};

/* The members of a struct store_ops that are the same for all of them. */
#define REQUEST_OPS                                                                                \
    .create = request_create, .change = request_change, .mark = request_mark,                      \
    .save_draft = request_save_draft, .save_setting = request_save_setting,                        \
    .save_token = request_save_token, .revoke_token = request_revoke_token,                        \
    .use_token = request_use_token, .save_rule = request_save_rule,                                \
    .revoke_rule = request_revoke_rule, .save_key = request_save_key,                              \
    .save_meta = request_save_meta, .save_cut_off = request_save_cut_off,                          \
    .save_form_fact = request_save_form_fact, .forget_cut_offs = request_forget_cut_offs,          \
    .shift_deadlines = request_shift_deadlines, .sweep = request_sweep, .index = request_index,    \
    .create_conversation = request_create_conversation,                                            \
    .save_conversation = request_save_conversation
void request_create(struct store *store, const struct ask *ask,
                    const struct store_principal *principal, store_done *done, void *context);
void request_change(struct store *store, const struct store_change *change, store_done *done,
                    void *context);
void request_mark(struct store *store, const char *ask_id, uint32_t set_flags, uint32_t clear_flags,
                  store_done *done, void *context);
void request_save_draft(struct store *store, const char *ask_id, const char *person,
                        const char *json, int64_t now_ms, store_done *done, void *context);
void request_save_setting(struct store *store, const char *person, const char *name,
                          const char *value_or_null, store_done *done, void *context);
void request_save_token(struct store *store, const struct store_token *token, store_done *done,
                        void *context);
void request_revoke_token(struct store *store, const uint8_t hash[32], int64_t now_ms,
                          store_done *done, void *context);
void request_use_token(struct store *store, const uint8_t hash[32], int64_t now_ms,
                       store_done *done, void *context);
void request_save_rule(struct store *store, const struct store_rule *rule, store_done *done,
                       void *context);
void request_revoke_rule(struct store *store, const char *id, int64_t now_ms, store_done *done,
                         void *context);
void request_save_key(struct store *store, const struct store_key *key, store_done *done,
                      void *context);
void request_save_meta(struct store *store, const char *name, const char *value, store_done *done,
                       void *context);
void request_save_cut_off(struct store *store, const struct store_client *client,
                          int64_t cut_off_ms, store_done *done, void *context);
void request_save_form_fact(struct store *store, const struct store_client *client, int64_t fact,
                            store_done *done, void *context);
void request_forget_cut_offs(struct store *store, store_done *done, void *context);
void request_shift_deadlines(struct store *store, int64_t by_ms, store_done *done, void *context);
void request_sweep(struct store *store, const struct store_sweep *sweep, store_done *done,
                   void *context);
void request_index(struct store *store, const struct store_index *index, store_done *done,
                   void *context);
void request_create_conversation(struct store *store, const struct store_conversation *conversation,
                                 const struct store_principal *principal, const char *events,
                                 store_done *done, void *context);
void request_save_conversation(struct store *store, const struct store_conversation_step *step,
                               store_done *done, void *context);

int64_t request_limit(size_t number); /* as SQL takes it */

#endif
