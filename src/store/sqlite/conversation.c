/*
 * conversation.c - conversations of agent hosts: one row each, and what happened in them
 * under numbers of their own. A step is one conditional update on the version, its events and,
 * where an answer went into it, that answer's delivery, in one transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "store/sqlite/write.h"

static int64_t count_lines(const char *events)
{
    int64_t count = 0;

    for (const char *at = events; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static int write_line(struct write_context *writing, const char *id, int64_t number,
                      const char *line, size_t length)
{
    size_t kind_length = strcspn(line, " ");
    char *kind = mem_text_n(line, kind_length);
    char *body = mem_text_n(line + kind_length + 1, length - kind_length - 1);
    int rc = write_run_with(writing, STATEMENT_CONVERSATION_EVENT,
                            VALUES(value_text(id), value_number(number), value_text(kind),
                                   value_number((int64_t)length), value_text(body)));

    free(kind);
    free(body);
    CRASH_POINT(store_conversation_event);
    return rc;
}

/* The last of them has number `last`. */
static int write_events(struct write_context *writing, const char *id, const char *events,
                        int64_t last)
{
    int64_t number = last - count_lines(events);
    const char *line = events, *end;
    int rc = SQLITE_OK;

    for (; rc == SQLITE_OK && (end = strchr(line, '\n')); line = end + 1)
        rc = write_line(writing, id, ++number, line, (size_t)(end - line));
    if (rc == SQLITE_OK)
        rc = write_run_with(writing, STATEMENT_CONVERSATION_PRUNE,
                            VALUES(value_text(id), value_number(STORE_CONVERSATION_EVENTS),
                                   value_number(STORE_CONVERSATION_BYTES)));
    return rc;
}

static int find_key(struct write_context *writing, const struct store_conversation *conversation,
                    bool *ret_found)
{
    struct statement find =
        statement_with(&writing->statements, STATEMENT_CONVERSATION_FIND_KEY,
                       VALUES(value_text(conversation->principal), value_text(conversation->key)));

    *ret_found = conversation->key && statement_step(&find);
    return statement_end(&find);
}

static int insert_conversation(struct write_context *writing,
                               const struct store_new_conversation *made, bool *ret_inserted)
{
    struct statement insert = statement_of(&writing->statements, STATEMENT_CONVERSATION);

    statement_values(&insert, write_rows[WRITE_conversation].columns.list, CONVERSATION_LINES,
                     made);
    statement_bind(&insert, VALUES(value_number(count_lines(made->events)),
                                   value_number(STORE_CONVERSATIONS)));
    *ret_inserted = statement_step(&insert);
    return statement_end(&insert);
}

int conversation_run(struct write_context *writing, struct write *write)
{
    const struct store_new_conversation *made = &write->of.conversation;
    const struct store_conversation *conversation = &made->conversation;
    bool is_known = false, is_inserted = false;
    int rc = find_key(writing, conversation, &is_known);

    if (rc != SQLITE_OK || is_known) {
        write->reply.outcome = STORE_REPEATED;
        return rc;
    }
    rc = write_principal(writing, &made->principal, conversation->created_ms);
    if (rc == SQLITE_OK)
        rc = write_run_with(
            writing, STATEMENT_CONVERSATION_ROOM,
            VALUES(value_text(conversation->principal), value_number(STORE_CONVERSATIONS)));
    if (rc == SQLITE_OK)
        rc = insert_conversation(writing, made, &is_inserted);
    CRASH_POINT(store_conversation_written);
    write->reply.outcome = is_inserted ? STORE_DONE : STORE_LOST;
    write->reply.seq = count_lines(made->events);
    if (rc == SQLITE_OK && is_inserted)
        rc = write_events(writing, conversation->id, made->events, write->reply.seq);
    return rc;
}

static int update_conversation(struct write_context *writing, struct write *write, bool *ret_won)
{
    const struct store_conversation_step *step = &write->of.conversation_step;
    struct statement update = statement_of(&writing->statements, STATEMENT_CONVERSATION_STEP);

    statement_values(&update, write_rows[WRITE_conversation_step].columns.list, STEP_LINES, step);
    statement_bind(&update, VALUES(value_number(count_lines(step->events))));
    *ret_won = statement_step(&update);
    if (*ret_won)
        write->reply.seq = sqlite3_column_int64(update.handle, 0);
    return statement_end(&update);
}

static int deliver_answer(struct write_context *writing, const struct store_conversation_step *step)
{
    struct write deliver = { .of.change = store_change_of(step->delivered_ask, EVENT_DELIVERED) };
    size_t delivered;

    if (!step->delivered_ask)
        return SQLITE_OK;
    deliver.of.change.from_states = step->delivered_states;
    deliver.of.change.delivered_ms = deliver.of.change.now_ms = step->now_ms;
    return deliver_run(writing, &deliver, &delivered);
}

static int refuse_step(struct write_context *writing, struct write *write)
{
    struct statement look = statement_with(&writing->statements, STATEMENT_CONVERSATION_LOOK,
                                           VALUES(value_text(write->of.conversation_step.id)));

    write->reply.outcome = statement_step(&look) ? STORE_LOST : STORE_MISSING;
    return statement_end(&look);
}

int conversation_step_run(struct write_context *writing, struct write *write)
{
    const struct store_conversation_step *step = &write->of.conversation_step;
    bool has_won = false;
    int rc = update_conversation(writing, write, &has_won);

    CRASH_POINT(store_conversation_stepped);
    if (rc == SQLITE_OK && !has_won)
        return refuse_step(writing, write);
    if (rc == SQLITE_OK)
        rc = write_events(writing, step->id, step->events, write->reply.seq);
    if (rc == SQLITE_OK)
        rc = deliver_answer(writing, step);
    CRASH_POINT(store_conversation_delivered);
    return rc;
}

int conversation_sweep(struct write_context *writing, const struct store_sweep *sweep,
                       int64_t *ret_count)
{
    bool is_more = true;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && is_more && *ret_count < sweep->batch) {
        rc = write_run_on(writing, STATEMENT_CONVERSATION_SWEEP, sweep->older_than_ms);
        is_more = rc == SQLITE_OK && sqlite3_changes(writing->db) > 0;
        *ret_count += is_more;
        if (slice_is_over(&writing->slice))
            break;
    }
    CRASH_POINT(store_sweep_conversations);
    return rc;
}
