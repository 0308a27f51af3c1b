/*
 * engine_reads.c - what the stage's store only passes on: reads that never fail in a test. Those
 * that may end later are counted, so that the stage can wait for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdlib.h>

#include "base/mem.h"

/* One that is not at its end. */
struct reading {
    struct stage_store *store;
    void *context;
    union {
        store_done *done;
        store_each *each;
        store_found *found;
        store_said_each *said;
        store_draft_done *draft;
        store_conversation_each *conversation;
        store_conversation_event_each *event;
    } call;
};

static struct store *inner_of(struct store *port)
{
    return ((struct stage_store *)port)->inner;
}

static struct reading *begin(struct store *port, void *context)
{
    struct reading *reading = mem_new(sizeof *reading);

    reading->store = (struct stage_store *)port;
    reading->context = context;
    reading->store->reading++;
    return reading;
}

static void end(struct reading *reading)
{
    reading->store->reading--;
    free(reading);
}

static void on_done(void *context, const struct store_reply *reply)
{
    struct reading *reading = context;
    struct stage_store *store = reading->store;

    if (store->holds_missing && reply->outcome == STORE_MISSING) {
        store->holds_missing = false;
        store->missing = reading;
        store->reading--; /* nothing can wait for it */
        return;
    }
    reading->call.done(reading->context, reply);
    end(reading);
}

void stage_release_missing(struct stage *stage)
{
    struct reading *reading = stage->store.missing;

    assert_non_null(reading);
    stage->store.missing = NULL;
    stage->store.reading++;
    on_done(reading, &(struct store_reply){ .outcome = STORE_MISSING });
}

static void on_form_fact(void *context, const struct store_reply *reply)
{
    struct reading *reading = context;
    struct stage_store *store = reading->store;

    if (store->holds_form_fact) {
        store->holds_form_fact = false;
        store->form_fact = reading;
        store->form_fact_reply = *reply;
        store->reading--; /* nothing can wait for it */
        return;
    }
    on_done(reading, reply);
}

void stage_release_form_fact(struct stage *stage)
{
    struct reading *reading = stage->store.form_fact;

    assert_non_null(reading);
    stage->store.form_fact = NULL;
    stage->store.reading++;
    on_done(reading, &stage->store.form_fact_reply);
    stage_settle(stage);
}

static void on_each(void *context, const struct store_row *row, const struct error *err)
{
    struct reading *reading = context;

    reading->call.each(reading->context, row, err);
    if (!row)
        end(reading);
}

static void on_found(void *context, const struct store_row *row, int64_t looked_to,
                     const struct error *err)
{
    struct reading *reading = context;

    reading->call.found(reading->context, row, looked_to, err);
    if (!row)
        end(reading);
}

static void on_said(void *context, const struct store_said *said, const struct error *err)
{
    struct reading *reading = context;

    reading->call.said(reading->context, said, err);
    if (!said)
        end(reading);
}

static void on_draft(void *context, const char *json, const struct error *err)
{
    struct reading *reading = context;

    reading->call.draft(reading->context, json, err);
    end(reading);
}

static void on_conversation(void *context, const struct store_conversation *conversation,
                            const struct error *err)
{
    struct reading *reading = context;

    reading->call.conversation(reading->context, conversation, err);
    end(reading);
}

static void on_each_conversation(void *context, const struct store_conversation *conversation,
                                 const struct error *err)
{
    struct reading *reading = context;

    reading->call.conversation(reading->context, conversation, err);
    if (!conversation)
        end(reading);
}

static void on_event(void *context, const struct store_conversation_event *event,
                     const struct error *err)
{
    struct reading *reading = context;

    reading->call.event(reading->context, event, err);
    if (!event)
        end(reading);
}

void stage_get(struct store *port, const char *ask_id, int64_t seq, store_done *done, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.done = done;
    inner_of(port)->ops->get(inner_of(port), ask_id, seq, on_done, reading);
}

void stage_find_undelivered(struct store *port, const char *principal, const uint8_t *digest,
                            const char *key, store_done *done, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.done = done;
    inner_of(port)->ops->find_undelivered(inner_of(port), principal, digest, key, on_done, reading);
}

static void pass_list_undelivered(struct store *port, const char *principal, size_t limit,
                                  store_each *each, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.each = each;
    inner_of(port)->ops->list_undelivered(inner_of(port), principal, limit, on_each, reading);
}

static void pass_list(struct store *port, const struct store_list_query *query, store_each *each,
                      void *context)
{
    struct reading *reading;

    if (((struct stage_store *)port)->stage->fails_lists) {
        each(context, NULL, &(struct error){ .code = ERROR_storage_failed });
        return;
    }
    reading = begin(port, context);
    reading->call.each = each;
    inner_of(port)->ops->list(inner_of(port), query, on_each, reading);
}

static void pass_list_live(struct store *port, int64_t now_ms, store_each *each, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.each = each;
    inner_of(port)->ops->list_active(inner_of(port), now_ms, on_each, reading);
}

static void pass_list_said(struct store *port, const char *ask_id, store_said_each *each,
                           void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.said = each;
    inner_of(port)->ops->list_said(inner_of(port), ask_id, on_said, reading);
}

static void pass_get_draft(struct store *port, const char *ask_id, const char *person,
                           store_draft_done *done, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.draft = done;
    inner_of(port)->ops->get_draft(inner_of(port), ask_id, person, on_draft, reading);
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

static void pass_get_client_fact(struct store *port, const struct store_client *client,
                                 bool is_form, store_done *done, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.done = done;
    inner_of(port)->ops->get_client_fact(inner_of(port), client, is_form,
                                         is_form ? on_form_fact : on_done, reading);
}

static void pass_history(struct store *port, const struct store_history_query *query,
                         store_found *each, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.found = each;
    inner_of(port)->ops->history(inner_of(port), query, on_found, reading);
}

static void pass_get_conversation(struct store *port, const char *id, store_conversation_each *each,
                                  void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.conversation = each;
    inner_of(port)->ops->get_conversation(inner_of(port), id, on_conversation, reading);
}

static void pass_find_conversation(struct store *port, const char *principal, const char *key,
                                   store_conversation_each *each, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.conversation = each;
    inner_of(port)->ops->find_conversation(inner_of(port), principal, key, on_conversation,
                                           reading);
}

static void pass_list_conversations(struct store *port,
                                    const struct store_conversation_query *query,
                                    store_conversation_each *each, void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.conversation = each;
    inner_of(port)->ops->list_conversations(inner_of(port), query, on_each_conversation, reading);
}

static void pass_list_conversation_events(struct store *port, const char *id, int64_t after,
                                          size_t limit, store_conversation_event_each *each,
                                          void *context)
{
    struct reading *reading = begin(port, context);

    reading->call.event = each;
    inner_of(port)->ops->list_conversation_events(inner_of(port), id, after, limit, on_event,
                                                  reading);
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
    ops->list_active = pass_list_live;
    ops->get_draft = pass_get_draft;
    ops->list_said = pass_list_said;
    ops->list_settings = pass_list_settings;
    ops->list_tokens = pass_list_tokens;
    ops->list_keys = pass_list_keys;
    ops->list_rules = pass_list_rules;
    ops->get_client_fact = pass_get_client_fact;
    ops->history = pass_history;
    ops->get_conversation = pass_get_conversation;
    ops->find_conversation = pass_find_conversation;
    ops->list_conversations = pass_list_conversations;
    ops->list_conversation_events = pass_list_conversation_events;
    ops->meta = pass_meta;
    ops->last_seq = pass_last_seq;
}
