/* write.c - What is in sql/ says what each function does with what is bound here. */
#include "store/postgres/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/search_text.h"
#include "store/columns.h"
#include "store/event.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/row.h"
#include "store/sql_constants.h"
#include "store/writes.h"

char *write_agent_name(const char *origin)
{
    struct json *value = NULL;
    struct error err;
    const char *name = NULL;
    char *copy;

    if (origin && json_parse(origin, strlen(origin), &value, &err)) {
        name = json_member_text(value, "as");
        if (!name)
            name = json_member_text(value, "name");
    }
    copy = name ? mem_text(name) : NULL;
    json_free(value);
    return copy;
}

/* Those from one place in its list to another. */
static void add_values(struct params *out, const struct write *write, size_t from, size_t to)
{
    params_values(out, write_rows[write->what].columns.list + from, to - from, &write->of);
}

static void bind_create(const struct write *write, struct params *out)
{
    const struct ask *ask = &write->of.create.ask;
    char *agent = write_agent_name(ask->origin_json);
    struct text body = { 0 };

    event_write_created(ask, &body);
    add_values(out, write, 0, CREATE_FORM);
    params_text(out, agent);
    add_values(out, write, CREATE_FORM, CREATE_ASKER);
    params_text(out, text_string(&body));
    text_release(&body);
    free(agent);
    add_values(out, write, CREATE_ASKER, write_rows[WRITE_create].columns.count);
}

static void bind_deliver(const struct store_change *change, struct params *out)
{
    params_add(out, VALUES(value_text(change->ask_id), value_text(change->more_ids),
                           value_number(change->from_states), value_text(change->principal),
                           value_number(change->event), value_number(change->delivered_ms),
                           value_number(change->now_ms),
                           value_text(change->actor_json ? change->actor_json : "")));
}

/* Behind the ask's version, which the database writes. */
static void add_rest(struct params *out, const struct store_change *change)
{
    struct text rest = { 0 };
    struct json_writer writer = json_writer_to(&rest);

    text_add_char(&rest, ',');
    event_write_end(change, &writer);
    params_text(out, text_string(&rest));
    text_release(&rest);
}

static void bind_change(const struct write *write, struct params *out)
{
    const struct store_change *change = &write->of.change;
    bool brings = change_brings_answer(change);

    add_values(out, write, 0, CHANGE_ANSWER);
    params_text(out, brings ? change->answer_json : NULL);
    add_values(out, write, CHANGE_KEY, CHANGE_REMOVES);
    params_text(out, brings ? "t" : "f");
    add_values(out, write, CHANGE_REMOVES, CHANGE_COPIED);
    add_rest(out, change);
}

static struct call {
    char name[40], text[256];
    struct sql sql;
} calls[WRITE_KINDS], deliver_call;

/* Made once, of as many values as are bound each time. */
static const struct sql *call_of(struct call *call, const char *name, int count)
{
    struct text text = { 0 };

    if (call->sql.name)
        return &call->sql;
    text_add_format(&text, "SELECT * FROM sayso_%s(", name);
    for (int i = 1; i <= count; i++)
        text_add_format(&text, i < count ? "$%d, " : "$%d)", i);
    text_put(call->text, sizeof call->text, text_string(&text));
    text_release(&text);
    snprintf(call->name, sizeof call->name, "sayso_%s", name);
    call->sql = (struct sql){ call->name, call->text };
    return &call->sql;
}

bool write_bind(const struct write *write, const struct sql **ret_sql, struct params *out)
{
    const struct write_row *kind = &write_rows[write->what];

    if (kind->flags & WRITE_IS_OF_FILE)
        return false;
    if (write->what == WRITE_change && change_only_delivers(&write->of.change)) {
        bind_deliver(&write->of.change, out);
        *ret_sql = call_of(&deliver_call, "deliver", out->count);
        return true;
    }
    if (write->what == WRITE_create)
        bind_create(write, out);
    else if (write->what == WRITE_change)
        bind_change(write, out);
    else
        add_values(out, write, 0, kind->columns.count);
    *ret_sql = call_of(&calls[write->what], kind->name, out->count);
    return true;
}

void write_take(struct write *write, const PGresult *result)
{
    struct store_row row = { 0 };

    write->reply.outcome = (enum store_outcome)result_integer(result, 0, 0);
    write->reply.seq = result_integer(result, 0, 1);
    write_set_row(write, NULL);
    if (result_is_null(result, 0, 2))
        return;
    if (write->what == WRITE_create) /* of the ask that is there already only the name is known */
        text_put(row.ask.id, sizeof row.ask.id, result_text(result, 0, 2));
    else
        result_read(result, 0, 2, &row_columns, &row);
    write_set_row(write, &row);
}

/* What is written holds its asks for a moment, so there are few, and few bytes of texts. */
enum { INDEX_MAX_BATCH = 25 };
#define INDEX_MAX_TEXT "65536"

/* Nothing that is found by changes any more: it is over, and so is the time to undo it. */
#define SETTLED "(k.state " SQL_IS_OVER " AND (k.delivered_ms > 0 OR k.deliver_after_ms <= $1))"
#define COLUMNS "k.number, k.seq, k.answer_seq, " SETTLED " AS is_settled"

/* Those that were left and have settled, and the next ones that no one looked at; of each the
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
        params_add_element(&arrays->words, text_string(&folded), strlen(text_string(&folded)));
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
    params_add(&params, VALUES(value_number(arrays.next)));
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
    int64_t max = batch < INDEX_MAX_BATCH ? (int64_t)batch : INDEX_MAX_BATCH;

    *indexing = (struct indexing){ pool, done, context };
    pool_read_with(pool, &pick, VALUES(value_number(now_ms), value_number(max)), on_picked,
                   indexing);
}
