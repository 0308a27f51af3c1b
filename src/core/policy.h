/* policy.h - when an agent must ask (R11.2). Pure. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy_situation {
    int64_t paths; /* viable ways the agent sees */
    bool is_destructive;
    size_t missing_count; /* names of configuration nobody gave */
};
enum policy_reason { POLICY_PATHS = 1, POLICY_DESTRUCTIVE = 2, POLICY_MISSING = 4 };

/* A set of policy_reason; empty: the agent may go on by itself. */
unsigned policy_reasons(const struct policy_situation *situation);
const char *policy_reason_text(enum policy_reason reason); /* for agents, English */

#endif
