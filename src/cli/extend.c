/* extend.c - `sayso extend`: how much time is left, from now. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/call.h"
#include "cli/close.h"
#include "cli/say.h"
#include "core/limits.h"

static enum exit_code run_extend(const struct arguments *arguments)
{
    struct close_call call = { .method = "ask/extend",
                               .done = TEXT_CLI_EXTENDED,
                               .identity = &call_person };
    struct arguments only_id = *arguments;
    static const char words[] = "ID SECONDS"; /* not for people */

    if (arguments->word_count < 2) {
        say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", "extend", "name", words, NULL);
        return EXIT_USAGE;
    }
    if (!text_parse_integer(arguments->words[1], &call.seconds) || call.seconds < 1 ||
        call.seconds > LIMIT_TIMEOUT_S) {
        say_problem(TEXT_CLI_BAD_NUMBER, "name", "SECONDS", "least", "1", "most", "2592000", NULL);
        return EXIT_USAGE;
    }
    only_id.word_count = 1;
    return close_ask(&only_id, &call);
}

static const char *const usage[] = { "extend ID SECONDS", NULL };
static const char *const examples[] = { "extend k3f7 600", NULL };
const struct verb verb_extend = {
    .name = "extend",
    .about = TEXT_CLI_EXTEND,
    .usage = usage,
    .examples = examples,
    .most_words = 2,
    .may_go_far = true,
    .run = run_extend,
};
