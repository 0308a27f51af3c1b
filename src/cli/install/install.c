/*
 * install.c - `sayso install CLIENT`: connects an agent's client by its own configuration file.
 * The change is shown before it is made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "cli/install/config_text.h"
#include "cli/install/diff.h"
#include "cli/install/job.h"
#include "cli/say.h"
#include "core/offered_tools.h"
#include "settings/settings.h"
#include "wire/place.h"

enum { MOST_NAME_BYTES = 64, MOST_AS_BYTES = 128 };
static const char name_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

static bool has_controls(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    }
    return false;
}

static void read_flags(const struct arguments *arguments, struct job *job)
{
    job->is_undo = arguments_value(arguments, "undo") != NULL;
    job->is_print = arguments_value(arguments, "print") != NULL;
    job->is_yes = arguments_value(arguments, "yes") != NULL;
    job->is_project = arguments_value(arguments, "project") != NULL;
}

/* A hook has neither a name nor an address. */
static bool read_gate(const struct arguments *arguments, struct job *job)
{
    static const char *const others[] = { "name", "as", "http", "tools" };

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (arguments_value(arguments, others[i])) {
            say_problem(TEXT_CLI_INSTALL_GATE_ALONE, "name", others[i], NULL);
            return false;
        }
    }
    job->hook = hook_find(job->client);
    if (!job->hook) {
        say_problem(TEXT_CLI_INSTALL_NO_GATE, "client", job->client->title, NULL);
        return false;
    }
    job->format = job->hook->format;
    job->name = "sayso gate";
    read_flags(arguments, job);
    return true;
}

/* The line that is typed, without its end. False: there is no terminal. */
static bool ask_line(enum text_id question, char *typed, size_t size)
{
    int fd = isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
    FILE *tty = fd < 0 ? NULL : fdopen(fd, "r+");

    if (!tty)
        return false;
    fprintf(tty, "%s ", i18n_text(question));
    fflush(tty);
    if (!fgets(typed, (int)size, tty))
        typed[0] = '\0';
    typed[strcspn(typed, "\n")] = '\0';
    fclose(tty);
    return true;
}

/* The flag, else the user's reply on the terminal; over HTTP the hub's setting decides. */
static bool read_tools(struct job *job)
{
    const char *given = arguments_value(job->arguments, "tools");
    bool is_http = arguments_value(job->arguments, "http");

    job->entry.tools = given ? given : job->tools;
    if (!given && !is_http && !job->is_undo && !job->is_print && !job->is_yes)
        ask_line(TEXT_CLI_INSTALL_ASK_TOOLS, job->tools, sizeof job->tools);
    if (given && is_http)
        say_problem(TEXT_CLI_INSTALL_HTTP_TOOLS, NULL);
    else if (!offered_tools_are_valid(job->entry.tools))
        say_problem(TEXT_SETTING_TAKES_TOOLS, "name", "--tools", NULL);
    else
        return true;
    return false;
}

static bool read_arguments(const struct arguments *arguments, struct job *job)
{
    const char *wanted = arguments->word_count ? arguments->words[0] : NULL;
    struct text known = { 0 };

    job->client = wanted ? client_find(wanted) : NULL;
    job->name = arguments_value(arguments, "name");
    if (!job->client) {
        for (size_t i = 0; i < client_count(); i++)
            text_add_format(&known, "%s%s", i ? " | " : "", client_at(i)->name);
        if (wanted)
            say_problem(TEXT_CLI_INSTALL_UNKNOWN, "name", wanted, "known", text_string(&known),
                        NULL);
        else
            say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", "install", "name", text_string(&known),
                        NULL);
        text_release(&known);
        return false;
    }
    if (arguments_value(arguments, "gate"))
        return read_gate(arguments, job);
    job->format = job->client->format;
    if (!job->name)
        job->name = "sayso";
    if (!*job->name || strlen(job->name) > MOST_NAME_BYTES ||
        strspn(job->name, name_characters) != strlen(job->name)) {
        say_problem(TEXT_CLI_INSTALL_BAD_NAME, "name", "--name", NULL);
        return false;
    }
    job->entry.as_name = arguments_value(arguments, "as");
    if (!arguments_are_short(arguments, "as", MOST_AS_BYTES))
        return false;
    if (job->entry.as_name && (has_controls(job->entry.as_name) || !*job->entry.as_name)) {
        say_problem(TEXT_CLI_INSTALL_BAD_AS, "name", "--as", NULL);
        return false;
    }
    if (arguments_value(arguments, "http") && !job->client->url_key) {
        say_problem(TEXT_CLI_INSTALL_NO_HTTP, "client", job->client->title, NULL);
        return false;
    }
    if (arguments_value(arguments, "project") && !job->client->project) {
        say_problem(TEXT_CLI_INSTALL_NO_PROJECT, "client", job->client->title, NULL);
        return false;
    }
    read_flags(arguments, job);
    return read_tools(job);
}

static void choose_address(struct job *job)
{
    struct settings *settings = job_load_settings();
    struct place place;
    struct place_note note;

    job->entry.port = (int)settings_integer(settings, SETTING_PORT);
    job->entry.needs_token = settings_integer(settings, SETTING_MCP_AUTH) == MCP_AUTH_TOKEN;
    if (place_find(&place, NULL) && place_read_note(&place, &note, NULL) && note.port > 0)
        job->entry.port = note.port;
    settings_free(settings);
}

static bool read_file(struct job *job)
{
    char path[CLIENT_PATH_BYTES];
    struct error err;

    config_file_release(&job->file);
    if (!(job->hook ? hook_file(job->hook, job->is_project, path, &err)
                    : client_file(job->client, job->is_project, path, &err)) ||
        !config_file_read(path, job->is_project, &job->file, &err))
        return job_fail(job, &err);
    if (job->hook)
        config_file_name_backup(&job->file, "gate");
    if (!job->format->check(&job->file.bytes, &err))
        return job_refuse(job, ERROR_bad_json, TEXT_CLI_INSTALL_INVALID, err.path);
    return true;
}

/* EXIT_DONE: yes. Without a terminal nobody can say so. */
static enum exit_code ask(const struct job *job)
{
    char typed[16];

    if (ask_line(TEXT_CLI_INSTALL_ASK, typed, sizeof typed))
        return typed[0] == 'y' || typed[0] == 'Y' ? EXIT_DONE : EXIT_REFUSED;
    job_refuse(job, ERROR_unavailable, TEXT_CLI_INSTALL_NEEDS_YES, "");
    return EXIT_ERROR;
}

static bool write_change(struct job *job)
{
    struct error err;
    bool ok =
        job->is_restored
            ? config_file_restore(&job->file, job->is_file_removed ? NULL : &job->after, &err)
            : config_file_write(&job->file, &job->after, job->keeps_backup || job->is_undo, &err);

    return ok || job_fail(job, &err);
}

/* Nobody may have changed the file since it was shown. */
static bool is_as_shown(const struct job *job)
{
    struct config_file now;
    bool is_same = false;

    if (config_file_read(job->file.path, job->is_project, &now,
                         NULL)) { /* its backup is not used */
        is_same =
            now.is_there == job->file.is_there && now.bytes.used == job->file.bytes.used &&
            memcmp(text_string(&now.bytes), text_string(&job->file.bytes), now.bytes.used) == 0;
        config_file_release(&now);
    }
    return is_same || job_refuse(job, ERROR_wrong_state, TEXT_CLI_INSTALL_CHANGED, "");
}

static enum exit_code carry_out(struct job *job, int lock, const char *diff)
{
    bool ok = true;
    struct error err;

    if (!job->arguments->is_json) {
        say_lines(diff, 0);
        if (!job->is_undo)
            job_tell_times(job);
    }
    if (!job->is_print) {
        if (!job->is_yes) {
            enum exit_code code = ask(job);

            if (code != EXIT_DONE)
                return code;
            lock = config_file_lock(&job->file, &err);
            ok = lock >= 0 ? is_as_shown(job) : job_fail(job, &err);
        }
        ok = ok && write_change(job);
        if (!job->is_yes && lock >= 0)
            close(lock);
    }
    if (!ok)
        return EXIT_ERROR;
    if (job->arguments->is_json)
        job_print_json(job, diff);
    else if (!job->is_print)
        job_tell_done(job);
    return EXIT_DONE;
}

static enum exit_code change(struct job *job, int lock)
{
    struct text diff = { 0 };
    enum exit_code code = EXIT_DONE;

    if (!read_file(job) || !(job->is_undo ? job_plan_undo(job) : job_plan_install(job)))
        return EXIT_ERROR;
    if (job_has_change(job)) {
        diff_add(&diff, job->file.path, &job->file.bytes, &job->after);
        code = carry_out(job, lock, text_string(&diff));
        text_release(&diff);
        return code;
    }
    job->act = "unchanged";
    if (job->is_undo && lock >= 0)
        config_file_drop_same_backup(&job->file);
    if (job->arguments->is_json)
        job_print_json(job, "");
    else
        say_result(job->is_undo ? TEXT_CLI_INSTALL_NOTHING
                   : job->hook  ? TEXT_CLI_INSTALL_GATE_ALREADY
                                : TEXT_CLI_INSTALL_ALREADY,
                   "client", job->client->title, "file", job->file.path, "name", job->name, NULL);
    return code;
}

static bool find_program(struct job *job)
{
    struct error err;

    if (!os_own_program(job->program, sizeof job->program))
        error_set(&err, ERROR_unavailable, "", "can't find the program of sayso itself");
    else if (!text_is_utf8(job->program, strlen(job->program)))
        error_set(&err, ERROR_bad_unicode, "",
                  "the path of sayso itself is not UTF-8: put the program elsewhere");
    else
        return true;
    return job_fail(job, &err);
}

static enum exit_code run_install(const struct arguments *arguments)
{
    struct job job = { .arguments = arguments };
    enum exit_code code = EXIT_ERROR;
    struct error err;
    int lock = -1;

    if (!read_arguments(arguments, &job))
        return EXIT_USAGE;
    if (!find_program(&job))
        return EXIT_ERROR;
    job.entry.program = job.program;
    if (arguments_value(arguments, "http"))
        choose_address(&job);
    if (job.is_yes && !job.is_print && read_file(&job)) {
        lock = config_file_lock(&job.file, &err); /* nobody is asked, so all of it is one act */
        if (lock < 0)
            job_fail(&job, &err);
    }
    if (lock >= 0 || !job.is_yes || job.is_print)
        code = change(&job, lock);
    if (lock >= 0)
        close(lock);
    config_file_release(&job.file);
    text_release(&job.after);
    return code;
}

static const struct verb_option options[] = {
    { "project", 0, NULL, TEXT_OPT_INSTALL_PROJECT, false },
    { "name", 0, "NAME", TEXT_OPT_INSTALL_NAME, false },
    { "as", 0, "NAME", TEXT_OPT_AS, false },
    { "tools", 0, "LIST", TEXT_OPT_TOOLS, false },
    { "http", 0, NULL, TEXT_OPT_INSTALL_HTTP, false },
    { "gate", 0, NULL, TEXT_OPT_INSTALL_GATE, false },
    { "yes", 'y', NULL, TEXT_OPT_INSTALL_YES, false },
    { "print", 0, NULL, TEXT_OPT_INSTALL_PRINT, false },
    { "undo", 0, NULL, TEXT_OPT_INSTALL_UNDO, false },
};
static const char *const usage[] = {
    "install CLIENT [--project] [--name NAME] [--as NAME] [--tools LIST] [--http] [--yes] "
    "[--print]",
    "install CLIENT --gate [--project] [--yes] [--print]",
    "install CLIENT --undo [--gate] [--project] [--name NAME] [--yes] [--print]", NULL
};
static const char *const examples[] = { "install claude",
                                        "install codex --yes",
                                        "install codex --tools all",
                                        "install vscode --project",
                                        "install gemini --print",
                                        "install claude --gate",
                                        "install claude --undo",
                                        NULL };
const struct verb verb_install = {
    .name = "install",
    .about = TEXT_CLI_INSTALL,
    VERB_TABLES,
    .most_words = 1,
    .run = run_install,
};
