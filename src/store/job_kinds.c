/*
 * job_kinds.c - what the values of each kind of job are, and what is particular to it.
 * Each list is in the order of that kind's function in PostgreSQL (postgres/sql), and SQLite's
 * statements count their parameters by it.
 */
#include "base/mem.h"
#include "store/job.h"

/* Every member of the union begins where the union does, so what is written by a list can be read
 * by it, too. */
#define IN(kind, member) COLUMN_OF(kind, union job_of, member)
/* clang-format off */
#define FIXED(value) { COLUMN_FIXED, value, 0 }
/* clang-format on */
#define ASKER(principal)                                                                           \
    IN(TEXT, principal.id), IN(TEXT, principal.kind), IN(NUMBER, principal.uid),                   \
        IN(FILLED, principal.name), IN(TEXT, principal.place)
#define MADE(made)                                                                                 \
    IN(TEXT, made.id), IN(TEXT, made.principal), IN(TEXT, made.token_id), IN(TEXT, made.label),    \
        IN(TEXT, made.state), IN(TEXT, made.body), IN(TEXT, made.key), IN(NUMBER, made.created_ms)

static const struct column create[] = {
    IN(CHARS, create.ask.id), IN(CHARS, create.ask.principal), IN(BYTES, create.ask.digest),
    IN(NUMBER, create.ask.state), IN(NUMBER, create.ask.interface), IN(BITS, create.ask.flags),
    IN(NUMBER, create.ask.version), IN(NUMBER, create.ask.form_version),
    IN(NUMBER, create.ask.created_ms), IN(NUMBER, create.ask.deadline_ms),
    IN(NUMBER, create.ask.original_ms), IN(NUMBER, create.ask.hold_used_ms),
    IN(NUMBER, create.ask.deliver_after_ms), IN(NUMBER, create.ask.delivered_ms),
    IN(NUMBER, create.ask.decided_ms), IN(TEXT, create.ask.tool), IN(TEXT, create.ask.title),
    IN(TEXT, create.ask.origin_json), IN(TEXT, create.ask.idempotency_key),
    IN(HASH, create.ask.launch_hash),
    /* CREATE_FORM */
    IN(FILLED, create.ask.form_json), IN(TEXT, create.ask.arguments_json),
    /* CREATE_ASKER */
    ASKER(create.principal), IN(NUMBER, create.ask.joins)
};
static const struct column change[] = {
    IN(TEXT, change.ask_id), IN(TEXT, change.principal), IN(NUMBER, change.event),
    IN(BITS, change.from_states), IN(NUMBER, change.if_version), IN(NUMBER, change.raises_version),
    IN(KEEP, change.to_state), IN(KEEP, change.interface), IN(KEEP, change.deadline_ms),
    IN(KEEP, change.original_ms), IN(KEEP, change.hold_used_ms), IN(KEEP, change.deliver_after_ms),
    IN(KEEP, change.delivered_ms), IN(KEEP, change.decided_ms), IN(BITS, change.set_flags),
    IN(BITS, change.clear_flags), IN(NUMBER, change.now_ms),
    /* CHANGE_ACTOR */
    IN(FILLED, change.actor_json), IN(TEXT, change.person),
    /* CHANGE_ANSWER, CHANGE_KEY */
    IN(TEXT, change.answer_json), IN(TEXT, change.answer_key),
    /* CHANGE_REMOVES */
    IN(NUMBER, change.removes_answer), IN(NUMBER, change.skips_row), IN(HASH, change.launch_hash),
    IN(HASH, change.if_launch_hash),
    /* CHANGE_WHEN */
    IN(NUMBER, change.when),
    /* CHANGE_COPIED: for the event */
    IN(TEXT, change.more_ids), IN(TEXT, change.said)
};
static const struct column mark[] = { IN(TEXT, mark.ask_id), IN(BITS, mark.set_flags),
                                      IN(BITS, mark.clear_flags) };
static const struct column draft[] = { IN(TEXT, draft.ask_id), IN(TEXT, draft.person),
                                       IN(TEXT, draft.json), IN(NUMBER, draft.now_ms) };
static const struct column setting[] = { IN(TEXT, setting.person), IN(TEXT, setting.name),
                                         IN(TEXT, setting.value) };
static const struct column token[] = { IN(BYTES, token.hash),        IN(TEXT, token.kind),
                                       IN(TEXT, token.label),        IN(NUMBER, token.is_sub_agent),
                                       IN(NUMBER, token.may_answer), IN(NUMBER, token.created_ms),
                                       IN(NUMBER, token.expires_ms), IN(NUMBER, token.used_ms),
                                       IN(TEXT, token.browser) };
static const struct column revoke[] = { IN(BYTES, revoke.hash), IN(NUMBER, revoke.now_ms) };
static const struct column rule[] = { IN(TEXT, rule.id),          IN(BYTES, rule.kind),
                                      IN(TEXT, rule.facts_json),  IN(TEXT, rule.answer_json),
                                      IN(TEXT, rule.actor_json),  IN(NUMBER, rule.created_ms),
                                      IN(NUMBER, rule.expires_ms) };
static const struct column rule_revoke[] = { IN(TEXT, rule.id), IN(NUMBER, rule.created_ms) };
static const struct column key[] = { IN(TEXT, key.purpose), IN(BYTES, key.secret),
                                     IN(NUMBER, key.created_ms), IN(NUMBER, key.id) };
static const struct column meta[] = { IN(TEXT, meta.name), IN(TEXT, meta.value) };
static const struct column client[] = {
    IN(TEXT, client.client.name),      IN(TEXT, client.client.version),
    IN(TEXT, client.client.transport), IN(NUMBER, client.is_form),
    IN(NUMBER, client.fact),           FIXED(JOB_CLIENTS_MOST)
};
static const struct column conversation[] = {
    MADE(conversation.conversation),
    /* CONVERSATION_LINES */
    IN(TEXT, conversation.events), ASKER(conversation.principal), FIXED(STORE_CONVERSATIONS),
    FIXED(STORE_CONVERSATION_EVENTS), FIXED(STORE_CONVERSATION_BYTES)
};
static const struct column step[] = {
    IN(TEXT, step.id), IN(NUMBER, step.if_version), IN(TEXT, step.state), IN(TEXT, step.body),
    IN(TEXT, step.ask_id), IN(TEXT, step.earlier_ask_id), IN(NUMBER, step.now_ms),
    /* STEP_LINES */
    IN(TEXT, step.events), IN(TEXT, step.delivered_ask), IN(BITS, step.delivered_states),
    FIXED(EVENT_DELIVERED), FIXED(STORE_CONVERSATION_EVENTS), FIXED(STORE_CONVERSATION_BYTES)
};
static const struct column sweep[] = { IN(NUMBER, sweep.older_than_ms),
                                       IN(NUMBER, sweep.keep_ended), IN(NUMBER, sweep.batch) };

_Static_assert(ARRAY_LEN(create) == CREATE_ASKER + 6 && ARRAY_LEN(change) == CHANGE_COPIED + 2 &&
                   ARRAY_LEN(key) == KEY_ID + 1,
               "job.h says where their parts begin");

/* clang-format off */
#define COLUMNS(of) .columns = { of, ARRAY_LEN(of), sizeof(union job_of) }
/* clang-format on */
const struct job_kind job_kinds[JOB_KINDS] = {
    [JOB_CREATE] = { COLUMNS(create), .is_new_ask = true, .writes_event = true },
    [JOB_CHANGE] = { COLUMNS(change), .writes_event = true },
    [JOB_MARK] = { COLUMNS(mark) },
    [JOB_ABANDON] = { .writes_event = true },
    [JOB_DRAFT] = { COLUMNS(draft) },
    [JOB_SETTING] = { COLUMNS(setting), .needs_sync = true },
    [JOB_TOKEN] = { COLUMNS(token), .needs_sync = true },
    [JOB_REVOKE] = { COLUMNS(revoke), .needs_sync = true },
    [JOB_USE] = { COLUMNS(revoke) },
    [JOB_RULE] = { COLUMNS(rule), .needs_sync = true },
    [JOB_RULE_REVOKE] = { COLUMNS(rule_revoke), .needs_sync = true },
    /* What it seals is in others' hands. */
    [JOB_KEY] = { .columns = { key, KEY_ID, sizeof(union job_of) }, .needs_sync = true },
    [JOB_META] = { COLUMNS(meta) },
    [JOB_CLIENT] = { COLUMNS(client) },
    [JOB_CONVERSATION] = { COLUMNS(conversation), .is_new_ask = true },
    /* A host that is told of it throws its own copy away. */
    [JOB_CONVERSATION_STEP] = { COLUMNS(step), .needs_sync = true },
    [JOB_SWEEP] = { COLUMNS(sweep), .gives_way = true },
    [JOB_INDEX] = { .gives_way = true },
};

/* Read ------------------------------------------------------------------------------------------
 */

static const struct column whole_conversation[] = {
    MADE(conversation.conversation),
    IN(TEXT, conversation.conversation.ask_id),
    IN(TEXT, conversation.conversation.earlier_ask_id),
    IN(NUMBER, conversation.conversation.version),
    IN(NUMBER, conversation.conversation.changed_ms),
    IN(NUMBER, conversation.conversation.last_event)
};
static const struct column host_event[] = {
    COLUMN_OF(NUMBER, struct store_conversation_event, number),
    COLUMN_OF(TEXT, struct store_conversation_event, kind),
    COLUMN_OF(TEXT, struct store_conversation_event, body)
};
static const struct column said[] = { COLUMN_OF(NUMBER, struct store_said, event),
                                      COLUMN_OF(TEXT, struct store_said, text),
                                      COLUMN_OF(NUMBER, struct store_said, at_ms) };

#define READ(list, type)                                                                           \
    {                                                                                              \
        list, ARRAY_LEN(list), sizeof(struct type)                                                 \
    }
const struct columns setting_columns = READ(setting, job_setting),
                     meta_columns = READ(meta, job_meta), token_columns = READ(token, store_token),
                     rule_columns = READ(rule, store_rule), key_columns = READ(key, store_key),
                     said_columns = READ(said, store_said),
                     conversation_columns = READ(whole_conversation, store_conversation),
                     conversation_event_columns = READ(host_event, store_conversation_event);
