/* index.c - see index.h. */
#include "store/postgres/index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/search_text.h"
#include "store/postgres/params.h"
#include "store/postgres/pool.h"
#include "store/postgres/result.h"
#include "store/sql_constants.h"

/* What is written holds its asks for a moment, so there are few, and few bytes of texts. */
enum { INDEX_MAX_BATCH = 25 };
#define INDEX_MAX_TEXT "65536"

/* Nothing that is found by changes any more: it is over, and so is the time to undo it. */
#define SETTLED "(k.state " SQL_IS_OVER " AND (k.delivered_ms > 0 OR k.deliver_after_ms <= $1))"
#define COLUMNS "k.number, k.seq, k.answer_seq, " SETTLED " AS is_settled"

/* Those that were left and have settled, and the next ones that nobody looked at; of each the
 * number of bytes before it, so that there are not too many. */
static const struct sql pick = {
    "index_pick",
    "WITH picked AS ((SELECT true AS was_left, " COLUMNS " FROM unindexed u JOIN asks k"
    " ON k.number = u.number WHERE " SETTLED " ORDER BY k.number LIMIT $2)"
    " UNION ALL (SELECT false, " COLUMNS " FROM asks k"
    " WHERE k.number >= (SELECT next FROM search) ORDER BY k.number LIMIT $2)),"
    " measured AS (SELECT p.*, t.form, a.answer, sum(octet_length(t.form)"
    " + COALESCE(octet_length(a.answer), 0)) OVER (ORDER BY p.was_left DESC, p.number ROWS BETWEEN"
    " UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM picked p"
    " JOIN events t ON t.seq = p.number LEFT JOIN events a ON a.seq = p.answer_seq)"
    " SELECT was_left, number, seq, is_settled, form, answer FROM measured"
    " WHERE before IS NULL OR before < " INDEX_MAX_TEXT " ORDER BY was_left DESC, number",
};

static const struct sql take = { "sayso_index", "SELECT sayso_index($1, $2, $3, $4)" };

struct indexing {
    struct pool *pool;
    store_done *done;
    void *context;
};

struct arrays {
    struct text numbers, seqs, words;
    int64_t next;
};

static void add_ask(struct arrays *arrays, const PGresult *result, int row)
{
    const char *before = row ? "," : "{";
    bool was_left = result_flag(result, row, 0);
    int64_t number = result_integer(result, row, 1);
    struct text folded = { 0 };

    text_add_format(&arrays->numbers, "%s%lld", before, (long long)number);
    text_add_format(&arrays->seqs, "%s%lld", before, (long long)result_integer(result, row, 2));
    text_add_text(&arrays->words, before);
    if (result_flag(result, row, 3)) {
        search_text(result_text(result, row, 4), result_text(result, row, 5), &folded);
        params_add_element(&arrays->words, text_string(&folded));
    } else {
        text_add_text(&arrays->words, "NULL");
    }
    if (!was_left)
        arrays->next = number + 1;
    text_release(&folded);
}

static void finish(struct indexing *indexing, int64_t count, const struct error *err)
{
    struct store_reply reply = { .outcome = err ? STORE_FAILED : STORE_DONE, .seq = count };

    if (err)
        reply.err = *err;
    indexing->done(indexing->context, &reply);
    free(indexing);
}

static void on_taken(void *context, const PGresult *result, const struct error *err)
{
    finish(context, err ? 0 : result_integer(result, 0, 0), err);
}

static void take_all(struct indexing *indexing, const PGresult *result)
{
    struct arrays arrays = { 0 };
    struct text *const texts[] = { &arrays.numbers, &arrays.seqs, &arrays.words };
    struct params params = { 0 };

    for (int row = 0; row < result_count(result); row++)
        add_ask(&arrays, result, row);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        text_add_char(texts[i], '}');
        params_text(&params, text_string(texts[i]));
        text_release(texts[i]);
    }
    params_integer(&params, arrays.next);
    pool_read(indexing->pool, &take, &params, on_taken, indexing);
}

static void on_picked(void *context, const PGresult *result, const struct error *err)
{
    if (err || result_count(result) == 0)
        finish(context, 0, err);
    else
        take_all(context, result);
}

void postgres_index(struct pool *pool, int64_t now_ms, size_t batch, store_done *done,
                    void *context)
{
    struct indexing *indexing = mem_new(sizeof *indexing);
    struct params params = { 0 };

    *indexing = (struct indexing){ pool, done, context };
    params_integer(&params, now_ms);
    params_integer(&params, batch < INDEX_MAX_BATCH ? (int64_t)batch : INDEX_MAX_BATCH);
    pool_read(pool, &pick, &params, on_picked, indexing);
}
