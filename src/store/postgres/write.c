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

enum write_part write_part_of(const struct write *write)
{
    if (write_rows[write->what].flags & WRITE_IS_OF_FILE)
        return PART_NONE;
    if (write->what == WRITE_create)
        return PART_CREATE;
    if (write->what == WRITE_change)
        return change_only_delivers(&write->of.change) ? PART_DELIVER : PART_CHANGE;
    return PART_SINGLE;
}

static const char *first_ask(const struct write *write)
{
    switch (write->what) {
    case WRITE_create:
        return write->of.create.ask.id;
    case WRITE_change:
        return write->of.change.ask_id;
    case WRITE_mark:
        return write->of.mark.ask_id;
    case WRITE_draft:
        return write->of.draft.ask_id;
    case WRITE_conversation_step:
        return write->of.conversation_step.delivered_ask;
    default:
        return NULL;
    }
}

/* Between the others there are spaces, and there may be one before them. */
size_t write_next_ask(const struct write *write, const char **ret_id)
{
    const char *id = *ret_id, *first = first_ask(write);

    if (!id)
        id = first;
    else if (id == first)
        id = write->what == WRITE_change ? write->of.change.more_ids : NULL;
    else
        id += strcspn(id, " ");
    if (id && id != first)
        id += strspn(id, " ");
    *ret_id = id;
    return id ? strcspn(id, " ") : 0;
}

/* An element of an array for each of some writes. */
struct elements {
    const struct write *first;
    size_t count;
    struct column_value *values;
    struct text *texts; /* what is made for them */
};

static void add_elements(struct params *out, const struct elements *elements,
                         enum params_element element)
{
    params_array(out, element, elements->values, elements->count);
}

/* Columns from one place in their list to another. */
static void add_columns(struct params *out, const struct elements *elements, size_t from, size_t to)
{
    const struct column *list = write_rows[elements->first->what].columns.list;

    for (size_t at = from; at < to; at++) {
        const struct write *write = elements->first;

        for (size_t i = 0; i < elements->count; i++, write = write->next)
            elements->values[i] = column_value(&list[at], &write->of);
        add_elements(out, elements, params_element_of(&list[at]));
    }
}

/* Texts that are made for each. */
static void add_made(struct params *out, const struct elements *elements,
                     void (*make)(const struct write *write, struct text *out))
{
    const struct write *write = elements->first;

    for (size_t i = 0; i < elements->count; i++, write = write->next) {
        text_clear(&elements->texts[i]);
        make(write, &elements->texts[i]);
    }
    for (size_t i = 0; i < elements->count; i++)
        elements->values[i] =
            value_text(elements->texts[i].used ? text_string(&elements->texts[i]) : NULL);
    add_elements(out, elements, PARAMS_TEXT);
}

static void make_agent(const struct write *write, struct text *out)
{
    char *agent = write_agent_name(write->of.create.ask.origin_json);

    text_add_text(out, agent ? agent : "");
    free(agent);
}

static void make_created(const struct write *write, struct text *out)
{
    event_write_created(&write->of.create.ask, out);
}

static void bind_create(struct params *out, const struct elements *elements)
{
    add_columns(out, elements, 0, CREATE_FORM);
    add_made(out, elements, make_agent);
    add_columns(out, elements, CREATE_FORM, CREATE_ASKER);
    add_made(out, elements, make_created);
    add_columns(out, elements, CREATE_ASKER, write_rows[WRITE_create].columns.count);
}

/* Behind the ask's version, which the database writes. */
static void make_rest(const struct write *write, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    text_add_char(out, ',');
    event_write_end(&write->of.change, &writer);
}

static void bind_change(struct params *out, const struct elements *elements)
{
    const struct write *write = elements->first;

    add_columns(out, elements, 0, CHANGE_ANSWER);
    for (size_t i = 0; i < elements->count; i++, write = write->next)
        elements->values[i] = value_text(
            change_brings_answer(&write->of.change) ? write->of.change.answer_json : NULL);
    add_elements(out, elements, PARAMS_TEXT);
    add_columns(out, elements, CHANGE_KEY, CHANGE_REMOVES);
    write = elements->first;
    for (size_t i = 0; i < elements->count; i++, write = write->next)
        elements->values[i] = value_number(change_brings_answer(&write->of.change));
    add_elements(out, elements, PARAMS_NUMBER);
    add_columns(out, elements, CHANGE_REMOVES, CHANGE_REMOVES + 1);
    add_columns(out, elements, CHANGE_LAUNCH, CHANGE_COPIED);
    add_made(out, elements, make_rest);
}

static size_t count_asks(const struct write *write)
{
    const char *id = NULL;
    size_t count = 0;

    while (write_next_ask(write, &id) > 0)
        count++;
    return count;
}

/* An element for each ask, which are more than writes. */
static void bind_deliver(struct params *out, const struct write *first, int count)
{
    enum { ID, WRITE, FROM, PRINCIPAL, DELIVERED, NOW, ACTOR, ARRAYS };
    struct column_value *values[ARRAYS];
    const struct write *write = first;
    size_t asks = 0, at = 0;

    for (int i = 0; i < count; i++, write = write->next)
        asks += count_asks(write);
    for (int array = 0; array < ARRAYS; array++)
        values[array] = mem_new(asks * sizeof *values[array]);
    write = first;
    for (int i = 0; i < count; i++, write = write->next) {
        const struct store_change *change = &write->of.change;
        const char *id = NULL;

        for (size_t length; (length = write_next_ask(write, &id)) > 0; at++) {
            values[ID][at] = value_bytes(id, length);
            values[WRITE][at] = value_number(i + 1);
            values[FROM][at] = value_number(change->from_states);
            values[PRINCIPAL][at] = value_text(change->principal);
            values[DELIVERED][at] = value_number(change->delivered_ms);
            values[NOW][at] = value_number(change->now_ms);
            values[ACTOR][at] = value_text(change->actor_json ? change->actor_json : "");
        }
    }
    for (int array = 0; array < ARRAYS; array++) {
        bool is_text = array == ID || array == PRINCIPAL || array == ACTOR;

        params_array(out, is_text ? PARAMS_TEXT : PARAMS_NUMBER, values[array], asks);
        free(values[array]);
    }
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

static void bind_elements(struct params *out, const struct write *first, int count)
{
    struct elements elements = { first, (size_t)count,
                                 mem_new((size_t)count * sizeof *elements.values),
                                 mem_new((size_t)count * sizeof *elements.texts) };

    if (first->what == WRITE_create)
        bind_create(out, &elements);
    else
        bind_change(out, &elements);
    for (int i = 0; i < count; i++)
        text_release(&elements.texts[i]);
    free(elements.texts);
    free(elements.values);
}

void write_bind(const struct write *first, int count, const struct sql **ret_sql,
                struct params *out)
{
    const struct write_row *kind = &write_rows[first->what];
    enum write_part part = write_part_of(first);

    if (part == PART_DELIVER)
        bind_deliver(out, first, count);
    else if (part == PART_SINGLE)
        params_values(out, kind->columns.list, kind->columns.count, &first->of);
    else
        bind_elements(out, first, count);
    *ret_sql = part == PART_DELIVER ? call_of(&deliver_call, "deliver", out->count)
                                    : call_of(&calls[first->what], kind->name, out->count);
}

static enum store_outcome outcome_of(char letter)
{
    static const char letters[] = {
        [STORE_DONE] = 'D', [STORE_LOST] = 'L', [STORE_REPEATED] = 'R', [STORE_MISSING] = 'M'
    };
    const char *found = memchr(letters, letter, sizeof letters);

    return found ? (enum store_outcome)(found - letters) : STORE_FAILED;
}

/* Only changes have a row, and what was not made because it is there. */
static bool wants_row(const struct write *write)
{
    enum store_outcome outcome = write->reply.outcome;

    if (write->what == WRITE_create)
        return outcome == STORE_REPEATED || outcome == STORE_LOST;
    return write->what == WRITE_change && (outcome == STORE_LOST || outcome == STORE_REPEATED ||
                                           (outcome == STORE_DONE && !write->of.change.skips_row &&
                                            write_part_of(write) == PART_CHANGE));
}

const char *write_take_said(struct write *write, const char *said)
{
    char *end = NULL;

    write_reset(write);
    write->reply.outcome = outcome_of(*said);
    write->reply.seq = *said ? strtoll(said + 1, &end, 10) : 0;
    if (write->reply.outcome == STORE_FAILED)
        fault_describe(FAULT_SCHEMA, "", &write->reply.err);
    write->sent.wants_row = wants_row(write);
    return end ? end + (*end == ' ') : said;
}

void write_take(struct write *first, int count, const PGresult *result)
{
    const char *said = result_text(result, 0, 0);

    if (write_part_of(first) == PART_SINGLE) {
        first->reply.outcome = (enum store_outcome)result_integer(result, 0, 0);
        first->reply.seq = result_integer(result, 0, 1);
        return;
    }
    for (struct write *write = first; count > 0; count--, write = write->next)
        said = write_take_said(write, said ? said : "");
}

/* Of an ask that was there when one was to be made, its outcome tells the number. */
static const struct sql row_sql = { "row_again", "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN
                                                 "WHERE k.id = $1" };
static const struct sql row_other_sql = { "row_other", "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN
                                                       "WHERE k.number = $1" };
static const struct sql row_key_sql = { "row_key",
                                        "SELECT " ROW_WHOLE "0 FROM events a JOIN asks k"
                                        " ON k.id = a.ask JOIN events t ON t.seq = k.number"
                                        " WHERE a.answer_key = $1" };

void write_bind_row(const struct write *write, const struct sql **ret_sql, struct params *out)
{
    bool is_key = write->reply.outcome == STORE_REPEATED;
    const struct store_change *change = &write->of.change;

    if (write->what == WRITE_create) {
        *ret_sql = &row_other_sql;
        params_add(out, VALUES(value_number(write->reply.seq)));
    } else {
        *ret_sql = is_key ? &row_key_sql : &row_sql;
        params_text(out, is_key ? change->answer_key : change->ask_id);
    }
}

/* A row that is gone by now was dropped by retention: its ask is over for everybody. */
void write_take_row(struct write *write, const PGresult *result)
{
    struct store_row row;

    write->sent.wants_row = false;
    if (result_count(result) > 0) {
        result_read(result, 0, 0, &row_columns, &row);
        write_set_row(write, &row);
    } else {
        write->reply.outcome = STORE_MISSING;
    }
}

/* What is written holds its asks for a moment, so there are few, and few bytes of texts. */
enum { INDEX_MAX_BATCH = 25 };
#define INDEX_MAX_TEXT "65536"

/* Nothing that is found by changes any more: it is over, and so is the time to undo it. */
#define SETTLED "(k.state " SQL_IS_OVER " AND (k.delivered_ms > 0 OR k.deliver_after_ms <= $1))"
#define COLUMNS "k.number, k.seq, k.answer_seq, " SETTLED " AS is_settled"

/* Those that were left and have settled, and the next ones that were not looked at yet; of each
 * the number of bytes before it, so that there are not too many. */
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

static const struct sql take = { "sayso_index", "SELECT sayso_index($1, $2, $3, $4, $5, $6)" };

struct indexing {
    struct pool *pool;
    store_done *done;
    void *context;
};

int64_t write_three(const char **at, const char *end)
{
    const char *next = *at;
    int64_t three = 0;

    for (int i = 0; i < 3; i++) {
        int32_t character = text_decode(&next, end);

        if (character < 0)
            return -1;
        three = three << 21 | character;
        if (i == 0)
            *at = next;
    }
    return three;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t left = ((const struct column_value *)a)->number;
    int64_t right = ((const struct column_value *)b)->number;

    return (left > right) - (left < right);
}

/* Of all asks of a batch, those of one behind those of the one before. */
struct threes {
    struct column_value *values;
    size_t count, capacity;
};

/* Each once. */
static void add_threes(struct threes *all, const char *text)
{
    const char *at = text, *end = text + strlen(text);
    size_t first = all->count, kept = all->count;

    for (int64_t three; (three = write_three(&at, end)) >= 0;) {
        if (all->count == all->capacity) {
            all->capacity = all->capacity ? 2 * all->capacity : 4096;
            all->values = mem_resize(all->values, all->capacity * sizeof *all->values);
        }
        all->values[all->count++] = value_number(three);
    }
    if (all->count > first)
        qsort(all->values + first, all->count - first, sizeof *all->values, compare_numbers);
    for (size_t i = first; i < all->count; i++) {
        if (kept == first || all->values[kept - 1].number != all->values[i].number)
            all->values[kept++] = all->values[i];
    }
    all->count = kept;
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
    struct column_value numbers[2 * INDEX_MAX_BATCH], seqs[2 * INDEX_MAX_BATCH];
    struct column_value words[2 * INDEX_MAX_BATCH], ends[2 * INDEX_MAX_BATCH];
    struct text folded[2 * INDEX_MAX_BATCH] = { 0 };
    struct threes threes = { 0 };
    struct params params = { 0 };
    size_t count = (size_t)result_count(result); /* of two lists of INDEX_MAX_BATCH */
    int64_t next = 0;

    for (size_t i = 0; i < count; i++) {
        int row = (int)i;

        numbers[i] = value_number(result_integer(result, row, 1));
        seqs[i] = value_number(result_integer(result, row, 2));
        words[i] = value_text(NULL);
        if (result_flag(result, row, 3)) {
            search_text(result_text(result, row, 4), result_text(result, row, 5), &folded[i]);
            words[i] = value_text(text_string(&folded[i]));
            add_threes(&threes, words[i].bytes);
        }
        ends[i] = value_number((int64_t)threes.count);
        if (!result_flag(result, row, 0))
            next = numbers[i].number + 1;
    }
    params_array(&params, PARAMS_NUMBER, numbers, count);
    params_array(&params, PARAMS_NUMBER, seqs, count);
    params_array(&params, PARAMS_TEXT, words, count);
    params_array(&params, PARAMS_NUMBER, ends, count);
    params_array(&params, PARAMS_NUMBER, threes.values, threes.count);
    params_add(&params, VALUES(value_number(next)));
    for (size_t i = 0; i < count; i++)
        text_release(&folded[i]);
    free(threes.values);
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
