/*
 * read.c - see read.h. Statements whose filters may be absent have no name: they are planned anew
 * with the values they have, so that what is absent costs nothing and an index is found.
 */
#include "store/postgres/read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/limits.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/row.h"
#include "store/writes.h"

/* As the conditions of the indices asks_undelivered and asks_unsettled (schema.c) are written. */
#define UNDELIVERED                                                                                \
    "WHERE k.delivered_ms = 0 AND k.state " SQL_BY_PERSON " AND k.principal = $1::text "
#define UNSETTLED                                                                                  \
    "(k.state " SQL_IS_OPEN " OR (k.delivered_ms = 0 AND (k.state " SQL_BY_PERSON                  \
    " OR k.deliver_after_ms > 0)))"
#define NEWEST "ORDER BY k.number DESC LIMIT "

/* Whoever reads within this time of the end of an undo window might be handed an answer that
 * another hub is just undoing. */
#define MAY_BE_UNDOING                                                                             \
    "(k.state " SQL_IS_OVER " AND k.delivered_ms = 0 AND k.deliver_after_ms > 0"                   \
    " AND sayso_now() BETWEEN k.deliver_after_ms - 1000 AND k.deliver_after_ms + 10000)"

/* $1 limit, $2 before_ms, $3 before_number, $4 principal, $5 states, $6 agent, $7 id prefix: ids
 * are made of a-z and 2-7, and '{' is what follows z; $8 which. */
#define LIST(condition)                                                                            \
    "SELECT " ROW_BRIEF "0 FROM asks k" ROW_JOIN_ANSWER "WHERE " condition                         \
    " AND k.number < $3::bigint AND k.created_ms < $2::bigint"                                     \
    " AND CASE $8::bigint WHEN 1 THEN k.state " SQL_IS_OPEN " WHEN 2 THEN k.state " SQL_IS_OVER    \
    " ELSE true END"                                                                               \
    " AND ($4::text IS NULL OR k.principal = $4)"                                                  \
    " AND ($5::bigint = 0 OR ($5 >> k.state::integer) & 1 = 1)"                                    \
    " AND ($6::text IS NULL OR k.agent = $6)"                                                      \
    " AND ($7::text IS NULL OR (k.id >= $7 AND k.id < $7 || '{')) " NEWEST "$1::bigint"
/* Limited as in store/sqlite/read.c. With a join, all asks might be searched for these. */
#define CANDIDATES                                                                                 \
    "k.number = ANY (ARRAY((SELECT number FROM asks WHERE id >= $7 AND id < $7 || '{'"             \
    " ORDER BY id LIMIT 256) UNION (SELECT number FROM asks WHERE principal = $4"                  \
    " ORDER BY number DESC LIMIT 256)))"

static const struct sql get_sql = { "get", "SELECT " ROW_WHOLE MAY_BE_UNDOING
                                           " FROM asks k" ROW_JOIN "WHERE k.id = $1::text" };
static const struct sql get_lock_sql = { "get_lock",
                                         "SELECT 1 FROM asks k WHERE k.id = $1::text FOR SHARE" };
static const struct sql undelivered_sql = { "undelivered",
                                            "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN UNDELIVERED
                                            "AND k.digest = $2::bytea " NEWEST "1" };
static const struct sql undelivered_key_sql = { "undelivered_key",
                                                "SELECT " ROW_WHOLE
                                                "0 FROM asks k" ROW_JOIN UNDELIVERED
                                                "AND k.idempotency_key = $2::text " NEWEST "1" };
static const struct sql undelivered_all_sql = {
    "undelivered_all",
    "SELECT " ROW_TOLD(
        "e.body::json") "WHERE k.number = ANY (ARRAY(SELECT k.number FROM asks k " UNDELIVERED
                        "UNION ALL SELECT number FROM asks WHERE principal = $1 AND " SCHEMA_UNHEARD
                        ")) " NEWEST "$2::bigint"
};
static const struct sql list_sql = { NULL, LIST("true") };
static const struct sql list_prefix_sql = { NULL, LIST(CANDIDATES) };
static const struct sql live_sql = {
    "live",
    "SELECT " ROW_BRIEF "0 FROM asks k" ROW_JOIN_ANSWER "WHERE " UNSETTLED
    " AND (k.state " SQL_IS_OPEN " OR k.state " SQL_BY_PERSON " OR k.deliver_after_ms > $1::bigint)"
    " AND k.number > $2::bigint ORDER BY k.number LIMIT $3::bigint"
};
enum { LIVE_PAGE = 1000 };
static const struct sql draft_sql = {
    "draft", "SELECT body FROM drafts WHERE ask = $1::text AND person = $2::text"
};
/* The events of one ask, followed back from the newest. */
static const struct sql said_sql = {
    "said",
    "WITH RECURSIVE chain (seq, kind, body, earlier_seq) AS"
    " (SELECT e.seq, e.kind, e.body, e.earlier_seq FROM asks k JOIN events e ON e.seq = k.seq"
    " WHERE k.id = $1::text UNION ALL SELECT e.seq, e.kind, e.body, e.earlier_seq FROM chain c"
    " JOIN events e ON e.seq = c.earlier_seq),"
    " told (seq, kind, said, at) AS (SELECT seq, kind, body::json ->> 'said', body::json ->> 'at'"
    " FROM chain WHERE " ROW_SAYS " AND body IS NOT NULL)"
    " SELECT kind, said, at FROM (SELECT * FROM told WHERE said IS NOT NULL ORDER BY seq DESC"
    " LIMIT $2::bigint) AS newest ORDER BY seq"
};
static const struct sql cut_off_sql = {
    "cut_off", "SELECT cut_off_ms FROM client_facts"
               " WHERE name = $1::text AND version = $2::text AND transport = $3::text"
};
static const struct sql form_fact_sql = {
    "form_fact", "SELECT form_works FROM client_facts"
                 " WHERE name = $1::text AND version = $2::text AND transport = $3::text"
};

static const struct sql conversation_sql = { "conversation",
                                             CONVERSATION_SELECT "WHERE id = $1::text" };
static const struct sql conversation_find_sql = { "conversation_find", CONVERSATION_SELECT
                                                  "WHERE principal = $1::text AND key = $2::text" };
/* Not named: planned with the filters it has. */
static const struct sql conversations_sql = {
    NULL, CONVERSATION_SELECT "WHERE ($1::text IS NULL OR principal = $1)"
                              " AND ($2::text IS NULL OR state = $2)"
                              " AND ($3::text IS NULL OR (created_ms, id) <"
                              " (SELECT b.created_ms, b.id FROM conversations b WHERE b.id = $3))"
                              " ORDER BY created_ms DESC, id DESC LIMIT $4::bigint"
};
static const struct sql conversation_events_sql = {
    "conversation_events", "SELECT number, kind, body FROM conversation_events"
                           " WHERE conversation = $1::text AND number > $2::bigint"
                           " ORDER BY number LIMIT $3::bigint"
};

union tell {
    store_done *one;
    store_each *each;
    store_draft_done *draft;
    store_said_each *said;
    store_conversation_each *conversation;
    store_conversation_event_each *event;
};

/* A read under way: whom to tell, and what the next step needs. */
struct reading {
    struct pool *pool;
    union tell tell;
    void *context;
    char *id; /* of get; NULL: not read by its id */
    bool is_settled;
    bool is_list;   /* of conversations: its end is told apart */
    int64_t now_ms; /* of list_live */
};

static struct reading *reading_new(struct store *store, union tell tell, void *context)
{
    struct reading *reading = mem_new(sizeof *reading);

    *reading = (struct reading){ .pool = pool_of(store), .tell = tell, .context = context };
    return reading;
}

/* One ask ---------------------------------------------------------------------------------------
 */

static void one_end(struct reading *reading, const struct store_reply *reply)
{
    reading->tell.one(reading->context, reply);
    free(reading->id);
    free(reading);
}

static void one_fail(struct reading *reading, const struct error *err)
{
    one_end(reading, &(struct store_reply){ .outcome = STORE_FAILED, .err = *err });
}

static void on_one(void *context, const PGresult *result, const struct error *err)
{
    struct store_reply reply = { .outcome = STORE_MISSING };
    struct store_row row;

    if (err) {
        one_fail(context, err);
        return;
    }
    if (result_count(result) > 0) {
        result_read(result, 0, 0, &row_columns, &row);
        reply.outcome = STORE_DONE;
        reply.row = &row;
    }
    one_end(context, &reply);
}

static void on_got(void *context, const PGresult *result, const struct error *err);

static void get_by_id(struct reading *reading)
{
    struct params params = { 0 };

    params_text(&params, reading->id);
    pool_read(reading->pool, &get_sql, &params, on_got, reading);
}

static void on_locked(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;

    (void)result;
    if (err) {
        one_fail(reading, err);
        return;
    }
    reading->is_settled = true;
    get_by_id(reading);
}

static void on_got(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;
    struct params params = { 0 };

    if (err || reading->is_settled || !result_flag(result, 0, ROW_COLUMN_COUNT)) {
        on_one(reading, result, err);
        return;
    }
    params_text(&params, reading->id); /* waits while it is being changed */
    pool_read(reading->pool, &get_lock_sql, &params, on_locked, reading);
}

/* An answer whose undo window has just ended is waited for, should it be undone at this moment. */
void pg_get(struct store *store, const char *ask_id, store_done *done, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .one = done }, context);

    reading->id = mem_text(ask_id);
    get_by_id(reading);
}

void pg_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                         const char *idempotency_key, store_done *done, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .one = done }, context);
    struct params params = { 0 };

    params_text(&params, principal);
    if (idempotency_key)
        params_text(&params, idempotency_key);
    else
        params_bytes(&params, digest, DIGEST_BYTES);
    pool_read(reading->pool, idempotency_key ? &undelivered_key_sql : &undelivered_sql, &params,
              on_one, reading);
}

/* Lists -----------------------------------------------------------------------------------------
 */

static void listing_end(struct reading *reading, const struct error *err)
{
    reading->tell.each(reading->context, NULL, err);
    free(reading);
}

/* Returns the number of the last one; 0: there was none. */
static int64_t hand_on_rows(const struct reading *reading, const PGresult *result)
{
    struct store_row row = { 0 };

    for (int i = 0; i < result_count(result); i++) {
        result_read(result, i, 0, &row_columns, &row);
        reading->tell.each(reading->context, &row, NULL);
    }
    return row.number;
}

static void on_listed(void *context, const PGresult *result, const struct error *err)
{
    if (!err)
        hand_on_rows(context, result);
    listing_end(context, err);
}

void pg_list_undelivered(struct store *store, const char *principal, size_t limit, store_each *each,
                         void *context)
{
    struct params params = { 0 };

    params_text(&params, principal);
    params_integer(&params, row_limit(limit));
    pool_read(pool_of(store), &undelivered_all_sql, &params, on_listed,
              reading_new(store, (union tell){ .each = each }, context));
}

void pg_list(struct store *store, const struct store_list_query *query, store_each *each,
             void *context)
{
    bool is_prefix = query->id_prefix && query->which != STORE_LIST_OPEN;
    struct params params = { 0 };

    params_integer(&params, row_limit(query->limit));
    params_integer(&params,
                   query->before_number || !query->before_ms ? INT64_MAX : query->before_ms);
    params_integer(&params, query->before_number ? query->before_number : INT64_MAX);
    params_text(&params, query->principal);
    params_integer(&params, query->states);
    params_text(&params, query->agent);
    params_text(&params, query->id_prefix);
    params_integer(&params, query->which);
    pool_read(pool_of(store), is_prefix ? &list_prefix_sql : &list_sql, &params, on_listed,
              reading_new(store, (union tell){ .each = each }, context));
}

static void on_live(void *context, const PGresult *result, const struct error *err);

static void list_live_after(struct reading *reading, int64_t number)
{
    struct params params = { 0 };

    params_integer(&params, reading->now_ms);
    params_integer(&params, number);
    params_integer(&params, LIVE_PAGE);
    pool_read(reading->pool, &live_sql, &params, on_live, reading);
}

static void on_live(void *context, const PGresult *result, const struct error *err)
{
    int64_t last = err ? 0 : hand_on_rows(context, result);

    if (err || result_count(result) < LIVE_PAGE)
        listing_end(context, err);
    else
        list_live_after(context, last);
}

void pg_list_live(struct store *store, int64_t now_ms, store_each *each, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .each = each }, context);

    reading->now_ms = now_ms;
    list_live_after(reading, 0);
}

/* What lies beside an ask ------------------------------------------------------------------------
 */

static void on_draft(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;
    const char *json = err ? NULL : result_text(result, 0, 0);

    reading->tell.draft(reading->context, json, err);
    free(reading);
}

void pg_get_draft(struct store *store, const char *ask_id, const char *person,
                  store_draft_done *done, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .draft = done }, context);
    struct params params = { 0 };

    params_text(&params, ask_id);
    params_text(&params, person);
    pool_read(reading->pool, &draft_sql, &params, on_draft, reading);
}

static void on_said(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;

    for (int i = 0; !err && i < result_count(result); i++) {
        struct store_said said;

        result_read(result, i, 0, &said_columns, &said);
        reading->tell.said(reading->context, &said, NULL);
    }
    reading->tell.said(reading->context, NULL, err);
    free(reading);
}

void pg_list_said(struct store *store, const char *ask_id, store_said_each *each, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .said = each }, context);
    struct params params = { 0 };

    params_text(&params, ask_id);
    params_integer(&params, LIMIT_TALK);
    pool_read(reading->pool, &said_sql, &params, on_said, reading);
}

static void on_fact(void *context, const PGresult *result, const struct error *err)
{
    struct store_reply reply = { .outcome = STORE_MISSING };

    if (err) {
        one_fail(context, err);
        return;
    }
    if (!result_is_null(result, 0, 0)) {
        reply.outcome = STORE_DONE;
        reply.seq = result_integer(result, 0, 0);
    }
    one_end(context, &reply);
}

void pg_get_client_fact(struct store *store, const struct store_client *client, bool is_form,
                        store_done *done, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .one = done }, context);
    struct params params = { 0 };

    params_text(&params, client->name);
    params_text(&params, client->version);
    params_text(&params, client->transport);
    pool_read(reading->pool, is_form ? &form_fact_sql : &cut_off_sql, &params, on_fact, reading);
}

/* Conversations ---------------------------------------------------------------------------------
 */

static void on_conversations(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;
    int count = err ? 0 : result_count(result);

    for (int i = 0; i < count; i++) {
        struct store_conversation conversation;

        result_read(result, i, 0, &conversation_columns, &conversation);
        reading->tell.conversation(reading->context, &conversation, NULL);
    }
    if (reading->is_list || count == 0)
        reading->tell.conversation(reading->context, NULL, err);
    free(reading);
}

void pg_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                         void *context)
{
    struct params params = { 0 };

    params_text(&params, id);
    pool_read(pool_of(store), &conversation_sql, &params, on_conversations,
              reading_new(store, (union tell){ .conversation = each }, context));
}

void pg_find_conversation(struct store *store, const char *principal, const char *key,
                          store_conversation_each *each, void *context)
{
    struct params params = { 0 };

    params_text(&params, principal);
    params_text(&params, key);
    pool_read(pool_of(store), &conversation_find_sql, &params, on_conversations,
              reading_new(store, (union tell){ .conversation = each }, context));
}

void pg_list_conversations(struct store *store, const struct store_conversation_query *query,
                           store_conversation_each *each, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .conversation = each }, context);
    struct params params = { 0 };

    reading->is_list = true;
    params_text(&params, query->principal);
    params_text(&params, query->state);
    params_text(&params, query->before_id);
    params_integer(&params, row_limit(query->limit));
    pool_read(reading->pool, &conversations_sql, &params, on_conversations, reading);
}

static void on_events(void *context, const PGresult *result, const struct error *err)
{
    struct reading *reading = context;

    for (int i = 0; !err && i < result_count(result); i++) {
        struct store_conversation_event event;

        result_read(result, i, 0, &conversation_event_columns, &event);
        reading->tell.event(reading->context, &event, NULL);
    }
    reading->tell.event(reading->context, NULL, err);
    free(reading);
}

void pg_list_conversation_events(struct store *store, const char *id, int64_t after, size_t limit,
                                 store_conversation_event_each *each, void *context)
{
    struct reading *reading = reading_new(store, (union tell){ .event = each }, context);
    struct params params = { 0 };

    params_text(&params, id);
    params_integer(&params, after);
    params_integer(&params, row_limit(limit));
    pool_read(reading->pool, &conversation_events_sql, &params, on_events, reading);
}
