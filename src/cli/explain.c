/* explain.c - `sayso explain`: tells a person who asked back, then waits on like `sayso ask`. */
#include "cli/asking.h"
#include "cli/say.h"

static enum exit_code run_explain(const struct arguments *arguments)
{
    if (arguments->word_count < 2)
        return say_needs(arguments, "ID TEXT");
    return asking_explain(arguments, arguments->words[0], arguments->words[1]);
}

static const struct verb_option options[] = {
    { "wait", 'w', "SECONDS", TEXT_OPT_WAIT, false },
    { "as", 0, "NAME", TEXT_OPT_AS, false },
};
static const char *const usage[] = { "explain ID TEXT [--wait SECONDS] [--as NAME]", NULL };
static const char *const examples[] = {
    "explain k3f7tz2mdq5xw4ua6rbn3cyhge 'The old files stay where they are.' --json",
    NULL,
};
VERB_ROW(explain, TEXT_CLI_EXPLAIN, VERB_TABLES, .most_words = 2);
