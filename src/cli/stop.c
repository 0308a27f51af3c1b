/* stop.c - `sayso stop`: asks the hub to end and waits until it has. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "cli/call.h"
#include "cli/say.h"
#include "wire/place.h"

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
    struct link *link = NULL;
    struct os_process hub = { 0 };
    enum exit_code code;
    bool ok;

    if (!call_open_running(arguments, LINK_MUST_END, "{\"stopped\":false}", &link, &code))
        return code;
    ok = call_hub(arguments, link, "hub/status", "{}", &reply);
    if (ok)
        os_process(json_member_integer(reply.result, "pid", 0), &hub);
    wire_release(&reply);
    ok = ok && call_hub(arguments, link, "hub/stop", "{}", &reply);
    wire_release(&reply);
    link_close(link);
    if (!ok || !wait_until_gone(hub.pid, hub.start))
        return EXIT_ERROR;
    if (arguments->is_json)
        say_json("{\"stopped\":true}");
    else
        say_result(TEXT_CLI_STOPPED);
    return EXIT_DONE;
}

static const char *const usage[] = { "stop", NULL };
static const char *const examples[] = { "stop", NULL };
VERB_ROW(stop, TEXT_CLI_STOP, VERB_TEXTS);
