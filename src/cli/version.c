/* version.c - `sayso version`. */
#include <stdio.h>

#include "cli/verb.h"
#include "wire/wire.h"

static enum exit_code run_version(const struct arguments *arguments)
{
    if (arguments->is_json)
        printf("{\"version\":\"%s\",\"wire\":%d}\n", SAYSO_VERSION, wire_number());
    else
        printf("sayso %s\n", SAYSO_VERSION);
    return EXIT_DONE;
}

static const char *const usage[] = { "version", NULL };
static const char *const examples[] = { "version --json", NULL };
VERB_ROW(version, TEXT_CLI_VERSION, VERB_TEXTS, .runs_without_settings = true);
