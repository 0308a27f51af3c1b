/*
 * read.c - see read.h. Statements whose filters may be absent have no name: they are planned anew
 * with the values they have, so that what is absent costs nothing and an index is found.
 */
#include "store/postgres/read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/postgres/pool.h"
#include "store/postgres/result.h"
#include "store/requests.h"
#include "store/row.h"

_Static_assert(STATE_PENDING == 2 && STATE_SUBMITTED == 3 && STATE_CANCELLED == 5 &&
                   STATE_DECLINED == 6,
               "the SQL below knows open and a person's by number");

/* As the conditions of the indices asks_undelivered and asks_unsettled (schema.c) are written. */
#define UNDELIVERED "WHERE k.delivered_ms = 0 AND k.state IN (3, 5, 6) AND k.principal = $1::text "
#define UNSETTLED                                                                                  \
    "(k.state <= 2 OR (k.delivered_ms = 0 AND (k.state IN (3, 5, 6) OR k.deliver_after_ms > 0)))"
#define NEWEST "ORDER BY k.number DESC LIMIT "

/* Whoever reads within this time of the end of an undo window might be handed an answer that
 * another hub is just undoing. */
#define MAY_BE_UNDOING                                                                             \
    "(k.state > 2 AND k.delivered_ms = 0 AND k.deliver_after_ms > 0"                               \
    " AND sayso_now() BETWEEN k.deliver_after_ms - 1000 AND k.deliver_after_ms + 10000)"

/* $1 limit, $2 before_ms, $3 before_number, $4 principal, $5 states, $6 agent, $7 id prefix: ids
 * are made of a-z and 2-7, and '{' is what follows z; $8 which. */
#define LIST(condition)                                                                            \
    "SELECT " ROW_BRIEF "0 FROM asks k" ROW_JOIN_ANSWER "WHERE " condition                         \
    " AND k.number < $3::bigint AND k.created_ms < $2::bigint"                                     \
    " AND CASE $8::bigint WHEN 1 THEN k.state <= 2 WHEN 2 THEN k.state > 2 ELSE true END"          \
    " AND ($4::text IS NULL OR k.principal = $4)"                                                  \
    " AND ($5::bigint = 0 OR ($5 >> k.state::integer) & 1 = 1)"                                    \
    " AND ($6::text IS NULL OR k.agent = $6)"                                                      \
    " AND ($7::text IS NULL OR (k.id >= $7 AND k.id < $7 || '{')) " NEWEST "$1::bigint"
/* Limited as in sqlite_read.c. With a join, all asks might be searched for these. */
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
    "live", "SELECT " ROW_BRIEF "0 FROM asks k" ROW_JOIN_ANSWER "WHERE " UNSETTLED
            " AND (k.state <= 2 OR k.state IN (3, 5, 6) OR k.deliver_after_ms > $1::bigint)"
            " AND k.number > $2::bigint ORDER BY k.number LIMIT $3::bigint"
};
enum { LIVE_PAGE = 1000 };

/* One ask ---------------------------------------------------------------------------------------
 */

struct one {
    struct pool *pool;
    char *id; /* NULL: not read by its id */
    bool is_settled;
    store_done *done;
    void *context;
};

static struct one *one_new(struct pool *pool, const char *id, store_done *done, void *context)
{
    struct one *one = mem_new(sizeof *one);

    *one = (struct one){ .pool = pool, .id = mem_text(id), .done = done, .context = context };
    return one;
}

static void one_end(struct one *one, const struct store_reply *reply)
{
    one->done(one->context, reply);
    free(one->id);
    free(one);
}

static void one_fail(struct one *one, const struct error *err)
{
    one_end(one, &(struct store_reply){ .outcome = STORE_FAILED, .err = *err });
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

static void get_by_id(struct one *one)
{
    struct params params = { 0 };

    params_text(&params, one->id);
    pool_read(one->pool, &get_sql, &params, on_got, one);
}

static void on_locked(void *context, const PGresult *result, const struct error *err)
{
    struct one *one = context;

    (void)result;
    if (err) {
        one_fail(one, err);
        return;
    }
    one->is_settled = true;
    get_by_id(one);
}

static void on_got(void *context, const PGresult *result, const struct error *err)
{
    struct one *one = context;
    struct params params = { 0 };

    if (err || one->is_settled || !result_flag(result, 0, ROW_COLUMN_COUNT)) {
        on_one(one, result, err);
        return;
    }
    params_text(&params, one->id); /* waits for whoever is changing it */
    pool_read(one->pool, &get_lock_sql, &params, on_locked, one);
}

/* An answer whose undo window has just ended is waited for, should it be undone at this moment. */
void pg_get(struct store *store, const char *ask_id, store_done *done, void *context)
{
    get_by_id(one_new(pool_of(store), ask_id, done, context));
}

void pg_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                         const char *idempotency_key, store_done *done, void *context)
{
    struct one *one = one_new(pool_of(store), NULL, done, context);
    struct params params = { 0 };

    params_text(&params, principal);
    if (idempotency_key)
        params_text(&params, idempotency_key);
    else
        params_bytes(&params, digest, DIGEST_BYTES);
    pool_read(pool_of(store), idempotency_key ? &undelivered_key_sql : &undelivered_sql, &params,
              on_one, one);
}

/* Lists -----------------------------------------------------------------------------------------
 */

struct listing {
    struct pool *pool;
    store_each *each;
    void *context;
    int64_t now_ms; /* of list_live */
};

static struct listing *listing_new(struct pool *pool, store_each *each, void *context)
{
    struct listing *listing = mem_new(sizeof *listing);

    *listing = (struct listing){ .pool = pool, .each = each, .context = context };
    return listing;
}

static void listing_end(struct listing *listing, const struct error *err)
{
    listing->each(listing->context, NULL, err);
    free(listing);
}

/* Returns the number of the last one; 0: there was none. */
static int64_t hand_on_rows(const struct listing *listing, const PGresult *result)
{
    struct store_row row = { 0 };

    for (int i = 0; i < result_count(result); i++) {
        result_read(result, i, 0, &row_columns, &row);
        listing->each(listing->context, &row, NULL);
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
    params_integer(&params, request_limit(limit));
    pool_read(pool_of(store), &undelivered_all_sql, &params, on_listed,
              listing_new(pool_of(store), each, context));
}

void pg_list(struct store *store, const struct store_list_query *query, store_each *each,
             void *context)
{
    bool is_prefix = query->id_prefix && query->which != STORE_LIST_OPEN;
    struct params params = { 0 };

    params_integer(&params, request_limit(query->limit));
    params_integer(&params,
                   query->before_number || !query->before_ms ? INT64_MAX : query->before_ms);
    params_integer(&params, query->before_number ? query->before_number : INT64_MAX);
    params_text(&params, query->principal);
    params_integer(&params, query->states);
    params_text(&params, query->agent);
    params_text(&params, query->id_prefix);
    params_integer(&params, query->which);
    pool_read(pool_of(store), is_prefix ? &list_prefix_sql : &list_sql, &params, on_listed,
              listing_new(pool_of(store), each, context));
}

static void on_live(void *context, const PGresult *result, const struct error *err);

static void list_live_after(struct listing *listing, int64_t number)
{
    struct params params = { 0 };

    params_integer(&params, listing->now_ms);
    params_integer(&params, number);
    params_integer(&params, LIVE_PAGE);
    pool_read(listing->pool, &live_sql, &params, on_live, listing);
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
    struct listing *listing = listing_new(pool_of(store), each, context);

    listing->now_ms = now_ms;
    list_live_after(listing, 0);
}
