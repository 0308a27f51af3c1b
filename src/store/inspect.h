/* inspect.h - looks at a store's file without changing it, whether or not a hub has it open. */
#ifndef STORE_INSPECT_H
#define STORE_INSPECT_H
#include <stdint.h>

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
/* For SQLITE_OPEN_URI and SQLITE_OPEN_READONLY: leaves no files behind. The caller frees it. */
char *store_read_only_address(const char *path);

#endif
