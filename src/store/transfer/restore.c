/*
 * restore.c - reads a backup in; see backup.h. meta.importing names the backup that is not complete
 * yet. Events come first and in order, so that each is checked against the one before it and a
 * second attempt knows from the last one where the first ended.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/fields/form.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"
#include "store/columns.h"
#include "store/event.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/statement.h"
#include "store/transfer/backup.h"
#include "store/transfer/backup_line.h"

enum { BATCH_ROWS = 1000 };

enum restore_mode {
    RESTORE_FRESH,   /* the store was empty, or holds the beginning of this backup */
    RESTORE_COMPARE, /* it has everything already: only make sure */
};

struct restore {
    struct database database;
    struct backup_place place;
    struct backup_head head; /* of the backup */
    enum restore_mode mode;
    struct event_head last;       /* event that is there */
    bool is_last_known;           /* its hash is; not of one that was emptied */
    int64_t first_seq;            /* events up to this one were there before */
    struct statements statements; /* by enum backup_table_id, and the look at an event */
    char *sql[BACKUP_TABLES + 1]; /* owned: of each */
    bool is_begun;
    int64_t in_batch, added;
    int64_t asks; /* lines of them */
};

static bool is_done(struct restore *restore, int rc, struct error *err)
{
    if (rc == SQLITE_OK || err->code)
        return rc == SQLITE_OK;
    if (failure_of(restore->database.writer, rc) == FAILURE_JOB)
        return backup_is_damaged(&restore->place, "it contradicts another line", err);
    failure_describe(failure_of(restore->database.writer, rc), restore->database.writer,
                     restore->database.path, err);
    return false;
}

static bool is_last_known(struct restore *restore)
{
    int64_t is_known = 1;

    statement_number(restore->database.writer,
                     "SELECT body IS NOT NULL FROM events ORDER BY seq DESC LIMIT 1", &is_known);
    return is_known != 0;
}

static char *write_insert(const struct backup_table *table)
{
    struct text sql = { 0 };

    text_add_format(&sql, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        text_add_format(&sql, "%s%s", i ? ", " : "", table->columns[i].name);
    text_add_text(&sql, ") VALUES (");
    for (size_t i = 0; i < table->column_count; i++)
        text_add_format(&sql, "%s?%zu", i ? ", " : "", i + 1);
    text_add_text(&sql, ") ON CONFLICT DO NOTHING");
    return text_take(&sql);
}

static void prepare_statements(struct restore *restore)
{
    for (size_t i = 0; i < BACKUP_TABLES; i++)
        restore->sql[i] = write_insert(&backup_tables[i]);
    restore->sql[BACKUP_TABLES] = mem_text("SELECT ask = ?2 AND kind = ?3 AND prev_hash = ?4"
                                           " AND (body IS NULL OR body IS ?5) FROM events"
                                           " WHERE seq = ?1");
    statements_init(&restore->statements, restore->database.writer,
                    (const char *const *)restore->sql, ARRAY_LEN(restore->sql));
}

struct restore *restore_open(const char *path, struct error *err)
{
    struct restore *restore = mem_new(sizeof *restore);
    int rc;

    *err = (struct error){ 0 };
    if (!database_open(path, NULL, &restore->database, err)) {
        free(restore);
        return NULL;
    }
    prepare_statements(restore);
    rc = event_head_read(restore->database.writer, &restore->last);
    if (is_done(restore, rc, err)) {
        restore->first_seq = restore->last.seq;
        restore->is_last_known = is_last_known(restore);
        return restore;
    }
    restore_close(restore);
    return NULL;
}

void restore_close(struct restore *restore)
{
    if (!restore)
        return;
    statements_release(&restore->statements);
    for (size_t i = 0; i < ARRAY_LEN(restore->sql); i++)
        free(restore->sql[i]);
    if (restore->is_begun)
        statement_exec(restore->database.writer, "ROLLBACK");
    database_close(&restore->database, true);
    free(restore);
}

static int read_marker(struct restore *restore, char out[HASH_HEX_BYTES])
{
    struct statement read =
        statement_once(restore->database.writer, "SELECT value FROM meta WHERE name = 'importing'");

    out[0] = '\0';
    if (statement_step(&read) && sqlite3_column_bytes(read.handle, 0) == HASH_HEX_BYTES - 1)
        memcpy(out, sqlite3_column_text(read.handle, 0), HASH_HEX_BYTES);
    return statement_end(&read);
}

static int begin(struct restore *restore)
{
    int rc =
        restore->is_begun ? SQLITE_OK : statement_exec(restore->database.writer, "BEGIN IMMEDIATE");

    restore->is_begun = rc == SQLITE_OK;
    return rc;
}

static int save_head(struct restore *restore)
{
    struct statement update = statement_once(
        restore->database.writer, "UPDATE counter SET seq = ?1, hash = ?2, unsettled = 1");

    statement_bind(&update, VALUES(value_number(restore->last.seq),
                                   value_bytes(restore->last.hash, HASH_BYTES)));
    return statement_run(&update);
}

static int commit(struct restore *restore)
{
    int rc = SQLITE_OK;

    if (!restore->is_begun)
        return SQLITE_OK;
    if (restore->mode == RESTORE_FRESH)
        rc = save_head(restore);
    CRASH_POINT(restore_before_commit);
    if (rc == SQLITE_OK)
        rc = statement_exec(restore->database.writer, "COMMIT");
    CRASH_POINT(restore_after_commit);
    if (rc == SQLITE_OK)
        rc = sqlite3_wal_checkpoint_v2(restore->database.writer, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                       NULL, NULL);
    restore->is_begun = restore->is_begun && rc != SQLITE_OK;
    restore->in_batch = 0;
    return rc;
}

/* Takes back what an earlier backup brought that was never complete. */
static int forget_begun(struct restore *restore)
{
    int rc = begin(restore);

    if (rc == SQLITE_OK)
        rc = statement_exec(restore->database.writer,
                            "DELETE FROM asks; DELETE FROM events; DELETE FROM drafts;"
                            "DELETE FROM conversations; DELETE FROM principals;"
                            "DELETE FROM meta WHERE name = 'importing';"
                            "UPDATE counter SET seq = 0, hash = zeroblob(32), unsettled = 1");
    restore->first_seq = 0;
    restore->last = (struct event_head){ 0 };
    restore->is_last_known = true;
    return rc == SQLITE_OK ? commit(restore) : rc;
}

bool restore_discard(struct restore *restore, bool *ret_was_begun, struct error *err)
{
    char marker[HASH_HEX_BYTES];
    int rc = read_marker(restore, marker);

    *err = (struct error){ 0 };
    *ret_was_begun = marker[0] != '\0';
    if (rc == SQLITE_OK && *marker)
        rc = forget_begun(restore);
    return is_done(restore, rc, err);
}

/* Whether this backup may be read into this store at all. */
static bool take_head(struct restore *restore, const struct backup_head *head, struct error *err)
{
    char ours[HASH_HEX_BYTES], marker[HASH_HEX_BYTES];
    char *sql;
    int rc = read_marker(restore, marker);

    restore->head = *head;
    hash_hex(restore->place.hash, HASH_BYTES, ours); /* its first line names a backup */
    if (!is_done(restore, rc, err))
        return false;
    if (head->schema > schema_version())
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_NEWER, NULL);
    if (*marker && strcmp(marker, ours) == 0)
        return true;
    if (*marker) /* no hub had it since: nothing in it is anybody's own */
        rc = forget_begun(restore);
    if (restore->first_seq > 0 && restore->first_seq < head->seq)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_BACKUP_OWN, NULL);
    if (restore->first_seq > 0) {
        restore->mode = RESTORE_COMPARE;
        return true;
    }
    if (rc == SQLITE_OK)
        rc = begin(restore);
    sql = sqlite3_mprintf("INSERT INTO meta VALUES ('importing', %Q)", ours);
    if (rc == SQLITE_OK)
        rc = sql ? statement_exec(restore->database.writer, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (rc == SQLITE_OK)
        rc = commit(restore);
    return is_done(restore, rc, err);
}

static struct column_value value_of(const struct backup_column *column,
                                    const struct backup_cell *cell)
{
    if (!cell->is_there)
        return (struct column_value){ .kind = VALUE_NULL };
    if (column->value == BACKUP_INTEGER)
        return value_number(cell->number);
    return column->value == BACKUP_BLOB ? value_bytes(cell->blob, column->bytes)
                                        : value_text(cell->text);
}

static int insert_row(struct restore *restore, const struct backup_line *line)
{
    const struct backup_table *table = &backup_tables[line->table];
    int rc = begin(restore);
    struct statement insert;

    if (rc != SQLITE_OK)
        return rc;
    insert = statement_of(&restore->statements, line->table);
    for (size_t i = 0; i < table->column_count; i++)
        statement_bind(&insert, VALUES(value_of(&table->columns[i], &line->cells[i])));
    rc = statement_run(&insert);
    if (rc == SQLITE_OK) {
        int changes = sqlite3_changes(restore->database.writer);

        restore->added += changes;
        rc = changes == 0 && line->table == BACKUP_EVENTS ? SQLITE_CONSTRAINT : SQLITE_OK;
    }
    CRASH_POINT(restore_row);
    return rc;
}

static const struct backup_cell *cell_of(const struct backup_line *line, const char *name)
{
    const struct backup_table *table = &backup_tables[line->table];
    size_t at = 0;

    while (at + 1 < table->column_count && strcmp(table->columns[at].name, name) != 0)
        at++;
    return &line->cells[at];
}

static struct event read_event(const struct backup_line *line)
{
    struct event event = {
        .seq = cell_of(line, "seq")->number,
        .ask = cell_of(line, "ask")->text,
        .kind = cell_of(line, "kind")->number,
        .actor = cell_of(line, "actor")->text,
        .body = cell_of(line, "body")->text,
    };

    memcpy(event.previous, cell_of(line, "prev_hash")->blob, HASH_BYTES);
    return event;
}

/* An event that is there must be the same one; retention may have emptied it since. */
static bool compare_event(struct restore *restore, const struct event *event, struct error *err)
{
    struct statement look = statement_of(&restore->statements, BACKUP_TABLES);
    bool is_same;

    statement_bind(
        &look, VALUES(value_number(event->seq), value_text(event->ask), value_number(event->kind),
                      value_bytes(event->previous, HASH_BYTES), value_text(event->body)));
    is_same = statement_step(&look) && sqlite3_column_int(look.handle, 0) == 1;
    if (!is_done(restore, statement_end(&look), err))
        return false;
    return is_same || error_say(err, ERROR_wrong_state, "", TEXT_REASON_BACKUP_OWN, NULL);
}

/* What is shown of an event must be of the kind that is shown. */
static bool can_be_shown(const struct backup_line *line)
{
    const struct backup_cell *form = cell_of(line, "form"), *actor = cell_of(line, "actor");
    bool is_nobodys = cell_of(line, "kind")->number == EVENT_EXPIRED; /* defaults, by time alone */
    struct form read = { 0 };
    bool ok = !form->is_there || form_parse(form->text, form->length, &read, NULL);

    form_release(&read);
    return ok && (!cell_of(line, "answered_ms")->is_there || actor->length > 0 || is_nobodys);
}

static bool take_event(struct restore *restore, const struct backup_line *line, struct error *err)
{
    struct event event = read_event(line);

    if (!can_be_shown(line))
        return backup_is_damaged(&restore->place, "unreadable event", err);

    if (event.seq <= restore->first_seq)
        return compare_event(restore, &event, err);
    if (event.seq != restore->last.seq + 1 ||
        (restore->is_last_known && !hash_same(event.previous, restore->last.hash, HASH_BYTES)) ||
        cell_of(line, "earlier_seq")->number >= event.seq)
        return backup_is_damaged(&restore->place, "the event does not follow the one before it",
                                 err);
    if (!is_done(restore, insert_row(restore, line), err))
        return false;
    restore->last.seq = event.seq;
    restore->is_last_known = event.body != NULL;
    if (restore->is_last_known)
        event_hash(&event, restore->last.hash);
    else if (event.seq == restore->head.seq)
        memcpy(restore->last.hash, restore->head.hash, HASH_BYTES);
    return true;
}

static bool take_ask(struct restore *restore, const struct backup_line *line, struct error *err)
{
    const struct backup_cell *id = cell_of(line, "id");
    int64_t answer = cell_of(line, "answer_seq")->number, seq = cell_of(line, "seq")->number;

    if (!ask_id_is_valid(id->text) || cell_of(line, "number")->number > restore->head.seq ||
        seq > restore->head.seq || answer > restore->head.seq || -answer > restore->head.seq)
        return backup_is_damaged(&restore->place, "the ask names events that are not there", err);
    restore->asks++;
    return is_done(restore, insert_row(restore, line), err);
}

static bool take_row(struct restore *restore, const struct backup_line *line, struct error *err)
{
    bool ok;

    if (line->table == BACKUP_EVENTS)
        ok = take_event(restore, line, err);
    else if (restore->mode == RESTORE_COMPARE)
        ok = true; /* may have changed since */
    else if (line->table == BACKUP_ASKS)
        ok = take_ask(restore, line, err);
    else
        ok = is_done(restore, insert_row(restore, line), err);
    if (ok && ++restore->in_batch >= BATCH_ROWS)
        ok = is_done(restore, commit(restore), err);
    return ok;
}

bool restore_line(struct restore *restore, const char *bytes, size_t length, struct error *err)
{
    struct backup_line line;
    bool ok;

    *err = (struct error){ 0 };
    ok = backup_line_read(&restore->place, bytes, length, &line, err);
    if (ok && line.kind == BACKUP_HEAD)
        ok = take_head(restore, &line.head, err);
    else if (ok && line.kind == BACKUP_ROW)
        ok = take_row(restore, &line, err);
    backup_line_release(&line);
    return ok;
}

/* An ask whose texts are not there could not be shown; one that came twice is there once. */
static int check_asks(struct restore *restore, bool *ret_is_good)
{
    static const char sql[] = "SELECT count(*), count(t.form) FROM asks k LEFT JOIN events t"
                              " ON t.seq = k.number AND t.ask = k.id";
    struct statement count = statement_once(restore->database.writer, sql);
    int64_t asks = 0;

    *ret_is_good = statement_step(&count);
    if (*ret_is_good) {
        asks = sqlite3_column_int64(count.handle, 0);
        *ret_is_good = asks == sqlite3_column_int64(count.handle, 1) &&
                       (restore->mode == RESTORE_COMPARE || asks == restore->asks);
    }
    return statement_end(&count);
}

bool restore_finish(struct restore *restore, struct restored *out, struct error *err)
{
    int64_t bad = 0;
    bool are_asks_good = false;
    int rc;

    *err = (struct error){ 0 };
    if (!restore->place.is_over)
        return backup_is_short(&restore->place, err);
    rc = commit(restore);
    if (rc == SQLITE_OK)
        rc = event_check_chain(restore->database.writer, &bad);
    if (rc == SQLITE_OK)
        rc = check_asks(restore, &are_asks_good);
    if (rc == SQLITE_OK && (bad || !are_asks_good || restore->last.seq < restore->head.seq))
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_CONTRADICTS, NULL);
    if (rc == SQLITE_OK)
        rc = statement_exec(restore->database.writer, "DELETE FROM meta WHERE name = 'importing'");
    CRASH_POINT(restore_finished);
    *out = (struct restored){ restore->place.line, restore->added };
    return is_done(restore, rc, err);
}
