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

struct statement write_statement(struct write_context *writing, enum sqlite_statement which,
                                 const struct column_value *values, size_t count)
{
    return writing->rc == SQLITE_OK ? statement_with(&writing->statements, which, values, count)
                                    : (struct statement){ .rc = writing->rc };
}

bool write_end(struct write_context *writing, struct statement *statement)
{
    int rc = statement_end(statement);

    if (writing->rc == SQLITE_OK)
        writing->rc = rc;
    return writing->rc == SQLITE_OK && sqlite3_changes(writing->db) > 0;
}

bool write_run_with(struct write_context *writing, enum sqlite_statement which,
                    const struct column_value *values, size_t count)
{
    struct statement statement = write_statement(writing, which, values, count);

    statement_step(&statement);
    return write_end(writing, &statement);
}

bool write_run(struct write_context *writing, enum sqlite_statement which)
{
    return write_run_with(writing, which, NULL, 0);
}

bool write_run_on(struct write_context *writing, enum sqlite_statement which, int64_t number)
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

void write_event(struct write_context *writing, struct event *event)
{
    enum sqlite_statement how = event->form          ? STATEMENT_EVENT_CREATED
                                : event->answered_ms ? STATEMENT_EVENT_ANSWER
                                                     : STATEMENT_EVENT;
    struct statement insert = write_statement(writing, how, NULL, 0);

    event->seq = writing->head.seq + 1;
    memcpy(event->previous, writing->head.hash, HASH_BYTES);
    if (!event->actor)
        event->actor = ""; /* NULL says emptied */
    statement_bind(&insert, VALUES(value_number(event->seq), value_text(event->ask),
                                   value_number(event->kind), value_text(event->actor),
                                   value_text(event->body), value_number(event->earlier_seq),
                                   value_bytes(event->previous, HASH_BYTES)));
    bind_rest(&insert, event);
    statement_step(&insert);
    write_end(writing, &insert);
    if (writing->rc == SQLITE_OK) {
        writing->head.seq = event->seq;
        event_hash(event, writing->head.hash);
    }
    CRASH_POINT(store_event_written);
}

void write_principal(struct write_context *writing, const struct store_principal *principal,
                     int64_t now_ms)
{
    if (strcmp(writing->principal, principal->id) == 0)
        return;
    write_run_with(writing, STATEMENT_PRINCIPAL,
                   VALUES(value_text(principal->id), value_text(principal->kind),
                          value_number(principal->uid),
                          value_text(principal->name ? principal->name : ""),
                          value_text(principal->place), value_number(now_ms)));
    if (writing->rc == SQLITE_OK && strlen(principal->id) < PRINCIPAL_BYTES)
        memcpy(writing->principal, principal->id, strlen(principal->id) + 1);
}

static void write_ask(struct write_context *writing, const struct write *write)
{
    struct statement insert = write_statement(writing, STATEMENT_ASK, NULL, 0);
    const struct ask *ask = &write->of.create.ask;
    bool has_ended = state_is_over(ask->state);

    statement_values(&insert, write_rows[WRITE_create].columns.list, CREATE_FORM, &write->of);
    /* the ask has its first event's number */
    statement_bind(&insert, VALUES(value_number(has_ended ? ask->created_ms : 0),
                                   value_number(writing->head.seq + 1)));
    writing->ended += has_ended;
    statement_step(&insert);
    write_end(writing, &insert);
}

void create_run(struct write_context *writing, struct write *write)
{
    const struct ask *ask = &write->of.create.ask;
    struct text body = { 0 };
    struct event event = {
        .ask = ask->id,
        .kind = EVENT_CREATED,
        .form = ask->form_json ? ask->form_json : "",
        .arguments = ask->arguments_json,
    };

    event_write_created(ask, &body);
    event.body = text_string(&body);
    if (write->of.create.principal.id)
        write_principal(writing, &write->of.create.principal, ask->created_ms);
    CRASH_POINT(store_create_principal);
    write_ask(writing, write);
    CRASH_POINT(store_create_ask);
    write_event(writing, &event);
    write_hint(writing, ask->id,
               &(struct found){ event.seq, (int64_t)ask->state, ask->version, event.seq });
    write->reply.seq = event.seq;
    text_release(&body);
}

/* The write's values into one statement; the outcome is `unless_changed` where nothing changes. */
static void write_plain(struct write_context *writing, struct write *write,
                        enum sqlite_statement which, enum store_outcome unless_changed)
{
    const struct columns *columns = &write_rows[write->what].columns;
    struct statement statement = write_statement(writing, which, NULL, 0);

    statement_values(&statement, columns->list, columns->count, &write->of);
    statement_step(&statement);
    if (!write_end(writing, &statement))
        write->reply.outcome = unless_changed;
}

void draft_run(struct write_context *writing, struct write *write)
{
    const struct store_draft *draft = &write->of.draft;

    if (write_look(writing, draft->ask_id, 0).number == 0) {
        write->reply.outcome = STORE_MISSING;
        return;
    }
    write_plain(writing, write, *draft->json ? STATEMENT_DRAFT : STATEMENT_DRAFT_REMOVE,
                STORE_DONE);
    CRASH_POINT(store_draft_written);
}

void setting_run(struct write_context *writing, struct write *write)
{
    write_plain(writing, write,
                write->of.setting.value ? STATEMENT_SETTING : STATEMENT_SETTING_REMOVE, STORE_DONE);
    CRASH_POINT(store_setting_written);
}

#define PLAIN_WRITE(kind, statement, unless_changed, crash_point)                                  \
    void kind##_run(struct write_context *writing, struct write *write)                            \
    {                                                                                              \
        write_plain(writing, write, STATEMENT_##statement, STORE_##unless_changed);                \
        crash_point;                                                                               \
    }
PLAIN_WRITE(token, TOKEN, DONE, CRASH_POINT(store_token_written))
PLAIN_WRITE(token_revoke, TOKEN_REVOKE, MISSING, CRASH_POINT(store_token_revoked))
PLAIN_WRITE(token_use, TOKEN_USE, MISSING, (void)0)
PLAIN_WRITE(rule, RULE, LOST, CRASH_POINT(store_rule_written))
PLAIN_WRITE(rule_revoke, RULE_REVOKE, MISSING, CRASH_POINT(store_rule_revoked))
PLAIN_WRITE(meta, META, DONE, (void)0)

void key_run(struct write_context *writing, struct write *write)
{
    write_plain(writing, write, STATEMENT_KEY, STORE_DONE);
    write->reply.seq = sqlite3_last_insert_rowid(writing->db);
}

/* Names are the clients' to invent, so there is room for so many. */
void client_run(struct write_context *writing, struct write *write)
{
    const struct store_client_fact *client = &write->of.client;

    if (!client->client.name) {
        write_run(writing, STATEMENT_CUT_OFF_FORGET);
        return;
    }
    write_run_on(writing, STATEMENT_CUT_OFF_ROOM, WRITE_CLIENTS_MAX);
    write_plain(writing, write, client->is_form ? STATEMENT_FORM_FACT : STATEMENT_CUT_OFF,
                STORE_DONE);
    CRASH_POINT(store_cut_off_written);
}

void shift_run(struct write_context *writing, struct write *write)
{
    static const enum sqlite_statement both[] = { STATEMENT_SHIFT_OPEN, STATEMENT_SHIFT_DELIVERY };

    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        write_run_with(
            writing, both[i],
            VALUES(value_number(write->of.shift.by_ms), value_number(writing->head.unsettled)));
        CRASH_POINT(store_deadlines_shifted);
    }
}
