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

static void write_line(struct write_context *writing, const char *id, int64_t number,
                       const char *line, size_t length)
{
    size_t kind_length = strcspn(line, " ");
    char *kind = mem_text_n(line, kind_length);
    char *body = mem_text_n(line + kind_length + 1, length - kind_length - 1);

    write_run_with(writing, STATEMENT_CONVERSATION_EVENT,
                   VALUES(value_text(id), value_number(number), value_text(kind),
                          value_number((int64_t)length), value_text(body)));
    free(kind);
    free(body);
    CRASH_POINT(store_conversation_event);
}

/* The last of them has number `last`. */
static void write_events(struct write_context *writing, const char *id, const char *events,
                         int64_t last)
{
    int64_t number = last - count_lines(events);
    const char *line = events, *end;

    for (; writing->rc == SQLITE_OK && (end = strchr(line, '\n')); line = end + 1)
        write_line(writing, id, ++number, line, (size_t)(end - line));
    write_run_with(writing, STATEMENT_CONVERSATION_PRUNE,
                   VALUES(value_text(id), value_number(STORE_CONVERSATION_EVENTS),
                          value_number(STORE_CONVERSATION_BYTES)));
}

/* Steps a statement once and ends it; true: there is a row. */
static bool has_row(struct write_context *writing, struct statement *statement)
{
    bool is_row = statement_step(statement);

    write_end(writing, statement);
    return is_row;
}

static bool has_key(struct write_context *writing, const struct store_conversation *conversation)
{
    struct statement find =
        write_statement(writing, STATEMENT_CONVERSATION_FIND_KEY,
                        VALUES(value_text(conversation->principal), value_text(conversation->key)));

    return has_row(writing, &find);
}

void conversation_run(struct write_context *writing, struct write *write)
{
    const struct store_new_conversation *made = &write->of.conversation;
    const struct store_conversation *conversation = &made->conversation;
    struct statement insert;
    bool is_inserted;

    if (conversation->key && has_key(writing, conversation)) {
        write->reply.outcome = STORE_REPEATED;
        return;
    }
    write_principal(writing, &made->principal, conversation->created_ms);
    write_run_with(writing, STATEMENT_CONVERSATION_ROOM,
                   VALUES(value_text(conversation->principal), value_number(STORE_CONVERSATIONS)));
    insert = write_statement(writing, STATEMENT_CONVERSATION, NULL, 0);
    statement_values(&insert, write_rows[WRITE_conversation].columns.list, CONVERSATION_LINES,
                     made);
    statement_bind(&insert, VALUES(value_number(count_lines(made->events)),
                                   value_number(STORE_CONVERSATIONS)));
    is_inserted = has_row(writing, &insert);
    CRASH_POINT(store_conversation_written);
    write->reply.outcome = is_inserted ? STORE_DONE : STORE_LOST;
    write->reply.seq = count_lines(made->events);
    if (is_inserted)
        write_events(writing, conversation->id, made->events, write->reply.seq);
}

static bool update_conversation(struct write_context *writing, struct write *write)
{
    const struct store_conversation_step *step = &write->of.conversation_step;
    struct statement update = write_statement(writing, STATEMENT_CONVERSATION_STEP, NULL, 0);
    bool has_won;

    statement_values(&update, write_rows[WRITE_conversation_step].columns.list, STEP_LINES, step);
    statement_bind(&update, VALUES(value_number(count_lines(step->events))));
    has_won = statement_step(&update);
    if (has_won)
        write->reply.seq = sqlite3_column_int64(update.handle, 0);
    write_end(writing, &update);
    return has_won;
}

static void deliver_answer(struct write_context *writing,
                           const struct store_conversation_step *step)
{
    struct write deliver = { .of.change = store_change_of(step->delivered_ask, EVENT_DELIVERED) };

    if (!step->delivered_ask)
        return;
    deliver.of.change.from_states = step->delivered_states;
    deliver.of.change.delivered_ms = deliver.of.change.now_ms = step->now_ms;
    deliver_run(writing, &deliver);
}

void conversation_step_run(struct write_context *writing, struct write *write)
{
    const struct store_conversation_step *step = &write->of.conversation_step;
    bool has_won = update_conversation(writing, write);
    struct statement look;

    CRASH_POINT(store_conversation_stepped);
    if (!has_won) {
        look = write_statement(writing, STATEMENT_CONVERSATION_LOOK, VALUES(value_text(step->id)));
        write->reply.outcome = has_row(writing, &look) ? STORE_LOST : STORE_MISSING;
        return;
    }
    write_events(writing, step->id, step->events, write->reply.seq);
    deliver_answer(writing, step);
    CRASH_POINT(store_conversation_delivered);
}

void conversation_sweep(struct write_context *writing, const struct store_sweep *sweep,
                        int64_t *ret_count)
{
    bool is_more = true;

    while (is_more && *ret_count < sweep->batch) {
        is_more = write_run_on(writing, STATEMENT_CONVERSATION_SWEEP, sweep->older_than_ms);
        *ret_count += is_more;
        if (slice_is_over(&writing->slice))
            break;
    }
    CRASH_POINT(store_sweep_conversations);
}
