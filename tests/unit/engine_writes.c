/* engine_writes.c - what the stage's store only passes on, or makes fail: writes of small things.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

static struct stage_store *own(struct store *store)
{
    return (struct stage_store *)store;
}

static void pass_mark(struct store *port, const char *ask_id, uint32_t set_flags,
                      uint32_t clear_flags, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage = stage_pass(own(port), own(port)->fails_marks, "mark", done, context);

    if (passage)
        inner->ops->mark(inner, ask_id, set_flags, clear_flags, stage_passed, passage);
}

static void pass_save_draft(struct store *port, const char *ask_id, const char *person,
                            const char *json, int64_t now_ms, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_drafts, "draft", done, context);

    own(port)->drafts++;
    if (passage)
        inner->ops->save_draft(inner, ask_id, person, json, now_ms, stage_passed, passage);
}

static void pass_save_setting(struct store *port, const char *person, const char *name,
                              const char *value, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "setting", done, context);

    if (passage)
        inner->ops->save_setting(inner, person, name, value, stage_passed, passage);
}

static void pass_save_cut_off(struct store *port, const struct store_client *client,
                              int64_t cut_off_ms, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "cut_off", done, context);

    if (passage)
        inner->ops->save_cut_off(inner, client, cut_off_ms, stage_passed, passage);
}

static void pass_save_form_fact(struct store *port, const struct store_client *client, int64_t fact,
                                store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "form_fact", done, context);

    if (passage)
        inner->ops->save_form_fact(inner, client, fact, stage_passed, passage);
}

static void pass_forget_cut_offs(struct store *port, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;

    inner->ops->forget_cut_offs(inner, stage_passed,
                                stage_pass(own(port), false, "forget", done, context));
}

static void pass_shift(struct store *port, int64_t by_ms, store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_shifts, "shift", done, context);

    own(port)->shifts++;
    if (passage)
        inner->ops->shift_deadlines(inner, by_ms, stage_passed, passage);
}

static void pass_sweep(struct store *port, const struct store_sweep *sweep, store_done *done,
                       void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_sweeps, "sweep", done, context);

    own(port)->sweeps++;
    if (passage)
        inner->ops->sweep(inner, sweep, stage_passed, passage);
}

static void pass_index(struct store *port, const struct store_index *index, store_done *done,
                       void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_sweeps, "index", done, context);

    own(port)->indexings++;
    if (passage)
        inner->ops->index(inner, index, stage_passed, passage);
}

static void pass_save_token(struct store *port, const struct store_token *token, store_done *done,
                            void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_tokens, "token", done, context);

    if (passage)
        inner->ops->save_token(inner, token, stage_passed, passage);
}

static void pass_revoke_token(struct store *port, const uint8_t *hash, int64_t now_ms,
                              store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_tokens, "revoke", done, context);

    if (passage)
        inner->ops->revoke_token(inner, hash, now_ms, stage_passed, passage);
}

static void pass_use_token(struct store *port, const uint8_t *hash, int64_t now_ms,
                           store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage = stage_pass(own(port), own(port)->fails_tokens, "use", done, context);

    own(port)->uses++;
    if (passage)
        inner->ops->use_token(inner, hash, now_ms, stage_passed, passage);
}

static void pass_save_rule(struct store *port, const struct store_rule *rule, store_done *done,
                           void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "rule", done, context);

    if (passage)
        inner->ops->save_rule(inner, rule, stage_passed, passage);
}

static void pass_revoke_rule(struct store *port, const char *id, int64_t now_ms, store_done *done,
                             void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "unrule", done, context);

    if (passage)
        inner->ops->revoke_rule(inner, id, now_ms, stage_passed, passage);
}

static void pass_save_key(struct store *port, const struct store_key *key, store_done *done,
                          void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage = stage_pass(own(port), own(port)->fails_keys, "key", done, context);

    if (passage)
        inner->ops->save_key(inner, key, stage_passed, passage);
}

static void pass_save_meta(struct store *port, const char *name, const char *value,
                           store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_settings, "meta", done, context);

    if (passage)
        inner->ops->save_meta(inner, name, value, stage_passed, passage);
}

static void pass_create_conversation(struct store *port,
                                     const struct store_conversation *conversation,
                                     const struct store_principal *principal, const char *events,
                                     store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_conversations, "conversation", done, context);

    if (passage)
        inner->ops->create_conversation(inner, conversation, principal, events, stage_passed,
                                        passage);
}

static void pass_save_conversation(struct store *port, const struct store_conversation_step *step,
                                   store_done *done, void *context)
{
    struct store *inner = own(port)->inner;
    struct passage *passage =
        stage_pass(own(port), own(port)->fails_conversations, "step", done, context);

    if (passage)
        inner->ops->save_conversation(inner, step, stage_passed, passage);
}

void stage_add_writes(struct store_ops *ops)
{
    ops->mark = pass_mark;
    ops->save_draft = pass_save_draft;
    ops->save_setting = pass_save_setting;
    ops->save_token = pass_save_token;
    ops->revoke_token = pass_revoke_token;
    ops->use_token = pass_use_token;
    ops->save_rule = pass_save_rule;
    ops->revoke_rule = pass_revoke_rule;
    ops->save_key = pass_save_key;
    ops->create_conversation = pass_create_conversation;
    ops->save_conversation = pass_save_conversation;
    ops->save_cut_off = pass_save_cut_off;
    ops->save_form_fact = pass_save_form_fact;
    ops->forget_cut_offs = pass_forget_cut_offs;
    ops->shift_deadlines = pass_shift;
    ops->sweep = pass_sweep;
    ops->index = pass_index;
    ops->save_meta = pass_save_meta;
}
