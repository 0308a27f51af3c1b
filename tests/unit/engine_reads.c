/* engine_reads.c - what the stage's store only passes on: reads that never fail in a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

static struct store *inner_of(struct store *port)
{
    return ((struct stage_store *)port)->inner;
}

static void pass_list_undelivered(struct store *port, const char *principal, size_t limit,
                                  store_each *each, void *context)
{
    inner_of(port)->ops->list_undelivered(inner_of(port), principal, limit, each, context);
}

static void pass_list(struct store *port, const struct store_list_query *query, store_each *each,
                      void *context)
{
    inner_of(port)->ops->list(inner_of(port), query, each, context);
}

static void pass_list_live(struct store *port, int64_t now_ms, store_each *each, void *context)
{
    inner_of(port)->ops->list_live(inner_of(port), now_ms, each, context);
}

static void pass_list_said(struct store *port, const char *ask_id, store_said_each *each,
                           void *context)
{
    inner_of(port)->ops->list_said(inner_of(port), ask_id, each, context);
}

static void pass_get_draft(struct store *port, const char *ask_id, const char *person,
                           store_draft_done *done, void *context)
{
    inner_of(port)->ops->get_draft(inner_of(port), ask_id, person, done, context);
}

static void pass_list_settings(struct store *port, const char *person, store_pair *each,
                               void *context)
{
    inner_of(port)->ops->list_settings(inner_of(port), person, each, context);
}

static void pass_list_tokens(struct store *port, store_token_each *each, void *context)
{
    inner_of(port)->ops->list_tokens(inner_of(port), each, context);
}

static void pass_list_rules(struct store *port, store_rule_each *each, void *context)
{
    inner_of(port)->ops->list_rules(inner_of(port), each, context);
}

static void pass_list_keys(struct store *port, const char *purpose, store_key_each *each,
                           void *context)
{
    inner_of(port)->ops->list_keys(inner_of(port), purpose, each, context);
}

static void pass_get_cut_off(struct store *port, const struct store_client *client,
                             store_done *done, void *context)
{
    inner_of(port)->ops->get_cut_off(inner_of(port), client, done, context);
}

static void pass_get_form_fact(struct store *port, const struct store_client *client,
                               store_done *done, void *context)
{
    inner_of(port)->ops->get_form_fact(inner_of(port), client, done, context);
}

static void pass_history(struct store *port, const struct store_history_query *query,
                         store_found *each, void *context)
{
    inner_of(port)->ops->history(inner_of(port), query, each, context);
}

static void pass_get_conversation(struct store *port, const char *id, store_conversation_each *each,
                                  void *context)
{
    inner_of(port)->ops->get_conversation(inner_of(port), id, each, context);
}

static void pass_find_conversation(struct store *port, const char *principal, const char *key,
                                   store_conversation_each *each, void *context)
{
    inner_of(port)->ops->find_conversation(inner_of(port), principal, key, each, context);
}

static void pass_list_conversations(struct store *port,
                                    const struct store_conversation_query *query,
                                    store_conversation_each *each, void *context)
{
    inner_of(port)->ops->list_conversations(inner_of(port), query, each, context);
}

static void pass_list_conversation_events(struct store *port, const char *id, int64_t after,
                                          size_t limit, store_conversation_event_each *each,
                                          void *context)
{
    inner_of(port)->ops->list_conversation_events(inner_of(port), id, after, limit, each, context);
}

static const char *pass_meta(struct store *port, const char *name)
{
    return inner_of(port)->ops->meta(inner_of(port), name);
}

static int64_t pass_last_seq(struct store *port)
{
    return inner_of(port)->ops->last_seq(inner_of(port));
}

void stage_add_reads(struct store_ops *ops)
{
    ops->list_undelivered = pass_list_undelivered;
    ops->list = pass_list;
    ops->list_live = pass_list_live;
    ops->get_draft = pass_get_draft;
    ops->list_said = pass_list_said;
    ops->list_settings = pass_list_settings;
    ops->list_tokens = pass_list_tokens;
    ops->list_keys = pass_list_keys;
    ops->list_rules = pass_list_rules;
    ops->get_cut_off = pass_get_cut_off;
    ops->get_form_fact = pass_get_form_fact;
    ops->history = pass_history;
    ops->get_conversation = pass_get_conversation;
    ops->find_conversation = pass_find_conversation;
    ops->list_conversations = pass_list_conversations;
    ops->list_conversation_events = pass_list_conversation_events;
    ops->meta = pass_meta;
    ops->last_seq = pass_last_seq;
}
