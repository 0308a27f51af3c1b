#include "store/writes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "store/row.h"

/* What the values of each kind are. Each list is in the order of that kind's function in PostgreSQL
 * (postgres/sql), and SQLite's statements count their parameters by it. */

/* Every member of the union begins where it does: what a list writes it can read, too. */
#define IN(kind, member) COLUMN_OF(kind, union write_values, member)
/* clang-format off */
#define FIXED(value) { COLUMN_FIXED, value, 0 }
/* clang-format on */
#define ASKER(principal)                                                                           \
    IN(TEXT, principal.id), IN(TEXT, principal.kind), IN(NUMBER, principal.uid),                   \
        IN(FILLED, principal.name), IN(TEXT, principal.place)
#define MADE(made)                                                                                 \
    IN(TEXT, made.id), IN(TEXT, made.principal), IN(TEXT, made.token_id), IN(TEXT, made.label),    \
        IN(TEXT, made.state), IN(TEXT, made.body), IN(TEXT, made.key), IN(NUMBER, made.created_ms)

static const struct column create_list[] = {
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
static const struct column change_list[] = {
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
    IN(NUMBER, change.removes_answer), IN(NUMBER, change.skips_row),
    /* CHANGE_LAUNCH */
    IN(HASH, change.launch_hash), IN(HASH, change.if_launch_hash),
    /* CHANGE_WHEN */
    IN(NUMBER, change.when),
    /* CHANGE_COPIED: for the event */
    IN(TEXT, change.more_ids), IN(TEXT, change.said)
};
static const struct column mark_list[] = { IN(TEXT, mark.ask_id), IN(BITS, mark.set_flags),
                                           IN(BITS, mark.clear_flags) };
static const struct column draft_list[] = { IN(TEXT, draft.ask_id), IN(TEXT, draft.person),
                                            IN(TEXT, draft.json), IN(NUMBER, draft.now_ms) };
static const struct column setting_list[] = { IN(TEXT, setting.person), IN(TEXT, setting.name),
                                              IN(TEXT, setting.value) };
static const struct column token_list[] = {
    IN(BYTES, token.hash),          IN(TEXT, token.kind),         IN(TEXT, token.label),
    IN(NUMBER, token.is_sub_agent), IN(NUMBER, token.may_answer), IN(NUMBER, token.created_ms),
    IN(NUMBER, token.expires_ms),   IN(NUMBER, token.used_ms),    IN(TEXT, token.browser)
};
static const struct column token_revoke_list[] = { IN(BYTES, token_revoke.hash),
                                                   IN(NUMBER, token_revoke.now_ms) };
static const struct column token_use_list[] = { IN(BYTES, token_use.hash),
                                                IN(NUMBER, token_use.now_ms) };
static const struct column rule_list[] = { IN(TEXT, rule.id),          IN(BYTES, rule.kind),
                                           IN(TEXT, rule.facts_json),  IN(TEXT, rule.answer_json),
                                           IN(TEXT, rule.actor_json),  IN(NUMBER, rule.created_ms),
                                           IN(NUMBER, rule.expires_ms) };
static const struct column rule_revoke_list[] = { IN(TEXT, rule_revoke.id),
                                                  IN(NUMBER, rule_revoke.now_ms) };
#define KEY IN(TEXT, key.purpose), IN(BYTES, key.secret), IN(NUMBER, key.created_ms)
static const struct column key_list[] = { KEY };
static const struct column meta_list[] = { IN(TEXT, meta.name), IN(TEXT, meta.value) };
static const struct column client_list[] = {
    IN(TEXT, client.client.name),      IN(TEXT, client.client.version),
    IN(TEXT, client.client.transport), IN(NUMBER, client.is_form),
    IN(NUMBER, client.fact),           FIXED(WRITE_CLIENTS_MAX)
};
static const struct column conversation_list[] = {
    MADE(conversation.conversation),
    /* CONVERSATION_LINES */
    IN(TEXT, conversation.events), ASKER(conversation.principal), FIXED(STORE_CONVERSATIONS),
    FIXED(STORE_CONVERSATION_EVENTS), FIXED(STORE_CONVERSATION_BYTES)
};
static const struct column conversation_step_list[] = {
    IN(TEXT, conversation_step.id), IN(NUMBER, conversation_step.if_version),
    IN(TEXT, conversation_step.state), IN(TEXT, conversation_step.body),
    IN(TEXT, conversation_step.ask_id), IN(TEXT, conversation_step.earlier_ask_id),
    IN(NUMBER, conversation_step.now_ms),
    /* STEP_LINES */
    IN(TEXT, conversation_step.events), IN(TEXT, conversation_step.delivered_ask),
    IN(BITS, conversation_step.delivered_states), FIXED(STORE_CONVERSATION_EVENTS),
    FIXED(STORE_CONVERSATION_BYTES)
};
static const struct column sweep_list[] = { IN(NUMBER, sweep.older_than_ms),
                                            IN(NUMBER, sweep.keep_ended), IN(NUMBER, sweep.batch) };
static const struct column abandon_list[] = { IN(NUMBER, abandon.at_ms) };
static const struct column shift_list[] = { IN(NUMBER, shift.by_ms) };
static const struct column index_list[] = { IN(NUMBER, index.now_ms), IN(NUMBER, index.batch) };

_Static_assert(ARRAY_LEN(create_list) == CREATE_ASKER + 6 &&
                   ARRAY_LEN(change_list) == CHANGE_COPIED + 2 && ARRAY_LEN(key_list) == KEY_ID,
               "writes.h says where their parts begin");

const struct write_row write_rows[WRITE_KINDS] = {
#define WRITE(name, type, flags)                                                                   \
    [WRITE_##name] = { #name, { name##_list, ARRAY_LEN(name##_list), sizeof(struct type) }, flags },
#include "store/writes.def"
#undef WRITE
};

/* Read */

static const struct column whole_conversation_list[] = {
    MADE(conversation.conversation),
    IN(TEXT, conversation.conversation.ask_id),
    IN(TEXT, conversation.conversation.earlier_ask_id),
    IN(NUMBER, conversation.conversation.version),
    IN(NUMBER, conversation.conversation.changed_ms),
    IN(NUMBER, conversation.conversation.last_event)
};
static const struct column known_key_list[] = { KEY, IN(NUMBER, key.id) };
static const struct column host_event_list[] = {
    COLUMN_OF(NUMBER, struct store_conversation_event, number),
    COLUMN_OF(TEXT, struct store_conversation_event, kind),
    COLUMN_OF(TEXT, struct store_conversation_event, body)
};
static const struct column said_list[] = { COLUMN_OF(NUMBER, struct store_said, event),
                                           COLUMN_OF(TEXT, struct store_said, text),
                                           COLUMN_OF(NUMBER, struct store_said, at_ms) };

#define READ(list, type)                                                                           \
    {                                                                                              \
        list, ARRAY_LEN(list), sizeof(struct type)                                                 \
    }
const struct columns setting_columns = READ(setting_list, store_setting),
                     meta_columns = READ(meta_list, store_meta),
                     token_columns = READ(token_list, store_token),
                     rule_columns = READ(rule_list, store_rule),
                     key_columns = READ(known_key_list, store_key),
                     said_columns = READ(said_list, store_said),
                     conversation_columns = READ(whole_conversation_list, store_conversation),
                     conversation_event_columns = READ(host_event_list, store_conversation_event);

struct store_change store_change_of(const char *ask_id, enum ask_event event)
{
    return (struct store_change){
        .ask_id = ask_id,
        .event = event,
        .to_state = STORE_KEEP,
        .interface = STORE_KEEP,
        .deadline_ms = STORE_KEEP,
        .original_ms = STORE_KEEP,
        .hold_used_ms = STORE_KEEP,
        .deliver_after_ms = STORE_KEEP,
        .delivered_ms = STORE_KEEP,
        .decided_ms = STORE_KEEP,
    };
}

/* On their way */

/* Most kinds always are or never; a person's change is, and so is that facts are forgotten. */
static bool needs_sync(const struct write *write)
{
    return (write_rows[write->what].flags & WRITE_IS_SYNCED) ||
           (write->what == WRITE_change && write->of.change.needs_sync) ||
           (write->what == WRITE_client && !write->of.client.client.name);
}

bool change_brings_answer(const struct store_change *change)
{
    return !change->removes_answer && (change->answer_json || change->answer_key);
}

bool change_only_delivers(const struct store_change *change)
{
    return change->event == EVENT_DELIVERED && change->to_state == STORE_KEEP &&
           change->if_version == 0 && change->set_flags == 0;
}

struct write *write_new(enum write_kind what, const void *values, store_done *done, void *context)
{
    const struct columns *columns = &write_rows[what].columns;
    size_t bytes = sizeof(struct write) + columns_text_bytes(columns, values);
    struct write *write = freelist_new(bytes);

    *write = (struct write){ .what = what, .done = done, .context = context, .bytes = bytes };
    memcpy(&write->of, values, columns->size);
    columns_copy_texts(columns, &write->of, (char *)(write + 1));
    write->needs_sync = needs_sync(write);
    return write;
}

void store_write(struct store *store, enum write_kind what, const void *values, store_done *done,
                 void *context)
{
    struct queued_store *own = (struct queued_store *)store;

    own->add(own, write_new(what, values, done, context));
}

void write_set_row(struct write *write, const struct store_row *row)
{
    free((void *)write->reply.row);
    write->reply.row = row ? row_copy(row) : NULL;
}

void write_free(struct write *write)
{
    if (!write)
        return;
    write_set_row(write, NULL);
    freelist_free(write, write->bytes);
}

void write_reset(struct write *write)
{
    write_set_row(write, NULL);
    write->reply = (struct store_reply){ .outcome = STORE_DONE };
}

void write_set_failed(struct write *write, const struct error *err)
{
    write_reset(write);
    write->reply.outcome = STORE_FAILED;
    write->reply.err = *err;
}

void write_answer(struct write *take_write)
{
    if (take_write->done)
        take_write->done(take_write->context, &take_write->reply);
    write_free(take_write);
}

void write_list_add(struct write_list *list, struct write *take_write)
{
    take_write->next = NULL;
    if (list->last)
        list->last->next = take_write;
    else
        list->first = take_write;
    list->last = take_write;
    list->count++;
}

struct write *write_list_take(struct write_list *list)
{
    struct write *write = list->first;

    if (!write)
        return NULL;
    list->first = write->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    write->next = NULL;
    return write;
}

void write_list_append(struct write_list *list, struct write_list *take_tail)
{
    if (!take_tail->first)
        return;
    if (list->last)
        list->last->next = take_tail->first;
    else
        list->first = take_tail->first;
    list->last = take_tail->last;
    list->count += take_tail->count;
    *take_tail = (struct write_list){ 0 };
}

void write_queue_add(struct write_queue *queue, struct write *take_write)
{
    write_list_add(write_rows[take_write->what].flags & WRITE_GIVES_WAY ? &queue->patient
                                                                        : &queue->awaited,
                   take_write);
}

void write_queue_append(struct write_queue *queue, struct write_queue *take_tail)
{
    write_list_append(&queue->awaited, &take_tail->awaited);
    write_list_append(&queue->patient, &take_tail->patient);
}

bool write_queue_is_empty(const struct write_queue *queue)
{
    return !queue->awaited.first && !queue->patient.first;
}

struct write_list write_queue_take(struct write_queue *queue)
{
    bool is_its_turn = !queue->awaited.first || queue->went_before >= WRITE_QUEUE_MAX_BEFORE;
    struct write_list next = { 0 };

    if (queue->patient.first && is_its_turn) {
        write_list_add(&next, write_list_take(&queue->patient));
        queue->went_before = 0;
    } else {
        write_list_append(&next, &queue->awaited);
        queue->went_before += queue->patient.first != NULL;
    }
    return next;
}
