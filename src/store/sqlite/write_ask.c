/*
 * write_ask.c - everything that happens to an ask after it was made. One conditional update
 * decides (R5.3); what a person decided, and the event that says so, are in the same transaction.
 * An undone answer stays as a row that decides nothing, so that its key is still known when a late
 * retry brings it again.
 */
#include <string.h>

#include "base/crash_point.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "store/row.h"
#include "store/sqlite/write.h"

/* An ask by its id, on the writer's thread. */

/* Of this ask, or in the place of the oldest in its set. Ids are random, so three of their
 * characters spread well; anything else fits into a set too. */
static struct write_hint *hint_of(struct write_context *writing, const char *id)
{
    struct write_hint *set, *oldest;
    unsigned place = 0;

    for (size_t i = 0; i < 3 && id[i]; i++)
        place = place * 131 + (unsigned char)id[i];
    oldest = set = writing->hints[place % ARRAY_LEN(writing->hints)];
    for (struct write_hint *hint = set; hint < set + WRITE_HINT_WAYS; hint++) {
        if (strcmp(hint->id, id) == 0)
            return hint;
        if (hint->ask.number < oldest->ask.number)
            oldest = hint;
    }
    return oldest;
}

void write_hint(struct write_context *writing, const char *id, const struct found *ask)
{
    struct write_hint *hint = hint_of(writing, id);
    size_t length = strnlen(id, sizeof hint->id - 1);

    hint->ask = *ask;
    memcpy(hint->id, id, length);
    hint->id[length] = '\0';
}

struct found write_hinted(struct write_context *writing, const char *id)
{
    const struct write_hint *hint = hint_of(writing, id);

    return strcmp(hint->id, id) == 0 ? hint->ask : (struct found){ 0 };
}

struct found write_look(struct write_context *writing, const char *id, int64_t seq)
{
    int64_t hinted = write_hinted(writing, id).number;
    struct statement look = write_statement(
        writing, STATEMENT_LOOK, VALUES(value_text(id), value_number(hinted ? hinted : seq)));
    struct found found = { 0 };

    if (statement_step(&look)) {
        found.number = sqlite3_column_int64(look.handle, 0);
        found.state = sqlite3_column_int64(look.handle, 1);
        found.version = sqlite3_column_int64(look.handle, 2);
        found.seq = sqlite3_column_int64(look.handle, 3);
    }
    write_end(writing, &look);
    return found;
}

_Static_assert(ASK_DETACHED == 1, "STATEMENT_ABANDON knows it");

/* The row behind an id or an answer_key, copied into the reply. */
static void reply_row(struct write_context *writing, struct write *write, enum sqlite_statement how,
                      const char *what)
{
    struct statement find = write_statement(writing, how, VALUES(value_text(what)));
    struct store_row row;

    write_set_row(write, NULL);
    if (statement_next(&find, &row_columns, &row))
        write_set_row(write, &row);
    write_end(writing, &find);
}

/* A row as the update finds it, and what it makes of it. */
struct changed {
    struct found ask;
    bool has_won;
};

static void update_found(struct write_context *writing, const struct store_change *change,
                         struct changed *changed)
{
    const struct found *ask = &changed->ask;
    const struct column *columns = write_rows[WRITE_change].columns.list;
    struct statement update;

    if (ask->number == 0)
        return;
    update = write_statement(writing, STATEMENT_CHANGE, NULL, 0);
    statement_values(&update, columns, CHANGE_ACTOR, change);
    statement_values(&update, columns + CHANGE_REMOVES, CHANGE_WHEN - CHANGE_REMOVES, change);
    statement_bind(&update, VALUES(value_number(ask->number), value_number(ask->seq),
                                   value_number(writing->head.seq + 1),
                                   value_number(change_brings_answer(change))));
    statement_step(&update);
    changed->has_won = write_end(writing, &update);
}

/* First by what is remembered of the ask; if that was wrong, or it is lost, by the ask itself. */
static void update_ask(struct write_context *writing, const struct store_change *change,
                       struct changed *changed)
{
    struct found *ask = &changed->ask;

    *ask = write_hinted(writing, change->ask_id);
    update_found(writing, change, changed);
    if (!changed->has_won) {
        *ask = write_look(writing, change->ask_id, change->seq);
        update_found(writing, change, changed);
    }
    if (writing->rc != SQLITE_OK || ask->number == 0)
        return;
    if (change->to_state != STORE_KEEP) {
        if (changed->has_won)
            writing->ended += state_is_over((enum ask_state)change->to_state) -
                              state_is_over((enum ask_state)ask->state);
        ask->state = change->to_state;
    }
    ask->version += change->raises_version;
    if (changed->has_won && ask->number < writing->head.unsettled)
        writing->head.unsettled = ask->number; /* it may be open again */
    CRASH_POINT(store_change_decided);
}

static void undo_answer(struct write_context *writing, const struct store_change *change,
                        int64_t number)
{
    write_run_with(writing, STATEMENT_ANSWER_TO_DRAFT,
                   VALUES(value_number(number), value_text(change->person ? change->person : ""),
                          value_number(change->now_ms)));
    CRASH_POINT(store_answer_to_draft);
    write_run_on(writing, STATEMENT_ANSWER_UNDECIDE, number);
    CRASH_POINT(store_answer_undecided);
    index_reopen(writing, number);
}

static void describe(const struct store_change *change, const struct changed *changed,
                     struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "at", change->now_ms);
    json_write_integer(&writer, "state", changed->ask.state);
    json_write_integer(&writer, "version", changed->ask.version);
    event_write_end(change, &writer);
}

/* After a change that changed nothing. Someone else's ask is, for this principal, none at all. */
static void reply_lost(struct write_context *writing, struct write *write)
{
    const struct store_change *change = &write->of.change;
    const struct store_row *row;
    bool is_seen;

    reply_row(writing, write, STATEMENT_FIND, change->ask_id);
    row = write->reply.row;
    is_seen = row && (!change->principal || strcmp(change->principal, row->ask.principal) == 0);
    write->reply.outcome = is_seen ? STORE_LOST : STORE_MISSING;
}

void change_run(struct write_context *writing, struct write *write)
{
    const struct store_change *change = &write->of.change;
    struct changed changed = { 0 };
    struct text body = { 0 };
    struct event event = { .ask = change->ask_id,
                           .kind = change->event,
                           .actor = change->actor_json };

    if (change_only_delivers(change)) {
        if (deliver_run(writing, write) == 0)
            reply_lost(writing, write);
        return;
    }
    if (change_brings_answer(change)) {
        event.answer = change->answer_json;
        event.person = change->person;
        event.answer_key = change->answer_key;
        event.answered_ms = change->now_ms;
    }

    if (change->answer_key) {
        reply_row(writing, write, STATEMENT_FIND_KEY, change->answer_key);
        if (write->reply.row) {
            write->reply.outcome = STORE_REPEATED;
            return;
        }
    }
    update_ask(writing, change, &changed);
    if (!changed.has_won) {
        reply_lost(writing, write);
        return;
    }
    if (change->removes_answer)
        undo_answer(writing, change, changed.ask.number);
    event.earlier_seq = changed.ask.seq;
    describe(change, &changed, &body);
    event.body = text_string(&body);
    write_event(writing, &event);
    write->reply.seq = changed.ask.seq = event.seq;
    write_hint(writing, change->ask_id, &changed.ask);
    text_release(&body);
    if (!change->skips_row)
        reply_row(writing, write, STATEMENT_FIND, change->ask_id);
}

void mark_run(struct write_context *writing, struct write *write)
{
    const struct store_mark *mark = &write->of.mark;
    struct found ask = write_look(writing, mark->ask_id, 0);
    bool has_changed =
        ask.number && write_run_with(writing, STATEMENT_MARK,
                                     VALUES(value_number(ask.number), value_number(mark->set_flags),
                                            value_number(mark->clear_flags)));

    write->reply.outcome = has_changed ? STORE_DONE : ask.number ? STORE_LOST : STORE_MISSING;
}

bool abandon_is_needed(struct write_context *writing)
{
    struct statement find = write_statement(writing, STATEMENT_ABANDONED,
                                            VALUES(value_number(writing->head.unsettled)));
    bool is_required = statement_step(&find);

    write_end(writing, &find);
    return is_required;
}

/* No agent waits for any open ask. One event tells that of all of them, beside their own chains. */
void abandon_run(struct write_context *writing, struct write *write)
{
    struct event event = { .ask = "", .kind = EVENT_AGENT_DETACHED };
    struct text body = { 0 };

    if (!write_run_on(writing, STATEMENT_ABANDON, writing->head.unsettled))
        return;
    text_add_format(&body, "{\"at\":%lld,\"count\":%d}", (long long)write->of.abandon.at_ms,
                    sqlite3_changes(writing->db));
    event.body = text_string(&body);
    write_event(writing, &event);
    write->reply.seq = event.seq;
    text_release(&body);
}

/* Agents confirm what reached them, often many results in one go: one event tells it of all of
 * them. It stands beside the chains of the asks, for it is about several. */

static bool deliver_here(struct write_context *writing, const struct store_change *change,
                         const char *id, int64_t number)
{
    bool has_won;

    if (number == 0)
        return false;
    has_won = write_run_with(
        writing, STATEMENT_DELIVERED,
        VALUES(value_number(number), value_text(id), value_number(change->from_states),
               value_number(change->delivered_ms), value_text(change->principal)));
    CRASH_POINT(store_delivered);
    return has_won;
}

static bool deliver(struct write_context *writing, const struct store_change *change,
                    const char *id)
{
    return DELIBERATE_FAULT(delivered_again) ||
           deliver_here(writing, change, id, write_hinted(writing, id).number) ||
           deliver_here(writing, change, id, write_look(writing, id, 0).number);
}

/* Of a list of ids the first; moves on behind it. */
static bool next_id(const char **list, char out[ASK_ID_BYTES])
{
    const char *at = *list + strspn(*list, " ");
    size_t length = strcspn(at, " ");

    if (length == 0 || length >= ASK_ID_BYTES)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    *list = at + length;
    return true;
}

size_t deliver_run(struct write_context *writing, struct write *write)
{
    const struct store_change *change = &write->of.change;
    const char *at = change->ask_id, *rest = change->more_ids ? change->more_ids : "";
    struct text body = { 0 };
    struct json_writer writer = json_writer_to(&body);
    struct event event = { .kind = change->event, .actor = change->actor_json };
    char id[ASK_ID_BYTES];
    size_t count = 0;

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "at", change->now_ms);
    json_write_list(&writer, "asks");
    while (next_id(&at, id) || next_id(&rest, id)) {
        if (deliver(writing, change, id)) {
            json_write_text(&writer, NULL, id);
            count++;
        }
    }
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    if (count > 0) {
        event.ask = change->more_ids ? "" : change->ask_id;
        event.body = text_string(&body);
        write_event(writing, &event);
        write->reply.seq = event.seq;
    }
    text_release(&body);
    return count;
}
