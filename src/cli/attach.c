/* attach.c - `sayso attach`: one ask in this terminal (R6.1), or what an agent handed to it (R6.2).
 * `sayso inbox`: all asks, live, and answering them in place (R6.3). */
#include <stddef.h>

#include "base/json.h"
#include "cli/say.h"
#include "cli/seat.h"
#include "cli/show.h"

static enum exit_code run_attach(const struct arguments *arguments)
{
    const char *id = arguments->word_count ? arguments->words[0] : NULL;
    const char *launch = arguments_value(arguments, "launch");
    const char *hub = arguments_value(arguments, "hub");
    const char *words[8] = { "attach" };
    size_t count = 1;
    const struct seat_options options = {
        .session_id = id,
        .launch = launch,
        .is_plain = seat_is_plain(arguments),
    };
    struct seat_result result;
    struct json *whole = NULL;
    enum exit_code code;

    if (id)
        words[count++] = id;
    if (hub) {
        words[count++] = "--hub";
        words[count++] = hub;
    }
    if (launch) {
        words[count++] = "--launch";
        words[count++] = launch;
    }
    if (!seat_is_there(arguments, words, &code))
        return code;
    seat_run(&options, &result);
    if (result.end == SEAT_ELSEWHERE &&
        json_parse(text_string(&result.whole_json), result.whole_json.used, &whole, NULL))
        show_whole(arguments, whole);
    json_free(whole);
    code = seat_finish(arguments, &result);
    seat_result_release(&result);
    return code;
}

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

static const struct verb_option options[] = {
    { "launch", 0, "CODE", TEXT_OPT_LAUNCH, false },
    { "plain", 0, NULL, TEXT_OPT_PLAIN, false },
};
static const char *const usage[] = { "attach [--plain] [ID]", "attach [--plain] [ID] --launch CODE",
                                     NULL };
static const char *const examples[] = { "attach", "attach k7qm", "attach --plain", NULL };
VERB_ROW(attach, TEXT_CLI_ATTACH, VERB_TABLES, .most_words = 1, .may_go_far = true);
VERB_ROW(inbox, TEXT_CLI_INBOX, VERB_LINES("inbox", "inbox"), .may_go_far = true);
