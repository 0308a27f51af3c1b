/*
 * install.c - `sayso install CLIENT`: connects an agent's client by its own configuration file.
 * The change is shown before it is made. Undoing needs no record: if what we would write into the
 * backup is what stands there, the backup comes back; else only our entry goes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/install/clients.h"
#include "cli/install/config_file.h"
#include "cli/install/config_text.h"
#include "cli/install/diff.h"
#include "cli/install/entry.h"
#include "cli/say.h"
#include "settings/settings.h"
#include "wire/place.h"

enum { MOST_NAME_BYTES = 64, MOST_AS_BYTES = 128 };
static const char name_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

struct job {
    const struct arguments *arguments;
    const struct client *client;
    const char *name; /* of the entry */
    bool is_undo, is_print, is_yes, is_project;
    struct entry_options entry;
    char program[CLIENT_PATH_BYTES];
    struct config_file file;
    struct text after;
    bool keeps_backup, is_restored, is_file_removed;
    const char *act; /* what became of it, for --json */
};

static bool fail(const struct job *job, const struct error *err)
{
    say_error(job->arguments, err, NULL);
    return false;
}

/* A sentence for people, an error for scripts. */
static bool refuse(const struct job *job, enum error_code code, enum text_id id, const char *more)
{
    struct error err = { 0 };
    struct text english = { 0 };

    if (!job->arguments->is_json) {
        say_problem(id, "file", job->file.path ? job->file.path : "", "name", job->name, "client",
                    job->client->title, "more", more, NULL);
        return false;
    }
    i18n_format_in(LANGUAGE_EN, &english, id, "file", job->file.path ? job->file.path : "", "name",
                   job->name, "client", job->client->title, "more", more, NULL);
    error_set(&err, code, "", "%.470s", text_string(&english));
    text_release(&english);
    return fail(job, &err);
}

static bool has_controls(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    }
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
    job->is_undo = arguments_value(arguments, "undo") != NULL;
    job->is_print = arguments_value(arguments, "print") != NULL;
    job->is_yes = arguments_value(arguments, "yes") != NULL;
    job->is_project = arguments_value(arguments, "project") != NULL;
    return true;
}

/* The settings as far as no hub is needed for them. */
static struct settings *load_settings(void)
{
    struct settings *settings = settings_new();
    struct place place;

    settings_load_environment(settings);
    if (place_find(&place, NULL))
        settings_load_file(settings, place.settings);
    return settings;
}

static void choose_address(struct job *job)
{
    struct settings *settings = load_settings();
    struct place place;
    struct place_note note;

    job->entry.port = (int)settings_integer(settings, SETTING_PORT);
    job->entry.needs_token = settings_integer(settings, SETTING_MCP_AUTH) == MCP_AUTH_TOKEN;
    if (place_find(&place, NULL) && place_read_note(&place, &note) && note.port > 0)
        job->entry.port = note.port;
    settings_free(settings);
}

static bool read_file(struct job *job)
{
    char path[CLIENT_PATH_BYTES];
    struct error err;

    config_file_release(&job->file);
    if (!client_file(job->client, job->is_project, path, &err) ||
        !config_file_read(path, job->is_project, &job->file, &err))
        return fail(job, &err);
    if (!job->client->format->check(&job->file.bytes, &err))
        return refuse(job, ERROR_bad_json, TEXT_CLI_INSTALL_INVALID, err.path);
    return true;
}

/* Our entry is the same in both, and so is everything else. */
static bool differ_in_nothing(const struct job *job, struct text *again)
{
    struct json *here = entry_find(job->client, job->name, &job->file.bytes);
    struct json *there = entry_find(job->client, job->name, again);
    struct text rest = { 0 };
    bool is_same = here && there && json_same(here, there);

    text_add(&rest, text_string(&job->file.bytes), job->file.bytes.used);
    is_same = is_same && entry_drop(job->client, job->name, &rest, NULL) &&
              entry_drop(job->client, job->name, again, NULL) && rest.used == again->used &&
              memcmp(text_string(&rest), text_string(again), rest.used) == 0;
    text_release(&rest);
    json_free(here);
    json_free(there);
    return is_same;
}

/* What stands in the backup became what stands in the file by us alone: it is still the state
 * before us. Where there was no file, `before` is empty. */
static bool led_here(const struct job *job, const struct json *entry, const struct text *before)
{
    struct entry_options options = { .like = entry };
    struct json *written = entry_make(job->client, &options);
    struct text again = { 0 };
    bool is_so;

    text_add(&again, text_string(before), before->used);
    is_so = job->client->format->check(&again, NULL) &&
            entry_put(job->client, job->name, written, &again, NULL) &&
            differ_in_nothing(job, &again);
    json_free(written);
    text_release(&again);
    return is_so;
}

/* What was made must read back as meant, or nothing is written. */
static bool is_sound(const struct job *job, const struct json *wanted)
{
    struct json *found = NULL;
    bool ok = job->client->format->check(&job->after, NULL);

    if (ok)
        found = entry_find(job->client, job->name, &job->after);
    for (void *it = wanted ? json_first(wanted) : NULL; ok && it; it = json_next(wanted, it)) {
        const struct json *value = json_member(found, json_key(it));

        if (json_kind(json_value(it)) != KIND_OBJECT)
            ok = value && json_same(value, json_value(it));
    }
    ok = ok && (found != NULL) == (wanted != NULL);
    json_free(found);
    return ok;
}

static bool plan_install(struct job *job)
{
    struct json *old = entry_find(job->client, job->name, &job->file.bytes);
    struct json *wanted = entry_make(job->client, &job->entry);
    struct text backup = { 0 };
    struct error err;
    bool ok = false;

    text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
    if (old && !entry_is_ours(job->client, old))
        refuse(job, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    else if (!entry_put(job->client, job->name, wanted, &job->after, &err))
        refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, err.message);
    else if (!is_sound(job, wanted))
        refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
    else
        ok = true;
    job->keeps_backup =
        ok && old && config_file_read_backup(&job->file, &backup) && led_here(job, old, &backup);
    job->act = "installed";
    text_release(&backup);
    json_free(old);
    json_free(wanted);
    return ok;
}

static bool plan_undo(struct job *job)
{
    struct json *old = entry_find(job->client, job->name, &job->file.bytes);
    struct text backup = { 0 };
    struct error err;
    bool ok = true, has_backup;

    job->act = "unchanged";
    if (!old) {
        text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
        return true;
    }
    has_backup = config_file_read_backup(&job->file, &backup);
    if (!entry_is_ours(job->client, old)) {
        ok = refuse(job, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    } else if (led_here(job, old, &backup)) {
        job->act = "restored";
        job->is_restored = true;
        job->is_file_removed = !has_backup;
        text_add(&job->after, text_string(&backup), backup.used);
    } else {
        job->act = "removed";
        text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
        ok = entry_drop(job->client, job->name, &job->after, &err) && is_sound(job, NULL);
        if (!ok)
            refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
    }
    text_release(&backup);
    json_free(old);
    return ok;
}

static bool has_change(const struct job *job)
{
    return job->is_file_removed || job->after.used != job->file.bytes.used ||
           memcmp(text_string(&job->after), text_string(&job->file.bytes), job->after.used) != 0;
}

static void print_json(const struct job *job, const char *diff)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    bool has_timeout = job->client->timeout_key && !job->is_undo;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "client", job->client->name);
    json_write_text(&writer, "name", job->name);
    json_write_text(&writer, "file", job->file.path);
    json_write_text(&writer, "act", job->act);
    json_write_known(&writer, "timeout_seconds", CLIENT_TIMEOUT_S, has_timeout);
    json_write_text(&writer, "backup",
                    access(job->file.backup, F_OK) == 0 ? job->file.backup : NULL);
    json_write_text(&writer, "diff", diff);
    json_write_end_object(&writer);
    say_json(text_string(&out));
    text_release(&out);
}

/* Which time-out was set and why; what sayso does in any case. */
static void tell_times(const struct job *job)
{
    const struct client *client = job->client;
    struct settings *settings = load_settings();
    char limit[24], patience[24], hold[24];

    snprintf(limit, sizeof limit, "%d", CLIENT_TIMEOUT_S);
    snprintf(patience, sizeof patience, "%lld", (long long)client->patience_s);
    snprintf(hold, sizeof hold, "%lld",
             (long long)settings_hold_limit_s(settings, client->mcp_name ? client->mcp_name : ""));
    if (client->timeout_key)
        say_note(TEXT_CLI_INSTALL_TIMEOUT, "client", client->title, "key", client->timeout_key,
                 "seconds", limit, "patience", patience, NULL);
    else
        say_note(TEXT_CLI_INSTALL_NO_TIMEOUT, "client", client->title, NULL);
    say_note(TEXT_CLI_INSTALL_HOLD, "seconds", hold, NULL);
    settings_free(settings);
}

static void tell_done(const struct job *job)
{
    enum text_id id = TEXT_CLI_INSTALL_DONE;

    if (job->is_file_removed)
        id = TEXT_CLI_INSTALL_FILE_REMOVED;
    else if (job->is_restored)
        id = TEXT_CLI_INSTALL_RESTORED;
    else if (job->is_undo)
        id = TEXT_CLI_INSTALL_REMOVED;
    say_result(id, "client", job->client->title, "file", job->file.path, "name", job->name, NULL);
    if (job->is_undo)
        return;
    if (access(job->file.backup, F_OK) == 0)
        say_note(TEXT_CLI_INSTALL_BACKUP, "file", job->file.backup, NULL);
    if (job->entry.port > 0 && job->entry.needs_token)
        say_note(TEXT_CLI_INSTALL_TOKEN, "client", job->client->title, NULL);
    say_note(TEXT_CLI_INSTALL_RESTART, "client", job->client->title, NULL);
}

/* EXIT_DONE: yes. Without a terminal nobody can say so. */
static enum exit_code ask(const struct job *job)
{
    int fd = isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
    FILE *tty = fd < 0 ? NULL : fdopen(fd, "r+");
    char typed[16] = "";
    bool is_yes;

    if (!tty) {
        refuse(job, ERROR_unavailable, TEXT_CLI_INSTALL_NEEDS_YES, "");
        return EXIT_ERROR;
    }
    fprintf(tty, "%s ", i18n_text(TEXT_CLI_INSTALL_ASK));
    fflush(tty);
    is_yes = fgets(typed, sizeof typed, tty) && (typed[0] == 'y' || typed[0] == 'Y');
    fclose(tty);
    return is_yes ? EXIT_DONE : EXIT_REFUSED;
}

static bool write_change(struct job *job)
{
    struct error err;
    bool ok =
        job->is_restored
            ? config_file_restore(&job->file, job->is_file_removed ? NULL : &job->after, &err)
            : config_file_write(&job->file, &job->after, job->keeps_backup || job->is_undo, &err);

    return ok || fail(job, &err);
}

/* Nobody may have changed the file since it was shown. */
static bool is_as_shown(const struct job *job)
{
    struct config_file now;
    bool is_same = false;

    if (config_file_read(job->file.path, job->is_project, &now, NULL)) {
        is_same =
            now.is_there == job->file.is_there && now.bytes.used == job->file.bytes.used &&
            memcmp(text_string(&now.bytes), text_string(&job->file.bytes), now.bytes.used) == 0;
        config_file_release(&now);
    }
    return is_same || refuse(job, ERROR_wrong_state, TEXT_CLI_INSTALL_CHANGED, "");
}

static enum exit_code carry_out(struct job *job, int lock, const char *diff)
{
    bool ok = true;
    struct error err;

    if (!job->arguments->is_json) {
        say_lines(diff, 0);
        if (!job->is_undo)
            tell_times(job);
    }
    if (!job->is_print) {
        if (!job->is_yes) {
            enum exit_code code = ask(job);

            if (code != EXIT_DONE)
                return code;
            lock = config_file_lock(&job->file, &err);
            ok = lock >= 0 ? is_as_shown(job) : fail(job, &err);
        }
        ok = ok && write_change(job);
        if (!job->is_yes && lock >= 0)
            close(lock);
    }
    if (!ok)
        return EXIT_ERROR;
    if (job->arguments->is_json)
        print_json(job, diff);
    else if (!job->is_print)
        tell_done(job);
    return EXIT_DONE;
}

static enum exit_code change(struct job *job, int lock)
{
    struct text diff = { 0 };
    enum exit_code code = EXIT_DONE;

    if (!read_file(job) || !(job->is_undo ? plan_undo(job) : plan_install(job)))
        return EXIT_ERROR;
    if (has_change(job)) {
        diff_add(&diff, job->file.path, &job->file.bytes, &job->after);
        code = carry_out(job, lock, text_string(&diff));
        text_release(&diff);
        return code;
    }
    job->act = "unchanged";
    if (job->arguments->is_json)
        print_json(job, "");
    else
        say_result(job->is_undo ? TEXT_CLI_INSTALL_NOTHING : TEXT_CLI_INSTALL_ALREADY, "client",
                   job->client->title, "file", job->file.path, "name", job->name, NULL);
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
    return fail(job, &err);
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
            fail(&job, &err);
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
    { "http", 0, NULL, TEXT_OPT_INSTALL_HTTP, false },
    { "yes", 'y', NULL, TEXT_OPT_INSTALL_YES, false },
    { "print", 0, NULL, TEXT_OPT_INSTALL_PRINT, false },
    { "undo", 0, NULL, TEXT_OPT_INSTALL_UNDO, false },
};
static const char *const usage[] = {
    "install CLIENT [--project] [--name NAME] [--as NAME] [--http] [--yes] [--print]",
    "install CLIENT --undo [--project] [--name NAME] [--yes] [--print]", NULL
};
static const char *const examples[] = { "install claude",           "install codex --yes",
                                        "install vscode --project", "install gemini --print",
                                        "install claude --undo",    NULL };
const struct verb verb_install = {
    .name = "install",
    .about = TEXT_CLI_INSTALL,
    .usage = usage,
    .examples = examples,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .most_words = 1,
    .run = run_install,
};
