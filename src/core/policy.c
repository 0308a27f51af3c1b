/* policy.c - the three reasons to ask, one row each. */
#include "core/policy.h"

#include "base/mem.h"

enum { POLICY_PATHS_ALONE = 2 }; /* so many ways an agent may weigh by itself */

static bool has_many_paths(const struct policy_situation *situation)
{
    return situation->paths > POLICY_PATHS_ALONE;
}

static bool destroys(const struct policy_situation *situation)
{
    return situation->is_destructive;
}

static bool lacks_configuration(const struct policy_situation *situation)
{
    return situation->missing_count > 0;
}

static const struct {
    enum policy_reason reason;
    bool (*applies)(const struct policy_situation *situation);
    const char *text;
} rules[] = {
    { POLICY_PATHS, has_many_paths,
      "More than two ways are viable: the person chooses among them." },
    { POLICY_DESTRUCTIVE, destroys,
      "The action destroys something: the person must agree to it first." },
    { POLICY_MISSING, lacks_configuration,
      "Configuration is missing: the person gives it, do not make it up." },
};

unsigned policy_reasons(const struct policy_situation *situation)
{
    unsigned reasons = 0;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].applies(situation))
            reasons |= rules[i].reason;
    }
    return reasons;
}

const char *policy_reason_text(enum policy_reason reason)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].reason == reason)
            return rules[i].text;
    }
    return "";
}
