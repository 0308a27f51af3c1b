/*
 * requests.h - what the stores have in common as a struct store_ops (ports/store.h): each member is
 * named once here, and is a function of that name behind `request_`, `reader_` or `pg_`.
 * Writes become jobs: each store takes a request apart the same way and only differs in how its
 * jobs are run.
 */
#ifndef STORE_REQUESTS_H
#define STORE_REQUESTS_H
#include "ports/store.h"

struct job;

struct queued_store {
    struct store port; /* first: a struct store * is one of these */
    void (*add)(struct queued_store *store, struct job *take_job);
};

#define STORE_WRITES(OP)                                                                           \
    OP(create)                                                                                     \
    OP(change)                                                                                     \
    OP(mark)                                                                                       \
    OP(save_draft)                                                                                 \
    OP(save_setting)                                                                               \
    OP(save_token)                                                                                 \
    OP(revoke_token)                                                                               \
    OP(use_token)                                                                                  \
    OP(save_rule)                                                                                  \
    OP(revoke_rule)                                                                                \
    OP(save_key)                                                                                   \
    OP(save_meta)                                                                                  \
    OP(save_cut_off)                                                                               \
    OP(save_form_fact)                                                                             \
    OP(forget_cut_offs)                                                                            \
    OP(shift_deadlines)                                                                            \
    OP(sweep)                                                                                      \
    OP(index)                                                                                      \
    OP(create_conversation)                                                                        \
    OP(save_conversation)
#define STORE_READS(OP)                                                                            \
    OP(get)                                                                                        \
    OP(find_undelivered)                                                                           \
    OP(list_undelivered)                                                                           \
    OP(list)                                                                                       \
    OP(list_live)                                                                                  \
    OP(history)                                                                                    \
    OP(get_conversation)                                                                           \
    OP(find_conversation)                                                                          \
    OP(list_conversations)                                                                         \
    OP(list_conversation_events)                                                                   \
    OP(get_draft)                                                                                  \
    OP(list_said)                                                                                  \
    OP(list_settings)                                                                              \
    OP(list_tokens)                                                                                \
    OP(list_rules)                                                                                 \
    OP(list_keys)                                                                                  \
    OP(get_cut_off)                                                                                \
    OP(get_form_fact)                                                                              \
    OP(meta)

/* Declares the function of a member, whose type says what it takes. */
#define STORE_FUNCTION(prefix, name) __typeof__(*((struct store_ops *)0)->name) prefix##name;
#define REQUEST_FUNCTION(name)       STORE_FUNCTION(request_, name)
#define REQUEST_MEMBER(name)         .name = request_##name,
STORE_WRITES(REQUEST_FUNCTION)

int64_t request_limit(size_t number); /* as SQL takes it */

#endif
