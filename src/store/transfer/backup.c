/* backup.c - writes a backup; see backup.h. */
#include "store/transfer/backup.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/limits.h"
#include "i18n/i18n.h"
#include "store/event.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/statement.h"
#include "store/transfer/backup_line.h"

enum { BUSY_MS = 5000 };

struct backup {
    sqlite3 *db;
    backup_sink *sink;
    void *context;
    struct backup_place place;
    struct text line;
    int64_t done, all;
    bool is_refused; /* by the sink */
};

static bool hand_on(struct backup *backup)
{
    backup_line_end(&backup->place, &backup->line);
    backup->is_refused = !backup->sink(backup->context, backup->line.bytes, backup->line.used,
                                       backup->done, backup->all);
    text_clear(&backup->line);
    return !backup->is_refused;
}

/* What is open is ended by the line's check. */
static struct json_writer begin_line(struct backup *backup)
{
    struct json_writer writer = json_writer_to(&backup->line);

    json_write_object(&writer, NULL);
    return writer;
}

static void write_cell(struct json_writer *writer, const struct backup_column *column,
                       sqlite3_stmt *row, int at)
{
    char hex[2 * DIGEST_BYTES + 1];

    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        return;
    switch (column->value) {
    case BACKUP_INTEGER:
        json_write_integer(writer, column->name, sqlite3_column_int64(row, at));
        break;
    case BACKUP_BLOB:
        if ((size_t)sqlite3_column_bytes(row, at) == column->bytes) {
            hash_hex(sqlite3_column_blob(row, at), column->bytes, hex);
            json_write_text(writer, column->name, hex);
        }
        break;
    case BACKUP_TEXT:
    case BACKUP_JSON:
    case BACKUP_JSON_IF_ANY:
        json_write_text(writer, column->name, (const char *)sqlite3_column_text(row, at));
        break;
    }
}

static void write_select(const struct backup_table *table, struct text *sql)
{
    text_add_text(sql, "SELECT ");
    for (size_t i = 0; i < table->column_count; i++)
        text_add_format(sql, "%s%s", i ? ", " : "", table->columns[i].name);
    text_add_format(sql, " FROM %s ORDER BY %s", table->name, table->order);
}

static int write_table(struct backup *backup, const struct backup_table *table)
{
    struct text sql = { 0 };
    struct statement rows;
    bool is_taken = true;
    int rc;

    write_select(table, &sql);
    rows = statement_once(backup->db, text_string(&sql));
    text_release(&sql);
    while (is_taken && statement_step(&rows)) {
        struct json_writer writer = begin_line(backup);

        json_write_object(&writer, table->name);
        for (size_t i = 0; i < table->column_count; i++)
            write_cell(&writer, &table->columns[i], rows.handle, (int)i);
        json_write_end_object(&writer);
        backup->done++;
        is_taken = hand_on(backup);
    }
    rc = statement_end(&rows);
    return is_taken ? rc : SQLITE_ABORT;
}

static int count_rows(struct backup *backup)
{
    int rc = SQLITE_OK;

    for (int i = 0; rc == SQLITE_OK && i < BACKUP_TABLES; i++) {
        char *sql = mem_format("SELECT count(*) FROM %s", backup_tables[i].name);
        int64_t count = 0;

        rc = statement_number(backup->db, sql, &count);
        backup->all += count;
        free(sql);
    }
    return rc;
}

static int write_all(struct backup *backup)
{
    struct event_head head = { 0 };
    struct json_writer writer;
    char hex[HASH_HEX_BYTES];
    int rc = event_head_read(backup->db, &head);

    if (rc == SQLITE_OK)
        rc = count_rows(backup);
    if (rc != SQLITE_OK)
        return rc;
    hash_hex(head.hash, HASH_BYTES, hex);
    writer = begin_line(backup);
    json_write_integer(&writer, "sayso_backup", BACKUP_VERSION);
    json_write_integer(&writer, "schema", schema_version());
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_integer(&writer, "seq", head.seq);
    json_write_text(&writer, "hash", hex);
    json_write_integer(&writer, "rows", backup->all);
    rc = hand_on(backup) ? SQLITE_OK : SQLITE_ABORT;
    for (int i = 0; rc == SQLITE_OK && i < BACKUP_TABLES; i++)
        rc = write_table(backup, &backup_tables[i]);
    if (rc != SQLITE_OK)
        return rc;
    writer = begin_line(backup);
    json_write_integer(&writer, "end", backup->done);
    return hand_on(backup) ? SQLITE_OK : SQLITE_ABORT;
}

/* All of it is one transaction that only reads: one state, whatever a hub does in the meantime. */
static int read_all(struct backup *backup, struct error *err)
{
    int rc;

    sqlite3_busy_timeout(backup->db, BUSY_MS);
    rc = statement_exec(backup->db, "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; BEGIN");
    if (rc == SQLITE_OK && schema_look(backup->db) != SCHEMA_READY) {
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_BACKUP_DOCTOR, NULL);
        return SQLITE_ABORT;
    }
    return rc == SQLITE_OK ? write_all(backup) : rc;
}

bool store_backup(const char *path, backup_sink *sink, void *context, struct error *err)
{
    struct backup backup = { .sink = sink, .context = context };
    char *real;
    int rc;

    *err = (struct error){ 0 };
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return error_say(err, ERROR_not_found, "", TEXT_REASON_BACKUP_NOTHING, NULL);
    /* opened for writing: if we close the file last, its log is removed */
    real = database_resolve(path);
    rc = sqlite3_open_v2(real ? real : path, &backup.db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                             SQLITE_OPEN_EXRESCODE,
                         NULL);
    free(real);
    if (!backup.db)
        abort(); /* out of memory, as everywhere */
    if (rc == SQLITE_OK)
        rc = read_all(&backup, err);
    if (rc != SQLITE_OK && !backup.is_refused && !err->code)
        failure_describe(failure_of(backup.db, rc), backup.db, path, err);
    sqlite3_close(backup.db);
    text_release(&backup.line);
    return rc == SQLITE_OK;
}

#define TEXT_COLUMN(name, is_required, max_bytes)                                                  \
    {                                                                                              \
        name, BACKUP_TEXT, is_required, 0, 0, max_bytes                                            \
    }
#define JSON_COLUMN(name)                                                                          \
    {                                                                                              \
        name, BACKUP_JSON, false, 0, 0, 0                                                          \
    }
#define INTEGER_COLUMN(name, min, max)                                                             \
    {                                                                                              \
        name, BACKUP_INTEGER, true, min, max, 0                                                    \
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
