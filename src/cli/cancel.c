/* cancel.c - `sayso cancel`. */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/close.h"

static enum exit_code run_cancel(const struct arguments *arguments)
{
    const struct close_call call = { .method = "ask/cancel",
                                     .done = TEXT_CLI_CANCELLED,
                                     .identity = &call_person };

    return close_ask(arguments, &call);
}

static const struct verb_option options[] = {
    { "note", 'n', "TEXT", TEXT_OPT_NOTE, false },
};
static const char *const usage[] = { "cancel [ID] [--note TEXT]", NULL };
static const char *const examples[] = { "cancel k3f7 --note 'not before the release'", NULL };
const struct verb verb_cancel = {
    .name = "cancel",
    .about = TEXT_CLI_CANCEL,
    .usage = usage,
    .examples = examples,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .most_words = 1,
    .may_go_far = true,
    .run = run_cancel,
};
