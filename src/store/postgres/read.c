/*
 * read.c - see read.h. Statements whose filters may be absent have no name: they are planned each
 * time with the values they have, so that what is absent costs nothing and an index is found.
 */
#include "store/postgres/read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/postgres/cache.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/reads.h"
#include "store/row.h"

/* What no one has heard is among what is unsettled (sql/step_5.sql). */
#define IS_UNDELIVERED                                                                             \
    "k.delivered_ms = 0 AND k.state " SQL_BY_PERSON " AND k.principal = $1::text "
/* Without OFFSET all asks there are may be read to join them with a handful, of whose rows most are
 * dead. */
#define FROM_UNSETTLED                                                                             \
    "unsettled u CROSS JOIN LATERAL (SELECT * FROM asks WHERE number = u.number OFFSET 0) AS k"
#define UNDELIVERED(call)                                                                          \
    "SELECT " ROW_WHOLE "0 FROM " FROM_UNSETTLED ROW_JOIN "WHERE u.call = " call                   \
    " AND " IS_UNDELIVERED
#define NEWEST "ORDER BY k.number DESC LIMIT "

/* A read within this time of the end of an undo window might return an answer that another hub is
 * just undoing. */
#define MAY_BE_UNDOING                                                                             \
    "(k.state " SQL_IS_OVER " AND k.delivered_ms = 0 AND k.deliver_after_ms > 0"                   \
    " AND sayso_now() BETWEEN k.deliver_after_ms - 1000 AND k.deliver_after_ms + 10000)"

/* $1 limit, $2 before_ms, $3 before_number, $4 principal, $5 states, $6 agent, $7 id prefix: ids
 * are made of a-z and 2-7, and '{' is what follows z; $8 which. */
#define LIST(from, number, condition)                                                              \
    "SELECT " ROW_BRIEF "0 FROM " from ROW_JOIN_ANSWER "WHERE " condition " AND " number           \
    " < $3::bigint AND k.created_ms < $2::bigint"                                                  \
    " AND CASE $8::bigint WHEN 1 THEN k.state " SQL_IS_OPEN " WHEN 2 THEN k.state " SQL_IS_OVER    \
    " ELSE true END"                                                                               \
    " AND ($4::text IS NULL OR k.principal = $4)"                                                  \
    " AND ($5::bigint = 0 OR ($5 >> k.state::integer) & 1 = 1)"                                    \
    " AND ($6::text IS NULL OR k.agent = $6)"                                                      \
    " AND ($7::text IS NULL OR (k.id >= $7 AND k.id < $7 || '{')) ORDER BY " number                \
    " DESC LIMIT $1::bigint"
/* Limited as in store/sqlite/read.c. With a join, all asks might be searched for these. */
#define CANDIDATES                                                                                 \
    "k.number = ANY (ARRAY((SELECT number FROM asks WHERE id >= $7 AND id < $7 || '{'"             \
    " ORDER BY id LIMIT 256) UNION (SELECT number FROM asks WHERE principal = $4"                  \
    " ORDER BY number DESC LIMIT 256)))"

/* Calls of one principal stand behind each other. */
#define UNHEARD_TOO                                                                                \
    "WHERE k.number = ANY (ARRAY(SELECT k.number FROM " FROM_UNSETTLED " WHERE NOT u.is_key"       \
    " AND u.call BETWEEN sayso_call($1::text, '\\x00000000') AND sayso_call($1, '\\xffffffff')"    \
    " AND ((" IS_UNDELIVERED ") OR (k.principal = $1 AND " SCHEMA_UNHEARD ")))) " NEWEST           \
    "$2::bigint"
/* The events of one ask, followed back from the newest. */
#define SAID                                                                                       \
    "WITH RECURSIVE chain (seq, kind, body, earlier_seq) AS"                                       \
    " (SELECT e.seq, e.kind, e.body, e.earlier_seq FROM asks k JOIN events e ON e.seq = k.seq"     \
    " WHERE k.id = $1::text UNION ALL SELECT e.seq, e.kind, e.body, e.earlier_seq FROM chain c"    \
    " JOIN events e ON e.seq = c.earlier_seq),"                                                    \
    " told (seq, kind, said, at) AS (SELECT seq, kind, body::json ->> 'said',"                     \
    " body::json ->> 'at' FROM chain WHERE " ROW_SAYS " AND body IS NOT NULL)"                     \
    " SELECT kind, said, at FROM (SELECT * FROM told WHERE said IS NOT NULL ORDER BY seq DESC"     \
    " LIMIT $2::bigint) AS newest ORDER BY seq"
#define CONVERSATION_FILTERS                                                                       \
    "WHERE ($1::text IS NULL OR principal = $1) AND ($2::text IS NULL OR state = $2)"              \
    " AND ($3::text IS NULL OR (created_ms, id) <"                                                 \
    " (SELECT b.created_ms, b.id FROM conversations b WHERE b.id = $3))"                           \
    " ORDER BY created_ms DESC, id DESC LIMIT $4::bigint"

static const struct sql get_sql = { "get", "SELECT " ROW_WHOLE MAY_BE_UNDOING
                                           " FROM asks k" ROW_JOIN "WHERE k.id = $1::text" };
static const struct sql get_lock_sql = { "get_lock",
                                         "SELECT 1 FROM asks k WHERE k.id = $1::text FOR SHARE" };
static const struct sql active_sql = {
    "live", "SELECT " ROW_BRIEF "0 FROM " FROM_UNSETTLED ROW_JOIN_ANSWER
            "WHERE NOT u.is_key AND (k.state " SQL_IS_OPEN
            " OR (k.delivered_ms = 0 AND (k.state " SQL_BY_PERSON
            " OR k.deliver_after_ms > $1::bigint))) AND u.number > $2::bigint"
            " ORDER BY u.number LIMIT $3::bigint"
};
static const struct sql list_open_sql = { NULL, LIST(FROM_UNSETTLED, "u.number", "NOT u.is_key") };
enum { LIVE_PAGE = 1000 };

static const struct sql statements[READ_COUNT] = {
    [READ_UNDELIVERED] = { "undelivered",
                           UNDELIVERED(
                               "sayso_call($1::text, $2::bytea)") "AND k.digest = $2::bytea " NEWEST
                                                                  "1" },
    [READ_UNDELIVERED_KEY] = { "undelivered_key",
                               UNDELIVERED(
                                   "sayso_key_call($1::text, $2::text)") "AND k.idempotency_key = "
                                                                         "$2::text " NEWEST "1" },
    [READ_UNDELIVERED_ALL] = { "undelivered_all", "SELECT " ROW_TOLD("e.body::json") UNHEARD_TOO },
    [READ_LIST] = { NULL, LIST("asks k", "k.number", "true") },
    [READ_LIST_PREFIX] = { NULL, LIST("asks k", "k.number", CANDIDATES) },
    [READ_DRAFT] = { "draft",
                     "SELECT body FROM drafts WHERE ask = $1::text AND person = $2::text" },
    [READ_SAID] = { "said", SAID },
    [READ_CUT_OFF] = { "cut_off",
                       "SELECT cut_off_ms FROM client_facts"
                       " WHERE name = $1::text AND version = $2::text AND transport = $3::text" },
    [READ_FORM_FACT] = { "form_fact",
                         "SELECT form_works FROM client_facts"
                         " WHERE name = $1::text AND version = $2::text AND transport = $3::text" },
    [READ_CONVERSATION_GET] = { "conversation", CONVERSATION_SELECT "WHERE id = $1::text" },
    [READ_CONVERSATION_FIND] = { "conversation_find", CONVERSATION_SELECT
                                 "WHERE principal = $1::text AND key = $2::text" },
    /* Not named: planned with the filters it has. */
    [READ_CONVERSATION_LIST] = { NULL, CONVERSATION_SELECT CONVERSATION_FILTERS },
    [READ_CONVERSATION_EVENTS] = { "conversation_events",
                                   "SELECT number, kind, body FROM conversation_events"
                                   " WHERE conversation = $1::text AND number > $2::bigint"
                                   " ORDER BY number LIMIT $3::bigint" },
};

/* A read under way, and what the next step needs. */
struct pg_reading {
    struct reading of;
    struct pool *pool;
    char *id; /* of get; NULL: not read by its id */
    bool is_settled;
    int64_t now_ms; /* of list_active */
};

static struct pg_reading *reading_new(struct store *store, const struct reading *of)
{
    struct pg_reading *reading = mem_new(sizeof *reading);

    *reading = (struct pg_reading){ .of = *of, .pool = pool_of(store) };
    return reading;
}

static void reading_end(struct pg_reading *reading, const struct error *err, bool is_told)
{
    if (!is_told)
        reading->of.rows->tell(&reading->of, NULL, err);
    free(reading->id);
    free(reading);
}

/* Returns how many rows there were. */
static int hand_on(const struct reading *reading, const PGresult *result, union read_row *ret_last)
{
    const struct read_rows *rows = reading->rows;
    int count = rows->is_one && result_count(result) > 1 ? 1 : result_count(result);

    for (int i = 0; i < count; i++) {
        result_read(result, i, 0, rows->columns, ret_last);
        rows->tell(reading, ret_last, NULL);
    }
    return count;
}

static void on_read(void *context, const PGresult *result, const struct error *err)
{
    struct pg_reading *reading = context;
    union read_row row;
    bool is_there = !err && hand_on(&reading->of, result, &row) > 0;

    reading_end(reading, err, is_there && reading->of.rows->is_one);
}

void pg_read(struct store *store, enum read_statement which, const struct column_value *values,
             size_t count, const struct reading *reading)
{
    if (!cache_read(((struct pg_store *)store)->cache, which, values, reading))
        pool_read_with(pool_of(store), &statements[which], values, count, on_read,
                       reading_new(store, reading));
}

static void on_got(void *context, const PGresult *result, const struct error *err);

static void get_by_id(struct pg_reading *reading)
{
    pool_read_with(reading->pool, &get_sql, VALUES(value_text(reading->id)), on_got, reading);
}

static void on_locked(void *context, const PGresult *result, const struct error *err)
{
    struct pg_reading *reading = context;

    (void)result;
    if (err) {
        reading_end(reading, err, false);
        return;
    }
    reading->is_settled = true;
    get_by_id(reading);
}

static void on_got(void *context, const PGresult *result, const struct error *err)
{
    struct pg_reading *reading = context;

    if (err || reading->is_settled || !result_flag(result, 0, ROW_COLUMN_COUNT))
        on_read(reading, result, err);
    else /* waits while it is being changed */
        pool_read_with(reading->pool, &get_lock_sql, VALUES(value_text(reading->id)), on_locked,
                       reading);
}

/* An answer whose undo window has just ended is waited for, should it be undone at this moment. */
void pg_get(struct store *store, const char *ask_id, int64_t seq, store_done *done, void *context)
{
    (void)seq;
    struct pg_reading *reading =
        reading_new(store, &(struct reading){ &read_one_ask, { .one = done }, context });

    reading->id = mem_text(ask_id);
    get_by_id(reading);
}

void pg_list(struct store *store, const struct store_list_query *query, store_each *each,
             void *context)
{
    const struct reading reading = { &read_asks, { .each = each }, context };
    struct column_value values[READ_LIST_VALUES];

    read_list_values(query, query->limit, values);
    if (query->which == STORE_LIST_OPEN)
        pool_read_with(pool_of(store), &list_open_sql, values, READ_LIST_VALUES, on_read,
                       reading_new(store, &reading));
    else
        pg_read(store, query->id_prefix ? READ_LIST_PREFIX : READ_LIST, values, READ_LIST_VALUES,
                &reading);
}

static void on_live(void *context, const PGresult *result, const struct error *err);

static void list_active_after(struct pg_reading *reading, int64_t number)
{
    pool_read_with(
        reading->pool, &active_sql,
        VALUES(value_number(reading->now_ms), value_number(number), value_number(LIVE_PAGE)),
        on_live, reading);
}

static void on_live(void *context, const PGresult *result, const struct error *err)
{
    struct pg_reading *reading = context;
    union read_row last;

    if (err || hand_on(&reading->of, result, &last) < LIVE_PAGE)
        reading_end(reading, err, false);
    else
        list_active_after(reading, last.ask.number);
}

void pg_list_active(struct store *store, int64_t now_ms, store_each *each, void *context)
{
    struct pg_reading *reading =
        reading_new(store, &(struct reading){ &read_asks, { .each = each }, context });

    reading->now_ms = now_ms;
    list_active_after(reading, 0);
}

void pg_get_draft(struct store *store, const char *ask_id, const char *person,
                  store_draft_done *done, void *context)
{
    static const struct column list[] = { COLUMN_OF(TEXT, struct store_draft, json) };
    static const struct columns columns = { list, 1, sizeof(struct store_draft) };
    static const struct read_rows draft = { &columns, read_tell_draft, true };

    pg_read(store, READ_DRAFT, VALUES(value_text(ask_id), value_text(person)),
            &(struct reading){ &draft, { .draft = done }, context });
}
