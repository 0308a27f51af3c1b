/* status.c - `sayso status`: about the hub that runs, without starting one. */
#include <stdio.h>

#include "base/json.h"
#include "cli/call.h"
#include "cli/say.h"

static void print_number(enum text_id label, const struct json *status, const char *key)
{
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)json_member_integer(status, key, 0));
    say_row(label, number);
}

static void print_status(const struct arguments *arguments, const struct json *status)
{
    int64_t pending = json_member_integer(status, "pending", 0);
    const char *aside = json_member_text(status, "recovered_from");

    if (arguments->is_json) {
        say_value(status);
        return;
    }
    if (arguments_value(arguments, "short")) {
        if (pending > 0)
            printf("sayso %lld\n", (long long)pending);
        return;
    }
    print_number(TEXT_ROW_PENDING, status, "pending");
    print_number(TEXT_ROW_PID, status, "pid");
    say_row(TEXT_ROW_VERSION, json_member_text(status, "version"));
    say_row(TEXT_ROW_SOCKET, json_member_text(status, "socket"));
    say_row(TEXT_ROW_URL, json_member_text(status, "url"));
    say_row(TEXT_ROW_STORE, json_member_text(status, "store"));
    say_row(TEXT_ROW_LOG, json_member_text(status, "log"));
    if (aside)
        say_note(TEXT_CLI_RECOVERED, "file", aside);
}

static enum exit_code run_status(const struct arguments *arguments)
{
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    enum exit_code code;
    bool ok;

    if (arguments->problem) /* what runs does not need them, the next hub does */
        say_failure(arguments->problem);
    if (!call_open_running(arguments, LINK_MUST_RUN, "{\"running\":false,\"pending\":null}", &link,
                           &code))
        return arguments->problem ? EXIT_ERROR : code;
    ok = call_hub(arguments, link, "hub/status", "{}", &reply) &&
         call_expect(arguments, reply.result, "socket");
    if (ok)
        print_status(arguments, reply.result);
    wire_release(&reply);
    link_close(link);
    return ok && !arguments->problem ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option options[] = {
    { "short", 0, NULL, TEXT_OPT_SHORT, false },
};
static const char *const usage[] = { "status [--json|--short]", NULL };
static const char *const examples[] = { "status", "status --short", NULL };
VERB_ROW(status, TEXT_CLI_STATUS, VERB_TABLES, .may_go_far = true, .runs_without_settings = true);
