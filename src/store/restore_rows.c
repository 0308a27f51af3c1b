/* restore_rows.c - rows of a backup into their tables, each checked before; see backup.h. */
#include <string.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/form.h"
#include "core/lifecycle.h"
#include "store/restore_inside.h"

enum { BATCH_ROWS = 1000 };

static sqlite3_stmt *insert_of(struct restore *restore, enum backup_table_id id)
{
    const struct backup_table *table = &backup_tables[id];
    struct text sql = { 0 };

    if (restore->inserts[id]) {
        sqlite3_reset(restore->inserts[id]);
        sqlite3_clear_bindings(restore->inserts[id]);
        return restore->inserts[id];
    }
    text_add_format(&sql, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        text_add_format(&sql, "%s%s", i ? ", " : "", table->columns[i].name);
    text_add_text(&sql, ") VALUES (");
    for (size_t i = 0; i < table->column_count; i++)
        text_add_format(&sql, "%s?%zu", i ? ", " : "", i + 1);
    text_add_text(&sql, ") ON CONFLICT DO NOTHING");
    sqlite3_prepare_v3(restore->database.writer, text_string(&sql), -1, SQLITE_PREPARE_PERSISTENT,
                       &restore->inserts[id], NULL);
    text_release(&sql);
    return restore->inserts[id];
}

static int insert_row(struct restore *restore, const struct backup_line *line)
{
    const struct backup_table *table = &backup_tables[line->table];
    sqlite3_stmt *insert = insert_of(restore, line->table);
    int rc = restore_begin(restore);

    if (!insert)
        return sqlite3_extended_errcode(restore->database.writer);
    for (size_t i = 0; rc == SQLITE_OK && i < table->column_count; i++) {
        const struct backup_cell *cell = &line->cells[i];
        int at = (int)i + 1;

        if (!cell->is_there)
            continue;
        if (table->columns[i].value == BACKUP_INTEGER)
            rc = sqlite3_bind_int64(insert, at, cell->number);
        else if (table->columns[i].value == BACKUP_BLOB)
            rc =
                sqlite3_bind_blob64(insert, at, cell->blob, table->columns[i].bytes, SQLITE_STATIC);
        else
            rc = sqlite3_bind_text64(insert, at, cell->text, cell->length, SQLITE_STATIC,
                                     SQLITE_UTF8);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_step(insert);
    if (rc == SQLITE_DONE) {
        int changes = sqlite3_changes(restore->database.writer);

        restore->added += changes;
        rc = changes == 0 && line->table == BACKUP_EVENTS ? SQLITE_CONSTRAINT : SQLITE_OK;
    }
    sqlite3_reset(insert);
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
    static const char sql[] = "SELECT ask = ?2 AND kind = ?3 AND prev_hash = ?4"
                              " AND (body IS NULL OR body IS ?5) FROM events WHERE seq = ?1";
    int rc = SQLITE_OK;
    bool is_same;

    if (!restore->look)
        rc = sqlite3_prepare_v3(restore->database.writer, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                &restore->look, NULL);
    if (!restore_is_done(restore, rc, err))
        return false;
    sqlite3_reset(restore->look);
    sqlite3_bind_int64(restore->look, 1, event->seq);
    sqlite3_bind_text(restore->look, 2, event->ask, -1, SQLITE_STATIC);
    sqlite3_bind_int64(restore->look, 3, event->kind);
    sqlite3_bind_blob(restore->look, 4, event->previous, HASH_BYTES, SQLITE_STATIC);
    sqlite3_bind_text(restore->look, 5, event->body, -1, SQLITE_STATIC);
    is_same =
        sqlite3_step(restore->look) == SQLITE_ROW && sqlite3_column_int(restore->look, 0) == 1;
    sqlite3_reset(restore->look);
    if (!is_same)
        error_set(
            err, ERROR_wrong_state, "",
            "the store holds asks of its own: a backup is read into an empty one; move it away "
            "first (sayso status tells where it is)");
    return is_same;
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
        return backup_is_damaged(&restore->place, "the event cannot be shown", err);

    if (event.seq <= restore->first_seq)
        return compare_event(restore, &event, err);
    if (event.seq != restore->last.seq + 1 ||
        (restore->is_last_known && !hash_same(event.previous, restore->last.hash, HASH_BYTES)) ||
        cell_of(line, "earlier_seq")->number >= event.seq)
        return backup_is_damaged(&restore->place, "the event does not follow the one before it",
                                 err);
    if (!restore_is_done(restore, insert_row(restore, line), err))
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
    return restore_is_done(restore, insert_row(restore, line), err);
}

bool restore_row(struct restore *restore, const struct backup_line *line, struct error *err)
{
    bool ok;

    if (line->table == BACKUP_EVENTS)
        ok = take_event(restore, line, err);
    else if (restore->mode == RESTORE_COMPARE)
        ok = true; /* may have changed since */
    else if (line->table == BACKUP_ASKS)
        ok = take_ask(restore, line, err);
    else
        ok = restore_is_done(restore, insert_row(restore, line), err);
    if (ok && ++restore->in_batch >= BATCH_ROWS)
        ok = restore_is_done(restore, restore_commit(restore), err);
    return ok;
}
