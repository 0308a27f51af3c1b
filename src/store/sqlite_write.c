/* sqlite_write.c - new asks, shifted deadlines, and small writes that events do not tell of; the
 * SQL of every write. */
#include "store/write.h"

#include <string.h>

#include "base/crash_point.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/row.h"

/* Nothing that is found by changes any more: it is over, and so is the time to undo it. */
#define INDEX_IS_SETTLED                                                                           \
    "(k.state " SQL_IS_OVER " AND (k.delivered_ms > 0 OR k.deliver_after_ms <= ?1))"
#define INDEX_COLUMNS "k.number, " INDEX_IS_SETTLED ", " ROW_AGENT ", t.form, a.answer"
/* Open, and not marked as one that no agent waits for. */
#define ATTENDED                                                                                   \
    " WHERE number >= ?1 AND state " SQL_IS_OPEN " AND flags & " SQL_ASK_DETACHED " = 0"
/* Newer than what by_principal holds. */
#define UNLISTED " WHERE number >= (SELECT next FROM search)"

const char *const write_sql[WRITE_COUNT] = {
    [WRITE_PRINCIPAL] = "INSERT INTO principals (id, kind, uid, name, place, created_ms)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
    [WRITE_ASK] =
        "INSERT INTO asks (id, principal, digest, state, interface, flags, version,"
        " form_version, created_ms, deadline_ms, original_ms, hold_used_ms,"
        " deliver_after_ms, delivered_ms, decided_ms, tool, title, origin,"
        " idempotency_key, ended_ms, number, seq, earlier_seq, answer_seq, launch_code_hash)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
        " ?19, ?21, ?22, ?22, 0, 0, ?20)",
    [WRITE_EVENT] = "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [WRITE_EVENT_CREATED] = "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq,"
                            " prev_hash, form, arguments)"
                            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [WRITE_EVENT_ANSWER] = "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq,"
                           " prev_hash, answer, person, answer_key, decisive, answered_ms)"
                           " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11)",
    [WRITE_COUNTER] = "UPDATE counter SET seq = ?1, hash = ?2, unsettled = ?3",
    /* The one conditional update that decides every race (R5.3). */
    [WRITE_CHANGE] =
        "UPDATE asks SET state = COALESCE(?7, state), interface = COALESCE(?8, interface),"
        " deadline_ms = COALESCE(?9, deadline_ms), original_ms = COALESCE(?10, original_ms),"
        " hold_used_ms = COALESCE(?11, hold_used_ms),"
        " deliver_after_ms = COALESCE(?12, deliver_after_ms),"
        " delivered_ms = COALESCE(?13, delivered_ms), decided_ms = COALESCE(?14, decided_ms),"
        " flags = (flags | ?15) & ~?16, version = version + ?6,"
        " ended_ms = CASE WHEN ?7 IS NULL THEN ended_ms WHEN ?7 " SQL_IS_OVER
        " THEN ?17 ELSE 0 END,"
        " earlier_seq = seq, seq = ?24, launch_code_hash = COALESCE(?20, launch_code_hash),"
        " answer_seq = CASE WHEN ?18 THEN -abs(answer_seq) WHEN ?25 THEN ?24 ELSE answer_seq END"
        " WHERE number = ?22 AND (?4 >> state) & 1 AND (?5 = 0 OR version = ?5)"
        " AND (?2 IS NULL OR principal = ?2) AND id = ?1 AND seq = ?23"
        " AND (?21 IS NULL OR launch_code_hash = ?21)",
    [WRITE_DELIVERED] =
        "UPDATE asks SET delivered_ms = ?4"
        " WHERE number = ?1 AND id = ?2 AND (?3 >> state) & 1 AND (?5 IS NULL OR principal = ?5)",
    [WRITE_MARK] = "UPDATE asks SET flags = (flags | ?2) & ~?3"
                   " WHERE number = ?1 AND state " SQL_IS_OPEN " AND (flags | ?2) & ~?3 <> flags",
    [WRITE_ABANDON] = "UPDATE asks SET flags = flags | " SQL_ASK_DETACHED ATTENDED,
    [WRITE_ABANDONED] = "SELECT 1 FROM asks" ATTENDED " LIMIT 1",
    [WRITE_ANSWER_TO_DRAFT] =
        "INSERT INTO drafts (ask, person, body, counter, saved_ms)"
        " SELECT ask, COALESCE(person, ?2), answer, 1, ?3 FROM events"
        " WHERE seq = (SELECT -answer_seq FROM asks WHERE number = ?1) AND answer IS NOT NULL"
        " ON CONFLICT DO UPDATE SET body = excluded.body, counter = counter + 1,"
        " saved_ms = excluded.saved_ms",
    [WRITE_ANSWER_UNDECIDE] = "UPDATE events SET decisive = 0"
                              " WHERE seq = (SELECT -answer_seq FROM asks WHERE number = ?1)",
    [WRITE_DRAFT] = "INSERT INTO drafts (ask, person, body, counter, saved_ms)"
                    " VALUES (?1, ?2, ?3, 1, ?4) ON CONFLICT DO UPDATE SET body = excluded.body,"
                    " counter = counter + 1, saved_ms = excluded.saved_ms",
    [WRITE_DRAFT_REMOVE] = "DELETE FROM drafts WHERE ask = ?1 AND person = ?2",
    [WRITE_SETTING] = "INSERT INTO settings (person, name, value) VALUES (?1, ?2, ?3)"
                      " ON CONFLICT DO UPDATE SET value = excluded.value",
    [WRITE_SETTING_REMOVE] = "DELETE FROM settings WHERE person = ?1 AND name = ?2",
    [WRITE_TOKEN] = "INSERT INTO tokens (hash, kind, person, label, sub_agent, may_answer,"
                    " created_ms, expires_ms, used_ms, browser)"
                    " VALUES (?1, ?2, 'owner', ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [WRITE_TOKEN_REVOKE] = "UPDATE tokens SET revoked_ms = ?2 WHERE hash = ?1 AND revoked_ms = 0",
    [WRITE_TOKEN_USE] = "UPDATE tokens SET used_ms = max(used_ms, ?2)"
                        " WHERE hash = ?1 AND revoked_ms = 0",
    [WRITE_RULE] = "INSERT INTO rules (id, kind, facts, answer, actor, created_ms, expires_ms)"
                   " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM rules"
                   " WHERE kind = ?2 AND revoked_ms = 0 AND expires_ms > ?6)",
    [WRITE_RULE_REVOKE] = "UPDATE rules SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms = 0",
    [WRITE_KEY] = "INSERT INTO keys (purpose, secret, created_ms) VALUES (?1, ?2, ?3)",
    [WRITE_META] = "INSERT INTO meta (name, value) VALUES (?1, ?2)"
                   " ON CONFLICT DO UPDATE SET value = excluded.value",
    [WRITE_CUT_OFF] = "INSERT INTO client_facts (name, version, transport, cut_off_ms)"
                      " SELECT ?1, ?2, ?3, ?5 WHERE (SELECT count(*) FROM client_facts) < ?6"
                      " OR EXISTS (SELECT 1 FROM client_facts"
                      " WHERE name = ?1 AND version = ?2 AND transport = ?3)"
                      " ON CONFLICT DO UPDATE SET cut_off_ms = excluded.cut_off_ms",
    [WRITE_FORM_FACT] = "INSERT INTO client_facts (name, version, transport, form_works)"
                        " SELECT ?1, ?2, ?3, ?5 WHERE (SELECT count(*) FROM client_facts) < ?6"
                        " OR EXISTS (SELECT 1 FROM client_facts"
                        " WHERE name = ?1 AND version = ?2 AND transport = ?3)"
                        " ON CONFLICT DO UPDATE SET form_works = excluded.form_works",
    /* What was seen once, or is forgotten, makes room first. */
    [WRITE_CUT_OFF_ROOM] = "DELETE FROM client_facts"
                           " WHERE coalesce(cut_off_ms, 0) <= 0 AND coalesce(form_works, 0) <= 0"
                           " AND (SELECT count(*) FROM client_facts) >= ?1",
    [WRITE_CUT_OFF_FORGET] = "UPDATE client_facts SET cut_off_ms = NULL",
    [WRITE_CONVERSATION] =
        "INSERT INTO conversations (id, principal, token_id, label, state, body, key,"
        " version, created_ms, changed_ms, last_event)"
        " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?8, ?9"
        " WHERE (SELECT count(*) FROM conversations WHERE principal = ?2) < ?10 RETURNING 1",
    /* The oldest that is idle, where there is no room for one more. */
    [WRITE_CONVERSATION_ROOM] =
        "DELETE FROM conversations WHERE id = (SELECT id FROM conversations"
        " WHERE principal = ?1 AND state = 'idle' ORDER BY changed_ms LIMIT 1)"
        " AND (SELECT count(*) FROM conversations WHERE principal = ?1) >= ?2",
    [WRITE_CONVERSATION_FIND_KEY] = "SELECT 1 FROM conversations WHERE principal = ?1 AND key = ?2",
    [WRITE_CONVERSATION_STEP] =
        "UPDATE conversations SET state = ?3, body = ?4, ask = ?5, earlier_ask = ?6,"
        " changed_ms = ?7, version = version + 1, last_event = last_event + ?8"
        " WHERE id = ?1 AND version = ?2 RETURNING last_event",
    [WRITE_CONVERSATION_EVENT] =
        "INSERT INTO conversation_events (conversation, number, kind, bytes, body)"
        " VALUES (?1, ?2, ?3, ?4, ?5)",
    [WRITE_CONVERSATION_PRUNE] =
        "DELETE FROM conversation_events WHERE conversation = ?1 AND number <= ("
        "SELECT number FROM (SELECT number, row_number() OVER later AS place,"
        " sum(bytes) OVER later AS total FROM conversation_events WHERE conversation = ?1"
        " WINDOW later AS (ORDER BY number DESC))"
        " WHERE place > ?2 OR total > ?3 ORDER BY number DESC LIMIT 1)",
    [WRITE_CONVERSATION_LOOK] = "SELECT 1 FROM conversations WHERE id = ?1",
    [WRITE_CONVERSATION_SWEEP] =
        "DELETE FROM conversations WHERE id = (SELECT id FROM conversations"
        " WHERE changed_ms < ?1 AND state <> 'awaiting_user_response'"
        " ORDER BY changed_ms, id LIMIT 1)",
    [WRITE_SHIFT_OPEN] = "UPDATE asks SET deadline_ms = deadline_ms + ?1"
                         " WHERE number >= ?2 AND state " SQL_IS_OPEN " AND deadline_ms > 0",
    [WRITE_SHIFT_DELIVERY] = "UPDATE asks SET deliver_after_ms = max(deliver_after_ms + ?1, 1)"
                             " WHERE number >= ?2 AND delivered_ms = 0 AND deliver_after_ms > 0"
                             " AND state " SQL_IS_OVER,
    [WRITE_SWEEP_OLD] = "SELECT number, seq FROM asks WHERE state " SQL_IS_OVER " AND ended_ms < ?1"
                        " ORDER BY ended_ms LIMIT ?2",
    /* Timeouts and withdrawals hold no answer that an agent might still come for. */
    [WRITE_SWEEP_MANY] =
        "SELECT number, seq FROM asks WHERE state " SQL_IS_OVER " AND ended_ms >= ?1"
        " AND (delivered_ms > 0 OR state " SQL_BY_NOBODY ") AND NOT " SCHEMA_UNHEARD
        " ORDER BY ended_ms LIMIT ?2",
    [WRITE_SWEEP_COUNT] =
        "SELECT count(*) FROM (SELECT 1 FROM asks WHERE state " SQL_IS_OVER " LIMIT ?1)",
    [WRITE_SWEEP_EVENT] =
        "UPDATE events SET actor = NULL, body = NULL, form = NULL, arguments = NULL,"
        " answer = NULL, person = NULL, answer_key = NULL, decisive = NULL, answered_ms = NULL"
        " WHERE seq = ?1 RETURNING earlier_seq",
    [WRITE_SWEEP_DRAFTS] = "DELETE FROM drafts"
                           " WHERE ask = (SELECT id FROM asks WHERE number = ?1)",
    [WRITE_SWEEP_ASK] = "DELETE FROM asks WHERE number = ?1",
    /* Ids are hashes: each time a part of them, from anywhere on. Whose the newest asks are only
     * these tell: while they are many, nobody goes. */
    [WRITE_SWEEP_PRINCIPALS] =
        "DELETE FROM principals AS p WHERE p.created_ms < ?1 AND p.id IN (SELECT id FROM"
        " (SELECT id FROM principals WHERE id >= (SELECT lower(hex(randomblob(16))))"
        " ORDER BY id LIMIT 100) UNION ALL"
        " SELECT id FROM (SELECT id FROM principals ORDER BY id LIMIT 100) LIMIT 100)"
        " AND NOT EXISTS (SELECT 1 FROM by_principal b WHERE b.principal = p.id)"
        " AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.principal = p.id)"
        " AND NOT EXISTS (SELECT 1 FROM asks" UNLISTED " LIMIT 1 OFFSET 1000)"
        " AND p.id NOT IN (SELECT principal FROM asks" UNLISTED ")",
    [WRITE_UNSETTLED] =
        "SELECT number FROM asks WHERE number >= ?1 AND number < ?2 AND (state " SQL_IS_OPEN
        " OR (delivered_ms = 0 AND (" SQL_EACH_BY_PERSON(
            "state") " OR deliver_after_ms > 0))) ORDER BY number LIMIT 1",
    [WRITE_INDEX_NEXT] = "SELECT next FROM search",
    [WRITE_INDEX_PICK] = "SELECT " INDEX_COLUMNS " FROM asks k" ROW_JOIN
                         "WHERE k.number >= ?2 ORDER BY k.number LIMIT ?3",
    [WRITE_INDEX_WINDOW] = "SELECT max(number), count(*) FROM"
                           " (SELECT number FROM unindexed WHERE number >= ?1 ORDER BY number"
                           " LIMIT ?2)",
    [WRITE_INDEX_PICK_LEFT] = "SELECT " INDEX_COLUMNS " FROM unindexed u CROSS JOIN asks k"
                              " ON k.number = u.number" ROW_JOIN "WHERE u.number >= ?2 AND"
                              " u.number <= ?4 AND " INDEX_IS_SETTLED " ORDER BY u.number LIMIT ?3",
    [WRITE_INDEX_WORDS] = "INSERT INTO words (rowid, body) VALUES (?1, ?2)",
    [WRITE_INDEX_AGENT] = "INSERT INTO by_agent (agent, number) VALUES (?1, ?2)"
                          " ON CONFLICT DO NOTHING",
    [WRITE_INDEX_LEAVE] = "INSERT INTO unindexed (number) VALUES (?1) ON CONFLICT DO NOTHING",
    [WRITE_INDEX_TAKE] = "DELETE FROM unindexed WHERE number = ?1",
    [WRITE_INDEX_MOVE] = "UPDATE search SET next = ?1",
    [WRITE_INDEX_MERGE] = "INSERT INTO words (words, rank) VALUES ('merge', 8)",
    [WRITE_INDEX_TIDY] = "INSERT INTO words (words, rank) VALUES ('merge', -8)",
    [WRITE_UNINDEX_WORDS] = "DELETE FROM words WHERE rowid = ?1",
    [WRITE_UNINDEX_AGENT] = "DELETE FROM by_agent WHERE number = ?1 AND agent ="
                            " (SELECT " ROW_AGENT " FROM asks k WHERE k.number = ?1)",
    [WRITE_LOOK] = "SELECT number, state, version, seq FROM asks WHERE number = ?1 AND id = ?2",
    [WRITE_SEARCH] = ROW_PARTS ROW_AT("?1") "SELECT k.number, k.state, k.version, k.seq"
                                            " FROM" ROW_IS_AT "LIMIT 1",
    [WRITE_FIND] = ROW_GET,
    [WRITE_FIND_KEY] = ROW_PARTS ROW_AT(
        "(SELECT ask FROM events WHERE answer_key = ?1)") "SELECT " ROW_WHOLE "0 FROM" ROW_IS_AT
                                                          "JOIN events t ON t.seq = k.number JOIN "
                                                          "events a ON a.answer_key = ?1"
                                                          " LIMIT 1",
    [WRITE_BEGIN] = "BEGIN IMMEDIATE",
    [WRITE_COMMIT] = "COMMIT",
    [WRITE_SAVEPOINT] = "SAVEPOINT job",
    [WRITE_RELEASE] = "RELEASE job",
    [WRITE_UNDO] = "ROLLBACK TO job",
    [WRITE_FORGET] = "UPDATE counter SET failures = failures + 1",
};
int write_run(struct write *write, enum write_statement which)
{
    struct statement statement = statement_of(&write->statements, which);

    return statement_run(&statement);
}

int write_run_on(struct write *write, enum write_statement which, int64_t number)
{
    struct statement statement = statement_of(&write->statements, which);

    statement_integer(&statement, number);
    return statement_run(&statement);
}

static void bind_rest(struct statement *insert, const struct event *event)
{
    if (event->form) {
        statement_text(insert, event->form);
        statement_text(insert, event->arguments);
    } else if (event->answered_ms) {
        statement_text(insert, event->answer);
        statement_text(insert, event->person);
        statement_text(insert, event->answer_key);
        statement_integer(insert, event->answered_ms);
    }
}

int write_event(struct write *write, struct event *event)
{
    enum write_statement how = event->form          ? WRITE_EVENT_CREATED
                               : event->answered_ms ? WRITE_EVENT_ANSWER
                                                    : WRITE_EVENT;
    struct statement insert = statement_of(&write->statements, how);
    int rc;

    event->seq = write->head.seq + 1;
    memcpy(event->previous, write->head.hash, HASH_BYTES);
    if (!event->actor)
        event->actor = ""; /* NULL says emptied */
    statement_integer(&insert, event->seq);
    statement_text(&insert, event->ask);
    statement_integer(&insert, event->kind);
    statement_text(&insert, event->actor);
    statement_text(&insert, event->body);
    statement_integer(&insert, event->earlier_seq);
    statement_blob(&insert, event->previous, HASH_BYTES);
    bind_rest(&insert, event);
    rc = statement_run(&insert);
    if (rc == SQLITE_OK) {
        write->head.seq = event->seq;
        event_hash(event, write->head.hash);
    }
    CRASH_POINT(store_event_written);
    return rc;
}

int write_counter(struct write *write)
{
    struct statement update = statement_of(&write->statements, WRITE_COUNTER);

    statement_integer(&update, write->head.seq);
    statement_blob(&update, write->head.hash, HASH_BYTES);
    statement_integer(&update, write->head.unsettled);
    return statement_run(&update);
}

int write_principal(struct write *write, const struct store_principal *principal, int64_t now_ms)
{
    struct statement insert;
    int rc;

    if (strcmp(write->principal, principal->id) == 0)
        return SQLITE_OK;
    insert = statement_of(&write->statements, WRITE_PRINCIPAL);
    statement_text(&insert, principal->id);
    statement_text(&insert, principal->kind);
    statement_integer(&insert, principal->uid);
    statement_text(&insert, principal->name ? principal->name : "");
    statement_text(&insert, principal->place);
    statement_integer(&insert, now_ms);
    rc = statement_run(&insert);
    if (rc == SQLITE_OK && strlen(principal->id) < PRINCIPAL_BYTES)
        memcpy(write->principal, principal->id, strlen(principal->id) + 1);
    return rc;
}

static int write_ask(struct write *write, const struct job *job)
{
    struct statement insert = statement_of(&write->statements, WRITE_ASK);
    const struct ask *ask = &job->of.create.ask;
    bool has_ended = state_is_over(ask->state);

    statement_values(&insert, job_kinds[WRITE_create].columns.list, CREATE_FORM, &job->of);
    statement_integer(&insert, has_ended ? ask->created_ms : 0);
    statement_integer(&insert, write->head.seq + 1); /* the ask has its first event's number */
    write->ended += has_ended;
    return statement_run(&insert);
}

int create_run(struct write *write, struct job *job)
{
    const struct ask *ask = &job->of.create.ask;
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
    if (job->of.create.principal.id)
        rc = write_principal(write, &job->of.create.principal, ask->created_ms);
    CRASH_POINT(store_create_principal);
    if (rc == SQLITE_OK)
        rc = write_ask(write, job);
    CRASH_POINT(store_create_ask);
    if (rc == SQLITE_OK)
        rc = write_event(write, &event);
    write_hint(write, ask->id,
               &(struct found){ event.seq, (int64_t)ask->state, ask->version, event.seq });
    job->reply.seq = event.seq;
    text_release(&body);
    return rc;
}

int write_plain(struct write *write, struct job *job, enum write_statement which,
                enum store_outcome unless_changed)
{
    const struct columns *columns = &job_kinds[job->what].columns;
    struct statement statement = statement_of(&write->statements, which);
    int rc;

    statement_values(&statement, columns->list, columns->count, &job->of);
    rc = statement_run(&statement);
    if (rc == SQLITE_OK && sqlite3_changes(write->db) == 0)
        job->reply.outcome = unless_changed;
    return rc;
}

int draft_run(struct write *write, struct job *job)
{
    const struct store_draft *draft = &job->of.draft;
    struct found found = { 0 };
    int rc = write_look(write, draft->ask_id, &found);

    if (rc != SQLITE_OK)
        return rc;
    if (found.number == 0) {
        job->reply.outcome = STORE_MISSING;
        return SQLITE_OK;
    }
    rc = write_plain(write, job, *draft->json ? WRITE_DRAFT : WRITE_DRAFT_REMOVE, STORE_DONE);
    CRASH_POINT(store_draft_written);
    return rc;
}

int setting_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, job->of.setting.value ? WRITE_SETTING : WRITE_SETTING_REMOVE,
                         STORE_DONE);

    CRASH_POINT(store_setting_written);
    return rc;
}

int token_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, WRITE_TOKEN, STORE_DONE);

    CRASH_POINT(store_token_written);
    return rc;
}

int token_revoke_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, WRITE_TOKEN_REVOKE, STORE_MISSING);

    CRASH_POINT(store_token_revoked);
    return rc;
}

int token_use_run(struct write *write, struct job *job)
{
    return write_plain(write, job, WRITE_TOKEN_USE, STORE_MISSING);
}

int rule_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, WRITE_RULE, STORE_LOST);

    CRASH_POINT(store_rule_written);
    return rc;
}

int rule_revoke_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, WRITE_RULE_REVOKE, STORE_MISSING);

    CRASH_POINT(store_rule_revoked);
    return rc;
}

int key_run(struct write *write, struct job *job)
{
    int rc = write_plain(write, job, WRITE_KEY, STORE_DONE);

    job->reply.seq = sqlite3_last_insert_rowid(write->db);
    return rc;
}

int meta_run(struct write *write, struct job *job)
{
    return write_plain(write, job, WRITE_META, STORE_DONE);
}

/* Names are the clients' to invent, so there is room for so many. */
int client_run(struct write *write, struct job *job)
{
    const struct store_client_fact *client = &job->of.client;
    int rc;

    if (!client->client.name)
        return write_run(write, WRITE_CUT_OFF_FORGET);
    rc = write_run_on(write, WRITE_CUT_OFF_ROOM, JOB_CLIENTS_MOST);
    if (rc == SQLITE_OK)
        rc = write_plain(write, job, client->is_form ? WRITE_FORM_FACT : WRITE_CUT_OFF, STORE_DONE);
    CRASH_POINT(store_cut_off_written);
    return rc;
}

int shift_run(struct write *write, struct job *job)
{
    static const enum write_statement both[] = { WRITE_SHIFT_OPEN, WRITE_SHIFT_DELIVERY };
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(both); i++) {
        struct statement update = statement_of(&write->statements, both[i]);

        statement_integer(&update, job->of.shift.by_ms);
        statement_integer(&update, write->head.unsettled);
        rc = statement_run(&update);
        CRASH_POINT(store_deadlines_shifted);
    }
    return rc;
}
