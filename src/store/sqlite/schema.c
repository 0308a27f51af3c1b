/*
 * schema.c - see schema.h. Released steps are never edited, only followed by new ones.
 *
 * Numbers of states are those of core/states.def: 1 and 2 are open, more is over; 3 submitted,
 * 5 cancelled and 6 declined are a person's.
 *
 * Every tree that a commit touches is a page in the log, so there are few. What is long is written
 * once, in the event that brought it: the texts of an ask in the event of its creation, whose
 * number it has, and an answer in its own. asks.answer_seq names the answer that decided (negative:
 * undone), asks.seq the newest event of an ask, events.earlier_seq the one before. Ids are random
 * and would touch a page each: the newest are indexed in parts, 256 numbers each, all others in
 * by_id, in batches. What is open is found without an index: counter.unsettled says
 * from which number on. What references would only repeat is left to the code: who asks is written
 * before the ask, and drafts go with it.
 */
#include "store/sqlite/schema.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "store/sqlite/statement.h"

static const char people_tables[] =
    "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO people VALUES ('owner', '');"
    "CREATE TABLE principals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, uid INTEGER NOT NULL,"
    " name TEXT NOT NULL, place TEXT, created_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE tokens (hash BLOB PRIMARY KEY,"
    " kind TEXT NOT NULL CHECK (kind IN ('agent', 'person', 'tab', 'device', 'host')),"
    " person TEXT REFERENCES people (id), label TEXT NOT NULL,"
    " sub_agent INTEGER NOT NULL DEFAULT 0, may_answer INTEGER NOT NULL DEFAULT 0,"
    " created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL DEFAULT 0,"
    " revoked_ms INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;";

static const char ask_tables[] =
    "CREATE TABLE asks (number INTEGER PRIMARY KEY, id TEXT NOT NULL,"
    " owner TEXT NOT NULL DEFAULT 'owner', principal TEXT NOT NULL, digest BLOB NOT NULL,"
    " state INTEGER NOT NULL, interface INTEGER NOT NULL, flags INTEGER NOT NULL,"
    " version INTEGER NOT NULL, form_version INTEGER NOT NULL,"
    " created_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, original_ms INTEGER NOT NULL,"
    " hold_used_ms INTEGER NOT NULL, deliver_after_ms INTEGER NOT NULL,"
    " delivered_ms INTEGER NOT NULL, decided_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    " seq INTEGER NOT NULL, earlier_seq INTEGER NOT NULL, answer_seq INTEGER NOT NULL,"
    " tool TEXT, title TEXT, origin TEXT, idempotency_key TEXT, launch_code_hash BLOB) STRICT;"
    "CREATE UNIQUE INDEX asks_id ON asks (number " SCHEMA_PART ", id);"
    "CREATE INDEX asks_ended ON asks (ended_ms) WHERE state > 2;"
    "CREATE TABLE drafts (ask TEXT NOT NULL, person TEXT NOT NULL,"
    " body TEXT NOT NULL, counter INTEGER NOT NULL,"
    " saved_ms INTEGER NOT NULL, PRIMARY KEY (ask, person)) STRICT, WITHOUT ROWID;";

static const char event_tables[] =
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, ask TEXT NOT NULL, kind INTEGER NOT NULL,"
    " actor TEXT, body TEXT, earlier_seq INTEGER NOT NULL, prev_hash BLOB NOT NULL,"
    " form TEXT, arguments TEXT, answer TEXT, person TEXT, answer_key TEXT,"
    " decisive INTEGER, answered_ms INTEGER) STRICT;"
    "CREATE UNIQUE INDEX events_key ON events (answer_key) WHERE answer_key IS NOT NULL;"
    "CREATE VIEW ask_texts AS SELECT seq AS number, form, arguments FROM events"
    " WHERE form IS NOT NULL;"
    "CREATE VIEW answers AS SELECT seq, ask, person, answer AS body, decisive, answer_key, actor,"
    " answered_ms FROM events WHERE answered_ms IS NOT NULL;"
    "CREATE TABLE counter (only INTEGER PRIMARY KEY CHECK (only = 1), seq INTEGER NOT NULL,"
    " hash BLOB NOT NULL, unsettled INTEGER NOT NULL, failures INTEGER NOT NULL) STRICT;"
    "INSERT INTO counter VALUES (1, 0, zeroblob(32), 1, 0);";

static const char other_tables[] =
    "CREATE TABLE client_facts (name TEXT NOT NULL, version TEXT NOT NULL,"
    " transport TEXT NOT NULL, cut_off_ms INTEGER, form_works INTEGER,"
    " PRIMARY KEY (name, version, transport)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE conversations (id TEXT PRIMARY KEY,"
    " principal TEXT NOT NULL REFERENCES principals (id), state TEXT NOT NULL,"
    " body TEXT NOT NULL, version INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    " changed_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE keys (id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, secret BLOB NOT NULL,"
    " created_ms INTEGER NOT NULL, retired_ms INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE TABLE settings (person TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY (person, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('instance', lower(hex(randomblob(16))));";

/* What lists are found by, filled in batches behind the asks (index.c): a tree that every
 * ask touched would cost a page a commit. search.next is the first number that was not looked at
 * yet; `unindexed` are those before it whose answer may still change. */
static const char search_tables[] =
    "CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'trigram', detail = 'none',"
    " columnsize = 0);"
    "CREATE TABLE by_agent (agent TEXT NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY (agent, number)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE unindexed (number INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE search (only INTEGER PRIMARY KEY CHECK (only = 1), next INTEGER NOT NULL) STRICT;"
    "INSERT INTO search VALUES (1, 1);";

static const char rule_tables[] =
    "CREATE TABLE rules (id TEXT PRIMARY KEY, kind BLOB NOT NULL, facts TEXT NOT NULL,"
    " answer TEXT NOT NULL, actor TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL, revoked_ms INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;";

/* Conversations. A host's token is named as it was when it made one. What was said in one
 * lies beside it under its own numbers: listeners come back for what they missed. */
static const char conversation_tables[] =
    "ALTER TABLE conversations ADD COLUMN token_id TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE conversations ADD COLUMN label TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE conversations ADD COLUMN ask TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE conversations ADD COLUMN earlier_ask TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE conversations ADD COLUMN key TEXT;"
    "ALTER TABLE conversations ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;"
    "CREATE UNIQUE INDEX conversations_key ON conversations (principal, key)"
    " WHERE key IS NOT NULL;"
    "CREATE INDEX conversations_made ON conversations (principal, created_ms);"
    "CREATE INDEX conversations_changed ON conversations (changed_ms);"
    "CREATE TABLE conversation_events (conversation TEXT NOT NULL, number INTEGER NOT NULL,"
    " kind TEXT NOT NULL, bytes INTEGER NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY (conversation, number)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER conversation_dropped AFTER DELETE ON conversations BEGIN"
    " DELETE FROM conversation_events WHERE conversation = old.id; END;";

/* What is added to the index of words is merged in small steps of our own (index_merge): by itself
 * it would do so now and then for as long as a hundred commits take, while answers wait. */
static const char search_settings[] = "INSERT INTO words (words, rank) VALUES ('automerge', 0);";

/* What one ask, and those of one agent, are found by without looking at all that was. Both follow
 * search.next; what is newer is found in its part of asks_id. Undelivered answers are few. */
static const char found_tables[] =
    "CREATE TABLE by_id (id TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE by_principal (principal TEXT NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY (principal, number)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER search_moved AFTER UPDATE OF next ON search BEGIN"
    " INSERT OR IGNORE INTO by_id SELECT id, number FROM asks"
    " WHERE number >= old.next AND number < new.next;"
    " INSERT OR IGNORE INTO by_principal SELECT principal, number FROM asks"
    " WHERE number >= old.next AND number < new.next; END;"
    "CREATE TRIGGER ask_dropped AFTER DELETE ON asks BEGIN DELETE FROM by_id WHERE id = old.id;"
    " DELETE FROM by_principal WHERE principal = old.principal AND number = old.number; END;"
    "INSERT INTO by_id SELECT id, number FROM asks WHERE number < (SELECT next FROM search);"
    "INSERT INTO by_principal SELECT principal, number FROM asks"
    " WHERE number < (SELECT next FROM search);"
    "CREATE INDEX asks_undelivered ON asks (principal, number)"
    " WHERE delivered_ms = 0 AND (state = 3 OR state = 5 OR state = 6);";

/* When a token was used last, and where a device that has no secret signs and with which key. */
static const char token_columns[] =
    "ALTER TABLE tokens ADD COLUMN used_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE tokens ADD COLUMN browser TEXT;";

/* Where a person told the agent something after the deadline, and it was not heard yet. */
static const char unheard_index[] =
    "CREATE INDEX asks_unheard ON asks (principal, number) WHERE " SCHEMA_UNHEARD ";";

enum { STEP_TEXTS = 4 };
static const struct {
    const char *texts[STEP_TEXTS];
} steps[] = {
    { { people_tables, ask_tables, event_tables, other_tables } },
    { { search_tables } },
    { { rule_tables } },
    { { conversation_tables } },
    { { search_settings } },
    { { found_tables } },
    { { token_columns } },
    { { unheard_index } },
};

int schema_version(void)
{
    return (int)ARRAY_LEN(steps);
}

static bool run_step(sqlite3 *db, int step)
{
    char marks[96];

    snprintf(marks, sizeof marks, "PRAGMA user_version = %d; PRAGMA application_id = %d", step + 1,
             SCHEMA_APPLICATION_ID);
    CRASH_POINT(store_migration_begun);
    for (int i = 0; i < STEP_TEXTS && steps[step].texts[i]; i++) {
        if (statement_exec(db, steps[step].texts[i]) != SQLITE_OK)
            return false;
        CRASH_POINT(store_migration_part);
    }
    if (statement_exec(db, marks) != SQLITE_OK)
        return false;
    CRASH_POINT(store_migration_marked);
    if (statement_exec(db, "COMMIT") != SQLITE_OK)
        return false;
    CRASH_POINT(store_migration_committed);
    return true;
}

enum schema_outcome schema_look(sqlite3 *db)
{
    int64_t version, tables, ours;

    if (statement_number(db, "PRAGMA user_version", &version) != SQLITE_OK ||
        statement_number(db, "SELECT count(*) FROM sqlite_schema", &tables) != SQLITE_OK ||
        statement_number(db,
                         "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                         " AND name IN ('asks', 'counter')",
                         &ours) != SQLITE_OK)
        return SCHEMA_FAILED;
    if (tables > 0 && ours == 0)
        return SCHEMA_FOREIGN;
    if (version > schema_version())
        return SCHEMA_NEWER;
    return (version > 0) == (ours > 0) && version >= 0 ? SCHEMA_READY : SCHEMA_DAMAGED;
}

enum schema_outcome schema_upgrade(sqlite3 *db)
{
    int64_t version;

    if (statement_number(db, "PRAGMA user_version", &version) != SQLITE_OK)
        return SCHEMA_FAILED;
    for (int step = (int)version; step < schema_version(); step++) {
        if (statement_exec(db, "BEGIN IMMEDIATE") != SQLITE_OK || !run_step(db, step))
            return SCHEMA_FAILED;
    }
    return SCHEMA_READY;
}
