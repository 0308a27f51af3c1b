/* inbox.c - `sayso inbox`: all asks, live, and answering them in place (R6.3). */
#include <stddef.h>

#include "cli/seat.h"

static enum exit_code run_inbox(const struct arguments *arguments)
{
    static const char *const words[] = { "inbox", NULL };
    const struct seat_options options = { .is_inbox = true };
    struct seat_result result;
    enum exit_code code;

    if (!seat_is_there(arguments, words, &code))
        return code;
    seat_run(&options, &result);
    result.session_id[0] = '\0'; /* leaving an inbox leaves no ask behind */
    code = seat_finish(arguments, &result);
    seat_result_release(&result);
    return result.end == SEAT_LEFT || result.end == SEAT_DONE ? EXIT_DONE : code;
}

static const char *const usage[] = { "inbox", NULL };
static const char *const examples[] = { "inbox", NULL };
VERB_ROW(inbox, TEXT_CLI_INBOX, VERB_TEXTS, .may_go_far = true);
