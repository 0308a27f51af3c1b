/* far.c - see far.h. */
#include "cli/far.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/say.h"
#include "cli/verb.h"
#include "wire/far_hub.h"
#include "wire/place.h"

/* An empty variable counts as unset. */
static const char *value_of(const struct arguments *arguments, const char *name,
                            const char *variable)
{
    const char *given = arguments_value(arguments, name), *set = getenv(variable);

    if (given)
        return given;
    return set && *set ? set : NULL;
}

/* That hub is found as ever, and started where it does not run. */
static bool is_own_socket(const char *path)
{
    char directory[PLACE_PATH_BYTES], own[PLACE_PATH_BYTES + 32];
    struct place place;

    return place_find(&place, NULL) && place_socket_name(&place, directory, own, NULL) &&
           strcmp(own, path) == 0;
}

bool far_choose(const struct arguments *arguments)
{
    const char *hub = value_of(arguments, "hub", "SAYSO_HUB");
    const char *token_file = value_of(arguments, "token-file", "SAYSO_TOKEN_FILE");
    const char *ca_file = value_of(arguments, "ca-file", "SAYSO_CA_FILE");
    static const char unix_prefix[] = "unix:";
    struct error err;

    if (!arguments->verb->may_go_far || !hub)
        return true;
    if (strncmp(hub, unix_prefix, sizeof unix_prefix - 1) == 0) {
        if (!is_own_socket(hub + sizeof unix_prefix - 1))
            far_hub_choose_socket(hub + sizeof unix_prefix - 1);
        return true;
    }
    if (!token_file) {
        say_problem(TEXT_CLI_NEEDS_TOKEN_FILE, NULL);
        return false;
    }
    if (far_hub_choose(hub, token_file, ca_file, &err))
        return true;
    say_error(arguments, &err, NULL);
    return false;
}
