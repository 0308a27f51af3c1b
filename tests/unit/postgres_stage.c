/* postgres_stage.c - see postgres_stage.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres_stage.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/columns.h"
#include "store/postgres/libpq.h"
#include "store/postgres/schema.h"

struct staged_read {
    struct staged_read *next;
    const struct sql *sql;
    struct params params;
    pool_done *done;
    void *context;
};

static char group_url[POSTGRES_URL_BYTES];

static void read_later(struct pool *in, const struct sql *sql, struct params *take_params,
                       pool_done *done, void *context)
{
    struct staged_pool *pool = (struct staged_pool *)in;
    struct staged_read *read = mem_new(sizeof *read);

    *read = (struct staged_read){ .sql = sql, .done = done, .context = context };
    if (take_params) {
        read->params = *take_params;
        *take_params = (struct params){ 0 };
    }
    if (pool->last)
        pool->last->next = read;
    else
        pool->first = read;
    pool->last = read;
}

struct staged_pool staged_pool_on(PGconn *connection)
{
    return (struct staged_pool){ .pool.read = read_later, .connection = connection };
}

static PGresult *query(struct staged_pool *pool, const char *text, const struct params *params)
{
    struct params_view view;

    params_look(params, &view);
    return PQexecParams(pool->connection, text, params->count, NULL, view.values, view.lengths,
                        view.formats, 0);
}

static void explain(struct staged_pool *pool, const struct staged_read *read)
{
    char *text = mem_format("EXPLAIN %s", read->sql->text);
    PGresult *result = query(pool, text, &read->params);

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", text, PQresultErrorMessage(result));
    for (int i = 0; i < PQntuples(result); i++)
        text_add_format(&pool->plans, "%s\n", PQgetvalue(result, i, 0));
    PQclear(result);
    free(text);
}

bool pool_step(struct staged_pool *pool)
{
    struct staged_read *read = pool->first;
    struct error err = { .code = ERROR_storage_failed };
    PGresult *result = NULL;

    if (!read)
        return false;
    pool->first = read->next;
    if (!pool->first)
        pool->last = NULL;
    if (pool->explains)
        explain(pool, read);
    if (++pool->reads != pool->fail_at)
        result = query(pool, read->sql->text, &read->params);
    if (result && PQresultStatus(result) == PGRES_TUPLES_OK) {
        read->done(read->context, result, NULL);
    } else {
        snprintf(err.message, sizeof err.message, "%s", PQresultErrorMessage(result));
        if (*err.message && !strstr(err.message, "lock timeout"))
            fail_msg("%s: %s", read->sql->text, err.message);
        read->done(read->context, NULL, &err);
    }
    PQclear(result);
    params_release(&read->params);
    free(read);
    return true;
}

void pool_run(struct staged_pool *pool)
{
    while (pool_step(pool))
        continue;
}

static void make_tables(const char *url)
{
    struct text schema = { 0 };

    postgres_schema_write(&schema);
    postgres_run(url, text_string(&schema));
    text_release(&schema);
}

int stage_set_up(void **state)
{
    struct stage *stage;
    struct error err = { 0 };

    *state = NULL;
    if (!postgres_is_there())
        return 0;
    if (!libpq_load(&err))
        fail_msg("%s", err.message);
    stage = mem_new(sizeof *stage);
    if (*group_url)
        postgres_clear(group_url);
    else
        postgres_create(group_url);
    memcpy(stage->url, group_url, sizeof stage->url);
    make_tables(stage->url);
    stage->pool = staged_pool_on(PQconnectdb(stage->url));
    stage->reads = &stage->pool.pool;
    stage->of_reads.queued.read = pg_read;
    stage->of_reads.pool = stage->reads;
    stage->store = &stage->of_reads.queued.port;
    assert_int_equal(PQstatus(stage->pool.connection), CONNECTION_OK);
    *state = stage;
    return 0;
}

int stage_tear_down(void **state)
{
    struct stage *stage = *state;

    if (!stage)
        return 0;
    assert_null(stage->pool.first);
    PQfinish(stage->pool.connection);
    text_release(&stage->pool.plans);
    free(stage);
    return 0;
}

int stage_group_tear_down(void **state)
{
    (void)state;
    if (*group_url)
        postgres_drop(group_url);
    *group_url = '\0';
    return 0;
}

void stage_run(struct stage *stage, const char *sql_text)
{
    PGresult *result = PQexec(stage->pool.connection, sql_text);

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql_text, PQresultErrorMessage(result));
    PQclear(result);
}

int64_t stage_number(struct stage *stage, const char *sql_text)
{
    PGresult *result = PQexec(stage->pool.connection, sql_text);
    int64_t number;

    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) < 1)
        fail_msg("%s: %s", sql_text, PQresultErrorMessage(result));
    number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

void stage_id(char out[27], int64_t number)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

    memset(out, 'a', 26);
    out[26] = '\0';
    for (int at = 25; number > 0; number /= 32)
        out[at--] = digits[number % 32];
}

static const char *or_else(const char *text, const char *fallback)
{
    return text ? text : fallback;
}

static void add(struct stage *stage, const char *text, struct params *take_params)
{
    PGresult *result = query(&stage->pool, text, take_params);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", text, PQresultErrorMessage(result));
    PQclear(result);
    params_release(take_params);
}

static void add_answer(struct stage *stage, const struct staged_ask *ask, const char *id)
{
    char *actor = mem_format("{\"via\":\"%s\"}", or_else(ask->via, "web"));
    struct params params = { 0 };

    params_add(&params, VALUES(value_number(ask->number + 1)));
    params_text(&params, id);
    params_text(&params, actor);
    params_add(&params, VALUES(value_number(ask->number)));
    params_text(&params, ask->answer);
    add(stage,
        "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, answer, person,"
        " answer_key, decisive, answered_ms, hub) VALUES ($1::bigint, $2, 2, $3, '{\"at\":5}', $4,"
        " '\\x00', $5, 'owner', 'key-' || $2, 1, 5, 1)",
        &params);
    free(actor);
}

void stage_ask(struct stage *stage, const struct staged_ask *ask)
{
    struct params params = { 0 };
    char id[27];

    stage_id(id, ask->number);
    params_add(&params, VALUES(value_number(ask->number)));
    params_text(&params, id);
    params_text(&params, or_else(ask->form, "{\"title\":\"Which one?\"}"));
    add(stage,
        "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, form, arguments,"
        " hub) VALUES ($1::bigint, $2, 0, '', '{\"at\":1}', 0, '\\x00', $3, '{\"a\":1}', 1)",
        &params);
    if (ask->answer)
        add_answer(stage, ask, id);
    params_add(&params, VALUES(value_number(ask->number)));
    params_text(&params, id);
    params_text(&params, or_else(ask->principal, "00000000000000000000000000000000"));
    params_add(&params, VALUES(value_number(ask->state ? ask->state : 2)));
    params_add(&params, VALUES(value_number(ask->deliver_after_ms)));
    params_add(&params, VALUES(value_number(ask->delivered_ms)));
    params_add(&params, VALUES(value_number(ask->number + (ask->answer != NULL))));
    params_add(&params, VALUES(value_number(ask->answer ? ask->number + 1 : 0)));
    params_text(&params, ask->agent);
    params_text(&params, ask->key);
    add(stage,
        "INSERT INTO asks (number, id, principal, digest, state, interface, flags, version,"
        " form_version, created_ms, deadline_ms, original_ms, hold_used_ms, deliver_after_ms,"
        " delivered_ms, decided_ms, ended_ms, seq, earlier_seq, answer_seq, tool, title, origin,"
        " agent, idempotency_key) VALUES ($1::bigint, $2, $3, sha256($1::text::bytea), $4, 0, 0,"
        " 1, 1, 1700000000000 + $1, 9, 8, 0, $5, $6, 0, 0, $7, 0, $8, 'provide_choice',"
        " 'Which one?', '{}', $9, $10)",
        &params);
    stage_run(stage, "SELECT sayso_list_asks()");
}
