/* inspect.h - looks at a store's file without changing it, whether or not a hub has it open. */
#ifndef STORE_SQLITE_INSPECT_H
#define STORE_SQLITE_INSPECT_H
#include <stdint.h>

struct sqlite3;

enum inspect_outcome {
    INSPECT_WHOLE,
    INSPECT_ABSENT,
    INSPECT_DAMAGED,
    INSPECT_NEWER,
    INSPECT_FOREIGN,
    INSPECT_IMPORTING,  /* a backup was not read to its end: no hub opens it */
    INSPECT_UNREADABLE, /* message says why */
};
struct inspection {
    enum inspect_outcome outcome;
    int version, our_version;             /* of the tables */
    int64_t agent_tokens, expired_tokens; /* in force and for agents; past their time */
    int64_t all_tokens;                   /* in force */
    char message[160];
};
void store_inspect(const char *path, int64_t now_utc_ms, struct inspection *ret_inspection);
/* Leaves no files behind. An SQLite code; *ret_db is the caller's either way. */
int store_open_read_only(const char *path, int busy_ms, struct sqlite3 **ret_db);

#endif
