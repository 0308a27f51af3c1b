/* job_kinds.c - which texts a job of each kind has, and what is particular to it. */
#include "base/mem.h"
#include "store/job.h"

static const size_t create_texts[] = {
    offsetof(struct job, of.create.ask.tool),
    offsetof(struct job, of.create.ask.title),
    offsetof(struct job, of.create.ask.form_json),
    offsetof(struct job, of.create.ask.arguments_json),
    offsetof(struct job, of.create.ask.origin_json),
    offsetof(struct job, of.create.ask.idempotency_key),
    offsetof(struct job, of.create.principal.id),
    offsetof(struct job, of.create.principal.kind),
    offsetof(struct job, of.create.principal.name),
    offsetof(struct job, of.create.principal.place),
};

static const size_t change_texts[] = {
    offsetof(struct job, of.change.ask_id),      offsetof(struct job, of.change.principal),
    offsetof(struct job, of.change.actor_json),  offsetof(struct job, of.change.person),
    offsetof(struct job, of.change.answer_json), offsetof(struct job, of.change.answer_key),
    offsetof(struct job, of.change.more_ids),    offsetof(struct job, of.change.said),
};

static const size_t mark_texts[] = { offsetof(struct job, of.mark.ask_id) };

static const size_t draft_texts[] = {
    offsetof(struct job, of.draft.ask_id),
    offsetof(struct job, of.draft.person),
    offsetof(struct job, of.draft.json),
};

static const size_t setting_texts[] = {
    offsetof(struct job, of.setting.person),
    offsetof(struct job, of.setting.name),
    offsetof(struct job, of.setting.value),
};

static const size_t token_texts[] = {
    offsetof(struct job, of.token.kind),
    offsetof(struct job, of.token.label),
    offsetof(struct job, of.token.browser),
};

static const size_t rule_texts[] = {
    offsetof(struct job, of.rule.id),
    offsetof(struct job, of.rule.facts_json),
    offsetof(struct job, of.rule.answer_json),
    offsetof(struct job, of.rule.actor_json),
};

static const size_t rule_revoke_texts[] = { offsetof(struct job, of.rule.id) };

static const size_t key_texts[] = { offsetof(struct job, of.key.purpose) };

static const size_t meta_texts[] = {
    offsetof(struct job, of.meta.name),
    offsetof(struct job, of.meta.value),
};

static const size_t client_texts[] = {
    offsetof(struct job, of.client.client.name),
    offsetof(struct job, of.client.client.version),
    offsetof(struct job, of.client.client.transport),
};

static const size_t conversation_texts[] = {
    offsetof(struct job, of.conversation.conversation.id),
    offsetof(struct job, of.conversation.conversation.principal),
    offsetof(struct job, of.conversation.conversation.token_id),
    offsetof(struct job, of.conversation.conversation.label),
    offsetof(struct job, of.conversation.conversation.state),
    offsetof(struct job, of.conversation.conversation.body),
    offsetof(struct job, of.conversation.conversation.key),
    offsetof(struct job, of.conversation.principal.id),
    offsetof(struct job, of.conversation.principal.kind),
    offsetof(struct job, of.conversation.principal.name),
    offsetof(struct job, of.conversation.principal.place),
    offsetof(struct job, of.conversation.events),
};

static const size_t conversation_step_texts[] = {
    offsetof(struct job, of.step.id),
    offsetof(struct job, of.step.state),
    offsetof(struct job, of.step.body),
    offsetof(struct job, of.step.ask_id),
    offsetof(struct job, of.step.events),
    offsetof(struct job, of.step.delivered_ask),
    offsetof(struct job, of.step.earlier_ask_id),
};

#define TEXTS(of) .texts = of, .text_count = ARRAY_LEN(of)
const struct job_kind job_kinds[JOB_KINDS] = {
    [JOB_CREATE] = { .is_new_ask = true, .writes_event = true, TEXTS(create_texts) },
    [JOB_CHANGE] = { .writes_event = true, TEXTS(change_texts) },
    [JOB_MARK] = { TEXTS(mark_texts) },
    [JOB_ABANDON] = { .writes_event = true },
    [JOB_DRAFT] = { TEXTS(draft_texts) },
    [JOB_SETTING] = { TEXTS(setting_texts) },
    [JOB_TOKEN] = { TEXTS(token_texts) },
    [JOB_RULE] = { TEXTS(rule_texts) },
    [JOB_RULE_REVOKE] = { TEXTS(rule_revoke_texts) },
    [JOB_KEY] = { TEXTS(key_texts) },
    [JOB_META] = { TEXTS(meta_texts) },
    [JOB_CLIENT] = { TEXTS(client_texts) },
    [JOB_CONVERSATION] = { .is_new_ask = true, TEXTS(conversation_texts) },
    [JOB_CONVERSATION_STEP] = { TEXTS(conversation_step_texts) },
    [JOB_SWEEP] = { .gives_way = true },
    [JOB_INDEX] = { .gives_way = true },
};
