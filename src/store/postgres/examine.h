/* examine.h - looks at a database without changing it, whether or not hubs use it. */
#ifndef STORE_POSTGRES_EXAMINE_H
#define STORE_POSTGRES_EXAMINE_H
#include <stdbool.h>
#include <stdint.h>

struct error;

struct postgres_examined {
    int version, our_version; /* of the schema; 0: no hub made it yet */
    bool is_migrating;        /* a store was not moved in completely */
    bool is_commit_kept, has_standby;
    int64_t ahead_ms; /* its clock before ours; negative: behind */
    int64_t agent_tokens, all_tokens, expired_tokens;
};
/* False: it can't be used, `err` says why and what helps. */
bool postgres_examine(const char *url, struct postgres_examined *out, struct error *err);

#endif
