/* hub_verbs.c - `sayso status`, `stop`, `version`, `mcp`, and `notify`. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "hub/hub.h"
#include "mcp/stdio/stdio.h"
#include "rpc/location.h"
#include "rpc/protocol.h"

/* `sayso status` starts no hub; `sayso stop` waits until it has ended; `sayso version`. */

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
    struct rpc_message reply = { 0 };
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
    rpc_release(&reply);
    client_free(link);
    return ok && !arguments->problem ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option status_options[] = {
    { "short", 0, NULL, TEXT_OPT_SHORT, false },
};
static const char *const status_usage[] = { "status [--json|--short]", NULL };
static const char *const status_examples[] = { "status", "status --short", NULL };
VERB_ROW(status, TEXT_CLI_STATUS, .usage = status_usage, .examples = status_examples,
         VERB_OPTIONS_OF(status_options), .works_remotely = true, .runs_without_settings = true);

enum { STOP_TRIES = 200 };

/* This one, not whichever has the lock: another client may have started the next already. */
static bool wait_until_gone(int64_t pid, uint64_t start)
{
    struct timespec pause = { .tv_nsec = 50000000 };

    for (int try = 0; try < STOP_TRIES; try++) {
        if (!os_is_alive(pid, start))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum exit_code run_stop(const struct arguments *arguments)
{
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct os_process hub = { 0 };
    enum exit_code code;
    bool ok;

    if (!call_open_running(arguments, &client_for_end, "{\"stopped\":false}", &link, &code))
        return code;
    ok = call_hub(arguments, link, "hub/status", "{}", &reply);
    if (ok)
        os_process(json_member_integer(reply.result, "pid", 0), &hub);
    rpc_release(&reply);
    ok = ok && call_hub(arguments, link, "hub/stop", "{}", &reply);
    rpc_release(&reply);
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
        printf("{\"version\":\"%s\",\"wire\":%d}\n", SAYSO_VERSION, rpc_number());
    else
        printf("sayso %s\n", SAYSO_VERSION);
    return EXIT_DONE;
}

VERB_ROW(version, TEXT_CLI_VERSION, VERB_LINES("version", "version --json"),
         .runs_without_settings = true);

/* `sayso mcp`: an MCP server on standard input and output. */

static enum exit_code run_mcp(const struct arguments *arguments)
{
    struct stdio_options mcp_options = {
        .settings = arguments->settings,
        .as_name = arguments_value(arguments, "as"),
        .tools = arguments_value(arguments, "tools"),
        .is_sub_agent = arguments_value(arguments, "sub-agent") != NULL,
    };

    if (!arguments_integer(arguments, "client-timeout", 1, LIMIT_TIMEOUT_S,
                           &mcp_options.client_timeout_s))
        return EXIT_USAGE;
    if (mcp_options.tools && !offered_tools_are_valid(mcp_options.tools)) {
        say_problem(TEXT_SETTING_TAKES_TOOLS, "name", "--tools");
        return EXIT_USAGE;
    }
    stdio_run(&mcp_options);
    return EXIT_DONE;
}

static const struct verb_option mcp_options[] = {
    { "as", 0, "NAME", TEXT_OPT_AS, false },
    { "tools", 0, "LIST", TEXT_OPT_TOOLS, false },
    { "client-timeout", 0, "SECONDS", TEXT_OPT_CLIENT_TIMEOUT, false },
    { "sub-agent", 0, NULL, TEXT_OPT_SUB_AGENT, false },
};
static const char *const mcp_usage[] = {
    "mcp [--as NAME] [--tools LIST] [--client-timeout SECONDS] [--sub-agent] [--hub unix:PATH]",
    "mcp --hub https://NAME[:PORT] --token-file FILE [--ca-file FILE]", NULL
};
static const char *const mcp_examples[] = {
    "mcp", "mcp --as 'deploy bot'",
    "mcp --hub https://sayso.example.org --token-file ~/.config/sayso/agent.token", NULL
};
VERB_ROW(mcp, TEXT_CLI_MCP, .usage = mcp_usage, .examples = mcp_examples,
         VERB_OPTIONS_OF(mcp_options), .works_remotely = true, .runs_without_settings = true);

/* `sayso notify`: tries the desktop, and shows with what webhooks are signed. */

enum { INPUT_BYTES = 65536 };

static bool read_words(struct text *out)
{
    char bytes[4096];
    ssize_t count;

    while (out->used < INPUT_BYTES && (count = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        text_add(out, bytes, (size_t)count);
    return out->used > 0;
}

/* What the hub wants shown comes on the input; on a terminal it is a try. */
static enum exit_code show_on_desktop(void)
{
    static const enum text_id said[] = {
        [OS_NOTIFY_SHOWN] = TEXT_NOTIFY_SHOWN,
        [OS_NOTIFY_NO_LIBRARY] = OS_IS_STATIC ? TEXT_NOTIFY_STATIC : TEXT_NOTIFY_NO_LIBRARY,
        [OS_NOTIFY_NO_BUS] = TEXT_NOTIFY_NO_BUS,
        [OS_NOTIFY_REFUSED] = TEXT_NOTIFY_REFUSED,
    };
    const char *title = i18n_text(TEXT_NOTIFY_TRY_TITLE), *body = i18n_text(TEXT_NOTIFY_TRY_BODY);
    struct text input = { 0 };
    struct json *words = NULL;
    enum os_notify outcome;
    bool is_urgent = false;

    if (!isatty(STDIN_FILENO) && read_words(&input) &&
        json_parse(input.bytes, input.used, &words, NULL) && json_member_text(words, "title")) {
        title = json_member_text(words, "title");
        body = json_member_text(words, "body") ? json_member_text(words, "body") : "";
        is_urgent = json_is_true(json_member(words, "urgent"));
    }
    outcome = os_notify_desktop(title, body, is_urgent);
    json_free(words);
    text_release(&input);
    if (outcome == OS_NOTIFY_SHOWN)
        say_note(said[outcome]);
    else
        say_problem(said[outcome]);
    return outcome == OS_NOTIFY_SHOWN ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code print_secret(const struct arguments *arguments)
{
    struct location location;
    struct text secret = { 0 };
    struct error err;
    bool ok = location_find(&location, &err) && location_prepare(&location, &err) &&
              webhook_secret_get(&location, &secret, &err);

    if (ok)
        printf("%s\n", text_string(&secret));
    else
        say_error(arguments, &err, NULL);
    text_release(&secret);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code run_notify(const struct arguments *arguments)
{
    const char *name = arguments->word_count ? arguments->words[0] : "";

    if (strcmp(name, "desktop") == 0)
        return show_on_desktop();
    if (strcmp(name, "secret") == 0)
        return print_secret(arguments);
    return say_needs(arguments, "desktop | secret");
}

static const char *const notify_usage[] = { "notify desktop", "notify secret", NULL };
static const char *const notify_examples[] = { "notify desktop", NULL };
VERB_ROW(notify, TEXT_CLI_NOTIFY, .usage = notify_usage, .examples = notify_examples,
         .max_words = 1);
