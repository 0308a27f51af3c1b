/*
 * sqlite_deliver.c - agents confirm what reached them, often many results at once: one event tells
 * it of all of them. It stands beside the chains of the asks, for it is about several.
 */
#include <string.h>

#include "base/crash_point.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "store/write.h"

static int deliver_here(struct write *write, const struct store_change *change, const char *id,
                        int64_t number, bool *ret_has_won)
{
    struct statement update = statement_of(&write->statements, STATEMENT_DELIVERED);
    int rc;

    statement_integer(&update, number);
    statement_text(&update, id);
    statement_integer(&update, change->from_states);
    statement_integer(&update, change->delivered_ms);
    statement_text(&update, change->principal);
    rc = statement_run(&update);
    *ret_has_won = rc == SQLITE_OK && sqlite3_changes(write->db) > 0;
    CRASH_POINT(store_delivered);
    return rc;
}

static int deliver(struct write *write, const struct store_change *change, const char *id,
                   bool *ret_has_won)
{
    struct found ask = write_hinted(write, id);
    int rc = SQLITE_OK;

    *ret_has_won = DELIBERATE_FAULT(delivered_again);
    if (ask.number && !*ret_has_won)
        rc = deliver_here(write, change, id, ask.number, ret_has_won);
    if (rc != SQLITE_OK || *ret_has_won)
        return rc;
    rc = write_look(write, id, &ask);
    if (rc == SQLITE_OK && ask.number)
        rc = deliver_here(write, change, id, ask.number, ret_has_won);
    return rc;
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

static int deliver_all(struct write *write, const struct store_change *change,
                       struct json_writer *writer, size_t *ret_count)
{
    const char *rest = change->more_ids ? change->more_ids : "";
    char id[ASK_ID_BYTES];
    const char *at = change->ask_id;
    bool has_won;
    int rc = SQLITE_OK;

    for (*ret_count = 0; rc == SQLITE_OK && (next_id(&at, id) || next_id(&rest, id));) {
        rc = deliver(write, change, id, &has_won);
        if (rc == SQLITE_OK && has_won) {
            json_write_text(writer, NULL, id);
            ++*ret_count;
        }
    }
    return rc;
}

int deliver_run(struct write *write, struct job *job, size_t *ret_count)
{
    const struct store_change *change = &job->of.change;
    struct text body = { 0 };
    struct json_writer writer = json_writer_to(&body);
    struct event event = { .kind = change->event, .actor = change->actor_json };
    int rc;

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "at", change->now_ms);
    json_write_list(&writer, "asks");
    rc = deliver_all(write, change, &writer, ret_count);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    if (rc == SQLITE_OK && *ret_count > 0) {
        event.ask = change->more_ids ? "" : change->ask_id;
        event.body = text_string(&body);
        rc = write_event(write, &event);
        job->reply.seq = event.seq;
    }
    text_release(&body);
    return rc;
}
