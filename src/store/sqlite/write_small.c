/* write_small.c - new asks, shifted deadlines, and small writes that events do not tell of; the
 * SQL of every write. */
#include <string.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/row.h"
#include "store/sqlite/write.h"

/* Nothing that is found by changes any more: it is over, and so is the time to undo it. */
#define INDEX_IS_SETTLED                                                                           \
    "(k.state " SQL_IS_OVER " AND (k.delivered_ms > 0 OR k.deliver_after_ms <= ?1))"
#define INDEX_COLUMNS "k.number, " INDEX_IS_SETTLED ", " ROW_AGENT ", t.form, a.answer"
/* Open, and not marked as one that no agent waits for. */
#define ATTENDED                                                                                   \
    " WHERE number >= ?1 AND state " SQL_IS_OPEN " AND flags & " SQL_ASK_DETACHED " = 0"
/* Newer than what by_principal holds. */
#define UNLISTED " WHERE number >= (SELECT next FROM search)"

const char *const sqlite_write_sql[STATEMENT_COUNT] = {
#define STATEMENT(id, ...) [STATEMENT_##id] = (__VA_ARGS__),
#include "store/sqlite_write.def"
#undef STATEMENT
};
int write_run_with(struct write_context *writing, enum sqlite_statement which,
                   const struct column_value *values, size_t count)
{
    struct statement statement = statement_with(&writing->statements, which, values, count);

    return statement_run(&statement);
}

int write_run(struct write_context *writing, enum sqlite_statement which)
{
    return write_run_with(writing, which, NULL, 0);
}

int write_run_on(struct write_context *writing, enum sqlite_statement which, int64_t number)
{
    return write_run_with(writing, which, VALUES(value_number(number)));
}

static void bind_rest(struct statement *insert, const struct event *event)
{
    if (event->form)
        statement_bind(insert, VALUES(value_text(event->form), value_text(event->arguments)));
    else if (event->answered_ms)
        statement_bind(insert,
                       VALUES(value_text(event->answer), value_text(event->person),
                              value_text(event->answer_key), value_number(event->answered_ms)));
}

int write_event(struct write_context *writing, struct event *event)
{
    enum sqlite_statement how = event->form          ? STATEMENT_EVENT_CREATED
                                : event->answered_ms ? STATEMENT_EVENT_ANSWER
                                                     : STATEMENT_EVENT;
    struct statement insert = statement_of(&writing->statements, how);
    int rc;

    event->seq = writing->head.seq + 1;
    memcpy(event->previous, writing->head.hash, HASH_BYTES);
    if (!event->actor)
        event->actor = ""; /* NULL says emptied */
    statement_bind(&insert, VALUES(value_number(event->seq), value_text(event->ask),
                                   value_number(event->kind), value_text(event->actor),
                                   value_text(event->body), value_number(event->earlier_seq),
                                   value_bytes(event->previous, HASH_BYTES)));
    bind_rest(&insert, event);
    rc = statement_run(&insert);
    if (rc == SQLITE_OK) {
        writing->head.seq = event->seq;
        event_hash(event, writing->head.hash);
    }
    CRASH_POINT(store_event_written);
    return rc;
}

int write_counter(struct write_context *writing)
{
    const struct event_head *head = &writing->head;

    return write_run_with(writing, STATEMENT_COUNTER,
                          VALUES(value_number(head->seq), value_bytes(head->hash, HASH_BYTES),
                                 value_number(head->unsettled)));
}

int write_principal(struct write_context *writing, const struct store_principal *principal,
                    int64_t now_ms)
{
    int rc;

    if (strcmp(writing->principal, principal->id) == 0)
        return SQLITE_OK;
    rc = write_run_with(writing, STATEMENT_PRINCIPAL,
                        VALUES(value_text(principal->id), value_text(principal->kind),
                               value_number(principal->uid),
                               value_text(principal->name ? principal->name : ""),
                               value_text(principal->place), value_number(now_ms)));
    if (rc == SQLITE_OK && strlen(principal->id) < PRINCIPAL_BYTES)
        memcpy(writing->principal, principal->id, strlen(principal->id) + 1);
    return rc;
}

static int write_ask(struct write_context *writing, const struct write *write)
{
    struct statement insert = statement_of(&writing->statements, STATEMENT_ASK);
    const struct ask *ask = &write->of.create.ask;
    bool has_ended = state_is_over(ask->state);

    statement_values(&insert, write_rows[WRITE_create].columns.list, CREATE_FORM, &write->of);
    /* the ask has its first event's number */
    statement_bind(&insert, VALUES(value_number(has_ended ? ask->created_ms : 0),
                                   value_number(writing->head.seq + 1)));
    writing->ended += has_ended;
    return statement_run(&insert);
}

int create_run(struct write_context *writing, struct write *write)
{
    const struct ask *ask = &write->of.create.ask;
    struct text body = { 0 };
    struct event event = {
        .ask = ask->id,
        .kind = EVENT_CREATED,
        .form = ask->form_json ? ask->form_json : "",
        .arguments = ask->arguments_json,
    };
    int rc = SQLITE_OK;

    event_write_created(ask, &body);
    event.body = text_string(&body);
    if (write->of.create.principal.id)
        rc = write_principal(writing, &write->of.create.principal, ask->created_ms);
    CRASH_POINT(store_create_principal);
    if (rc == SQLITE_OK)
        rc = write_ask(writing, write);
    CRASH_POINT(store_create_ask);
    if (rc == SQLITE_OK)
        rc = write_event(writing, &event);
    write_hint(writing, ask->id,
               &(struct found){ event.seq, (int64_t)ask->state, ask->version, event.seq });
    write->reply.seq = event.seq;
    text_release(&body);
    return rc;
}

/* The write's values into one statement; the outcome is `unless_changed` where nothing changes. */
static int write_plain(struct write_context *writing, struct write *write,
                       enum sqlite_statement which, enum store_outcome unless_changed)
{
    const struct columns *columns = &write_rows[write->what].columns;
    struct statement statement = statement_of(&writing->statements, which);
    int rc;

    statement_values(&statement, columns->list, columns->count, &write->of);
    rc = statement_run(&statement);
    if (rc == SQLITE_OK && sqlite3_changes(writing->db) == 0)
        write->reply.outcome = unless_changed;
    return rc;
}

int draft_run(struct write_context *writing, struct write *write)
{
    const struct store_draft *draft = &write->of.draft;
    struct found found = { 0 };
    int rc = write_look(writing, draft->ask_id, &found);

    if (rc != SQLITE_OK)
        return rc;
    if (found.number == 0) {
        write->reply.outcome = STORE_MISSING;
        return SQLITE_OK;
    }
    rc = write_plain(writing, write, *draft->json ? STATEMENT_DRAFT : STATEMENT_DRAFT_REMOVE,
                     STORE_DONE);
    CRASH_POINT(store_draft_written);
    return rc;
}

int setting_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write,
                         write->of.setting.value ? STATEMENT_SETTING : STATEMENT_SETTING_REMOVE,
                         STORE_DONE);

    CRASH_POINT(store_setting_written);
    return rc;
}

int token_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write, STATEMENT_TOKEN, STORE_DONE);

    CRASH_POINT(store_token_written);
    return rc;
}

int token_revoke_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write, STATEMENT_TOKEN_REVOKE, STORE_MISSING);

    CRASH_POINT(store_token_revoked);
    return rc;
}

int token_use_run(struct write_context *writing, struct write *write)
{
    return write_plain(writing, write, STATEMENT_TOKEN_USE, STORE_MISSING);
}

int rule_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write, STATEMENT_RULE, STORE_LOST);

    CRASH_POINT(store_rule_written);
    return rc;
}

int rule_revoke_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write, STATEMENT_RULE_REVOKE, STORE_MISSING);

    CRASH_POINT(store_rule_revoked);
    return rc;
}

int key_run(struct write_context *writing, struct write *write)
{
    int rc = write_plain(writing, write, STATEMENT_KEY, STORE_DONE);

    write->reply.seq = sqlite3_last_insert_rowid(writing->db);
    return rc;
}

int meta_run(struct write_context *writing, struct write *write)
{
    return write_plain(writing, write, STATEMENT_META, STORE_DONE);
}

/* Names are the clients' to invent, so there is room for so many. */
int client_run(struct write_context *writing, struct write *write)
{
    const struct store_client_fact *client = &write->of.client;
    int rc;

    if (!client->client.name)
        return write_run(writing, STATEMENT_CUT_OFF_FORGET);
    rc = write_run_on(writing, STATEMENT_CUT_OFF_ROOM, WRITE_CLIENTS_MAX);
    if (rc == SQLITE_OK)
        rc = write_plain(writing, write, client->is_form ? STATEMENT_FORM_FACT : STATEMENT_CUT_OFF,
                         STORE_DONE);
    CRASH_POINT(store_cut_off_written);
    return rc;
}

int shift_run(struct write_context *writing, struct write *write)
{
    static const enum sqlite_statement both[] = { STATEMENT_SHIFT_OPEN, STATEMENT_SHIFT_DELIVERY };
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(both); i++) {
        rc = write_run_with(
            writing, both[i],
            VALUES(value_number(write->of.shift.by_ms), value_number(writing->head.unsettled)));
        CRASH_POINT(store_deadlines_shifted);
    }
    return rc;
}
