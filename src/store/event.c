#include "store/event.h"

#include <stdbool.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "core/ask.h"
#include "store/sqlite/statement.h"
#include "store/store.h"

static struct hash_part text_part(const char *text)
{
    return (struct hash_part){ text, text ? strlen(text) : 0 };
}

void event_hash(const struct event *event, uint8_t out[HASH_BYTES])
{
    char seq[TEXT_INTEGER_BYTES], kind[TEXT_INTEGER_BYTES];

    hash_parts(
        (struct hash_part[]){
            { event->previous, HASH_BYTES },
            text_part(text_of_integer(event->seq, seq)),
            text_part(event->ask),
            text_part(text_of_integer(event->kind, kind)),
            text_part(event->actor),
            text_part(event->body),
        },
        6, out);
}

void event_write_created(const struct ask *ask, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    char digest[2 * DIGEST_BYTES + 1];

    hash_hex(ask->digest, DIGEST_BYTES, digest);
    json_write_object(&writer, NULL);
    json_write_integer(&writer, "at", ask->created_ms);
    json_write_integer(&writer, "state", (int64_t)ask->state);
    json_write_text(&writer, "digest", digest);
    json_write_end_object(&writer);
}

/* The hash of the answer, so that retention may drop the answer itself. */
void event_write_end(const struct store_change *change, struct json_writer *writer)
{
    struct hash_part answer = text_part(change->answer_json);
    char hex[HASH_HEX_BYTES] = "";
    uint8_t hash[HASH_BYTES];

    if (change->answer_json) {
        hash_parts(&answer, 1, hash);
        hash_hex(hash, HASH_BYTES, hex);
    }
    json_write_text(writer, "answer", hex);
    json_write_text_if(writer, "said", change->said);
    json_write_end_object(writer);
}

static void read_hash(sqlite3_stmt *statement, int at, uint8_t out[HASH_BYTES])
{
    memset(out, 0, HASH_BYTES);
    if (sqlite3_column_bytes(statement, at) == HASH_BYTES)
        memcpy(out, sqlite3_column_blob(statement, at), HASH_BYTES);
}

int event_head_read(sqlite3 *db, struct event_head *out)
{
    struct statement read = statement_once(db, "SELECT seq, hash, unsettled FROM counter");
    bool is_there = statement_step(&read);
    int rc;

    if (is_there) {
        out->seq = sqlite3_column_int64(read.handle, 0);
        read_hash(read.handle, 1, out->hash);
        out->unsettled = sqlite3_column_int64(read.handle, 2);
    }
    rc = statement_end(&read);
    return rc == SQLITE_OK && !is_there ? SQLITE_CORRUPT : rc; /* the one row is always there */
}

/* `before` is the hash of the event before this one, unless that one was emptied. */
static bool fits(sqlite3_stmt *statement, struct event_head *before, bool *is_known)
{
    struct event event = {
        .seq = sqlite3_column_int64(statement, 0),
        .ask = (const char *)sqlite3_column_text(statement, 1),
        .kind = sqlite3_column_int64(statement, 2),
        .actor = (const char *)sqlite3_column_text(statement, 3),
        .body = (const char *)sqlite3_column_text(statement, 4),
    };
    bool ok;

    read_hash(statement, 5, event.previous);
    ok = event.seq == before->seq + 1 &&
         (!*is_known || hash_same(event.previous, before->hash, HASH_BYTES));
    before->seq = event.seq;
    *is_known = event.body != NULL;
    if (*is_known)
        event_hash(&event, before->hash);
    return ok;
}

int event_check_chain(sqlite3 *db, int64_t *ret_bad_seq)
{
    struct event_head before = { 0 }, head = { 0 };
    struct statement read;
    bool is_known = true;
    int rc = event_head_read(db, &head);

    *ret_bad_seq = 0;
    if (rc != SQLITE_OK)
        return rc;
    read = statement_once(db,
                          "SELECT seq, ask, kind, actor, body, prev_hash FROM events ORDER BY seq");
    while (!*ret_bad_seq && statement_step(&read)) {
        int64_t last = before.seq;

        if (!fits(read.handle, &before, &is_known))
            *ret_bad_seq = last ? last : before.seq;
    }
    rc = statement_end(&read);
    if (rc != SQLITE_OK)
        return rc;
    if (!*ret_bad_seq &&
        (head.seq != before.seq || (is_known && !hash_same(head.hash, before.hash, HASH_BYTES))))
        *ret_bad_seq = before.seq ? before.seq : 1;
    return SQLITE_OK;
}
