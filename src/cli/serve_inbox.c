/* serve_inbox.c - see serve_inbox.h. */
#include "cli/serve_inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "cli/say.h"
#include "cli/seat.h"
#include "hub/hub.h"
#include "wire/place.h"

enum { SAID_BYTES = 1024 };

bool serve_may_show(const struct arguments *arguments)
{
    return !arguments->is_json && !arguments_value(arguments, "no-inbox") &&
           isatty(STDOUT_FILENO) && seat_is_person_here();
}

static void tell(int fd, const char *said)
{
    ssize_t put = write(fd, said, strlen(said));

    (void)put; /* the inbox is gone: nobody wants to know */
}

static void on_ready(void *context, const char *status_json, const char *link)
{
    (void)status_json;
    (void)link; /* `w` in the inbox makes one when it is wanted */
    tell(*(int *)context, "R");
}

/* Never returns. The terminal is the inbox's alone from here on. */
static void run_hub(const struct hub_options *options, int tell_fd)
{
    struct hub_options quiet = *options;
    struct place place;
    struct error err;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), log_fd = -1;
    enum hub_outcome outcome;

    setpgid(0, 0);
    if (place_find(&place, &err) && place_prepare(&place, &err))
        log_fd = os_open_log(place.log, 0);
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    dup2(log_fd >= 0 ? log_fd : null_fd, STDERR_FILENO);
    quiet.on_ready = on_ready;
    quiet.context = &tell_fd;
    outcome = hub_run(&quiet, &err);
    if (outcome == HUB_BUSY)
        tell(tell_fd, "B");
    else if (outcome == HUB_FAILED)
        tell(tell_fd, err.message);
    _exit(outcome == HUB_ENDED ? EXIT_DONE : EXIT_ERROR);
}

/* "R" once it serves; "B" where another hub does; else why it does not. */
static void listen_to(int fd, char said[SAID_BYTES])
{
    ssize_t got;

    do
        got = read(fd, said, SAID_BYTES - 1);
    while (got < 0 && errno == EINTR);
    said[got > 0 ? got : 0] = '\0';
}

static enum exit_code show_inbox(const struct arguments *arguments)
{
    const struct seat_options options = { .is_inbox = true };
    struct seat_result result;
    enum exit_code code = EXIT_DONE;

    seat_run(&options, &result);
    if (result.end == SEAT_FAILED)
        code = seat_finish(arguments, &result);
    seat_result_release(&result);
    return code;
}

enum exit_code serve_with_inbox(const struct arguments *arguments,
                                const struct hub_options *options)
{
    enum exit_code code = EXIT_ERROR;
    char said[SAID_BYTES];
    struct error err;
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_ERROR;
    pid = fork();
    if (pid == 0)
        run_hub(options, ends[1]);
    close(ends[1]);
    listen_to(ends[0], said);
    close(ends[0]);
    if (strcmp(said, "R") == 0) {
        code = show_inbox(arguments);
        kill(pid, SIGTERM);
    } else if (strcmp(said, "B") == 0) {
        say_problem(TEXT_CLI_HUB_BUSY, NULL);
    } else {
        error_set(&err, ERROR_unavailable, "", "%s", said);
        say_error(arguments, &err, NULL);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return code;
}
