/* rows.c - see rows.h. A file without a log is read as if it could not change: see
 * store/sqlite/inspect.c. */
#include "store/transfer/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/sqlite/database.h"
#include "store/sqlite/inspect.h"
#include "store/sqlite/statement.h"

enum { BUSY_MS = 5000 };

/* Which store it is and where its hub listens are facts of their own; the others are how far a
 * backup or a move has come. */
#define META_HERE                                                                                  \
    "name NOT IN ('instance', 'port', 'recovered_from', 'importing', 'migrating', 'migrated')"

const struct table_scan_table table_scan_tables[SCAN_TABLES] = {
    { "people", "id", NULL },
    { "principals", "id", NULL },
    { "tokens", "hash", NULL },
    { "keys", "id", NULL },
    { "settings", "person, name", NULL },
    { "rules", "id", NULL },
    { "client_facts", "name, version, transport", NULL },
    { "meta", "name", META_HERE },
    { "events", "seq", NULL },
    { "asks", "number", NULL },
    { "drafts", "ask, person", NULL },
    { "conversations", "id", NULL },
    { "conversation_events", "conversation, number", NULL },
};

static bool failed(struct table_scan *scan, int rc, struct error *err)
{
    if (failure_is_corruption(rc))
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_WALK_DAMAGED, "path",
                         scan->path, NULL);
    failure_describe(failure_of(scan->db, rc), scan->db, scan->path, err);
    return false;
}

static bool is_fit(const char *path, struct error *err)
{
    struct inspection found;

    store_inspect(path, 0, &found);
    switch (found.outcome) {
    case INSPECT_WHOLE:
        break;
    case INSPECT_ABSENT:
        return error_say(err, ERROR_not_found, "", TEXT_REASON_WALK_ABSENT, "path", path, NULL);
    case INSPECT_DAMAGED:
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_WALK_DAMAGED, "path", path,
                         NULL);
    case INSPECT_NEWER:
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_WALK_NEWER, "path", path, NULL);
    case INSPECT_FOREIGN:
        return error_set(err, ERROR_bad_format, "", "%.300s is another program's database", path);
    case INSPECT_IMPORTING:
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_BACKUP_INCOMPLETE, NULL);
    case INSPECT_UNREADABLE:
        return error_set(err, ERROR_storage_failed, "",
                         "can't read %.250s: %.150s; check its owner and mode", path,
                         found.message);
    }
    if (found.version < found.our_version)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_WALK_OLDER, "path", path, NULL);
    return true;
}

static bool open_file(struct table_scan *scan, struct error *err)
{
    int rc = store_open_read_only(scan->path, BUSY_MS, &scan->db);

    if (rc == SQLITE_OK)
        rc = statement_exec(scan->db, "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;"
                                      "PRAGMA cell_size_check = ON; BEGIN");
    return rc == SQLITE_OK || failed(scan, rc, err);
}

static void add_where(struct text *sql, const struct table_scan_table *table)
{
    if (table->where)
        text_add_format(sql, " WHERE %s", table->where);
}

static bool count_rows(struct table_scan *scan, struct error *err)
{
    for (size_t i = 0; i < SCAN_TABLES; i++) {
        struct text sql = { 0 };
        int rc;

        text_add_format(&sql, "SELECT count(*) FROM %s", table_scan_tables[i].name);
        add_where(&sql, &table_scan_tables[i]);
        rc = statement_number(scan->db, text_string(&sql), &scan->counts[i]);
        text_release(&sql);
        if (rc != SQLITE_OK)
            return failed(scan, rc, err);
        scan->all += scan->counts[i];
    }
    return true;
}

/* The one row of counter, and which store this is. */
static bool read_facts(struct table_scan *scan, struct error *err)
{
    static const char sql[] =
        "SELECT c.failures, (SELECT value FROM meta WHERE name = 'instance') FROM counter c";
    struct statement read;
    int rc = event_head_read(scan->db, &scan->head);

    if (rc != SQLITE_OK)
        return failed(scan, rc, err);
    read = statement_once(scan->db, sql);
    if (statement_step(&read)) {
        const void *instance = sqlite3_column_blob(read.handle, 1);
        struct hash_part part = { instance ? instance : "",
                                  (size_t)sqlite3_column_bytes(read.handle, 1) };
        uint8_t hash[HASH_BYTES];

        scan->failures = sqlite3_column_int64(read.handle, 0);
        hash_parts(&part, 1, hash);
        hash_hex(hash, HASH_BYTES, scan->source);
    }
    rc = statement_end(&read);
    return rc == SQLITE_OK || failed(scan, rc, err);
}

bool table_scan_open(const char *path, struct table_scan *out, struct error *err)
{
    *out = (struct table_scan){ 0 };
    if (!is_fit(path, err))
        return false;
    out->path = mem_text(path);
    if (open_file(out, err) && count_rows(out, err) && read_facts(out, err))
        return true;
    table_scan_close(out);
    return false;
}

void table_scan_close(struct table_scan *scan)
{
    sqlite3_close(scan->db);
    free(scan->path);
    *scan = (struct table_scan){ 0 };
}

bool table_scan_rows(struct table_scan *scan, size_t table, int64_t skip, table_scan_each *each,
                     void *context, struct error *err)
{
    struct statement rows;
    struct text sql = { 0 };
    bool ok = true;
    int rc;

    text_add_format(&sql, "SELECT * FROM %s", table_scan_tables[table].name);
    add_where(&sql, &table_scan_tables[table]);
    text_add_format(&sql, " ORDER BY %s LIMIT -1 OFFSET %lld", table_scan_tables[table].order,
                    (long long)skip);
    rows = statement_once(scan->db, text_string(&sql));
    text_release(&sql);
    while (ok && statement_step(&rows))
        ok = each(context, table, rows.handle, err);
    rc = statement_end(&rows);
    return ok && (rc == SQLITE_OK || failed(scan, rc, err));
}

struct look {
    struct table_scan *scan;
    table_scan_told *told;
    void *context;
    int64_t done;
    uint8_t hash[HASH_BYTES];
};

/* The hash of what came before, then each column: its type, so that NULL is no empty text. */
static bool look_at(void *context, size_t table, sqlite3_stmt *row, struct error *err)
{
    static const char types[] = "0123456789";
    struct hash_part parts[2 + 2 * SCAN_COLUMNS];
    struct look *look = context;
    int columns = sqlite3_column_count(row);
    size_t used = 0;

    if (columns > SCAN_COLUMNS)
        return error_set(err, ERROR_storage_failed, "", "the table %s has too many columns",
                         table_scan_tables[table].name);
    parts[used++] = (struct hash_part){ look->hash, HASH_BYTES };
    parts[used++] =
        (struct hash_part){ table_scan_tables[table].name, strlen(table_scan_tables[table].name) };
    for (int i = 0; i < columns; i++) {
        int type = sqlite3_column_type(row, i);
        const void *bytes = sqlite3_column_blob(row, i); /* a number as its digits */

        parts[used++] = (struct hash_part){ &types[type], 1 };
        parts[used++] =
            (struct hash_part){ bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, i) };
    }
    hash_parts(parts, used, look->hash);
    look->told(look->context, ++look->done, look->scan->all);
    return true;
}

bool table_scan_check(struct table_scan *scan, table_scan_told *told, void *context,
                      struct error *err)
{
    struct look look = { .scan = scan, .told = told, .context = context };
    const int64_t facts[] = { scan->head.seq, scan->head.unsettled, scan->failures };
    int64_t bad = 0;
    int rc = event_check_chain(scan->db, &bad);

    if (rc != SQLITE_OK)
        return failed(scan, rc, err);
    if (bad)
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_WALK_CHAIN, "path", scan->path,
                         "number", TEXT_NUMBER(bad), NULL);
    for (size_t i = 0; i < SCAN_TABLES; i++) {
        if (!table_scan_rows(scan, i, 0, look_at, &look, err))
            return false;
    }
    hash_parts((struct hash_part[]){ { look.hash, HASH_BYTES },
                                     { facts, sizeof facts },
                                     { scan->head.hash, HASH_BYTES } },
               3, look.hash);
    hash_hex(look.hash, HASH_BYTES, scan->state);
    return true;
}
