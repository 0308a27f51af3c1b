/* details.c - what lies beside an ask: drafts, what was said about it, and facts about clients. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/limits.h"
#include "store/job.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/postgres/result.h"

_Static_assert(EVENT_ASKED_BACK == 15 && EVENT_FORM_CHANGED == 16 && EVENT_TOLD == 18,
               "the SQL below knows what was said by number");

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
    " FROM chain WHERE kind IN (15, 16, 18) AND body IS NOT NULL)"
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

struct details {
    union {
        store_draft_done *draft;
        store_said_each *said;
        store_done *fact;
    } tell;
    void *context;
};

static struct details *details_new(void *context)
{
    struct details *details = mem_new(sizeof *details);

    details->context = context;
    return details;
}

static void on_draft(void *context, const PGresult *result, const struct error *err)
{
    struct details *details = context;
    const char *json = err ? NULL : result_text(result, 0, 0);

    details->tell.draft(details->context, json, err);
    free(details);
}

void pg_get_draft(struct store *store, const char *ask_id, const char *person,
                  store_draft_done *done, void *context)
{
    struct details *details = details_new(context);
    struct params params = { 0 };

    details->tell.draft = done;
    params_text(&params, ask_id);
    params_text(&params, person);
    pool_read(pool_of(store), &draft_sql, &params, on_draft, details);
}

static void on_said(void *context, const PGresult *result, const struct error *err)
{
    struct details *details = context;

    for (int i = 0; !err && i < result_count(result); i++) {
        struct store_said said;

        result_read(result, i, 0, &said_columns, &said);
        details->tell.said(details->context, &said, NULL);
    }
    details->tell.said(details->context, NULL, err);
    free(details);
}

void pg_list_said(struct store *store, const char *ask_id, store_said_each *each, void *context)
{
    struct details *details = details_new(context);
    struct params params = { 0 };

    details->tell.said = each;
    params_text(&params, ask_id);
    params_integer(&params, LIMIT_TALK);
    pool_read(pool_of(store), &said_sql, &params, on_said, details);
}

static void on_fact(void *context, const PGresult *result, const struct error *err)
{
    struct details *details = context;
    struct store_reply reply = { .outcome = STORE_MISSING };

    if (err) {
        reply.outcome = STORE_FAILED;
        reply.err = *err;
    } else if (!result_is_null(result, 0, 0)) {
        reply.outcome = STORE_DONE;
        reply.seq = result_integer(result, 0, 0);
    }
    details->tell.fact(details->context, &reply);
    free(details);
}

static void get_fact(struct pool *pool, const struct sql *sql, const struct store_client *client,
                     store_done *done, void *context)
{
    struct details *details = details_new(context);
    struct params params = { 0 };

    details->tell.fact = done;
    params_text(&params, client->name);
    params_text(&params, client->version);
    params_text(&params, client->transport);
    pool_read(pool, sql, &params, on_fact, details);
}

void pg_get_cut_off(struct store *store, const struct store_client *client, store_done *done,
                    void *context)
{
    get_fact(pool_of(store), &cut_off_sql, client, done, context);
}

void pg_get_form_fact(struct store *store, const struct store_client *client, store_done *done,
                      void *context)
{
    get_fact(pool_of(store), &form_fact_sql, client, done, context);
}
