/*
 * row.h - from a row of a SELECT to struct store_row, and a copy that outlives the SELECT.
 * One line a column says what SQL reads it and which member it fills. In the SQL, k is asks, t is
 * the event that brought the texts and a the one that brought the answer; every list ends with a
 * comma, so that one more column must follow.
 */
#ifndef STORE_ROW_H
#define STORE_ROW_H
#include "store/columns.h"
#include "store/sql_constants.h"
#include "store/sqlite/schema.h"

struct store_row;

#define ROW_ASK_COLUMNS(COLUMN)                                                                    \
    COLUMN("k.id", CHARS, ask.id)                                                                  \
    COLUMN("k.principal", CHARS, ask.principal)                                                    \
    COLUMN("k.digest", BYTES, ask.digest)                                                          \
    COLUMN("k.launch_code_hash", BYTES, ask.launch_hash)                                           \
    COLUMN("k.state", NUMBER, ask.state)                                                           \
    COLUMN("k.interface", NUMBER, ask.interface)                                                   \
    COLUMN("k.flags", NUMBER, ask.flags)                                                           \
    COLUMN("k.version", NUMBER, ask.version)                                                       \
    COLUMN("k.form_version", NUMBER, ask.form_version)                                             \
    COLUMN("k.created_ms", NUMBER, ask.created_ms)                                                 \
    COLUMN("k.deadline_ms", NUMBER, ask.deadline_ms)                                               \
    COLUMN("k.original_ms", NUMBER, ask.original_ms)                                               \
    COLUMN("k.hold_used_ms", NUMBER, ask.hold_used_ms)                                             \
    COLUMN("k.deliver_after_ms", NUMBER, ask.deliver_after_ms)                                     \
    COLUMN("k.delivered_ms", NUMBER, ask.delivered_ms)                                             \
    COLUMN("k.decided_ms", NUMBER, ask.decided_ms)                                                 \
    COLUMN("k.seq", NUMBER, seq)                                                                   \
    COLUMN("k.number", NUMBER, number)                                                             \
    COLUMN("k.tool", TEXT, ask.tool)                                                               \
    COLUMN("k.title", TEXT, ask.title)                                                             \
    COLUMN("k.origin", TEXT, ask.origin_json)                                                      \
    COLUMN("k.idempotency_key", TEXT, ask.idempotency_key)
#define ROW_LONG_COLUMNS(COLUMN)                                                                   \
    COLUMN("t.form", TEXT, ask.form_json)                                                          \
    COLUMN("t.arguments", TEXT, ask.arguments_json)
#define ROW_ANSWER_COLUMNS(COLUMN)                                                                 \
    COLUMN("a.answer", TEXT, answer_json)                                                          \
    COLUMN("a.answer_key", TEXT, answer_key)                                                       \
    COLUMN("a.actor", TEXT, actor_json)                                                            \
    COLUMN("a.answered_ms", NUMBER, answered_ms)

#define ROW_SQL(sql, kind, member)  sql ", "
#define ROW_NULL(sql, kind, member) "NULL, "
#define ROW_ASK                     ROW_ASK_COLUMNS(ROW_SQL)
#define ROW_WHOLE                   ROW_ASK ROW_LONG_COLUMNS(ROW_SQL) ROW_ANSWER_COLUMNS(ROW_SQL)
#define ROW_BRIEF                   ROW_ASK ROW_LONG_COLUMNS(ROW_NULL) ROW_ANSWER_COLUMNS(ROW_SQL)
#define ROW_UNANSWERED              ROW_ASK ROW_LONG_COLUMNS(ROW_NULL) ROW_ANSWER_COLUMNS(ROW_NULL)
/* What was told after the deadline is the newest event of an ask; others have no answer here. */
#define ROW_TOLD(body)                                                                             \
    ROW_ASK ROW_LONG_COLUMNS(                                                                      \
        ROW_NULL) "CASE WHEN k.state = " SQL_STATE_TIMEOUT " THEN " body " ->> 'said' END, NULL,"  \
                  " e.actor, 0, 0 FROM asks k JOIN events e ON e.seq = k.seq "
/* Which events brought words that people and agents said to each other. */
#define ROW_SAYS                                                                                   \
    "kind IN (" SQL_EVENT_ASKED_BACK ", " SQL_EVENT_FORM_CHANGED ", " SQL_EVENT_TOLD ")"
#define ROW_JOIN_ANSWER " LEFT JOIN events a ON a.seq = k.answer_seq "
#define ROW_JOIN        " JOIN events t ON t.seq = k.number" ROW_JOIN_ANSWER
/* What its agent calls itself; NULL: it has no name. */
#define ROW_AGENT                                                                                  \
    "CASE WHEN json_valid(k.origin) THEN COALESCE(k.origin ->> 'as', k.origin ->> 'name') END"
/* The parts of the index of ids that by_id lacks, newest first; see store/sqlite/schema.c. */
#define ROW_PARTS                                                                                  \
    "WITH RECURSIVE part (n) AS (SELECT (SELECT max(number) FROM asks) " SCHEMA_PART               \
    " UNION ALL SELECT n - 1 FROM part WHERE n > (SELECT next FROM search) " SCHEMA_PART ") "
/* Behind it: where the ask with this id is, which may be at this number. */
#define ROW_AT(guess, id)                                                                          \
    ", at (number) AS (SELECT number FROM asks WHERE number = " guess " AND id = " id " UNION ALL" \
    " SELECT number FROM by_id WHERE id = " id " UNION ALL SELECT i.number FROM part"              \
    " CROSS JOIN asks i ON i.number " SCHEMA_PART " = part.n AND i.id = " id " LIMIT 1) "
#define ROW_IS_AT " at CROSS JOIN asks k ON k.number = at.number "
/* A whole row by its id. */
#define ROW_GET                                                                                    \
    ROW_PARTS ROW_AT("?2", "?1") "SELECT " ROW_WHOLE "0 FROM" ROW_IS_AT ROW_JOIN "LIMIT 1"

#define ROW_COUNT_ONE(sql, kind, member) +1
enum {
    ROW_COLUMN_COUNT = 0 ROW_ASK_COLUMNS(ROW_COUNT_ONE) ROW_LONG_COLUMNS(ROW_COUNT_ONE)
        ROW_ANSWER_COLUMNS(ROW_COUNT_ONE)
};

extern const struct columns row_columns;
int64_t row_limit(size_t number);                        /* of rows, as SQL takes it */
struct store_row *row_copy(const struct store_row *row); /* one free() ends it */

#endif
