/* read.c - see read.h. Rows are handed on as they are read, nothing is copied. */
#include "store/sqlite/read.h"

#include "base/mem.h"
#include "store/reads.h"
#include "store/row.h"
#include "store/sqlite/database.h"

#define UNDELIVERED                                                                                \
    "WHERE " UNSETTLED "AND k.principal = ?1 AND k.delivered_ms = 0"                               \
    " AND (" SQL_EACH_BY_PERSON("k.state") ") "
#define NEWEST    "ORDER BY k.number DESC LIMIT "
#define UNSETTLED "k.number >= (SELECT unsettled FROM counter) "
/* Ids are made of a-z and 2-7, and '{' is what follows z. */
#define LIST_FILTERS                                                                               \
    " AND k.number < ?3 AND k.created_ms < ?2 AND (?4 IS NULL OR k.principal = ?4)"                \
    " AND (?5 = 0 OR (?5 >> k.state) & 1) AND (?7 IS NULL OR (k.id >= ?7 AND k.id < ?7 || '{'))"   \
    " AND CASE ?8 WHEN 1 THEN k.state " SQL_IS_OPEN " WHEN 2 THEN k.state " SQL_IS_OVER            \
    " ELSE 1 END "
#define OF_AGENT "AND (?6 IS NULL OR " ROW_AGENT " IS ?6) "
#define LIST(condition)                                                                            \
    ROW_PARTS "SELECT " ROW_BRIEF "0 FROM asks k" ROW_JOIN_ANSWER                                  \
              "WHERE " condition LIST_FILTERS OF_AGENT NEWEST "?1"
/* Limited, or a prefix of one character would have a large part of all asks read. */
#define CANDIDATES                                                                                 \
    "k.number IN (SELECT number FROM (SELECT number FROM by_id WHERE id >= ?7"                     \
    " AND id < ?7 || '{' LIMIT 256) UNION SELECT number FROM (SELECT number FROM by_principal"     \
    " WHERE principal = ?4 ORDER BY number DESC LIMIT 256) UNION SELECT i.number FROM asks i"      \
    " WHERE i.number " SCHEMA_PART " IN (SELECT n FROM part)"                                      \
    " AND i.id >= ?7 AND i.id < ?7 || '{')"
/* What is not over is new, or was left by the index (schema.c). */
#define OPEN                                                                                       \
    "k.state " SQL_IS_OPEN                                                                         \
    " AND k.number IN (SELECT number FROM unindexed UNION SELECT number FROM asks"                 \
    " WHERE number >= (SELECT next FROM search))"
/* One bound, because SQLite begins its search at only one. */
#define INDEXED "b.number < min(?3, (SELECT next FROM search))"

/* The events of one ask, followed back from the newest. */
#define CHAIN                                                                                      \
    ROW_PARTS ROW_AT("NULL", "?1") ", chain (seq, kind, body, earlier_seq) AS"                     \
                                   " (SELECT e.seq, e.kind, e.body, e.earlier_seq FROM" ROW_IS_AT  \
                                   "JOIN events e ON e.seq = k.seq UNION ALL"                      \
                                   " SELECT e.seq, e.kind, e.body, e.earlier_seq FROM chain c"     \
                                   " JOIN events e ON e.seq = c.earlier_seq) "

static const char *const read_sql[READ_COUNT] = {
#define STATEMENT(id, ...) [READ_##id] = (__VA_ARGS__),
#include "store/sqlite_read.def"
#undef STATEMENT
};

void reader_init(struct reader *reader, sqlite3 *db, const char *path, atomic_bool *is_broken)
{
    *reader = (struct reader){ .db = db, .path = path, .is_broken = is_broken };
    statements_init(&reader->statements, db, read_sql, READ_COUNT);
    statements_init(&reader->history, db, history_sql, history_sql_count);
}

void reader_release(struct reader *reader)
{
    statements_release(&reader->statements);
    statements_release(&reader->history);
    text_release(&reader->meta);
}

/* Lists cannot say that they failed half way; is_broken does. */
bool reader_end(struct reader *reader, struct statement *statement, struct error *err)
{
    int rc = statement_end(statement);
    enum failure failure;

    if (rc == SQLITE_OK)
        return true;
    failure = failure_of(reader->db, rc);
    failure_describe(failure, reader->db, reader->path, err);
    if (failure == FAILURE_BROKEN)
        atomic_store(reader->is_broken, true);
    return false;
}

bool reader_begin(struct reader *reader)
{
    struct statement begin;

    if (!sqlite3_get_autocommit(reader->db))
        return false; /* a caller further up the stack did */
    begin = statement_of(&reader->statements, READ_BEGIN);
    statement_step(&begin);
    return reader_end(reader, &begin, NULL);
}

void reader_rest(struct reader *reader)
{
    struct statement rest = statement_of(&reader->statements, READ_REST);

    statement_step(&rest);
    reader_end(reader, &rest, NULL);
}

/* Hands on each row of a statement and ends it; false: `err`. */
static bool hand_on(struct reader *reader, struct statement *statement,
                    const struct reading *reading, size_t *ret_count, struct error *err)
{
    const struct read_rows *rows = reading->rows;
    union read_row row;

    *ret_count = 0;
    while (!(rows->is_one && *ret_count) && statement_next(statement, rows->columns, &row)) {
        rows->tell(reading, &row, NULL);
        ++*ret_count;
    }
    return reader_end(reader, statement, err);
}

void reader_read(struct store *store, enum read_statement which, const struct column_value *values,
                 size_t count, const struct reading *reading)
{
    struct reader *reader = reader_of(store);
    struct statement statement = statement_with(&reader->statements, which, values, count);
    struct error err = { 0 };
    size_t told;
    bool ok = hand_on(reader, &statement, reading, &told, &err);

    if (!reading->rows->is_one || told == 0)
        reading->rows->tell(reading, NULL, ok ? NULL : &err);
}

void reader_get(struct store *store, const char *ask_id, int64_t seq, store_done *done,
                void *context)
{
    reader_read(store, READ_GET, VALUES(value_text(ask_id), value_number(seq)),
                &(struct reading){ &read_one_ask, { .one = done }, context });
}

/* Both parts see the same: what the index takes up in between would be in neither. */
static void list_of_agent(struct reader *reader, const struct store_list_query *query,
                          const struct reading *reading)
{
    bool is_begun = reader_begin(reader);
    struct column_value values[READ_LIST_VALUES];
    struct statement list;
    struct error err = { 0 };
    size_t count;
    bool ok;

    read_list_values(query, query->limit, values);
    list = statement_with(&reader->statements, READ_LIST_NEW, values, READ_LIST_VALUES);
    ok = hand_on(reader, &list, reading, &count, &err);
    if (ok && count < query->limit) {
        read_list_values(query, query->limit - count, values);
        list =
            statement_with(&reader->statements, query->principal ? READ_LIST_OWN : READ_LIST_AGENT,
                           values, READ_LIST_VALUES);
        ok = hand_on(reader, &list, reading, &count, &err);
    }
    if (is_begun)
        reader_rest(reader);
    reading->rows->tell(reading, NULL, ok ? NULL : &err);
}

void reader_list(struct store *store, const struct store_list_query *query, store_each *each,
                 void *context)
{
    const struct reading reading = { &read_asks, { .each = each }, context };
    struct column_value values[READ_LIST_VALUES];
    enum read_statement which = query->which == STORE_LIST_OPEN ? READ_LIST_OPEN
                                : query->id_prefix              ? READ_LIST_PREFIX
                                                                : READ_LIST;

    if ((query->agent || query->principal) && which == READ_LIST) {
        list_of_agent(reader_of(store), query, &reading);
        return;
    }
    read_list_values(query, query->limit, values);
    reader_read(store, which, values, READ_LIST_VALUES, &reading);
}

void reader_list_active(struct store *store, int64_t now_ms, store_each *each, void *context)
{
    reader_read(store, READ_LIVE, VALUES(value_number(now_ms)),
                &(struct reading){ &read_asks, { .each = each }, context });
}

void reader_get_draft(struct store *store, const char *ask_id, const char *person,
                      store_draft_done *done, void *context)
{
    static const struct column list[] = { COLUMN_OF(TEXT, struct store_draft, ask_id),
                                          COLUMN_OF(TEXT, struct store_draft, json) };
    static const struct columns columns = { list, 2, sizeof(struct store_draft) };
    static const struct read_rows draft = { &columns, read_tell_draft, true };

    reader_read(store, READ_DRAFT, VALUES(value_text(ask_id), value_text(person)),
                &(struct reading){ &draft, { .draft = done }, context });
}

const char *reader_meta(struct store *store, const char *name)
{
    struct reader *reader = reader_of(store);
    struct statement get = statement_with(&reader->statements, READ_META, VALUES(value_text(name)));

    text_clear(&reader->meta);
    if (statement_step(&get))
        text_add_text(&reader->meta, (const char *)sqlite3_column_text(get.handle, 0));
    reader_end(reader, &get, NULL);
    return text_string(&reader->meta);
}
