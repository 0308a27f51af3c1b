/*
 * history.c - lists for people who look back: with form and answer, by channel, by time, and
 * by words that stand in them.
 *
 * First come numbers of asks that may fit, newest first, from whatever knows best: the words'
 * index, the list of an agent, or all asks. Asks that no index knows yet are the newest, and a few
 * whose answer may still change; of these the texts themselves are looked at. Each number is then
 * looked up with the filters. What this costs is counted, and ends a reply early, because the
 * loop waits for it.
 */
#include <string.h>

#include "base/text.h"
#include "core/search_text.h"
#include "store/reads.h"
#include "store/row.h"
#include "store/sqlite/read.h"

enum history_statement {
    HISTORY_NEXT,
    HISTORY_ROW,
    HISTORY_ALL,
    HISTORY_OF_AGENT,
    HISTORY_WORDS,
    HISTORY_BODIES,
    HISTORY_LEFT,
    HISTORY_COUNT,
};

#define VIA_IS  "CASE WHEN json_valid(a.actor) THEN a.actor ->> 'via' IS ?7 ELSE 0 END"
#define NUMBERS "number < ?1 AND number >= ?2 ORDER BY number DESC"

const char *const history_sql[HISTORY_COUNT] = {
    [HISTORY_NEXT] = "SELECT next FROM search",
    [HISTORY_ROW] = "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN "WHERE k.number = ?1"
                    " AND CASE ?2 WHEN 1 THEN k.state " SQL_IS_OPEN
                    " WHEN 2 THEN k.state " SQL_IS_OVER " ELSE 1 END"
                    " AND k.created_ms >= ?3 AND (?4 = 0 OR k.created_ms < ?4)"
                    " AND (?5 = 0 OR (?5 >> k.state) & 1)"
                    " AND (?6 IS NULL OR " ROW_AGENT " IS ?6) AND (?7 IS NULL OR " VIA_IS ")",
    [HISTORY_ALL] = "SELECT number, NULL FROM asks WHERE " NUMBERS,
    [HISTORY_OF_AGENT] = "SELECT number, NULL FROM by_agent WHERE agent = ?3 AND " NUMBERS,
    [HISTORY_WORDS] = "SELECT rowid, body FROM words WHERE words MATCH ?3 AND rowid < ?1"
                      " AND rowid >= ?2 ORDER BY rowid DESC",
    [HISTORY_BODIES] = "SELECT rowid, body FROM words WHERE rowid < ?1 AND rowid >= ?2"
                       " ORDER BY rowid DESC",
    [HISTORY_LEFT] = "SELECT number, NULL FROM unindexed WHERE " NUMBERS,
};
const size_t history_sql_count = HISTORY_COUNT;

_Static_assert(STORE_LIST_OPEN == 1 && STORE_LIST_ENDED == 2, "the SQL above knows them by number");

struct looking {
    struct reader *reader;
    const struct store_history_query *query;
    store_found *each;
    void *context;
    size_t count;
    int64_t cost;
    int64_t looked_to;
    struct text body; /* of an ask that no index knows */
    bool has_failed;
    struct error err; /* then */
};

/* Numbers of asks, newest first, with their words where these are known. */
struct stream {
    struct statement statement;
    int64_t number; /* 0: there are no more */
    const char *body;
};

static void stream_step(struct stream *stream)
{
    bool is_more = statement_step(&stream->statement);

    stream->number = is_more ? sqlite3_column_int64(stream->statement.handle, 0) : 0;
    stream->body = is_more ? (const char *)sqlite3_column_text(stream->statement.handle, 1) : NULL;
}

static struct stream stream_open(struct looking *looking, enum history_statement how,
                                 int64_t before, int64_t from, const char *what)
{
    struct stream stream = { .statement =
                                 statement_with(&looking->reader->history, how,
                                                VALUES(value_number(before), value_number(from))) };

    if (what)
        statement_bind(&stream.statement, VALUES(value_text(what)));
    stream_step(&stream);
    return stream;
}

static void end(struct looking *looking, struct statement *statement)
{
    if (!reader_end(looking->reader, statement, looking->has_failed ? NULL : &looking->err))
        looking->has_failed = true;
}

static bool has_words(struct looking *looking, const struct stream *stream,
                      const struct store_row *row)
{
    const struct search_terms *search = looking->query->search;

    if (!search || stream->body)
        return true; /* was looked at before the row */
    looking->cost += COST_TEXT;
    text_clear(&looking->body);
    search_text(row->ask.form_json, row->answer_json, &looking->body);
    return search_terms_found(search, text_string(&looking->body));
}

/* Looks at the ask a stream is at; false: that is enough. */
static bool look(struct looking *looking, const struct stream *stream)
{
    const struct store_history_query *query = looking->query;
    struct statement find;
    struct store_row row;

    looking->cost += COST_NUMBER;
    looking->looked_to = stream->number;
    if (query->search && stream->body && !search_terms_found(query->search, stream->body))
        return looking->cost < COST_MAX;
    looking->cost += COST_ROW;
    find = statement_with(&looking->reader->history, HISTORY_ROW,
                          VALUES(value_number(stream->number), value_number(query->list.which),
                                 value_number(query->since_ms), value_number(read_until(query)),
                                 value_number(query->list.states), value_text(query->list.agent),
                                 value_text(query->via)));
    if (statement_next(&find, &row_columns, &row) && has_words(looking, stream, &row)) {
        looking->each(looking->context, &row, 0, NULL);
        looking->count++;
    }
    end(looking, &find);
    return looking->count < query->list.limit && looking->cost < COST_MAX;
}

/* Every three characters of the words that have three, as the index has them; false: none has. */
static bool write_match(const struct search_terms *search, struct text *out)
{
    for (size_t i = 0; i < search->count; i++) {
        const char *at = search->terms[i], *end = at + strlen(at);

        for (size_t length; (length = read_three(at, end)); text_decode(&at, end)) {
            text_add_char(out, '"');
            text_add(out, at, length); /* there is no quote in a word */
            text_add_text(out, "\" ");
        }
    }
    return out->used > 0;
}

/* Two streams as one, the newer number first. */
static bool look_at_both(struct looking *looking, struct stream *words, struct stream *left)
{
    bool goes_on = true;

    while (goes_on && (words->number || left->number)) {
        struct stream *newer = words->number >= left->number ? words : left;

        goes_on = look(looking, newer);
        stream_step(newer);
    }
    return goes_on;
}

static bool look_at_words(struct looking *looking, int64_t before)
{
    const struct search_terms *search = looking->query->search;
    struct text match = { 0 };
    bool goes_on, has_match = write_match(search, &match);
    struct stream words = stream_open(looking, has_match ? HISTORY_WORDS : HISTORY_BODIES, before,
                                      0, has_match ? text_string(&match) : NULL);
    struct stream left = stream_open(looking, HISTORY_LEFT, before, 0, NULL);

    goes_on = look_at_both(looking, &words, &left);
    end(looking, &words.statement);
    end(looking, &left.statement);
    text_release(&match);
    return goes_on;
}

static bool look_at_numbers(struct looking *looking, enum history_statement how, int64_t before,
                            int64_t from, const char *what)
{
    struct stream stream = stream_open(looking, how, before, from, what), none = { .number = 0 };
    bool goes_on = look_at_both(looking, &stream, &none);

    end(looking, &stream.statement);
    return goes_on;
}

static int64_t read_next(struct reader *reader)
{
    struct statement read = statement_of(&reader->history, HISTORY_NEXT);
    int64_t next = statement_step(&read) ? sqlite3_column_int64(read.handle, 0) : 0;

    reader_end(reader, &read, NULL);
    return next;
}

void reader_history(struct store *store, const struct store_history_query *query, store_found *each,
                    void *context)
{
    struct reader *reader = reader_of(store);
    struct looking looking = { reader, query, each, context, .count = 0 };
    int64_t before = query->list.before_number ? query->list.before_number : INT64_MAX;
    bool is_begun = reader_begin(reader);
    bool has_index = query->search || query->list.agent;
    int64_t next = has_index ? read_next(reader) : 0;
    bool is_all = look_at_numbers(&looking, HISTORY_ALL, before, next, NULL);

    if (before > next)
        before = next;
    if (is_all && query->search)
        is_all = look_at_words(&looking, before);
    else if (is_all && has_index)
        is_all = look_at_numbers(&looking, HISTORY_OF_AGENT, before, 0, query->list.agent);
    if (is_begun)
        reader_rest(reader);
    text_release(&looking.body);
    each(context, NULL, is_all ? 0 : looking.looked_to, looking.has_failed ? &looking.err : NULL);
}
