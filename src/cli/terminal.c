/* terminal.c - `sayso attach` and `sayso inbox`: asks in a terminal. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/lifecycle.h"
#include "tui/app.h"
#include "tui/terminal.h"

enum { APP_PATH_BYTES = 4096 };

/* A terminal of its own over the person's, if they look at a tmux that we run in. False: no. */
static bool run_popup(const char *command, enum exit_code *ret_code)
{
    const char *const arguments[] = { "tmux", "display-popup", "-E",    "-w", "90%",
                                      "-h",   "90%",           command, NULL };
    posix_spawn_file_actions_t actions;
    const char *server = getenv("TMUX");
    pid_t pid;
    int status;
    bool ok;

    if (!server || !*server)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    ok = posix_spawnp(&pid, "tmux", &actions, NULL, (char *const *)(uintptr_t)arguments, environ) ==
         0;
    posix_spawn_file_actions_destroy(&actions);
    while (ok && waitpid(pid, &status, 0) < 0)
        ok = errno == EINTR;
    /* tmux itself ends with 1 where no client is attached; the app does only after saying why */
    if (!ok || !WIFEXITED(status) || WEXITSTATUS(status) == EXIT_ERROR)
        return false;
    *ret_code = (enum exit_code)WEXITSTATUS(status);
    return true;
}

/* The portal's address, if a hub runs that has one; none is started for it. */
static void find_url(struct text *out)
{
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct error err;

    if (!call_look(&link, &err))
        return;
    if (client_call_and_wait(link, "hub/status", "{}", &reply, &err) &&
        json_is_true(json_member(reply.result, "portal")) && json_member_text(reply.result, "url"))
        text_add_text(out, json_member_text(reply.result, "url"));
    rpc_release(&reply);
    client_free(link);
}

static void say_where(const struct arguments *arguments, enum tty_trouble trouble,
                      const char *command)
{
    struct text url = { 0 }, out = { 0 };

    find_url(&url);
    if (arguments->is_json) {
        struct json_writer writer = json_object_to(&out);

        json_write_text(&writer, "action_status", "pending");
        json_write_text(&writer, "reason", trouble == TTY_FORBIDDEN ? "sandboxed" : "no_terminal");
        json_write_text(&writer, "terminal_command", command);
        json_write_text_if(&writer, "url", text_string(&url));
        say_object(&writer);
    } else {
        say_problem(trouble == TTY_FORBIDDEN ? TEXT_CLI_SANDBOXED : TEXT_CLI_TERMINAL_NEEDED);
        printf("%s\n", command);
        if (url.used)
            say_note(TEXT_CLI_OR_BROWSER, "url", text_string(&url));
    }
    text_release(&url);
}

static const char *find_variable(const char *name)
{
    return getenv(name);
}

/* A terminal on which nothing can be drawn. */
static bool is_dumb(void)
{
    return terminal_kind_of(find_variable).is_dumb;
}

/* True: there is a terminal. Else it was done in a tmux popup, or said how to go on; *ret_code is
 * the end. `words` are what to run instead, after the program's name. */
static bool terminal_is_there(const struct arguments *arguments, const char *const *words,
                              enum exit_code *ret_code)
{
    enum tty_trouble trouble = tty_check();
    struct text command = { 0 };
    bool is_drawn = strcmp(words[0], "attach") != 0;
    char program[APP_PATH_BYTES];

    *ret_code = EXIT_PENDING;
    if (trouble == TTY_FINE && is_drawn && is_dumb())
        say_problem(TEXT_CLI_DUMB_TERMINAL);
    if (trouble == TTY_FINE)
        return !is_drawn || !is_dumb();
    text_add_shell_word(&command, os_own_program(program, sizeof program) ? program : "sayso");
    for (; *words; words++) {
        text_add_char(&command, ' ');
        text_add_shell_word(&command, *words);
    }
    if (!run_popup(text_string(&command), ret_code))
        say_where(arguments, trouble, text_string(&command));
    text_release(&command);
    return false;
}

bool terminal_is_person_here(bool is_input_read)
{
    return (is_input_read || isatty(STDIN_FILENO)) && isatty(STDERR_FILENO) &&
           tty_check() == TTY_FINE && !is_dumb();
}

static enum exit_code finish_over(const struct arguments *arguments, const char *whole_json)
{
    struct json *whole = NULL;
    enum ask_state state;

    if (!json_parse(whole_json, strlen(whole_json), &whole, NULL))
        return EXIT_ERROR;
    state = state_find(json_member_text(json_member(whole, "ask"), "status"));
    json_free(whole);
    if (arguments->is_json)
        say_json(whole_json);
    else
        say_note(TEXT_CLI_ALREADY_OVER, "state", state_text(state));
    if (state == STATE_TIMEOUT || state == STATE_AUTO_SUBMITTED)
        return EXIT_TIMEOUT;
    return state == STATE_SUBMITTED ? EXIT_DONE : EXIT_REFUSED;
}

enum exit_code terminal_finish(const struct arguments *arguments, const struct app_result *result)
{
    struct json *detail = NULL;

    switch (result->end) {
    case APP_OVER:
        return finish_over(arguments, text_string(&result->whole_json));
    case APP_LEFT:
        if (result->session_id[0])
            say_note(TEXT_CLI_LEFT, "id", result->session_id);
        return EXIT_PENDING;
    case APP_ELSEWHERE:
        say_note(TEXT_CLI_ELSEWHERE, "id", result->session_id);
        return EXIT_PENDING;
    case APP_MOVED:
        if (result->browser == OS_BROWSER_OPENED) {
            say_note(TEXT_TUI_MOVED, "url", text_string(&result->url));
        } else { /* standard output is the answer's alone */
            fprintf(stderr, "%s\n", text_string(&result->link));
            open_say(result->browser, text_string(&result->url));
        }
        return EXIT_PENDING;
    case APP_FAILED:
        if (!json_parse(text_string(&result->detail_json), result->detail_json.used, &detail, NULL))
            detail = NULL;
        say_error(arguments, &result->err, detail);
        json_free(detail);
        return EXIT_ERROR;
    case APP_SIGNAL:
        signal(result->signal_number, SIG_DFL);
        raise(result->signal_number);
        return EXIT_PENDING;
    default:
        return (enum exit_code)result->exit_code;
    }
}

/* `sayso attach`: one ask, or what an agent handed over (R6.1, R6.2). `sayso inbox`: all (R6.3). */

static enum exit_code run_attach(const struct arguments *arguments)
{
    const char *id = arguments->word_count ? arguments->words[0] : NULL;
    const char *launch = arguments_value(arguments, "launch");
    const char *hub = arguments_value(arguments, "hub");
    const char *words[8] = { "attach" };
    size_t count = 1;
    const struct app_options options = {
        .session_id = id,
        .launch = launch,
        .is_plain = arguments_value(arguments, "plain") || is_dumb(),
    };
    struct app_result result;
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
    if (!terminal_is_there(arguments, words, &code))
        return code;
    app_run(&options, &result);
    if (result.end == APP_ELSEWHERE &&
        json_parse(text_string(&result.whole_json), result.whole_json.used, &whole, NULL))
        show_whole(arguments, whole);
    json_free(whole);
    code = terminal_finish(arguments, &result);
    app_result_release(&result);
    return code;
}

static enum exit_code run_inbox(const struct arguments *arguments)
{
    static const char *const words[] = { "inbox", NULL };
    const struct app_options options = { .is_inbox = true };
    struct app_result result;
    enum exit_code code;

    if (!terminal_is_there(arguments, words, &code))
        return code;
    app_run(&options, &result);
    result.session_id[0] = '\0'; /* leaving an inbox leaves no ask behind */
    code = terminal_finish(arguments, &result);
    app_result_release(&result);
    return result.end == APP_LEFT || result.end == APP_DONE ? EXIT_DONE : code;
}

static const struct verb_option options[] = {
    { "launch", 0, "CODE", TEXT_OPT_LAUNCH, false },
    { "plain", 0, NULL, TEXT_OPT_PLAIN, false },
};
static const char *const usage[] = { "attach [--plain] [ID]", "attach [--plain] [ID] --launch CODE",
                                     NULL };
static const char *const examples[] = { "attach", "attach k7qm", "attach --plain", NULL };
VERB_ROW(attach, TEXT_CLI_ATTACH, VERB_TABLES, .max_words = 1, .works_remotely = true);
VERB_ROW(inbox, TEXT_CLI_INBOX, VERB_LINES("inbox", "inbox"), .works_remotely = true);
