/*
 * event.h - the journal of what happened to asks, numbered in the order of commits and chained:
 * each event carries the hash of the one before it, the counter row that of the last.
 * Retention empties actor and body; the hashes around them still hold the chain together. An event
 * also carries what came with it and is too long for the ask's own row: the hash covers of that
 * only what the body repeats, the digests.
 */
#ifndef STORE_EVENT_H
#define STORE_EVENT_H
#include <sqlite3.h>
#include <stdint.h>

#include "base/crypto.h"
#include "core/lifecycle.h"

struct ask;
struct store_change;

/* Where the chain ends; in memory on the writer thread, written once per transaction. */
struct event_head {
    int64_t seq;
    uint8_t hash[HASH_BYTES];
    int64_t unsettled; /* no ask with a smaller number is open or has an undelivered answer */
};
struct event {
    int64_t seq, earlier_seq;
    const char *ask;
    int64_t kind;
    const char *actor, *body; /* both NULL: emptied by retention */
    uint8_t previous[HASH_BYTES];
    const char *form, *arguments; /* of an ask that is new */
    const char *answer, *person, *answer_key;
    int64_t answered_ms; /* 0: no answer came with it */
};

/* Hash of the event as it is, `previous` included. */
void event_hash(const struct event *event, uint8_t out[HASH_BYTES]);
int event_head_read(sqlite3 *db, struct event_head *out); /* an SQLite code */

/* What the body of an event says, the same in every store: of an ask that is new, and the members
 * that end the body of a change. */
void event_write_created(const struct ask *ask, struct text *out);
void event_write_end(const struct store_change *change, struct json_writer *writer);

/* An SQLite code; *ret_bad_seq: the first event that does not fit what follows it; 0: none. */
int event_check_chain(sqlite3 *db, int64_t *ret_bad_seq);

#endif
