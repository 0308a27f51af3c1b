/* read.c - see read.h. Rows are handed on as they are read, nothing is copied. */
#include "store/sqlite/read.h"

#include "base/mem.h"
#include "core/limits.h"
#include "store/row.h"
#include "store/sqlite/database.h"
#include "store/writes.h"

enum read_statement {
#define STATEMENT(id, ...) READ_##id,
#include "store/sqlite_read.def"
#undef STATEMENT
    READ_COUNT
};

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
    ROW_PARTS ROW_AT("?1") ", chain (seq, kind, body, earlier_seq) AS"                             \
                           " (SELECT e.seq, e.kind, e.body, e.earlier_seq FROM" ROW_IS_AT          \
                           "JOIN events e ON e.seq = k.seq UNION ALL"                              \
                           " SELECT e.seq, e.kind, e.body, e.earlier_seq FROM chain c"             \
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
    struct statement begin = statement_of(&reader->statements, READ_BEGIN);

    if (!sqlite3_get_autocommit(reader->db)) { /* further up the stack somebody did */
        statement_end(&begin);
        return false;
    }
    statement_step(&begin);
    return reader_end(reader, &begin, NULL);
}

void reader_rest(struct reader *reader)
{
    struct statement rest = statement_of(&reader->statements, READ_REST);

    statement_step(&rest);
    reader_end(reader, &rest, NULL);
}

static void answer_one(struct reader *reader, struct statement *statement, store_done *done,
                       void *context)
{
    struct store_reply reply = { .outcome = STORE_MISSING };
    struct store_row row;

    if (statement_next(statement, &row_columns, &row)) {
        reply.outcome = STORE_DONE;
        reply.row = &row;
        done(context, &reply);
        reader_end(reader, statement, NULL);
        return;
    }
    if (!reader_end(reader, statement, &reply.err))
        reply.outcome = STORE_FAILED;
    done(context, &reply);
}

void reader_get(struct store *store, const char *ask_id, store_done *done, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement get = statement_of(&reader->statements, READ_GET);

    statement_text(&get, ask_id);
    answer_one(reader, &get, done, context);
}

void reader_find_undelivered(struct store *store, const char *principal, const uint8_t *digest,
                             const char *idempotency_key, store_done *done, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement find = statement_of(&reader->statements,
                                         idempotency_key ? READ_UNDELIVERED_KEY : READ_UNDELIVERED);

    statement_text(&find, principal);
    if (idempotency_key)
        statement_text(&find, idempotency_key);
    else
        statement_blob(&find, digest, DIGEST_BYTES);
    answer_one(reader, &find, done, context);
}

/* Hands on each row of a statement and ends it; false: `err`. */
static bool hand_on_rows(struct reader *reader, struct statement *statement, store_each *each,
                         void *context, size_t *ret_count, struct error *err)
{
    struct store_row row;

    for (*ret_count = 0; statement_next(statement, &row_columns, &row); ++*ret_count)
        each(context, &row, NULL);
    return reader_end(reader, statement, err);
}

static void answer_rows(struct reader *reader, struct statement *statement, store_each *each,
                        void *context)
{
    struct error err = { 0 };
    size_t count;

    each(context, NULL, hand_on_rows(reader, statement, each, context, &count, &err) ? NULL : &err);
}

void reader_list_undelivered(struct store *store, const char *principal, size_t limit,
                             store_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_UNDELIVERED_ALL);

    statement_text(&list, principal);
    statement_integer(&list, row_limit(limit));
    answer_rows(reader, &list, each, context);
}

static struct statement bind_list(struct reader *reader, size_t which,
                                  const struct store_list_query *query, size_t limit)
{
    struct statement list = statement_of(&reader->statements, which);

    statement_integer(&list, row_limit(limit));
    statement_integer(&list,
                      query->before_number || !query->before_ms ? INT64_MAX : query->before_ms);
    statement_integer(&list, query->before_number ? query->before_number : INT64_MAX);
    statement_text(&list, query->principal);
    statement_integer(&list, query->states);
    statement_text(&list, query->agent);
    statement_text(&list, query->id_prefix);
    statement_integer(&list, query->which);
    return list;
}

/* Both parts see the same: what the index takes up in between would be in neither. */
static void list_of_agent(struct reader *reader, const struct store_list_query *query,
                          store_each *each, void *context)
{
    bool is_begun = reader_begin(reader);
    struct statement list = bind_list(reader, READ_LIST_NEW, query, query->limit);
    struct error err = { 0 };
    size_t count;
    bool ok;

    ok = hand_on_rows(reader, &list, each, context, &count, &err);
    if (ok && count < query->limit) {
        list = bind_list(reader, query->principal ? READ_LIST_OWN : READ_LIST_AGENT, query,
                         query->limit - count);
        ok = hand_on_rows(reader, &list, each, context, &count, &err);
    }
    if (is_begun)
        reader_rest(reader);
    each(context, NULL, ok ? NULL : &err);
}

void reader_list(struct store *store, const struct store_list_query *query, store_each *each,
                 void *context)
{
    struct reader *reader = reader_of(store);
    size_t which = query->which == STORE_LIST_OPEN ? READ_LIST_OPEN
                   : query->id_prefix              ? READ_LIST_PREFIX
                                                   : READ_LIST;
    struct statement list;

    if ((query->agent || query->principal) && which == READ_LIST) {
        list_of_agent(reader, query, each, context);
        return;
    }
    list = bind_list(reader, which, query, query->limit);
    answer_rows(reader, &list, each, context);
}

void reader_list_live(struct store *store, int64_t now_ms, store_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_LIVE);

    statement_integer(&list, now_ms);
    answer_rows(reader, &list, each, context);
}

void reader_get_draft(struct store *store, const char *ask_id, const char *person,
                      store_draft_done *done, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement get = statement_of(&reader->statements, READ_DRAFT);
    struct error err = { 0 };
    bool is_there;

    statement_text(&get, ask_id);
    statement_text(&get, person);
    is_there = statement_step(&get);
    if (is_there)
        done(context, (const char *)sqlite3_column_text(get.handle, 1), NULL);
    if (!reader_end(reader, &get, &err) && !is_there)
        done(context, NULL, &err);
    else if (!is_there)
        done(context, NULL, NULL);
}

void reader_list_said(struct store *store, const char *ask_id, store_said_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_SAID);
    struct error err = { 0 };
    struct store_said said;

    statement_text(&list, ask_id);
    statement_integer(&list, LIMIT_TALK);
    while (statement_next(&list, &said_columns, &said))
        each(context, &said, NULL);
    each(context, NULL, reader_end(reader, &list, &err) ? NULL : &err);
}

void reader_list_settings(struct store *store, const char *person, store_pair *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_SETTINGS);
    struct store_meta pair;

    statement_text(&list, person);
    while (statement_next(&list, &meta_columns, &pair))
        each(context, pair.name, pair.value);
    reader_end(reader, &list, NULL);
}

void reader_list_tokens(struct store *store, store_token_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_TOKENS);
    struct store_token token;

    while (statement_next(&list, &token_columns, &token))
        each(context, &token);
    reader_end(reader, &list, NULL);
}

void reader_list_rules(struct store *store, store_rule_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_RULES);
    struct store_rule rule;

    while (statement_next(&list, &rule_columns, &rule))
        each(context, &rule);
    reader_end(reader, &list, NULL);
}

void reader_list_keys(struct store *store, const char *purpose, store_key_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_KEYS);
    struct store_key key;

    statement_text(&list, purpose);
    while (statement_next(&list, &key_columns, &key))
        each(context, &key);
    reader_end(reader, &list, NULL);
}

void reader_get_client_fact(struct store *store, const struct store_client *client, bool is_form,
                            store_done *done, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement get =
        statement_of(&reader->statements, is_form ? READ_FORM_FACT : READ_CUT_OFF);
    struct store_reply reply = { .outcome = STORE_MISSING };

    statement_text(&get, client->name);
    statement_text(&get, client->version);
    statement_text(&get, client->transport);
    if (statement_step(&get) && sqlite3_column_type(get.handle, 0) != SQLITE_NULL) {
        reply.outcome = STORE_DONE;
        reply.seq = sqlite3_column_int64(get.handle, 0);
    }
    if (!reader_end(reader, &get, &reply.err))
        reply.outcome = STORE_FAILED;
    done(context, &reply);
}

const char *reader_meta(struct store *store, const char *name)
{
    struct reader *reader = reader_of(store);
    struct statement get = statement_of(&reader->statements, READ_META);

    text_clear(&reader->meta);
    statement_text(&get, name);
    if (statement_step(&get))
        text_add_text(&reader->meta, (const char *)sqlite3_column_text(get.handle, 0));
    reader_end(reader, &get, NULL);
    return text_string(&reader->meta);
}

/* Conversations ---------------------------------------------------------------------------------
 */

static void answer_conversation(struct reader *reader, struct statement *get,
                                store_conversation_each *each, void *context)
{
    struct store_conversation conversation;
    struct error err = { 0 };

    if (statement_next(get, &conversation_columns, &conversation)) {
        each(context, &conversation, NULL);
        reader_end(reader, get, NULL);
        return;
    }
    each(context, NULL, reader_end(reader, get, &err) ? NULL : &err);
}

void reader_get_conversation(struct store *store, const char *id, store_conversation_each *each,
                             void *context)
{
    struct reader *reader = reader_of(store);
    struct statement get = statement_of(&reader->statements, READ_CONVERSATION_GET);

    statement_text(&get, id);
    answer_conversation(reader, &get, each, context);
}

void reader_find_conversation(struct store *store, const char *principal, const char *key,
                              store_conversation_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement find = statement_of(&reader->statements, READ_CONVERSATION_FIND);

    statement_text(&find, principal);
    statement_text(&find, key);
    answer_conversation(reader, &find, each, context);
}

void reader_list_conversations(struct store *store, const struct store_conversation_query *query,
                               store_conversation_each *each, void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_CONVERSATION_LIST);
    struct store_conversation conversation;
    struct error err = { 0 };

    statement_text(&list, query->principal);
    statement_text(&list, query->state);
    statement_text(&list, query->before_id);
    statement_integer(&list, row_limit(query->limit));
    while (statement_next(&list, &conversation_columns, &conversation))
        each(context, &conversation, NULL);
    each(context, NULL, reader_end(reader, &list, &err) ? NULL : &err);
}

void reader_list_conversation_events(struct store *store, const char *id, int64_t after,
                                     size_t limit, store_conversation_event_each *each,
                                     void *context)
{
    struct reader *reader = reader_of(store);
    struct statement list = statement_of(&reader->statements, READ_CONVERSATION_EVENTS);
    struct store_conversation_event event;
    struct error err = { 0 };

    statement_text(&list, id);
    statement_integer(&list, after);
    statement_integer(&list, (int64_t)limit);
    while (statement_next(&list, &conversation_event_columns, &event))
        each(context, &event, NULL);
    each(context, NULL, reader_end(reader, &list, &err) ? NULL : &err);
}
