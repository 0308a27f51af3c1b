/* reads.c - see reads.h and row.h. */
#include "store/reads.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "store/row.h"
#include "store/writes.h"

#define ROW_COLUMN(sql, kind, member) COLUMN_OF(kind, struct store_row, member),
static const struct column columns[ROW_COLUMN_COUNT] = { ROW_ASK_COLUMNS(
    ROW_COLUMN) ROW_LONG_COLUMNS(ROW_COLUMN) ROW_ANSWER_COLUMNS(ROW_COLUMN) };
const struct columns row_columns = { columns, ROW_COLUMN_COUNT, sizeof(struct store_row) };

int64_t row_limit(size_t number)
{
    return number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

struct store_row *row_copy(const struct store_row *row)
{
    struct store_row *copy = mem_resize(NULL, sizeof *copy + columns_text_bytes(&row_columns, row));

    *copy = *row;
    columns_copy_texts(&row_columns, copy, (char *)(copy + 1));
    return copy;
}

static struct store_reply reply_of(const void *row, const struct error *err)
{
    struct store_reply reply = { .outcome = err ? STORE_FAILED : row ? STORE_DONE : STORE_MISSING };

    if (err)
        reply.err = *err;
    return reply;
}

static void tell_one(const struct reading *reading, const void *row, const struct error *err)
{
    struct store_reply reply = reply_of(row, err);

    reply.row = row;
    reading->to.one(reading->context, &reply);
}

static void tell_each(const struct reading *reading, const void *row, const struct error *err)
{
    reading->to.each(reading->context, row, err);
}

void read_tell_draft(const struct reading *reading, const void *row, const struct error *err)
{
    const struct store_draft *draft = row;

    reading->to.draft(reading->context, draft ? draft->json : NULL, err);
}

static void tell_said(const struct reading *reading, const void *row, const struct error *err)
{
    reading->to.said(reading->context, row, err);
}

static void tell_conversation(const struct reading *reading, const void *row,
                              const struct error *err)
{
    reading->to.conversation(reading->context, row, err);
}

static void tell_event(const struct reading *reading, const void *row, const struct error *err)
{
    reading->to.event(reading->context, row, err);
}

/* A number, as text: NULL is not known. */
static void tell_fact(const struct reading *reading, const void *row, const struct error *err)
{
    const struct store_meta *fact = row;
    const char *number = fact ? fact->value : NULL;
    struct store_reply reply = reply_of(number, err);

    if (number)
        text_parse_integer(number, &reply.seq);
    reading->to.one(reading->context, &reply);
}

/* Callers of these are not told how the list ended. */

static void tell_setting(const struct reading *reading, const void *row, const struct error *err)
{
    const struct store_setting *setting = row;

    (void)err;
    if (setting)
        reading->to.pair(reading->context, setting->name, setting->value);
}

static void tell_token(const struct reading *reading, const void *row, const struct error *err)
{
    (void)err;
    if (row)
        reading->to.token(reading->context, row);
}

static void tell_rule(const struct reading *reading, const void *row, const struct error *err)
{
    (void)err;
    if (row)
        reading->to.rule(reading->context, row);
}

static void tell_key(const struct reading *reading, const void *row, const struct error *err)
{
    (void)err;
    if (row)
        reading->to.key(reading->context, row);
}

static const struct column pair_list[] = { COLUMN_OF(TEXT, struct store_setting, name),
                                           COLUMN_OF(TEXT, struct store_setting, value) };
static const struct column fact_list[] = { COLUMN_OF(TEXT, struct store_meta, value) };
static const struct columns pair_columns = { pair_list, 2, sizeof(struct store_setting) },
                            fact_columns = { fact_list, 1, sizeof(struct store_meta) };

const struct read_rows read_one_ask = { &row_columns, tell_one, true },
                       read_asks = { &row_columns, tell_each, false };
static const struct read_rows one_conversation = { &conversation_columns, tell_conversation, true },
                              conversations = { &conversation_columns, tell_conversation, false },
                              events = { &conversation_event_columns, tell_event, false },
                              said_rows = { &said_columns, tell_said, false },
                              fact_row = { &fact_columns, tell_fact, true },
                              settings = { &pair_columns, tell_setting, false },
                              tokens = { &token_columns, tell_token, false },
                              rules = { &rule_columns, tell_rule, false },
                              keys = { &key_columns, tell_key, false };

static void read_with(struct store *store, enum read_statement which,
                      const struct column_value *values, size_t count, struct reading reading)
{
    ((struct queued_store *)store)->read(store, which, values, count, &reading);
}

void both_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                           const char *idempotency_key, store_done *done, void *context)
{
    struct column_value what =
        idempotency_key ? value_text(idempotency_key) : value_bytes(digest, DIGEST_BYTES);

    read_with(store, idempotency_key ? READ_UNDELIVERED_KEY : READ_UNDELIVERED,
              VALUES(value_text(principal), what),
              (struct reading){ &read_one_ask, { .one = done }, context });
}

void both_list_undelivered(struct store *store, const char *principal, size_t limit,
                           store_each *each, void *context)
{
    read_with(store, READ_UNDELIVERED_ALL,
              VALUES(value_text(principal), value_number(row_limit(limit))),
              (struct reading){ &read_asks, { .each = each }, context });
}

void read_list_values(const struct store_list_query *query, size_t limit,
                      struct column_value out[READ_LIST_VALUES])
{
    bool has_time = query->before_ms && !query->before_number;

    out[0] = value_number(row_limit(limit));
    out[1] = value_number(has_time ? query->before_ms : INT64_MAX);
    out[2] = value_number(query->before_number ? query->before_number : INT64_MAX);
    out[3] = value_text(query->principal);
    out[4] = value_number(query->states);
    out[5] = value_text(query->agent);
    out[6] = value_text(query->id_prefix);
    out[7] = value_number(query->which);
}

void both_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                           void *context)
{
    read_with(store, READ_CONVERSATION_GET, VALUES(value_text(id)),
              (struct reading){ &one_conversation, { .conversation = each }, context });
}

void both_find_conversation(struct store *store, const char *principal, const char *key,
                            store_conversation_each *each, void *context)
{
    read_with(store, READ_CONVERSATION_FIND, VALUES(value_text(principal), value_text(key)),
              (struct reading){ &one_conversation, { .conversation = each }, context });
}

void both_list_conversations(struct store *store, const struct store_conversation_query *query,
                             store_conversation_each *each, void *context)
{
    read_with(store, READ_CONVERSATION_LIST,
              VALUES(value_text(query->principal), value_text(query->state),
                     value_text(query->before_id), value_number(row_limit(query->limit))),
              (struct reading){ &conversations, { .conversation = each }, context });
}

void both_list_conversation_events(struct store *store, const char *id, int64_t after, size_t limit,
                                   store_conversation_event_each *each, void *context)
{
    read_with(store, READ_CONVERSATION_EVENTS,
              VALUES(value_text(id), value_number(after), value_number(row_limit(limit))),
              (struct reading){ &events, { .event = each }, context });
}

void both_list_said(struct store *store, const char *ask_id, store_said_each *each, void *context)
{
    read_with(store, READ_SAID, VALUES(value_text(ask_id), value_number(LIMIT_TALK)),
              (struct reading){ &said_rows, { .said = each }, context });
}

void both_list_settings(struct store *store, const char *person, store_pair *each, void *context)
{
    read_with(store, READ_SETTINGS, VALUES(value_text(person)),
              (struct reading){ &settings, { .pair = each }, context });
}

void both_list_tokens(struct store *store, store_token_each *each, void *context)
{
    read_with(store, READ_TOKENS, NULL, 0, (struct reading){ &tokens, { .token = each }, context });
}

void both_list_rules(struct store *store, store_rule_each *each, void *context)
{
    read_with(store, READ_RULES, NULL, 0, (struct reading){ &rules, { .rule = each }, context });
}

void both_list_keys(struct store *store, const char *purpose, store_key_each *each, void *context)
{
    read_with(store, READ_KEYS, VALUES(value_text(purpose)),
              (struct reading){ &keys, { .key = each }, context });
}

void both_get_client_fact(struct store *store, const struct store_client *client, bool is_form,
                          store_done *done, void *context)
{
    read_with(store, is_form ? READ_FORM_FACT : READ_CUT_OFF,
              VALUES(value_text(client->name), value_text(client->version),
                     value_text(client->transport)),
              (struct reading){ &fact_row, { .one = done }, context });
}

/* A page goes on before a number; its time is that of an ask, and no bound. */
int64_t read_until(const struct store_history_query *query)
{
    int64_t before_ms = query->list.before_number ? 0 : query->list.before_ms;

    return before_ms && (!query->until_ms || before_ms < query->until_ms) ? before_ms
                                                                          : query->until_ms;
}

size_t read_three(const char *at, const char *end)
{
    const char *behind = at;

    for (int i = 0; i < 3; i++) {
        if (behind >= end || text_decode(&behind, end) < 0)
            return 0;
    }
    return (size_t)(behind - at);
}
