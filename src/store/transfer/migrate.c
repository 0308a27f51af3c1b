#include "store/transfer/migrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash_point.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/columns.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/postgres/schema.h"
#include "store/postgres/write.h"

enum { MAX_ROWS = 500, MAX_BYTES = 1048576 };

enum {
    MOVE_FACT_BYTES = 256,
    OPEN_MS = 10000,
    OPEN_AGAIN_MS = 60000, /* it was there a moment ago */
    STATEMENT_MS = 600000, /* to count a big table takes long */
    MAX_TRIES = 8,
    PAUSE_MS = 200,
};

/* A database while a whole store is moved into it: statements that wait, over a connection that is
 * made again when it is lost. Each change is one transaction that also changes a fact in meta, so
 * that after a lost reply the fact tells whether it was made. */
struct migrate_link {
    struct address *address;
    struct start *start; /* NULL: lost */
};

/* Connects, and brings the schema up to date. The caller closes either way. */
static bool migrate_link_open(const char *url, struct migrate_link *move, struct error *err)
{
    return libpq_load(err) && address_parse(url, &move->address, err) &&
           start_open(move->address, OPEN_MS, &move->start, err) &&
           start_make_schema(move->start, err);
}

static void migrate_link_close(struct migrate_link *move)
{
    start_close(move->start);
    address_free(move->address);
}

/* SQLSTATE of what failed last. */
static const char *migrate_link_state(const struct migrate_link *move)
{
    return move->start ? start_state(move->start) : "";
}

/* Whether it makes sense to try again; then there is a connection. */
static bool recover(struct migrate_link *move, int tries, struct error *err)
{
    const struct timespec pause = { 0, PAUSE_MS * 1000000L };
    enum fault fault = fault_of_state(migrate_link_state(move));

    if (tries >= MAX_TRIES || (fault != FAULT_GONE && fault != FAULT_AGAIN))
        return false;
    nanosleep(&pause, NULL);
    if (fault == FAULT_AGAIN)
        return true;
    start_close(move->start);
    move->start = NULL;
    return start_open(move->address, OPEN_AGAIN_MS, &move->start, err);
}

static bool run_once(struct migrate_link *move, const char *sql, const struct params *params,
                     PGresult **ret_result, struct error *err)
{
    start_extend(move->start, STATEMENT_MS);
    return start_run(move->start, sql, params, ret_result, err);
}

/* The caller ends *ret_result with libpq.clear. `params` may be NULL, then `sql` may be several
 * statements. May take minutes. */
static bool migrate_link_read(struct migrate_link *move, const char *sql,
                              const struct params *params, PGresult **ret_result, struct error *err)
{
    for (int tries = 0; !run_once(move, sql, params, ret_result, err); tries++) {
        if (!recover(move, tries, err))
            return false;
    }
    *err = (struct error){ 0 };
    return true;
}

/* "" where there is none. */
static bool migrate_link_fact(struct migrate_link *move, const char *name,
                              char out[MOVE_FACT_BYTES], struct error *err)
{
    struct params params = { 0 };
    PGresult *result = NULL;
    bool ok;

    params_text(&params, name);
    ok = migrate_link_read(move, "SELECT value FROM meta WHERE name = $1", &params, &result, err);
    params_release(&params);
    if (!ok)
        return false;
    text_put(out, MOVE_FACT_BYTES, result_count(result) > 0 ? result_text(result, 0, 0) : "");
    libpq.clear(result);
    return true;
}

/* After it the fact `name` is `wanted` ("": gone); wrong_state: others change the database too. */
static bool migrate_link_change(struct migrate_link *move, const char *sql,
                                const struct params *params, const char *name, const char *wanted,
                                struct error *err)
{
    char found[MOVE_FACT_BYTES];

    for (int tries = 0; !run_once(move, sql, params, NULL, err); tries++) {
        if (!recover(move, tries, err) || !migrate_link_fact(move, name, found, err))
            return false;
        if (strcmp(found, wanted) == 0)
            break; /* it was made, only its reply was lost */
    }
    if (!migrate_link_fact(move, name, found, err))
        return false;
    if (strcmp(found, wanted) == 0)
        return true;
    return error_say(err, ERROR_wrong_state, "", TEXT_REASON_MIGRATE_TWICE, NULL);
}

/* Rows of one table on their way: column by column, each an array of PostgreSQL. */
struct migrate_rows {
    size_t table;
    int64_t count;
    size_t bytes;
    int columns;
    char names[SCAN_COLUMNS][32];
    const char *types[SCAN_COLUMNS]; /* in PostgreSQL */
    struct text values[SCAN_COLUMNS];
    struct text agents; /* of asks */
};

static void add_comma(struct text *values)
{
    if (values->used > 0)
        text_add_char(values, ',');
}

static void add_bytes(struct text *out, const uint8_t *bytes, size_t length)
{
    text_add_text(out, "\"\\\\x");
    hash_hex(bytes, length, text_add_room(out, 2 * length));
    text_add_char(out, '"');
}

/* Tables are STRICT: a column holds what it says, or NULL. */
static const char *type_of(sqlite3_stmt *row, int column)
{
    const char *declared = sqlite3_column_decltype(row, column);

    if (declared && strcmp(declared, "INTEGER") == 0)
        return "bigint";
    return declared && strcmp(declared, "BLOB") == 0 ? "bytea" : "text";
}

static bool add_value(struct text *out, sqlite3_stmt *row, int column)
{
    const char *text;

    add_comma(out);
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        text_add_text(out, "NULL");
        return true;
    case SQLITE_INTEGER:
        text_add_integer(out, sqlite3_column_int64(row, column));
        return true;
    case SQLITE_BLOB:
        add_bytes(out, sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column));
        return true;
    default:
        text = (const char *)sqlite3_column_text(row, column);
        if (strlen(text) != (size_t)sqlite3_column_bytes(row, column) ||
            !text_is_utf8(text, strlen(text)))
            return false;
        params_add_element(out, text, strlen(text));
        return true;
    }
}

static void add_agent(struct text *out, sqlite3_stmt *row, int columns)
{
    char *name = NULL;

    for (int i = 0; i < columns && !name; i++) {
        if (strcmp(sqlite3_column_name(row, i), "origin") == 0)
            name = write_agent_name((const char *)sqlite3_column_text(row, i));
    }
    add_comma(out);
    if (name)
        params_add_element(out, name, strlen(name));
    else
        text_add_text(out, "NULL");
    free(name);
}

static bool is_asks(const struct migrate_rows *rows)
{
    return strcmp(table_scan_tables[rows->table].name, "asks") == 0;
}

/* False: a value is nothing that the database could hold. */
static bool migrate_rows_add(struct migrate_rows *rows, size_t table, sqlite3_stmt *row,
                             struct error *err)
{
    rows->table = table;
    rows->columns = sqlite3_column_count(row);
    rows->bytes = 0;
    for (int i = 0; i < rows->columns; i++) {
        text_put(rows->names[i], sizeof rows->names[i], sqlite3_column_name(row, i));
        rows->types[i] = type_of(row, i);
        if (!add_value(&rows->values[i], row, i))
            return error_set(err, ERROR_bad_unicode, "",
                             "the column %s of the table %s holds what is not UTF-8 text, which "
                             "PostgreSQL refuses: mend the row, or restore a backup",
                             rows->names[i], table_scan_tables[table].name);
        rows->bytes += rows->values[i].used;
    }
    if (is_asks(rows))
        add_agent(&rows->agents, row, rows->columns);
    rows->count++;
    return true;
}

static void add_array(struct params *params, const struct text *values)
{
    struct text array = { 0 };

    text_add_char(&array, '{');
    text_add(&array, text_string(values), values->used);
    text_add_char(&array, '}');
    params_text(params, text_string(&array));
    text_release(&array);
}

/* One statement that writes them and moves the mark from `before` to `after`, or does nothing
 * where the mark is another. */
static void migrate_rows_write(const struct migrate_rows *rows, const char *before,
                               const char *after, struct text *sql, struct params *params)
{
    const char *table = table_scan_tables[rows->table].name;
    bool is_of_events = strcmp(table, "events") == 0; /* whose hub is none of those that run */

    params_text(params, before);
    params_text(params, after);
    text_add_format(sql,
                    "WITH mark AS (UPDATE meta SET value = $2 WHERE name = 'migrating'"
                    " AND value = $1 RETURNING 1) INSERT INTO %s (",
                    table);
    for (int i = 0; i < rows->columns; i++)
        text_add_format(sql, "%s\"%s\"", i ? ", " : "", rows->names[i]);
    text_add_text(sql, is_asks(rows) ? ", agent" : is_of_events ? ", hub" : "");
    text_add_format(sql, ") SELECT u.*%s FROM mark, unnest(", is_of_events ? ", 0" : "");
    for (int i = 0; i < rows->columns; i++) {
        add_array(params, &rows->values[i]);
        text_add_format(sql, "%s$%d::%s[]", i ? ", " : "", params->count, rows->types[i]);
    }
    if (is_asks(rows)) {
        add_array(params, &rows->agents);
        text_add_format(sql, ", $%d::text[]", params->count);
    }
    text_add_text(sql, ") AS u");
}

static void migrate_rows_clear(struct migrate_rows *rows)
{
    for (size_t i = 0; i < SCAN_COLUMNS; i++)
        text_clear(&rows->values[i]);
    text_clear(&rows->agents);
    rows->count = 0;
}

static void migrate_rows_release(struct migrate_rows *rows)
{
    for (size_t i = 0; i < SCAN_COLUMNS; i++)
        text_release(&rows->values[i]);
    text_release(&rows->agents);
}

enum { CHAIN_EVENTS = 2000 }; /* compared at a time */

/* What a hub makes by itself when it starts is no one's loss; everything else is. */
#define IS_IN_USE                                                                                  \
    "EXISTS (SELECT FROM asks) OR EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM rules)"       \
    " OR EXISTS (SELECT FROM conversations) OR EXISTS (SELECT FROM settings)"                      \
    " OR EXISTS (SELECT FROM tokens WHERE kind NOT IN ('tab', 'code'))"
#define NO_LIMIT "SET LOCAL statement_timeout = 0; "

struct mark {
    char source[HASH_HEX_BYTES], state[HASH_HEX_BYTES], table[32];
    int64_t rows;
};

struct migration {
    struct table_scan scan;
    struct migrate_link move;
    struct migrate_rows rows;
    char mark[MOVE_FACT_BYTES]; /* as it is in the database */
    struct mark begun;          /* how far an earlier attempt came */
    int64_t done, copied;       /* rows that are there; of the table under way */
    enum migrate_phase phase;
    migrate_told *told;
    void *context;
};

static void tell(void *context, int64_t done, int64_t all)
{
    struct migration *migration = context;

    migration->told(migration->context, migration->phase, done, all);
}

static void write_mark(const struct migration *migration, size_t table, int64_t rows,
                       char out[MOVE_FACT_BYTES])
{
    snprintf(out, MOVE_FACT_BYTES, "%s %s %s %" PRId64, migration->scan.source,
             migration->scan.state, table_scan_tables[table].name, rows);
}

static bool parse_mark(const char *text, struct mark *out)
{
    char rows[20], *end;

    *out = (struct mark){ .rows = -1 };
    /* it goes into a statement as it is */
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_ ") != strlen(text) ||
        sscanf(text, "%64s %64s %31s %19s", out->source, out->state, out->table, rows) != 4)
        return false;
    out->rows = strtoll(rows, &end, 10);
    return *end == '\0';
}

/* The tables of a new database: empty, and in the begin of a move without the counter row. */
static void add_empty(struct text *sql)
{
    text_add_text(sql, "TRUNCATE counter, batches, words, unindexed, search, unsettled, ended");
    for (size_t i = 0; i < SCAN_TABLES; i++) {
        if (strcmp(table_scan_tables[i].name, "meta") != 0)
            text_add_format(sql, ", %s", table_scan_tables[i].name);
    }
    text_add_text(sql, "; DELETE FROM meta WHERE name <> 'instance';"
                       " INSERT INTO search (\"only\", next) VALUES (1, 1);");
}

static void refused(const struct migration *migration, struct error *err)
{
    const char *state = migrate_link_state(&migration->move);

    if (strcmp(state, "SY010") == 0)
        error_say(err, ERROR_wrong_state, "", TEXT_REASON_MIGRATE_IN_USE, NULL);
    if (strcmp(state, "SY011") == 0)
        error_say(err, ERROR_wrong_state, "", TEXT_REASON_MIGRATE_TWICE, NULL);
}

/* All or nothing, behind every write that is under way. `before` is the mark that was read. */
static bool begin(struct migration *migration, const char *before, struct error *err)
{
    struct text sql = { 0 };
    bool ok;

    write_mark(migration, 0, 0, migration->mark);
    text_add_text(&sql, "DO $begin$ BEGIN LOCK TABLE counter IN ACCESS EXCLUSIVE MODE;"
                        " LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;");
    text_add_format(&sql,
                    " IF COALESCE((SELECT value FROM meta WHERE name = 'migrating'), '') <> '%s'"
                    " THEN RAISE EXCEPTION 'moved' USING ERRCODE = 'SY011'; END IF;",
                    before);
    if (!*before)
        text_add_text(&sql, " IF " IS_IN_USE
                            " THEN RAISE EXCEPTION 'used' USING ERRCODE = 'SY010'; END IF; ");
    add_empty(&sql);
    text_add_format(&sql, " INSERT INTO meta (name, value) VALUES ('migrating', '%s');",
                    migration->mark);
    text_add_text(&sql, " END $begin$");
    ok = migrate_link_change(&migration->move, text_string(&sql), NULL, "migrating",
                             migration->mark, err);
    if (!ok)
        refused(migration, err);
    text_release(&sql);
    return ok;
}

static size_t table_of(const struct mark *mark)
{
    size_t table = 0;

    while (table < SCAN_TABLES && strcmp(table_scan_tables[table].name, mark->table) != 0)
        table++;
    return table;
}

/* Goes on where an earlier attempt ended, if that was with the same store as it is now. */
static bool begin_or_go_on(struct migration *migration, struct error *err)
{
    const struct mark *begun = &migration->begun;
    char found[MOVE_FACT_BYTES];
    bool is_ours;

    if (!migrate_link_fact(&migration->move, "migrating", found, err))
        return false;
    is_ours =
        parse_mark(found, &migration->begun) && strcmp(begun->source, migration->scan.source) == 0;
    if (*found && !is_ours)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_MIGRATE_OTHER, NULL);
    if (is_ours && strcmp(begun->state, migration->scan.state) == 0 &&
        table_of(begun) < SCAN_TABLES && begun->rows <= migration->scan.counts[table_of(begun)]) {
        text_put(migration->mark, sizeof migration->mark, found);
        return true;
    }
    migration->begun = (struct mark){ 0 }; /* asked or answered since: from the start */
    return begin(migration, found, err);
}

/* What the server says of data holds people's words: only its code is passed on. */
static bool rows_refused(const struct migration *migration, size_t table, struct error *err)
{
    const char *state = migrate_link_state(&migration->move);

    if (!*state || fault_of_state(state) != FAULT_DATA)
        return false;
    return error_say(err, ERROR_storage_failed, "", TEXT_REASON_MIGRATE_REFUSED, "table",
                     table_scan_tables[table].name, "state", state, NULL);
}

static bool flush(struct migration *migration, size_t table, struct error *err)
{
    struct params params = { 0 };
    struct text sql = { 0 };
    char after[MOVE_FACT_BYTES];
    bool ok;

    if (migration->rows.count == 0)
        return true;
    write_mark(migration, table, migration->copied + migration->rows.count, after);
    migrate_rows_write(&migration->rows, migration->mark, after, &sql, &params);
    CRASH_POINT(migrate_before_batch);
    ok = migrate_link_change(&migration->move, text_string(&sql), &params, "migrating", after, err);
    CRASH_POINT(migrate_after_batch);
    params_release(&params);
    text_release(&sql);
    if (!ok)
        return rows_refused(migration, table, err);
    text_put(migration->mark, sizeof migration->mark, after);
    migration->copied += migration->rows.count;
    migration->done += migration->rows.count;
    migrate_rows_clear(&migration->rows);
    tell(migration, migration->done, migration->scan.all);
    return true;
}

static bool take_row(void *context, size_t table, sqlite3_stmt *row, struct error *err)
{
    struct migration *migration = context;
    struct migrate_rows *rows = &migration->rows;

    if (!migrate_rows_add(rows, table, row, err))
        return false;
    if (rows->count < MAX_ROWS && rows->bytes < MAX_BYTES)
        return true;
    return flush(migration, table, err);
}

/* Where an earlier attempt ended; 0: there was none. */
static size_t first_table(const struct migration *migration)
{
    return *migration->begun.table ? table_of(&migration->begun) : 0;
}

static bool copy_all(struct migration *migration, struct error *err)
{
    size_t first = first_table(migration);

    migration->phase = MIGRATE_COPYING;
    for (size_t table = first; table < SCAN_TABLES; table++) {
        migration->copied = table == first ? migration->begun.rows : 0;
        if (!table_scan_rows(&migration->scan, table, migration->copied, take_row, migration,
                             err) ||
            !flush(migration, table, err))
            return false;
    }
    return true;
}

static bool differs(const char *what, struct error *err)
{
    return error_say(err, ERROR_storage_failed, "", TEXT_REASON_MIGRATE_DIFFERS, "what", what,
                     NULL);
}

static bool compare_counts(struct migration *migration, struct error *err)
{
    for (size_t i = 0; i < SCAN_TABLES; i++) {
        const struct table_scan_table *table = &table_scan_tables[i];
        struct text sql = { 0 };
        PGresult *result = NULL;
        int64_t count;
        bool ok;

        text_add_format(&sql, NO_LIMIT "SELECT count(*) FROM %s%s%s", table->name,
                        table->where ? " WHERE " : "", table->where ? table->where : "");
        ok = migrate_link_read(&migration->move, text_string(&sql), NULL, &result, err);
        text_release(&sql);
        if (!ok)
            return false;
        count = result_integer(result, 0, 0);
        libpq.clear(result);
        if (count != migration->scan.counts[i])
            return differs(table->name, err);
    }
    return true;
}

/* The first of these events whose hash the next one, or the counter, does not have. */
static bool compare_events(struct migration *migration, int64_t from, struct error *err)
{
    static const char sql[] =
        "SELECT count(*) FROM events e LEFT JOIN events n ON n.seq = e.seq + 1"
        " WHERE e.seq >= $1::bigint AND e.seq < $2::bigint AND e.body IS NOT NULL"
        " AND COALESCE(n.prev_hash, $3::bytea) <> sayso_hash(e.prev_hash, e.seq::text, e.ask,"
        " e.kind::text, COALESCE(e.actor, ''), e.body)";
    struct params params = { 0 };
    PGresult *result = NULL;
    int64_t bad;
    bool ok;

    params_add(&params, VALUES(value_number(from), value_number(from + CHAIN_EVENTS),
                               value_bytes(migration->scan.head.hash, HASH_BYTES)));
    ok = migrate_link_read(&migration->move, sql, &params, &result, err);
    params_release(&params);
    if (!ok)
        return false;
    bad = result_integer(result, 0, 0);
    libpq.clear(result);
    return bad == 0 || differs("events", err);
}

static bool compare_all(struct migration *migration, struct error *err)
{
    int64_t last = migration->scan.head.seq;

    migration->phase = MIGRATE_COMPARING;
    if (!compare_counts(migration, err))
        return false;
    for (int64_t from = 1; from <= last; from += CHAIN_EVENTS) {
        if (!compare_events(migration, from, err))
            return false;
        tell(migration, from + CHAIN_EVENTS < last ? from + CHAIN_EVENTS : last, last);
    }
    return true;
}

static void write_done(const struct migration *migration, char out[MOVE_FACT_BYTES])
{
    snprintf(out, MOVE_FACT_BYTES, "%s %s", migration->scan.source, migration->scan.state);
}

/* The counter row comes back, and hubs may open it. misc is another one than any hub knows. */
static bool finish(struct migration *migration, struct error *err)
{
    static const char sql[] =
        "WITH gone AS (DELETE FROM meta WHERE name = 'migrating' AND value = $1 RETURNING 1),"
        " counted AS (INSERT INTO counter (\"only\", seq, hash, unsettled, failures, misc, stamp,"
        " ended) SELECT 1, $2::bigint, $3::bytea, $4::bigint, $5::bigint, sayso_now(), 0, 0"
        " FROM gone) INSERT INTO meta (name, value) SELECT 'migrated', $6 FROM gone";
    const struct table_scan *scan = &migration->scan;
    struct params params = { 0 };
    char done[MOVE_FACT_BYTES];
    bool ok;

    if (!migrate_link_read(&migration->move, NO_LIMIT "SELECT sayso_list_asks()", NULL, NULL, err))
        return false;
    write_done(migration, done);
    params_add(&params,
               VALUES(value_text(migration->mark), value_number(scan->head.seq),
                      value_bytes(scan->head.hash, HASH_BYTES), value_number(scan->head.unsettled),
                      value_number(scan->failures), value_text(done)));
    CRASH_POINT(migrate_before_end);
    ok = migrate_link_change(&migration->move, sql, &params, "migrated", done, err);
    CRASH_POINT(migrate_after_end);
    params_release(&params);
    return ok;
}

/* An earlier run may have been killed between the last commit and the word that it is done. */
static bool is_done(struct migration *migration, bool *ret_is_done, struct error *err)
{
    char found[MOVE_FACT_BYTES], done[MOVE_FACT_BYTES];

    write_done(migration, done);
    if (!migrate_link_fact(&migration->move, "migrated", found, err))
        return false;
    *ret_is_done = strcmp(found, done) == 0;
    return true;
}

static bool migrate(struct migration *migration, struct migrated *out, struct error *err)
{
    if (!table_scan_check(&migration->scan, tell, migration, err) ||
        !is_done(migration, &out->was_done, err))
        return false;
    if (out->was_done)
        return true;
    if (!begin_or_go_on(migration, err))
        return false;
    CRASH_POINT(migrate_begun);
    out->was_begun = true;
    migration->done = migration->begun.rows;
    for (size_t i = 0; i < first_table(migration); i++)
        migration->done += migration->scan.counts[i];
    out->earlier = migration->done;
    return copy_all(migration, err) && compare_all(migration, err) && finish(migration, err);
}

bool postgres_migrate(const char *path, const char *url, migrate_told *told, void *context,
                      struct migrated *out, struct error *err)
{
    struct migration migration = { .told = told, .context = context };
    bool ok;

    *err = (struct error){ 0 };
    *out = (struct migrated){ 0 };
    ok = table_scan_open(path, &migration.scan, err) &&
         migrate_link_open(url, &migration.move, err) && migrate(&migration, out, err);
    memcpy(out->counts, migration.scan.counts, sizeof out->counts);
    out->rows = migration.scan.all;
    out->seq = migration.scan.head.seq;
    migrate_rows_release(&migration.rows);
    migrate_link_close(&migration.move);
    table_scan_close(&migration.scan);
    return ok;
}

bool postgres_migrate_discard(const char *url, bool *ret_was_begun, struct error *err)
{
    struct migrate_link move = { 0 };
    char found[MOVE_FACT_BYTES];
    struct text sql = { 0 };
    bool ok;

    *err = (struct error){ 0 };
    ok = migrate_link_open(url, &move, err) && migrate_link_fact(&move, "migrating", found, err);
    *ret_was_begun = ok && *found;
    if (*ret_was_begun) {
        text_add_text(&sql, "DO $discard$ BEGIN LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;"
                            " IF EXISTS (SELECT FROM meta WHERE name = 'migrating') THEN ");
        add_empty(&sql);
        text_add_text(&sql,
                      " INSERT INTO people (id, name) VALUES ('owner', '');"
                      " INSERT INTO counter (\"only\", seq, hash, unsettled, failures, misc, stamp,"
                      " ended) VALUES (1, 0, decode(repeat('00', 32), 'hex'), 1, 0, sayso_now(),"
                      " 0, 0); END IF; END $discard$");
        ok = migrate_link_change(&move, text_string(&sql), NULL, "migrating", "", err);
    }
    text_release(&sql);
    migrate_link_close(&move);
    return ok;
}
