/* withdraw.c - `sayso withdraw`: the one who asked takes it back. */
#include "base/mem.h"
#include "base/os.h"
#include "cli/close.h"
#include "cli/say.h"

static enum exit_code run_withdraw(const struct arguments *arguments)
{
    char directory[4096];
    /* the same name and place as `sayso ask`: whose ask it is follows from these */
    struct link_identity identity = { .role = "agent",
                                      .name = "sayso ask",
                                      .as_name = arguments_value(arguments, "as") };
    struct close_call call = { .method = "ask/withdraw",
                               .done = TEXT_CLI_WITHDRAWN,
                               .identity = &identity };

    if (arguments->word_count < 1) {
        say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", "withdraw", "name", "ID", NULL);
        return EXIT_USAGE;
    }
    if (os_working_directory(directory, sizeof directory))
        identity.directory = directory;
    return close_ask(arguments, &call);
}

static const struct verb_option options[] = {
    { "as", 0, "NAME", TEXT_OPT_AS, false },
};
static const char *const usage[] = { "withdraw ID [--as NAME]", NULL };
static const char *const examples[] = { "withdraw k3f7tz2mdq5xw4ua6rbn3cyhge", NULL };
const struct verb verb_withdraw = {
    .name = "withdraw",
    .about = TEXT_CLI_WITHDRAW,
    .usage = usage,
    .examples = examples,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .most_words = 1,
    .may_go_far = true,
    .run = run_withdraw,
};
