/* backup_table.c - see backup_table.h. */
#include "store/backup_table.h"

#include "base/mem.h"
#include "core/ask.h"
#include "core/limits.h"

#define TEXT_COLUMN(name, is_needed, most_bytes)                                                   \
    {                                                                                              \
        name, BACKUP_TEXT, is_needed, 0, 0, most_bytes                                             \
    }
#define JSON_COLUMN(name)                                                                          \
    {                                                                                              \
        name, BACKUP_JSON, false, 0, 0, 0                                                          \
    }
#define INTEGER_COLUMN(name, least, most)                                                          \
    {                                                                                              \
        name, BACKUP_INTEGER, true, least, most, 0                                                 \
    }
#define HASH_COLUMN(name)                                                                          \
    {                                                                                              \
        name, BACKUP_BLOB, true, 0, 0, DIGEST_BYTES                                                \
    }
#define TIME_COLUMN(name) INTEGER_COLUMN(name, INT64_MIN / 4, INT64_MAX / 4)

static const struct backup_column people[] = { TEXT_COLUMN("id", true, 256),
                                               TEXT_COLUMN("name", true, 4096) };
static const struct backup_column principals[] = {
    TEXT_COLUMN("id", true, PRINCIPAL_BYTES - 1),
    TEXT_COLUMN("kind", true, 64),
    INTEGER_COLUMN("uid", 0, 0),
    TEXT_COLUMN("name", true, 0),
    TEXT_COLUMN("place", false, 0),
    TIME_COLUMN("created_ms"),
};
static const struct backup_column events[] = {
    INTEGER_COLUMN("seq", 1, INT64_MAX / 4),
    TEXT_COLUMN("ask", true, ASK_ID_BYTES - 1),
    INTEGER_COLUMN("kind", 0, 1000),
    { "actor", BACKUP_JSON_IF_ANY, false, 0, 0, 0 },
    TEXT_COLUMN("body", false, 0),
    INTEGER_COLUMN("earlier_seq", 0, INT64_MAX / 4),
    HASH_COLUMN("prev_hash"),
    JSON_COLUMN("form"),
    JSON_COLUMN("arguments"),
    JSON_COLUMN("answer"),
    TEXT_COLUMN("person", false, 256),
    TEXT_COLUMN("answer_key", false, LIMIT_ANSWER_KEY_BYTES),
    { "decisive", BACKUP_INTEGER, false, 0, 1, 0 },
    { "answered_ms", BACKUP_INTEGER, false, 0, 0, 0 },
};
static const struct backup_column asks[] = {
    INTEGER_COLUMN("number", 1, INT64_MAX / 4),
    TEXT_COLUMN("id", true, ASK_ID_BYTES - 1),
    TEXT_COLUMN("owner", true, 256),
    TEXT_COLUMN("principal", true, PRINCIPAL_BYTES - 1),
    HASH_COLUMN("digest"),
    INTEGER_COLUMN("state", STATE_PENDING_TERMINAL_LAUNCH, STATE_COUNT - 1),
    INTEGER_COLUMN("interface", 0, INTERFACE_COUNT - 1),
    INTEGER_COLUMN("flags", 0, UINT32_MAX),
    INTEGER_COLUMN("version", 1, INT64_MAX / 4),
    INTEGER_COLUMN("form_version", 1, INT64_MAX / 4),
    TIME_COLUMN("created_ms"),
    TIME_COLUMN("deadline_ms"),
    TIME_COLUMN("original_ms"),
    TIME_COLUMN("hold_used_ms"),
    TIME_COLUMN("deliver_after_ms"),
    TIME_COLUMN("delivered_ms"),
    TIME_COLUMN("decided_ms"),
    TIME_COLUMN("ended_ms"),
    INTEGER_COLUMN("seq", 1, INT64_MAX / 4),
    INTEGER_COLUMN("earlier_seq", 0, INT64_MAX / 4),
    INTEGER_COLUMN("answer_seq", INT64_MIN / 4, INT64_MAX / 4),
    TEXT_COLUMN("tool", true, 256),
    TEXT_COLUMN("title", true, 0),
    { "origin", BACKUP_JSON, true, 0, 0, 0 },
    TEXT_COLUMN("idempotency_key", false, LIMIT_IDEMPOTENCY_KEY_BYTES),
};
static const struct backup_column drafts[] = {
    TEXT_COLUMN("ask", true, ASK_ID_BYTES - 1),
    TEXT_COLUMN("person", true, 256),
    { "body", BACKUP_JSON, true, 0, 0, 0 },
    INTEGER_COLUMN("counter", 0, INT64_MAX / 4),
    TIME_COLUMN("saved_ms"),
};
static const struct backup_column settings[] = { TEXT_COLUMN("person", true, 256),
                                                 TEXT_COLUMN("name", true, 1024),
                                                 TEXT_COLUMN("value", true, 0) };
static const struct backup_column client_facts[] = {
    TEXT_COLUMN("name", true, 0),
    TEXT_COLUMN("version", true, 0),
    TEXT_COLUMN("transport", true, 0),
    { "cut_off_ms", BACKUP_INTEGER, false, 0, 0, 0 },
    { "form_works", BACKUP_INTEGER, false, 0, 0, 0 },
};
static const struct backup_column conversations[] = {
    TEXT_COLUMN("id", true, 256),
    TEXT_COLUMN("principal", true, PRINCIPAL_BYTES - 1),
    TEXT_COLUMN("state", true, 256),
    TEXT_COLUMN("body", true, 0),
    INTEGER_COLUMN("version", 0, INT64_MAX / 4),
    TIME_COLUMN("created_ms"),
    TIME_COLUMN("changed_ms"),
    TEXT_COLUMN("token_id", true, 64),
    TEXT_COLUMN("label", true, 0),
    TEXT_COLUMN("ask", true, ASK_ID_BYTES - 1),
    TEXT_COLUMN("earlier_ask", true, ASK_ID_BYTES - 1),
    TEXT_COLUMN("key", false, LIMIT_IDEMPOTENCY_KEY_BYTES),
    INTEGER_COLUMN("last_event", 0, INT64_MAX / 4),
};
static const struct backup_column conversation_events[] = {
    TEXT_COLUMN("conversation", true, 256), INTEGER_COLUMN("number", 1, INT64_MAX / 4),
    TEXT_COLUMN("kind", true, 256),         INTEGER_COLUMN("bytes", 0, INT64_MAX / 4),
    TEXT_COLUMN("body", true, 0),
};
static const struct backup_column rules[] = {
    TEXT_COLUMN("id", true, ASK_ID_BYTES - 1),
    HASH_COLUMN("kind"),
    { "facts", BACKUP_JSON, true, 0, 0, 0 },
    { "answer", BACKUP_JSON, true, 0, 0, 0 },
    { "actor", BACKUP_JSON, true, 0, 0, 0 },
    TIME_COLUMN("created_ms"),
    TIME_COLUMN("expires_ms"),
    TIME_COLUMN("revoked_ms"),
};

/* clang-format off */
#define TABLE_ROW(name, order) { #name, order, name, ARRAY_LEN(name) }
/* clang-format on */
const struct backup_table backup_tables[BACKUP_TABLES] = {
    [BACKUP_PEOPLE] = TABLE_ROW(people, "id"),
    [BACKUP_PRINCIPALS] = TABLE_ROW(principals, "id"),
    [BACKUP_EVENTS] = TABLE_ROW(events, "seq"),
    [BACKUP_ASKS] = TABLE_ROW(asks, "number"),
    [BACKUP_DRAFTS] = TABLE_ROW(drafts, "ask, person"),
    [BACKUP_SETTINGS] = TABLE_ROW(settings, "person, name"),
    [BACKUP_CLIENT_FACTS] = TABLE_ROW(client_facts, "name, version, transport"),
    [BACKUP_CONVERSATIONS] = TABLE_ROW(conversations, "id"),
    [BACKUP_CONVERSATION_EVENTS] = TABLE_ROW(conversation_events, "conversation, number"),
    [BACKUP_RULES] = TABLE_ROW(rules, "id"),
};
_Static_assert(ARRAY_LEN(asks) <= BACKUP_COLUMNS, "a row must fit");

const char *const backup_left_out[] = { "tokens",    "keys",    "asks.launch_code_hash",
                                        "meta",      "counter", "words",
                                        "by_agent",  "by_id",   "by_principal",
                                        "unindexed", "search",  NULL };
