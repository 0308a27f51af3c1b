/*
 * history.c - lists for people who look back: with form and answer, by channel, by time, and by
 * words that stand in them. The same as store/sqlite/history.c finds, read a few rows at a time.
 *
 * Where a filter may fit few asks, numbers are gone through in windows, each a read of its own, and
 * what that costs ends a reply early, as it does there. Words are looked up in the newest window
 * first, where most is found; what is older by the index of their threes of characters, which gives
 * numbers that are then looked up. Of asks that no index knows yet the texts themselves are read
 * and looked at here.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/search_text.h"
#include "store/columns.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/postgres/write.h"
#include "store/reads.h"
#include "store/row.h"

_Static_assert(STORE_LIST_OPEN == 1 && STORE_LIST_ENDED == 2, "the SQL below knows them by number");

enum {
    PAGE = 64,           /* rows of one read: they come with their texts */
    FIRST_WINDOW = 1000, /* numbers */
    HITS = 3000,         /* numbers of one read of the index: more would cost too much anyway */
};

#define VIA "CASE WHEN a.actor LIKE '{%' THEN a.actor::json ->> 'via' END"
/* $1 and $2: numbers below and above; $3: how many. */
#define FILTERS                                                                                    \
    "CASE $4::bigint WHEN 1 THEN k.state " SQL_IS_OPEN " WHEN 2 THEN k.state " SQL_IS_OVER         \
    " ELSE true END"                                                                               \
    " AND ($5::bigint = 0 OR k.created_ms >= $5) AND ($6::bigint = 0 OR k.created_ms < $6)"        \
    " AND ($7::bigint = 0 OR ($7 >> k.state::integer) & 1 = 1)"                                    \
    " AND ($8::text IS NULL OR k.agent = $8) AND ($9::text IS NULL OR " VIA " = $9)"
#define RANGE  " AND k.number < $1::bigint AND k.number > $2::bigint"
#define NEWEST " ORDER BY k.number DESC LIMIT $3::bigint"
/* $10: patterns that are looked for. None has a name: each is planned with its filters. */
static const struct sql rows_sql = { NULL, "SELECT " ROW_WHOLE "false FROM asks k" ROW_JOIN
                                           "WHERE " FILTERS RANGE NEWEST };
/* The range is said twice: nothing is concluded through an outer join. */
#define WORDS                                                                                      \
    "SELECT " ROW_WHOLE "w.number IS NULL FROM asks k" ROW_JOIN                                    \
    "LEFT JOIN words w ON w.number = k.number AND w.number < $1::bigint"                           \
    " AND w.number > $2::bigint"                                                                   \
    " WHERE (w.number IS NULL OR w.body LIKE ALL ($10::text[])) AND " FILTERS RANGE
static const struct sql words_sql = { NULL, WORDS NEWEST };
/* The same of numbers that were found: $11. */
static const struct sql hits_rows_sql = { NULL,
                                          WORDS " AND k.number = ANY ($11::bigint[])" NEWEST };
/* Numbers below $1 that may fit: $2 are threes of characters, $3 patterns. */
static const struct sql hits_sql = {
    NULL, "SELECT number FROM words WHERE number < $1::bigint"
          " AND threes @> $2::bigint[] AND body LIKE ALL ($3::text[])"
          " UNION ALL SELECT number FROM unindexed WHERE number < $1 UNION ALL"
          " SELECT number FROM asks WHERE number < $1 AND number >= (SELECT next FROM search)"
          " ORDER BY number DESC LIMIT $4::bigint"
};
/* The first number behind a window of $2. */
static const struct sql window_sql = { "history_window",
                                       "SELECT number FROM asks WHERE number < $1::bigint"
                                       " ORDER BY number DESC OFFSET $2::bigint LIMIT 1" };

/* Where numbers come from: all there are; windows of them; or those the index knows. */
enum source { SOURCE_ALL, SOURCE_WINDOWS, SOURCE_HITS };

struct looking {
    struct pool *pool;
    store_found *each;
    void *context;
    struct store_history_query query; /* its texts are ours */
    struct search_terms search;       /* likewise, one by one */
    struct text patterns, threes;     /* as arrays of PostgreSQL */
    struct text body;                 /* of an ask that no index knows */
    size_t count;
    int64_t cost;
    enum source source;
    /* What is looked at: numbers between these two, so many. */
    int64_t before, above, span;
    bool has_span, is_last_span;
    int wanted;                 /* rows of the read under way */
    int64_t hits[HITS];         /* numbers the index knows, */
    int hit_count, hits_looked; /* and how many of them were looked at */
};

/* As an element of an array of texts, behind the others. */
static void add_element(struct text *array, const char *bytes, size_t length)
{
    text_add_char(array, array->used ? ',' : '{');
    params_add_element(array, bytes, length);
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

/* Patterns for LIKE, one a term; and every three characters of the terms that have three, as
 * the index has them of a text. An array that would be empty is "". */
static void take_search(struct looking *looking, const struct search_terms *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const char *at = search->terms[i], *end = at + strlen(at);

        looking->search.terms[i] = mem_text(at);
        add_pattern(&looking->patterns, at);
        for (int64_t three; (three = write_three(&at, end)) >= 0;)
            text_add_format(&looking->threes, "%c%lld", looking->threes.used ? ',' : '{',
                            (long long)three);
    }
    looking->search.count = search->count;
    looking->query.search = &looking->search;
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

        result_read(result, i, 0, &row_columns, &row);
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
    bool is_looked_at;

    if (err) {
        looking_end(looking, 0, err);
        return;
    }
    take_rows(looking, result);
    is_looked_at =
        result_count(result) < looking->wanted && looking->count < looking->query.list.limit;
    if (is_looked_at && looking->is_last_span) {
        looking_end(looking, 0, NULL);
        return;
    }
    if (is_looked_at) {
        looking->has_span = false;
        looking->before = looking->above + 1;
        looking->cost += looking->span * (looking->source == SOURCE_HITS ? COST_ROW : COST_NUMBER);
        if (looking->threes.used)
            looking->source = SOURCE_HITS;
    }
    look_on(looking);
}

static void add_numbers(const struct looking *looking, struct text *out)
{
    for (int i = 0; i < looking->span; i++) {
        text_add_char(out, i ? ',' : '{');
        text_add_integer(out, looking->hits[looking->hits_looked - looking->span + i]);
    }
    text_add_char(out, '}');
}

static void read_rows(struct looking *looking)
{
    const struct store_history_query *query = &looking->query;
    const struct sql *sql = query->search ? &words_sql : &rows_sql;
    size_t rest = query->list.limit - looking->count;
    struct params params = { 0 };
    struct text numbers = { 0 };

    if (looking->source == SOURCE_HITS)
        sql = &hits_rows_sql;
    looking->wanted = query->search || rest > PAGE ? PAGE + 1 : (int)rest;
    params_add(&params, VALUES(value_number(looking->before), value_number(looking->above),
                               value_number(looking->wanted), value_number(query->list.which),
                               value_number(query->since_ms), value_number(read_until(query)),
                               value_number(query->list.states), value_text(query->list.agent),
                               value_text(query->via)));
    if (query->search)
        params_text(&params, text_string(&looking->patterns));
    if (looking->source == SOURCE_HITS) {
        add_numbers(looking, &numbers);
        params_text(&params, text_string(&numbers));
        text_release(&numbers);
    }
    pool_read(looking->pool, sql, &params, on_rows, looking);
}

static void on_window(void *context, const PGresult *result, const struct error *err)
{
    struct looking *looking = context;

    if (err) {
        looking_end(looking, 0, err);
        return;
    }
    looking->has_span = true;
    looking->is_last_span = result_count(result) == 0;
    looking->above = result_integer(result, 0, 0);
    read_rows(looking);
}

static void find_window(struct looking *looking)
{
    looking->span = looking->cost ? COST_MAX - looking->cost : FIRST_WINDOW;
    pool_read_with(looking->pool, &window_sql,
                   VALUES(value_number(looking->before), value_number(looking->span)), on_window,
                   looking);
}

static void on_hits(void *context, const PGresult *result, const struct error *err)
{
    struct looking *looking = context;

    looking->hit_count = err ? 0 : result_count(result);
    looking->hits_looked = 0;
    if (looking->hit_count == 0) {
        looking_end(looking, 0, err);
        return;
    }
    for (int i = 0; i < looking->hit_count; i++)
        looking->hits[i] = result_integer(result, i, 0);
    look_on(looking);
}

/* The next of those the index knows. */
static void take_hits(struct looking *looking)
{
    int left = looking->hit_count - looking->hits_looked;

    if (left == 0) {
        pool_read_with(looking->pool, &hits_sql,
                       VALUES(value_number(looking->before),
                              value_text(text_string(&looking->threes)),
                              value_text(text_string(&looking->patterns)), value_number(HITS)),
                       on_hits, looking);
        return;
    }
    looking->span = left < PAGE ? left : PAGE;
    looking->hits_looked += (int)looking->span;
    looking->above = looking->hits[looking->hits_looked - 1] - 1;
    looking->has_span = true;
    looking->is_last_span = left <= PAGE && looking->hit_count < HITS;
    read_rows(looking);
}

static void look_on(struct looking *looking)
{
    if (looking->count >= looking->query.list.limit || looking->cost >= COST_MAX)
        looking_end(looking, looking->before, NULL);
    else if (looking->has_span)
        read_rows(looking);
    else if (looking->source == SOURCE_WINDOWS)
        find_window(looking);
    else
        take_hits(looking);
}

/* Whether a look may go past many asks before it finds one. */
static bool fits_few(const struct store_history_query *query)
{
    return query->search || query->via || query->list.states || query->since_ms ||
           read_until(query);
}

void pg_history(struct store *store, const struct store_history_query *query, store_found *each,
                void *context)
{
    struct looking *looking = mem_new(sizeof *looking);

    *looking = (struct looking){
        .pool = pool_of(store), .each = each, .context = context, .query = *query
    };
    looking->query.list.agent = mem_text(query->list.agent);
    looking->query.via = mem_text(query->via);
    looking->before = query->list.before_number ? query->list.before_number : INT64_MAX;
    looking->source = fits_few(query) ? SOURCE_WINDOWS : SOURCE_ALL;
    looking->has_span = looking->is_last_span = looking->source == SOURCE_ALL;
    if (query->search)
        take_search(looking, query->search);
    if (query->list.limit == 0)
        looking_end(looking, 0, NULL);
    else
        look_on(looking);
}
