/* decline.c - `sayso decline`. */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/close.h"

static enum exit_code run_decline(const struct arguments *arguments)
{
    const struct close_call call = { .method = "ask/decline",
                                     .done = TEXT_CLI_DECLINED,
                                     .identity = &call_person };

    return close_ask(arguments, &call);
}

static const struct verb_option options[] = {
    { "note", 'n', "TEXT", TEXT_OPT_NOTE, false },
};
static const char *const usage[] = { "decline [ID] [--note TEXT]", NULL };
static const char *const examples[] = { "decline k3f7", NULL };
const struct verb verb_decline = {
    .name = "decline",
    .about = TEXT_CLI_DECLINE,
    .usage = usage,
    .examples = examples,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .most_words = 1,
    .may_go_far = true,
    .run = run_decline,
};
