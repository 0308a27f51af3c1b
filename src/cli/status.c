/* status.c - about what runs: `sayso status` tells of the hub without starting one, `sayso stop`
 * asks it to end and waits until it has, `sayso version`. */
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/os.h"
#include "cli/call.h"
#include "cli/say.h"
#include "wire/wire.h"

static void print_status(const struct arguments *arguments, const struct json *status)
{
    static const struct {
        enum text_id label;
        const char *member;
    } rows[] = {
        { TEXT_ROW_PENDING, "pending" }, { TEXT_ROW_PID, "pid" }, { TEXT_ROW_VERSION, "version" },
        { TEXT_ROW_SOCKET, "socket" },   { TEXT_ROW_URL, "url" }, { TEXT_ROW_STORE, "store" },
        { TEXT_ROW_LOG, "log" },
    };
    int64_t pending = json_member_integer(status, "pending", 0);
    const char *aside = json_member_text(status, "recovered_from");

    if (arguments->is_json) {
        say_value(status);
    } else if (arguments_value(arguments, "short")) {
        if (pending > 0)
            printf("sayso %lld\n", (long long)pending);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct json *value = json_member(status, rows[i].member);
            bool is_number = json_kind(value) == KIND_INTEGER;

            say_row(rows[i].label, is_number
                                       ? TEXT_NUMBER(json_member_integer(status, rows[i].member, 0))
                                       : json_text(value));
        }
        if (aside)
            say_note(TEXT_CLI_RECOVERED, "file", aside);
    }
}

static enum exit_code run_status(const struct arguments *arguments)
{
    struct wire_message reply = { 0 };
    struct client *link = NULL;
    enum exit_code code;
    bool ok;

    if (arguments->problem) /* what runs does not need them, the next hub does */
        say_failure(arguments->problem);
    if (!call_open_running(arguments, &client_for_look, "{\"running\":false,\"pending\":null}",
                           &link, &code))
        return arguments->problem ? EXIT_ERROR : code;
    ok = call_hub(arguments, link, "hub/status", "{}", &reply) &&
         call_expect(arguments, reply.result, "socket");
    if (ok)
        print_status(arguments, reply.result);
    wire_release(&reply);
    client_free(link);
    return ok && !arguments->problem ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option options[] = {
    { "short", 0, NULL, TEXT_OPT_SHORT, false },
};
static const char *const usage[] = { "status [--json|--short]", NULL };
static const char *const examples[] = { "status", "status --short", NULL };
VERB_ROW(status, TEXT_CLI_STATUS, VERB_TABLES, .may_go_far = true, .runs_without_settings = true);

enum { STOP_TRIES = 200 };

/* This one, not whichever has the lock: another client may have started the next already. */
static bool wait_until_gone(int64_t pid, uint64_t start)
{
    struct timespec pause = { .tv_nsec = 50000000 };
    struct os_process found;

    for (int try = 0; try < STOP_TRIES; try++) {
        if (!os_process(pid, &found) || found.start != start)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum exit_code run_stop(const struct arguments *arguments)
{
    struct wire_message reply = { 0 };
    struct client *link = NULL;
    struct os_process hub = { 0 };
    enum exit_code code;
    bool ok;

    if (!call_open_running(arguments, &client_for_end, "{\"stopped\":false}", &link, &code))
        return code;
    ok = call_hub(arguments, link, "hub/status", "{}", &reply);
    if (ok)
        os_process(json_member_integer(reply.result, "pid", 0), &hub);
    wire_release(&reply);
    ok = ok && call_hub(arguments, link, "hub/stop", "{}", &reply);
    wire_release(&reply);
    client_free(link);
    if (!ok || !wait_until_gone(hub.pid, hub.start))
        return EXIT_ERROR;
    if (arguments->is_json)
        say_json("{\"stopped\":true}");
    else
        say_result(TEXT_CLI_STOPPED);
    return EXIT_DONE;
}

VERB_ROW(stop, TEXT_CLI_STOP, VERB_LINES("stop", "stop"));

static enum exit_code run_version(const struct arguments *arguments)
{
    if (arguments->is_json)
        printf("{\"version\":\"%s\",\"wire\":%d}\n", SAYSO_VERSION, wire_number());
    else
        printf("sayso %s\n", SAYSO_VERSION);
    return EXIT_DONE;
}

VERB_ROW(version, TEXT_CLI_VERSION, VERB_LINES("version", "version --json"),
         .runs_without_settings = true);
