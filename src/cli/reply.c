/* reply.c - `sayso reply`: a question to the agent before deciding; the ask stays open. */
#include "base/mem.h"
#include "cli/call.h"
#include "cli/close.h"
#include "cli/say.h"

static enum exit_code run_reply(const struct arguments *arguments)
{
    struct close_call call = { .method = "ask/back",
                               .done = TEXT_CLI_REPLIED,
                               .identity = &call_person };
    struct arguments only_id = *arguments;
    static const char words[] = "[ID] TEXT"; /* not for people */

    if (arguments->word_count < 1) {
        say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", "reply", "name", words, NULL);
        return EXIT_USAGE;
    }
    only_id.word_count = arguments->word_count - 1;
    call.text = arguments->words[arguments->word_count - 1];
    return close_ask(&only_id, &call);
}

static const char *const usage[] = { "reply [ID] TEXT", NULL };
static const char *const examples[] = { "reply k3f7 'What happens to the old files?'", NULL };
const struct verb verb_reply = {
    .name = "reply",
    .about = TEXT_CLI_REPLY,
    .usage = usage,
    .examples = examples,
    .most_words = 2,
    .may_go_far = true,
    .run = run_reply,
};
