/* serve.c - `sayso serve`: the hub in the foreground. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/os.h"
#include "cli/say.h"
#include "hub/hub.h"
#include "rpc/location.h"
#include "settings/settings.h"
#include "tui/app.h"

#ifdef SAYSO_CONFORMANCE_FIXTURE
#include "mcp/fixture/fixture.h"
#endif

static void on_ready(void *context, const char *status_json, const char *link)
{
    const struct arguments *arguments = context;
    struct json *status = NULL;

    if (arguments->is_json) {
        say_json(status_json);
    } else if (json_parse(status_json, strlen(status_json), &status, NULL)) {
        const char *aside = json_member_text(status, "recovered_from");
        const char *url = json_member_text(status, "url");
        const char *public_url = json_member_text(status, "public_url");
        /* what a service manager keeps is read by others, and later than a link is good for */
        bool is_logged = getenv("JOURNAL_STREAM") && !isatty(STDOUT_FILENO);

        say_result(TEXT_CLI_SERVING, "pid", TEXT_NUMBER(json_member_integer(status, "pid", 0)));
        say_result(TEXT_CLI_SERVING_HOW);
        if (url)
            say_result(TEXT_CLI_SERVING_URL, "url", url);
        else
            say_note(TEXT_CLI_NO_PORT);
        if (public_url)
            say_result(TEXT_CLI_SERVING_PUBLIC, "url", public_url);
        if (public_url && strncmp(public_url, "http://", strlen("http://")) == 0)
            say_note(TEXT_CLI_SERVING_PLAIN);
        if (link && !is_logged)
            say_result(TEXT_CLI_SERVING_LINK, "link", link);
        if (aside)
            say_note(TEXT_CLI_RECOVERED, "file", aside);
        json_free(status);
    }
    fflush(stdout);
}

/* On a terminal: the hub behind, the inbox in front (R6.3). */

/* What the hub says to the inbox. */
struct told {
    bool is_ready, is_busy; /* it serves; another hub does */
    struct error err;       /* neither: why */
};

static void tell(int fd, const struct told *told)
{
    ssize_t put = write(fd, told, sizeof *told);

    (void)put; /* the inbox is gone, and with it who would read this */
}

static void tell_ready(void *context, const char *status_json, const char *link)
{
    (void)status_json;
    (void)link; /* `w` in the inbox makes one when it is wanted */
    tell(*(int *)context, &(struct told){ .is_ready = true });
}

/* Never returns. The terminal is the inbox's alone from here on. */
static void run_hub(const struct hub_options *options, int tell_fd)
{
    struct hub_options quiet = *options;
    struct location location;
    struct told told = { 0 };
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), log_fd = -1;
    enum hub_outcome outcome;

    setpgid(0, 0);
    if (location_find(&location, &told.err) && location_prepare(&location, &told.err))
        log_fd = os_open_log(location.log, 0);
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    dup2(log_fd >= 0 ? log_fd : null_fd, STDERR_FILENO);
    quiet.on_ready = tell_ready;
    quiet.context = &tell_fd;
    outcome = hub_run(&quiet, &told.err);
    told.is_busy = outcome == HUB_BUSY;
    if (outcome == HUB_BUSY || outcome == HUB_FAILED)
        tell(tell_fd, &told);
    _exit(outcome == HUB_ENDED ? EXIT_DONE : EXIT_ERROR);
}

/* The hub is a child of ours, in a job of its own so that Ctrl-Z does not stop it; it ends with the
 * inbox. What it has to say goes into its log. */
static enum exit_code serve_with_inbox(const struct arguments *arguments,
                                       const struct hub_options *options)
{
    const struct app_options inbox = { .is_inbox = true };
    struct app_result result;
    enum exit_code code = EXIT_ERROR;
    struct told told;
    ssize_t got;
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_ERROR;
    pid = fork();
    if (pid == 0)
        run_hub(options, ends[1]);
    close(ends[1]);
    do
        got = read(ends[0], &told, sizeof told);
    while (got < 0 && errno == EINTR);
    if (got != sizeof told)
        told = (struct told){ .err = { .code = ERROR_unavailable } };
    close(ends[0]);
    if (told.is_ready) {
        app_run(&inbox, &result);
        code = result.end == APP_FAILED ? terminal_finish(arguments, &result) : EXIT_DONE;
        app_result_release(&result);
        kill(pid, SIGTERM);
    } else if (told.is_busy) {
        say_problem(TEXT_CLI_HUB_BUSY);
    } else {
        say_error(arguments, &told.err, NULL);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return code;
}

/* Options that are settings for this run: rows with a flag, as far as this verb takes it. */
static bool put_flags(const struct arguments *arguments, struct settings *settings)
{
    for (enum setting_id id = 0; id < SETTING_COUNT; id++) {
        const char *flag = setting_row(id)->flag, *value;
        char negated[64];
        struct error err;

        if (!flag)
            continue;
        snprintf(negated, sizeof negated, "no-%s", flag + 2);
        value = arguments_value(arguments, negated) ? "off" : arguments_value(arguments, flag + 2);
        if (value && !settings_put_flag(settings, id, value, &err)) {
            say_error(arguments, &err, NULL);
            return false;
        }
    }
    return true;
}

static enum exit_code serve_here(const struct arguments *arguments,
                                 const struct hub_options *options, bool is_auto)
{
    struct text why = { 0 };
    struct error err;
    enum hub_outcome outcome = hub_run(options, &err);

    if (outcome == HUB_BUSY && is_auto) {
        os_tell_starter(NULL); /* another hub was faster: the process that started us finds it */
        return EXIT_DONE;
    }
    if (outcome == HUB_FAILED && is_auto) {
        error_pack(&err, &why);
        os_tell_starter(&why);
        text_release(&why);
    }
    if (outcome == HUB_BUSY)
        say_problem(TEXT_CLI_HUB_BUSY);
    else if (outcome != HUB_ENDED)
        say_error(arguments, &err, NULL);
    return outcome == HUB_ENDED ? EXIT_DONE : outcome == HUB_RETIRED ? EXIT_RETIRED : EXIT_ERROR;
}

static enum exit_code run_serve(const struct arguments *arguments)
{
    bool is_auto = arguments_value(arguments, "auto-started") != NULL;
    struct settings *settings = settings_new();
    struct hub_options options = { .leaves_when_idle = is_auto, .settings = settings };
    enum exit_code code;

    if (!is_auto) {
        options.on_ready = on_ready;
        options.context = (void *)(uintptr_t)arguments;
    }
#ifdef SAYSO_CONFORMANCE_FIXTURE
    if (arguments_value(arguments, "conformance-fixture"))
        options.features = fixture_features;
#endif
    settings_load_environment(settings);
    if (!put_flags(arguments, settings)) {
        code = EXIT_USAGE;
    } else {
        log_set_level((enum log_level)settings_integer(settings, SETTING_LOG_LEVEL));
        /* a person is looking, and wants it */
        code = !is_auto && !arguments->is_json && !arguments_value(arguments, "no-inbox") &&
                       isatty(STDOUT_FILENO) && terminal_is_person_here(false)
                   ? serve_with_inbox(arguments, &options)
                   : serve_here(arguments, &options, is_auto);
    }
    settings_free(settings);
    return code;
}

static const struct verb_option options[] = {
    { "port", 0, "N", TEXT_HELP_PORT, false },
    { "listen", 0, "ADDRESS:PORT", TEXT_HELP_LISTEN, false },
    { "tls-cert", 0, "FILE", TEXT_HELP_TLS_CERT, false },
    { "tls-key", 0, "FILE", TEXT_HELP_TLS_KEY, false },
    { "public-url", 0, "URL", TEXT_HELP_PUBLIC_URL, false },
    { "store", 0, "URL", TEXT_HELP_STORE, false },
    { "mcp-auth", 0, "token|none", TEXT_HELP_MCP_AUTH, false },
    { "no-browser", 0, NULL, TEXT_OPT_NO_BROWSER, false },
    { "no-inbox", 0, NULL, TEXT_OPT_NO_INBOX, false },
    { "auto-started", 0, NULL, TEXT_OPT_AUTO_STARTED, true },
#ifdef SAYSO_CONFORMANCE_FIXTURE
    { "conformance-fixture", 0, NULL, TEXT_OPT_AUTO_STARTED, true }, /* hidden: never shown */
#endif
};
static const char *const usage[] = {
    "serve [--port N] [--mcp-auth token|none] [--store URL] [--no-browser] [--no-inbox]",
    "serve --listen ADDRESS:PORT --tls-cert FILE --tls-key FILE [--public-url URL]", NULL
};
static const char *const examples[] = {
    "serve", "serve --port 8080",
    "serve --listen 0.0.0.0:7443 --tls-cert cert.pem --tls-key key.pem --public-url "
    "https://sayso.example.org:7443",
    NULL
};
VERB_ROW(serve, TEXT_CLI_SERVE, VERB_TABLES, .runs_without_settings = true);
