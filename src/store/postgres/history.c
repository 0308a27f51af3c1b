/*
 * history.c - lists for people who look back: with form and answer, by channel, by time, and by
 * words that stand in them. The same as sqlite_history.c finds, read a few rows at a time.
 *
 * Where a filter may fit few asks, numbers are gone through in windows, each a read of its own, and
 * what that costs ends a reply early, as it does there. Words are looked up in the newest window
 * first, where most is found; what is older by the index of their threes of characters. Of asks
 * that no index knows yet the texts themselves are read and looked at here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/search_text.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/postgres/result.h"
#include "store/row.h"

_Static_assert(STORE_LIST_OPEN == 1 && STORE_LIST_ENDED == 2, "the SQL below knows them by number");

enum {
    PAGE = 64,           /* rows of one read: they come with their texts */
    FIRST_WINDOW = 1000, /* numbers */
    /* What a look at a thing costs, in microseconds or so, and how much of that is enough. */
    COST_NUMBER = 1,
    COST_ROW = 6,
    COST_TEXT = 16,
    COST_MOST = 20000,
};

#define VIA "CASE WHEN a.actor LIKE '{%' THEN a.actor::json ->> 'via' END"
/* $1 and $2: numbers below and above; $3: how many. */
#define FILTERS                                                                                    \
    "CASE $4::bigint WHEN 1 THEN k.state <= 2 WHEN 2 THEN k.state > 2 ELSE true END"               \
    " AND ($5::bigint = 0 OR k.created_ms >= $5) AND ($6::bigint = 0 OR k.created_ms < $6)"        \
    " AND ($7::bigint = 0 OR ($7 >> k.state::integer) & 1 = 1)"                                    \
    " AND ($8::text IS NULL OR k.agent = $8) AND ($9::text IS NULL OR " VIA " = $9)"
#define RANGE  " AND k.number < $1::bigint AND k.number > $2::bigint"
#define NEWEST " ORDER BY k.number DESC LIMIT $3::bigint"
/* $10: what is looked for, as patterns. None has a name: each is planned with the filters it has.
 */
static const struct sql rows_sql = { NULL, "SELECT " ROW_WHOLE "false FROM asks k" ROW_JOIN
                                           "WHERE " FILTERS RANGE NEWEST };
/* The range is said twice: nothing is concluded through an outer join. */
static const struct sql words_sql = {
    NULL, "SELECT " ROW_WHOLE "w.number IS NULL FROM asks k" ROW_JOIN
          "LEFT JOIN words w ON w.number = k.number AND w.number < $1::bigint"
          " AND w.number > $2::bigint"
          " WHERE (w.number IS NULL OR w.body LIKE ALL ($10::text[])) AND " FILTERS RANGE NEWEST
};
/* $11: threes of characters. */
static const struct sql threes_sql = {
    NULL,
    "WITH hit AS MATERIALIZED (SELECT number FROM words WHERE number < $1::bigint"
    " AND threes_of(body) @> $11::text[] AND body LIKE ALL ($10::text[])"
    " UNION ALL SELECT number FROM unindexed WHERE number < $1 UNION ALL"
    " SELECT number FROM asks WHERE number < $1 AND number >= (SELECT next FROM search))"
    " SELECT " ROW_WHOLE "w.number IS NULL FROM hit JOIN asks k ON k.number = hit.number" ROW_JOIN
    "LEFT JOIN words w ON w.number = k.number WHERE " FILTERS RANGE NEWEST
};
/* The first number behind a window of $2. */
static const struct sql window_sql = { "history_window",
                                       "SELECT number FROM asks WHERE number < $1::bigint"
                                       " ORDER BY number DESC OFFSET $2::bigint LIMIT 1" };

struct looking {
    struct pool *pool;
    store_found *each;
    void *context;
    struct store_history_query query; /* its texts are ours */
    struct search_terms search;       /* likewise, one by one */
    struct text patterns, threes;     /* as arrays of PostgreSQL */
    struct text body;                 /* of an ask that no index knows */
    size_t count;
    int64_t before, above; /* what is looked at: numbers between these two */
    int64_t window;        /* how many numbers shall be between them; 0: all there are */
    bool is_bounded;       /* `above` is that of this window */
    int64_t cost;
    int wanted; /* rows of the read under way */
};

/* As an element of an array of texts, behind the others. */
static void add_element(struct text *array, const char *bytes, size_t length)
{
    text_add_text(array, array->used ? ",\"" : "{\"");
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\')
            text_add_char(array, '\\');
        text_add_char(array, bytes[i]);
    }
    text_add_char(array, '"');
}

static void add_pattern(struct text *array, const char *term)
{
    struct text pattern = { 0 };

    text_add_char(&pattern, '%');
    for (; *term; term++) {
        if (strchr("%_\\", *term))
            text_add_char(&pattern, '\\');
        text_add_char(&pattern, *term);
    }
    text_add_char(&pattern, '%');
    add_element(array, text_string(&pattern), pattern.used);
    text_release(&pattern);
}

static bool step(const char **at, const char *end)
{
    return *at < end && text_decode(at, end) >= 0;
}

/* Every three characters of the term; a shorter one has none. */
static void add_threes(struct text *array, const char *term)
{
    const char *first = term, *end = term + strlen(term), *behind = term;

    if (!step(&behind, end) || !step(&behind, end))
        return;
    while (step(&behind, end)) {
        add_element(array, first, (size_t)(behind - first));
        step(&first, end);
    }
}

static void take_search(struct looking *looking, const struct search_terms *search)
{
    for (size_t i = 0; i < search->count; i++) {
        looking->search.terms[i] = mem_text(search->terms[i]);
        add_pattern(&looking->patterns, search->terms[i]);
        add_threes(&looking->threes, search->terms[i]);
    }
    looking->search.count = search->count;
    if (looking->patterns.used)
        text_add_char(&looking->patterns, '}');
    if (looking->threes.used)
        text_add_char(&looking->threes, '}');
}

static void looking_end(struct looking *looking, int64_t looked_to, const struct error *err)
{
    looking->each(looking->context, NULL, looked_to, err);
    for (size_t i = 0; i < looking->search.count; i++)
        free((char *)looking->search.terms[i]);
    text_release(&looking->patterns);
    text_release(&looking->threes);
    text_release(&looking->body);
    free((char *)looking->query.list.agent);
    free((char *)looking->query.via);
    free(looking);
}

/* A page goes on before a number; its time is that of an ask, and no bound. */
static int64_t until_of(const struct store_history_query *query)
{
    int64_t before_ms = query->list.before_number ? 0 : query->list.before_ms;

    return before_ms && (!query->until_ms || before_ms < query->until_ms) ? before_ms
                                                                          : query->until_ms;
}

static bool has_words(struct looking *looking, const struct store_row *row)
{
    looking->cost += COST_TEXT;
    text_clear(&looking->body);
    search_text(row->ask.form_json, row->answer_json, &looking->body);
    return search_terms_found(&looking->search, text_string(&looking->body));
}

static void look_on(struct looking *looking);

/* Hands on what fits of the rows of one read. */
static void take_rows(struct looking *looking, const PGresult *result)
{
    struct store_row row;

    for (int i = 0; i < result_count(result) && looking->count < looking->query.list.limit; i++) {
        bool is_unread = result_flag(result, i, ROW_COLUMN_COUNT);

        result_row(result, i, 0, &row);
        looking->cost += COST_ROW;
        looking->before = row.number;
        if (!is_unread || has_words(looking, &row)) {
            looking->each(looking->context, &row, 0, NULL);
            looking->count++;
        }
    }
}

static void on_rows(void *context, const PGresult *result, const struct error *err)
{
    struct looking *looking = context;
    bool is_last;

    if (err) {
        looking_end(looking, 0, err);
        return;
    }
    take_rows(looking, result);
    is_last = result_count(result) < looking->wanted && looking->count < looking->query.list.limit;
    if (is_last && looking->above == 0) {
        looking_end(looking, 0, NULL);
        return;
    }
    if (is_last) { /* of this window */
        looking->before = looking->above + 1;
        looking->above = 0;
        looking->is_bounded = false;
        looking->cost += looking->window * COST_NUMBER;
        looking->window = looking->threes.used ? 0 : COST_MOST - looking->cost;
    }
    look_on(looking);
}

static void read_rows(struct looking *looking)
{
    const struct store_history_query *query = &looking->query;
    const struct sql *sql = looking->window ? &words_sql : &threes_sql;
    size_t rest = query->list.limit - looking->count;
    struct params params = { 0 };

    if (!query->search)
        sql = &rows_sql;
    looking->wanted = query->search || rest > PAGE ? PAGE : (int)rest;
    params_integer(&params, looking->before);
    params_integer(&params, looking->above);
    params_integer(&params, looking->wanted);
    params_integer(&params, query->list.which);
    params_integer(&params, query->since_ms);
    params_integer(&params, until_of(query));
    params_integer(&params, query->list.states);
    params_text(&params, query->list.agent);
    params_text(&params, query->via);
    if (query->search)
        params_text(&params, text_string(&looking->patterns));
    if (sql == &threes_sql)
        params_text(&params, text_string(&looking->threes));
    pool_read(looking->pool, sql, &params, on_rows, looking);
}

static void on_window(void *context, const PGresult *result, const struct error *err)
{
    struct looking *looking = context;

    if (err) {
        looking_end(looking, 0, err);
        return;
    }
    looking->above = result_integer(result, 0, 0); /* none: 0 */
    looking->is_bounded = true;
    read_rows(looking);
}

static void look_on(struct looking *looking)
{
    struct params params = { 0 };

    if (looking->count >= looking->query.list.limit || looking->cost >= COST_MOST) {
        looking_end(looking, looking->before, NULL);
        return;
    }
    if (!looking->window || looking->is_bounded) {
        read_rows(looking);
        return;
    }
    params_integer(&params, looking->before);
    params_integer(&params, looking->window);
    pool_read(looking->pool, &window_sql, &params, on_window, looking);
}

/* Whether a look may go past many asks before it finds one. */
static bool fits_few(const struct store_history_query *query)
{
    return query->search || query->via || query->list.states || query->since_ms || until_of(query);
}

void pg_history(struct pool *pool, const struct store_history_query *query, store_found *each,
                void *context)
{
    struct looking *looking = mem_new(sizeof *looking);

    *looking = (struct looking){ .pool = pool, .each = each, .context = context, .query = *query };
    looking->query.list.agent = mem_text(query->list.agent);
    looking->query.via = mem_text(query->via);
    looking->before = query->list.before_number ? query->list.before_number : INT64_MAX;
    looking->window = fits_few(query) ? FIRST_WINDOW : 0;
    if (query->search) {
        take_search(looking, query->search);
        looking->query.search = &looking->search;
    }
    if (query->list.limit == 0)
        looking_end(looking, 0, NULL);
    else
        look_on(looking);
}
