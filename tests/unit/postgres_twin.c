/* postgres_twin.c - see postgres_twin.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postgres_twin.h"

#include "base/text.h"
#include "store/postgres/libpq.h"
#include "store/postgres/schema.h"
#include "store/postgres/write.h"

enum { TWIN_HUB = 7 };
static char group_url[POSTGRES_URL_BYTES];

int twin_set_up(void **state)
{
    struct twin *twin;
    struct text schema = { 0 };
    struct error err;

    *state = NULL;
    if (!postgres_is_there())
        return 0;
    twin = mem_new(sizeof *twin);
    if (!group_url[0])
        postgres_create(group_url);
    postgres_cut(group_url); /* what a test that failed left open */
    postgres_clear(group_url);
    text_put(twin->url, sizeof twin->url, group_url);
    postgres_schema_write(&schema);
    postgres_run(twin->url, text_string(&schema));
    text_release(&schema);
    assert_true(libpq_load(&err));
    twin->connection = PQconnectdb(twin->url);
    assert_int_equal(PQstatus(twin->connection), CONNECTION_OK);
    set_up((void **)&twin->place);
    *state = twin;
    return 0;
}

int twin_tear_down(void **state)
{
    struct twin *twin = *state;

    if (!twin)
        return 0;
    free((void *)twin->reply.row);
    PQfinish(twin->connection);
    tear_down((void **)&twin->place);
    free(twin);
    return 0;
}

int twin_group_tear_down(void **state)
{
    (void)state;
    if (group_url[0])
        postgres_drop(group_url);
    return 0;
}

bool twin_try(struct twin *twin, const char *text, char ret_state[6])
{
    PGresult *result = PQexec(twin->connection, text);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool ok =
        PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;

    text_put(ret_state, 6, code ? code : "");
    PQclear(result);
    return ok;
}

static bool run(struct twin *twin, const char *format, ...)
{
    char text[256], state[6];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return twin_try(twin, text, state);
}

static PGresult *execute(struct twin *twin, const struct sql *sql, struct params *take_params)
{
    struct params_view view;
    PGresult *result;

    params_look(take_params, &view);
    result = PQexecParams(twin->connection, sql->text, take_params->count, NULL, view.values,
                          view.lengths, view.formats, 0);
    params_release(take_params);
    return result;
}

bool twin_send(struct twin *twin, struct write *write)
{
    const struct sql *sql;
    struct params params = { 0 };
    PGresult *result;
    bool ok;

    if (write_part_of(write) == PART_NONE)
        return true;
    write_bind(write, 1, &sql, &params);
    result = execute(twin, sql, &params);
    ok = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (ok)
        write_take(write, 1, result);
    else
        text_put(write->reply.err.message, sizeof write->reply.err.message,
                 PQresultErrorMessage(result));
    PQclear(result);
    if (ok && write->sent.wants_row) {
        write_bind_row(write, &sql, &params);
        result = execute(twin, sql, &params);
        write_take_row(write, result);
        PQclear(result);
    }
    return ok;
}

struct store_reply twin_write(struct twin *twin, struct write *write)
{
    struct store_reply failed = { .outcome = STORE_FAILED };

    assert_true(run(twin, "BEGIN"));
    assert_true(run(twin, "SELECT sayso_begin(%d)", TWIN_HUB));
    if (twin_send(twin, write)) {
        assert_true(run(twin, "SELECT sayso_end('twin-%d')", ++twin->batches));
        assert_true(run(twin, "COMMIT"));
        return write->reply;
    }
    failed.err = write->reply.err;
    assert_true(run(twin, "ROLLBACK"));
    return failed;
}

static struct seen write_to_file(struct twin *twin, const struct write *write)
{
    struct store *store = twin->place->store;
    struct seen seen = { 0 };

    store->ops->write(store, write->what, &write->of, on_reply, &seen);
    wait_for(twin->place, &seen);
    return seen;
}

static void same_text(const char *what, const char *a, const char *b)
{
    if ((a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0))
        fail_msg("%s: '%s' in the file, '%s' in the database", what, a ? a : "NULL",
                 b ? b : "NULL");
}

#define SAME_CHARS(sql, member)  same_text(sql, a->member, b->member)
#define SAME_TEXT(sql, member)   same_text(sql, a->member, b->member)
#define SAME_NUMBER(sql, member) assert_int_equal(a->member, b->member)
#define SAME_BYTES(sql, member)  assert_memory_equal(a->member, b->member, sizeof a->member)
#define SAME(sql, kind, member)  SAME_##kind(sql, member);

static void same_row(const struct store_row *a, const struct store_row *b)
{
    if (!a || !b) {
        assert_ptr_equal(a, b);
        return;
    }
    ROW_ASK_COLUMNS(SAME)
    ROW_LONG_COLUMNS(SAME)
    ROW_ANSWER_COLUMNS(SAME)
}

enum store_outcome twin_run(struct twin *twin, const struct write *write)
{
    struct seen seen = write_to_file(twin, write);
    struct write *copy = write_new(write->what, &write->of, NULL, NULL);
    struct store_reply reply = twin_write(twin, copy);

    if (seen.reply.outcome != reply.outcome)
        fail_msg("kind %d: %d in the file, %d in the database (%s%s)", write->what,
                 seen.reply.outcome, reply.outcome, seen.reply.err.message, reply.err.message);
    assert_int_equal(seen.reply.seq, reply.seq);
    if (reply.outcome != STORE_MISSING) /* another one's ask is in the file's reply */
        same_row(seen.row, reply.row);
    free((void *)twin->reply.row);
    twin->reply = reply;
    twin->reply.row = reply.row ? row_copy(reply.row) : NULL;
    forget(&seen);
    write_free(copy);
    return twin->reply.outcome;
}

/* Columns that hold bytes are marked with '#'. */
static const struct {
    const char *name, *columns, *order;
} tables[] = {
    { "asks",
      "number id owner principal #digest state interface flags version form_version created_ms "
      "deadline_ms original_ms hold_used_ms deliver_after_ms delivered_ms decided_ms ended_ms seq "
      "earlier_seq answer_seq tool title origin idempotency_key #launch_code_hash",
      "number" },
    { "events",
      "seq ask kind actor body earlier_seq #prev_hash form arguments answer person answer_key "
      "decisive answered_ms",
      "seq" },
    { "counter", "seq #hash", "seq" },
    { "drafts", "ask person body counter saved_ms", "ask, person" },
    { "principals", "id kind uid name place created_ms", "id" },
    { "tokens", "#hash kind person label sub_agent may_answer created_ms expires_ms revoked_ms",
      "hash" },
    { "rules", "id #kind facts answer actor created_ms expires_ms revoked_ms", "id" },
    { "keys", "id purpose #secret created_ms retired_ms", "id" },
    { "settings", "person name value", "person, name" },
    { "meta", "name value", "name" },
    { "client_facts", "name version transport cut_off_ms form_works", "name, version, transport" },
    { "conversations",
      "id principal token_id label state body ask earlier_ask key version created_ms changed_ms "
      "last_event",
      "id" },
    { "conversation_events", "conversation number kind bytes body", "conversation, number" },
};

/* Every value of a table, one a line. */
static char *select_all(size_t which, const char *as_hex)
{
    struct text sql = { 0 };
    const char *at = tables[which].columns;

    text_add_text(&sql, "SELECT ");
    for (bool is_first = true; *at; is_first = false) {
        size_t length = strcspn(at, " ");

        if (!is_first)
            text_add_text(&sql, ", ");
        if (*at == '#')
            text_add_format(&sql, as_hex, (int)length - 1, at + 1);
        else
            text_add(&sql, at, length);
        at += length;
        at += strspn(at, " ");
    }
    text_add_format(&sql, " FROM %s %s ORDER BY %s", tables[which].name,
                    strcmp(tables[which].name, "meta") == 0 ? "WHERE name <> 'instance'" : "",
                    tables[which].order);
    return text_take(&sql);
}

static void read_file(struct twin *twin, size_t which, struct text *out)
{
    char *sql = select_all(which, "hex(%.*s)");
    sqlite3_stmt *statement;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(twin->place->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *value = (const char *)sqlite3_column_text(statement, i);

            text_add_format(out, "%s|", value ? value : "");
        }
        text_add_char(out, '\n');
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    free(sql);
}

static void read_database(struct twin *twin, size_t which, struct text *out)
{
    char *sql = select_all(which, "upper(encode(%.*s, 'hex'))");
    PGresult *result = PQexec(twin->connection, sql);

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQresultErrorMessage(result));
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < PQnfields(result); i++)
            text_add_format(out, "%s|", PQgetvalue(result, row, i));
        text_add_char(out, '\n');
    }
    PQclear(result);
    free(sql);
}

static void fail_with_line(const char *table, const char *a, const char *b)
{
    size_t at = 0;

    while (a[at] && a[at] == b[at])
        at++;
    while (at > 0 && a[at - 1] != '\n')
        at--;
    fail_msg("%s:\n file     %.*s\n database %.*s", table, (int)strcspn(a + at, "\n"), a + at,
             (int)strcspn(b + at, "\n"), b + at);
}

void twin_compare(struct twin *twin)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct text file = { 0 }, database = { 0 };

        read_file(twin, i, &file);
        read_database(twin, i, &database);
        if (strcmp(text_string(&file), text_string(&database)) != 0)
            fail_with_line(tables[i].name, text_string(&file), text_string(&database));
        text_release(&file);
        text_release(&database);
    }
}
