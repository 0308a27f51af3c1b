/* main.c - finds the verb, in the language of the person. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/gate/ask.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "rpc/client.h"
#include "rpc/location.h"
#include "settings/settings.h"

static void print_help(void)
{
    static const char syntax[] = "sayso COMMAND [...]"; /* not for people */

    printf("sayso %s\n%s\n\n%s\n  %s\n", SAYSO_VERSION, i18n_text(TEXT_CLI_ABOUT),
           i18n_text(TEXT_CLI_USAGE), syntax);
    for (size_t i = 0; verb_at(i); i++) {
        if (verb_heading(i))
            printf("\n%s\n", verb_heading(i));
        printf("  %-10s %s\n", verb_at(i)->name, i18n_text(verb_at(i)->about));
    }
    printf("\n%s\n%s\n", i18n_text(TEXT_CLI_MORE_HELP), i18n_text(TEXT_CLI_EXIT_CODES));
}

/* A program that was started with a standard stream closed must not write into its own files. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            _exit(EXIT_ERROR);
    }
}

/* The language, and whether there is a problem that only few verbs can live with. */
static bool read_settings(const struct settings *settings, bool is_quiet, struct error *ret_problem)
{
    i18n_use(settings_language(settings));
    for (size_t i = 0; !is_quiet && i < settings_warning_count(settings); i++) {
        const struct setting_warning *warning = settings_warning(settings, i);
        struct text line = { 0 };

        settings_describe_warning(settings, i18n_language(), warning, &line);
        if (warning->source == SETTING_ENVIRONMENT && !settings_is_fatal(settings, warning))
            fprintf(stderr, "sayso: %s\n", text_string(&line)); /* a hub logs the file's */
        text_release(&line);
    }
    return settings_problem(settings, ret_problem);
}

/* An empty variable counts as unset. */
static const char *value_of(const struct arguments *arguments, const char *name,
                            const char *variable)
{
    const char *given = arguments_value(arguments, name), *set = getenv(variable);

    if (given)
        return given;
    return set && *set ? set : NULL;
}

/* The hub of another machine: --hub, --token-file and --ca-file, else SAYSO_HUB, SAYSO_TOKEN_FILE
 * and SAYSO_CA_FILE. False: it was said what is wrong. */
static bool remote_choose(const struct arguments *arguments)
{
    const char *hub = value_of(arguments, "hub", "SAYSO_HUB");
    const char *token_file = value_of(arguments, "token-file", "SAYSO_TOKEN_FILE");
    const char *ca_file = value_of(arguments, "ca-file", "SAYSO_CA_FILE");
    static const char unix_prefix[] = "unix:";
    struct error err;

    if (!arguments->verb->works_remotely || !hub)
        return true;
    if (strncmp(hub, unix_prefix, sizeof unix_prefix - 1) == 0) {
        if (!location_is_own_socket(hub + sizeof unix_prefix - 1)) /* found, started as ever */
            finder_use_socket(hub + sizeof unix_prefix - 1);
        return true;
    }
    if (!token_file) {
        say_problem(TEXT_CLI_NEEDS_TOKEN_FILE);
        return false;
    }
    if (client_use_remote(hub, token_file, ca_file, &err))
        return true;
    say_error(arguments, &err, NULL);
    return false;
}

static int finish(enum exit_code code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return (int)code;
    say_problem(TEXT_CLI_NO_OUTPUT);
    return EXIT_ERROR;
}

static bool are_utf8(int count, char **texts)
{
    for (int i = 1; i < count; i++) {
        const char *at = texts[i], *end = at + strlen(at);

        while (at < end) {
            if (text_decode(&at, end) >= 0)
                continue;
            say_problem(TEXT_CLI_NOT_UTF8, "name", texts[i]);
            return false;
        }
    }
    return true;
}

static int run(int count, char **texts, struct current_settings *settings)
{
    const char *name = count > 1 ? texts[1] : "--help";
    const struct verb *verb;
    struct arguments arguments;
    struct error problem;
    bool has_problem;

    has_problem = read_settings(settings->settings,
                                count > 2 && strcmp(texts[2], "--auto-started") == 0, &problem);
    error_use_words(error_read_words);
    umask(077);
    if (!are_utf8(count, texts))
        return EXIT_USAGE;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        call_speak_as_saved();
        print_help();
        return finish(EXIT_DONE);
    }
    verb = strcmp(name, "--version") == 0 ? &verb_version : verb_find(name);
    if (!verb && strcmp(name, complete_command) == 0) {
        complete_print(count - 2, texts + 2);
        return finish(EXIT_DONE);
    }
    if (!verb) {
        say_problem(TEXT_CLI_UNKNOWN_COMMAND, "name", name);
        return EXIT_USAGE;
    }
    if (!arguments_parse(verb, count - 2, texts + 2, &arguments))
        return EXIT_USAGE;
    if (arguments_value(&arguments, "help")) {
        call_speak_as_saved();
        verb_print_help(verb);
        return finish(EXIT_DONE);
    }
    arguments.settings = settings;
    arguments.problem = has_problem ? &problem : NULL;
    if (has_problem && !verb->runs_without_settings) {
        say_error(&arguments, &problem, NULL);
        return finish(EXIT_ERROR);
    }
    if (!remote_choose(&arguments))
        return finish(EXIT_USAGE);
    return finish(verb->run(&arguments));
}

int main(int count, char **texts)
{
    struct current_settings settings = { .is_seen = true };
    int code;

    guard_begin(count, texts);
    fill_standard_streams();
    settings.settings = call_settings();
    code = run(count, texts, &settings);
    settings_free(settings.settings);
    return guard_end(code);
}
