/* far.c - see far.h. */
#include "cli/far.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/say.h"
#include "cli/verb.h"
#include "wire/far_hub.h"

/* An empty variable counts as unset. */
static const char *value_of(const struct arguments *arguments, const char *name,
                            const char *variable)
{
    const char *given = arguments_value(arguments, name), *set = getenv(variable);

    if (given)
        return given;
    return set && *set ? set : NULL;
}

bool far_choose(const struct arguments *arguments)
{
    const char *hub = value_of(arguments, "hub", "SAYSO_HUB");
    const char *token_file = value_of(arguments, "token-file", "SAYSO_TOKEN_FILE");
    const char *ca_file = value_of(arguments, "ca-file", "SAYSO_CA_FILE");
    struct error err;

    if (!arguments->verb->may_go_far || !hub || strncmp(hub, "unix:", strlen("unix:")) == 0)
        return true;
    if (!token_file) {
        say_problem(TEXT_CLI_NEEDS_TOKEN_FILE, NULL);
        return false;
    }
    if (far_hub_choose(hub, token_file, ca_file, &err))
        return true;
    say_error(arguments, &err, NULL);
    return false;
}
