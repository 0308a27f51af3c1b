/*
 * install.c - `sayso install CLIENT`: connects a client by its own file, and shows the change.
 * Undoing needs no record: if what we would write into the backup is what stands there, the backup
 * comes back; else only our entry goes. What is ours is the entry of an MCP server, a rule that
 * allows its tools or, with --gate or
 * --prompts, hooks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/hub_call.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "cli/say.h"
#include "core/known_clients.h"
#include "rpc/location.h"
#include "settings/settings.h"

/* One file, and what of ours is in it. */
struct change {
    const struct config_format *format;
    struct config_list list; /* where ours is in a list, as hooks and rules are; else no format */
    const char *name;        /* of what is ours, for people */
    struct config_file file;
    struct text after;
    bool keeps_backup, is_restored, is_file_removed;
    bool is_theirs;  /* a rule that was there before us: a backup that has it says so */
    const char *act; /* what became of it, for --json */
    int lock;        /* -1: none */
};

enum { JOB_MAX_CHANGES = 2 };
struct job {
    const struct arguments *arguments;
    const struct client *client;
    const char *name; /* of the entry */
    char *rule;       /* owned; NULL: none for this client, or none is wanted */
    bool is_hook;     /* it is about hooks, else about the entry of an MCP server */
    enum hook_use use;
    bool is_undo, is_print, is_yes, is_project;
    struct entry_options entry;
    char program[CLIENT_PATH_BYTES];
    char tools[1024]; /* as typed */
    struct change changes[JOB_MAX_CHANGES];
    size_t change_count;
};

static bool job_fail(const struct job *job, const struct error *err)
{
    say_error(job->arguments, err, NULL);
    return false;
}

/* A sentence for people, an error for scripts; false. */
static bool job_refuse(const struct job *job, const struct change *change, enum error_code code,
                       enum text_id id, const char *more)
{
    const char *file = change->file.path ? change->file.path : "";
    struct error err;

    if (!job->arguments->is_json) {
        say_problem(id, "file", file, "name", change->name, "client", job->client->title, "more",
                    more);
        return false;
    }
    error_say(&err, code, "", id, "file", file, "name", change->name, "client", job->client->title,
              "more", more, NULL);
    return job_fail(job, &err);
}

static bool is_entry(const struct change *change)
{
    return !change->list.format;
}

static bool is_rule(const struct job *job, const struct change *change)
{
    return !is_entry(change) && !job->is_hook;
}

static struct json *find_ours(const struct job *job, const struct change *change,
                              const struct text *text)
{
    return is_entry(change) ? entry_find(job->client, job->name, text)
           : job->is_hook   ? hooks_find(job->client, job->use, text)
                            : config_list_find(&change->list, text);
}

static bool put_ours(const struct job *job, const struct change *change, const struct json *ours,
                     struct text *text, struct error *err)
{
    return is_entry(change) ? entry_put(job->client, job->name, ours, text, err)
           : job->is_hook   ? hooks_put(job->client, job->use, ours, text, err)
                            : config_list_put(&change->list, ours, text, err);
}

static bool drop_ours(const struct job *job, const struct change *change, struct text *text,
                      struct error *err)
{
    return is_entry(change) ? entry_drop(job->client, job->name, text, err)
           : job->is_hook   ? hooks_drop(job->client, job->use, text, err)
                            : config_list_drop(&change->list, text, err);
}

/* `like` one that is there, or as this run wants it. */
static struct json *make_ours(const struct job *job, const struct change *change,
                              const struct json *like)
{
    struct entry_options options = job->entry;

    if (job->is_hook)
        return hooks_make(job->client, job->use, job->program, like);
    if (is_rule(job, change))
        return permission_make(job->rule);
    if (like)
        options = (struct entry_options){ .like = like };
    return entry_make(job->client, &options);
}

static bool has_ours(const struct job *job, const struct change *change, const struct text *text)
{
    struct json *found = change->format->check(text, NULL) ? find_ours(job, change, text) : NULL;

    json_free(found);
    return found != NULL;
}

/* Our entry is the same in both, and so is everything else. */
static bool differ_in_nothing(const struct job *job, const struct change *change,
                              struct text *again)
{
    struct json *here = find_ours(job, change, &change->file.bytes);
    struct json *there = find_ours(job, change, again);
    struct text rest = { 0 };
    bool is_same = here && there && json_same(here, there);

    text_add(&rest, text_string(&change->file.bytes), change->file.bytes.used);
    is_same = is_same && drop_ours(job, change, &rest, NULL) &&
              drop_ours(job, change, again, NULL) && config_same(&rest, again);
    text_release(&rest);
    json_free(here);
    json_free(there);
    return is_same;
}

/* What stands in the backup became what stands in the file by us alone: it is still the state
 * before us. Where there was no file, `before` is empty. */
static bool led_here(const struct job *job, const struct change *change, const struct json *entry,
                     const struct text *before)
{
    struct json *written = make_ours(job, change, entry);
    struct text again = { 0 };
    bool is_so;

    text_add(&again, text_string(before), before->used);
    is_so = change->format->check(&again, NULL) && put_ours(job, change, written, &again, NULL) &&
            differ_in_nothing(job, change, &again);
    json_free(written);
    text_release(&again);
    return is_so;
}

/* What was made must read back as meant, or nothing is written. */
static bool is_sound(const struct job *job, const struct change *change, const struct json *wanted)
{
    struct json *found = NULL;
    bool ok = change->format->check(&change->after, NULL);

    if (ok)
        found = find_ours(job, change, &change->after);
    for (void *it = json_first(wanted); ok && it; it = json_next(wanted, it)) {
        const struct json *value = json_member(found, json_key(it));

        if (json_kind(json_value(it)) != KIND_OBJECT)
            ok = value && json_same(value, json_value(it));
    }
    ok = ok && (found != NULL) == (wanted != NULL) &&
         (!job->is_hook || !wanted || json_same(found, wanted));
    json_free(found);
    return ok;
}

/* Fills `after` and `act` of a change. False: said why not. */
static bool job_plan_install(struct job *job, struct change *change)
{
    struct json *old = find_ours(job, change, &change->file.bytes);
    struct json *wanted = make_ours(job, change, NULL);
    struct text backup = { 0 };
    struct error err;
    bool ok = false;

    text_add(&change->after, text_string(&change->file.bytes), change->file.bytes.used);
    if (old && is_entry(change) && !entry_is_ours(job->client, old))
        job_refuse(job, change, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    else if (!put_ours(job, change, wanted, &change->after, &err))
        job_refuse(job, change, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, err.message);
    else if (!is_sound(job, change, wanted))
        job_refuse(job, change, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
    else
        ok = true;
    config_file_read_backup(&change->file, &backup); /* none: there was no file before us */
    change->keeps_backup = ok && old && led_here(job, change, old, &backup);
    change->is_theirs = ok && old && is_rule(job, change) &&
                        !has_ours(job, &job->changes[0], &job->changes[0].file.bytes);
    change->act = "installed";
    text_release(&backup);
    json_free(old);
    json_free(wanted);
    return ok;
}

static bool job_plan_undo(struct job *job, struct change *change)
{
    struct json *old = find_ours(job, change, &change->file.bytes);
    struct text backup = { 0 };
    struct error err;
    bool ok = true, has_backup;

    change->act = "unchanged";
    text_add(&change->after, text_string(&change->file.bytes), change->file.bytes.used);
    if (!old)
        return true;
    has_backup = config_file_read_backup(&change->file, &backup);
    if (is_entry(change) && !entry_is_ours(job->client, old)) {
        ok = job_refuse(job, change, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    } else if (is_rule(job, change) && has_ours(job, change, &backup)) {
        change->is_theirs = true;
    } else if (led_here(job, change, old, &backup)) {
        change->act = "restored";
        change->is_restored = true;
        change->is_file_removed = !has_backup;
        text_clear(&change->after);
        text_add(&change->after, text_string(&backup), backup.used);
    } else {
        change->act = "removed";
        ok = (drop_ours(job, change, &change->after, &err) && is_sound(job, change, NULL)) ||
             job_refuse(job, change, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
    }
    text_release(&backup);
    json_free(old);
    return ok;
}

static bool job_has_change(const struct change *change)
{
    return change->is_file_removed || !config_same(&change->after, &change->file.bytes);
}

static void write_json(struct json_writer *writer, const struct change *change)
{
    json_write_text(writer, "file", change->file.path);
    json_write_text(writer, "act", change->act);
    json_write_text(writer, "backup",
                    access(change->file.backup, F_OK) == 0 ? change->file.backup : NULL);
}

static int64_t hook_timeout_s(const struct job *job)
{
    return hook_event_at(job->client, job->use, 0)->timeout_s;
}

static void print_json(const struct job *job, const char *diff)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    bool has_timeout = (job->is_hook || job->client->timeout.key) && !job->is_undo;

    json_write_text(&writer, "client", job->client->name);
    json_write_text(&writer, "name", job->name);
    write_json(&writer, &job->changes[0]);
    json_write_known(&writer, "timeout_seconds",
                     job->is_hook ? hook_timeout_s(job) : CLIENT_TIMEOUT_S, has_timeout);
    if (job->change_count > 1) {
        json_write_object(&writer, "permission");
        write_json(&writer, &job->changes[1]);
        json_write_end_object(&writer);
    }
    json_write_text(&writer, "diff", diff);
    say_object(&writer);
}

/* Whether the client runs our tools without asking first. */
static void tell_trust(const struct job *job)
{
    const struct client *client = job->client;

    if (!client->trust_key && !client->has_rules)
        return;
    if (job->rule || (client->trust_key && job->entry.is_trusted))
        say_note(TEXT_CLI_INSTALL_TRUST, "client", client->title, "key",
                 client->trust_key ? client->trust_key : "permissions.allow");
    else
        say_note(TEXT_CLI_INSTALL_NO_TRUST, "client", client->title);
}

static void tell_effects(const struct job *job)
{
    const struct client *client = job->client;
    const struct known_client *known = known_client_of_program(client->name);
    struct settings *settings;

    if (job->is_hook) {
        say_note(job->use == HOOK_GATE ? TEXT_CLI_INSTALL_GATE_TIME : TEXT_CLI_INSTALL_PROMPTS_TIME,
                 "client", client->title, "seconds", TEXT_NUMBER(hook_timeout_s(job)), "wait",
                 TEXT_NUMBER(hook_timeout_s(job) - HOOK_MARGIN_S));
        if (client->hook.needs_trust)
            say_note(TEXT_CLI_INSTALL_GATE_TRUST, "client", client->title);
        return;
    }
    settings = call_settings();
    if (client->timeout.key)
        say_note(TEXT_CLI_INSTALL_TIMEOUT, "client", client->title, "key", client->timeout.key,
                 "seconds", TEXT_NUMBER(CLIENT_TIMEOUT_S), "patience", TEXT_NUMBER(known->limit_s));
    else
        say_note(TEXT_CLI_INSTALL_NO_TIMEOUT, "client", client->title);
    say_note(TEXT_CLI_INSTALL_HOLD, "seconds",
             TEXT_NUMBER(settings_hold_limit_s(settings, known->name, false,
                                               client->timeout.key ? CLIENT_TIMEOUT_S : 0)));
    tell_trust(job);
    settings_free(settings);
}

static void tell_done(const struct job *job)
{
    if (!job->is_undo)
        say_result(!job->is_hook           ? TEXT_CLI_INSTALL_DONE
                   : job->use == HOOK_GATE ? TEXT_CLI_INSTALL_GATE_DONE
                                           : TEXT_CLI_INSTALL_PROMPTS_DONE,
                   "client", job->client->title, "file", job->changes[0].file.path, "name",
                   job->name);
    for (size_t i = 0; i < job->change_count; i++) {
        const struct change *change = &job->changes[i];

        if (job->is_undo && job_has_change(change))
            say_result(change->is_file_removed ? TEXT_CLI_INSTALL_FILE_REMOVED
                       : change->is_restored   ? TEXT_CLI_INSTALL_RESTORED
                                               : TEXT_CLI_INSTALL_REMOVED,
                       "client", job->client->title, "file", change->file.path, "name",
                       change->name);
        else if (!job->is_undo && access(change->file.backup, F_OK) == 0)
            say_note(TEXT_CLI_INSTALL_BACKUP, "file", change->file.backup);
    }
    if (job->is_undo)
        return;
    if (job->entry.port > 0 && job->entry.needs_token)
        say_note(TEXT_CLI_INSTALL_TOKEN, "client", job->client->title);
    say_note(TEXT_CLI_INSTALL_RESTART, "client", job->client->title);
}

enum { MAX_NAME_BYTES = 64, MAX_AS_BYTES = 128 };
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

/* A hook has neither a name nor an address. */
static bool read_hook(const struct arguments *arguments, struct job *job)
{
    static const char *const others[] = { "name", "as", "http", "tools", "no-trust" };
    bool is_gate = arguments_value(arguments, "gate") != NULL;

    job->is_hook = true;
    job->use = is_gate ? HOOK_GATE : HOOK_PROMPTS;
    job->name = is_gate ? "sayso gate" : "sayso prompts";
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (arguments_value(arguments, others[i])) {
            say_problem(TEXT_CLI_INSTALL_GATE_ALONE, "name", others[i]);
            return false;
        }
    }
    if (is_gate && arguments_value(arguments, "prompts")) {
        say_problem(TEXT_CLI_INSTALL_ONE_HOOK);
        return false;
    }
    if (hook_is_known(job->client, job->use))
        return true;
    say_problem(is_gate ? TEXT_CLI_INSTALL_NO_GATE : TEXT_CLI_INSTALL_NO_PROMPTS, "client",
                job->client->title);
    return false;
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
        say_problem(TEXT_CLI_INSTALL_HTTP_TOOLS);
    else if (!offered_tools_are_valid(job->entry.tools))
        say_problem(TEXT_SETTING_TAKES_TOOLS, "name", "--tools");
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
    job->is_undo = arguments_value(arguments, "undo") != NULL;
    job->is_print = arguments_value(arguments, "print") != NULL;
    job->is_yes = arguments_value(arguments, "yes") != NULL;
    job->is_project = arguments_value(arguments, "project") != NULL;
    if (!job->client) {
        for (size_t i = 0; i < client_count(); i++)
            text_add_format(&known, "%s%s", i ? " | " : "", client_at(i)->name);
        if (wanted)
            say_problem(TEXT_CLI_INSTALL_UNKNOWN, "name", wanted, "known", text_string(&known));
        else
            say_needs(arguments, text_string(&known));
        text_release(&known);
        return false;
    }
    if (arguments_value(arguments, "gate") || arguments_value(arguments, "prompts"))
        return read_hook(arguments, job);
    if (!job->name)
        job->name = "sayso";
    job->entry.as_name = arguments_value(arguments, "as");
    if (!*job->name || strlen(job->name) > MAX_NAME_BYTES ||
        strspn(job->name, name_characters) != strlen(job->name)) {
        say_problem(TEXT_CLI_INSTALL_BAD_NAME, "name", "--name");
    } else if (!arguments_are_short(arguments, "as", MAX_AS_BYTES)) {
        return false;
    } else if (job->entry.as_name && (has_controls(job->entry.as_name) || !*job->entry.as_name)) {
        say_problem(TEXT_CLI_INSTALL_BAD_AS, "name", "--as");
    } else if (arguments_value(arguments, "http") && !job->client->url.key) {
        say_problem(TEXT_CLI_INSTALL_NO_HTTP, "client", job->client->title);
    } else if (arguments_value(arguments, "project") && !job->client->project) {
        say_problem(TEXT_CLI_INSTALL_NO_PROJECT, "client", job->client->title);
    } else {
        job->entry.is_trusted = !arguments_value(arguments, "no-trust");
        return read_tools(job);
    }
    return false;
}

static void choose_address(struct job *job)
{
    struct settings *settings = call_settings();
    struct location location;
    struct hub_record note;

    job->entry.port = (int)settings_integer(settings, SETTING_PORT);
    job->entry.needs_token = settings_integer(settings, SETTING_MCP_AUTH) == MCP_AUTH_TOKEN;
    if (location_find(&location, NULL) && hub_record_read(&location, &note, NULL) && note.port > 0)
        job->entry.port = note.port;
    settings_free(settings);
}

/* Which files it is about. */
static void choose_changes(struct job *job)
{
    struct change *change = &job->changes[job->change_count++];

    *change = (struct change){ .format = job->client->format, .name = job->name, .lock = -1 };
    if (job->is_hook) {
        change->list = hook_list(job->client, job->use, 0);
        change->format = change->list.format;
    } else if (job->is_undo || job->entry.is_trusted) {
        job->rule = permission_rule(job->client, job->name);
    }
    if (!job->rule)
        return;
    change = &job->changes[job->change_count++];
    *change = (struct change){ .name = job->rule, .lock = -1 };
    change->list = permission_list(job->rule);
    change->format = change->list.format;
}

static bool read_file(struct job *job, struct change *change)
{
    bool has_path;
    char path[CLIENT_PATH_BYTES];
    struct error err;

    config_file_release(&change->file);
    has_path = change->list.format ? hook_file(job->client, job->is_project, path, &err)
                                   : client_file(job->client, job->is_project, path, &err);
    if (!has_path || !config_file_read(path, job->is_project, &change->file, &err))
        return job_fail(job, &err);
    if (change->list.format)
        config_file_name_backup(&change->file, !job->is_hook           ? job->rule
                                               : job->use == HOOK_GATE ? "gate"
                                                                       : "prompts");
    if (!change->format->check(&change->file.bytes, &err))
        return job_refuse(job, change, ERROR_bad_json, TEXT_CLI_INSTALL_INVALID, err.path);
    return true;
}

static bool read_files(struct job *job)
{
    bool ok = true;

    for (size_t i = 0; ok && i < job->change_count; i++)
        ok = read_file(job, &job->changes[i]);
    return ok;
}

static bool lock_files(struct job *job)
{
    struct error err;

    for (size_t i = 0; i < job->change_count; i++) {
        struct change *change = &job->changes[i];

        if (job->is_undo && !change->file.is_there)
            continue; /* nor is its directory made */
        change->lock = config_file_lock(&change->file, i ? job->changes[0].lock : -1, &err);
        if (change->lock < 0)
            return job_fail(job, &err);
    }
    return true;
}

/* EXIT_DONE: the user said yes. Without a terminal the user can't be asked: EXIT_ERROR. */
static enum exit_code ask(const struct job *job)
{
    char typed[16];

    if (ask_line(TEXT_CLI_INSTALL_ASK, typed, sizeof typed))
        return typed[0] == 'y' || typed[0] == 'Y' ? EXIT_DONE : EXIT_REFUSED;
    job_refuse(job, &job->changes[0], ERROR_unavailable, TEXT_CLI_INSTALL_NEEDS_YES, "");
    return EXIT_ERROR;
}

static bool write_change(const struct job *job, const struct change *change)
{
    struct error err;
    bool ok = true;

    if (change->is_theirs && job->is_undo)
        unlink(change->file.backup);
    else if (change->is_theirs)
        ok = config_file_back_up(&change->file, &err);
    else if (change->is_restored)
        ok = config_file_restore(&change->file, change->is_file_removed ? NULL : &change->after,
                                 &err);
    else if (job_has_change(change))
        ok = config_file_write(&change->file, &change->after, change->keeps_backup || job->is_undo,
                               &err);
    return ok || job_fail(job, &err);
}

/* The file must not have changed since it was shown. */
static bool is_as_shown(const struct job *job, const struct change *change)
{
    struct config_file now;
    bool is_same = false;

    if (config_file_read(change->file.path, job->is_project, &now, NULL)) {
        is_same = now.is_there == change->file.is_there &&
                  config_same(&now.bytes, &change->file.bytes); /* its backup is not used */
        config_file_release(&now);
    }
    return is_same || job_refuse(job, change, ERROR_wrong_state, TEXT_CLI_INSTALL_CHANGED, "");
}

static bool write_changes(struct job *job)
{
    bool ok = job->is_yes || lock_files(job); /* else they are locked already */

    for (size_t i = 0; ok && !job->is_yes && i < job->change_count; i++)
        ok = is_as_shown(job, &job->changes[i]);
    for (size_t i = 0; ok && i < job->change_count; i++)
        ok = write_change(job, &job->changes[i]);
    return ok;
}

static enum exit_code carry_out(struct job *job, const char *diff)
{
    if (!job->arguments->is_json) {
        say_lines(diff, 0);
        if (!job->is_undo)
            tell_effects(job);
    }
    if (!job->is_print) {
        enum exit_code code = job->is_yes ? EXIT_DONE : ask(job);

        if (code != EXIT_DONE)
            return code;
        if (!write_changes(job))
            return EXIT_ERROR;
    }
    if (job->arguments->is_json)
        print_json(job, diff);
    else if (!job->is_print)
        tell_done(job);
    return EXIT_DONE;
}

static void end_unchanged(const struct job *job)
{
    for (size_t i = 0; job->is_undo && i < job->change_count; i++) {
        if (job->changes[i].lock >= 0)
            config_file_drop_same_backup(&job->changes[i].file);
    }
    if (job->arguments->is_json)
        print_json(job, "");
    else
        say_result(job->is_undo            ? TEXT_CLI_INSTALL_NOTHING
                   : !job->is_hook         ? TEXT_CLI_INSTALL_ALREADY
                   : job->use == HOOK_GATE ? TEXT_CLI_INSTALL_GATE_ALREADY
                                           : TEXT_CLI_INSTALL_PROMPTS_ALREADY,
                   "client", job->client->title, "file", job->changes[0].file.path, "name",
                   job->name);
}

static enum exit_code change_files(struct job *job)
{
    struct text diff = { 0 };
    enum exit_code code = EXIT_DONE;
    bool ok = read_files(job), has_any = false;

    for (size_t i = 0; ok && i < job->change_count; i++) {
        struct change *change = &job->changes[i];

        ok = job->is_undo ? job_plan_undo(job, change) : job_plan_install(job, change);
        if (ok && job_has_change(change))
            has_any = true;
        else
            change->act = "unchanged";
        diff_add(&diff, change->file.path, &change->file.bytes, &change->after);
    }
    if (!ok)
        code = EXIT_ERROR;
    else if (has_any)
        code = carry_out(job, text_string(&diff));
    else
        end_unchanged(job);
    text_release(&diff);
    return code;
}

static void release(struct job *job)
{
    for (size_t i = 0; i < job->change_count; i++) {
        if (job->changes[i].lock >= 0)
            close(job->changes[i].lock);
        config_file_release(&job->changes[i].file);
        text_release(&job->changes[i].after);
    }
    free(job->rule);
}

static bool find_program(struct job *job)
{
    struct error err;

    if (!os_own_program(job->program, sizeof job->program))
        error_say(&err, ERROR_unavailable, "", TEXT_REASON_NO_PROGRAM, NULL);
    else if (!text_is_utf8(job->program, strlen(job->program)))
        error_say(&err, ERROR_bad_unicode, "", TEXT_REASON_PATH_NOT_UTF8, NULL);
    else
        return true;
    return job_fail(job, &err);
}

static enum exit_code run_install(const struct arguments *arguments)
{
    struct job job = { .arguments = arguments };
    enum exit_code code = EXIT_ERROR;

    if (!read_arguments(arguments, &job))
        return EXIT_USAGE;
    if (!find_program(&job))
        return EXIT_ERROR;
    job.entry.program = job.program;
    if (arguments_value(arguments, "http"))
        choose_address(&job);
    choose_changes(&job);
    /* Where no one is asked, reading and writing are one locked step. */
    if (!job.is_yes || job.is_print || (read_files(&job) && lock_files(&job)))
        code = change_files(&job);
    release(&job);
    return code;
}

static const struct verb_option options[] = {
    { "project", 0, NULL, TEXT_OPT_INSTALL_PROJECT, false },
    { "name", 0, "NAME", TEXT_OPT_INSTALL_NAME, false },
    { "as", 0, "NAME", TEXT_OPT_AS, false },
    { "tools", 0, "LIST", TEXT_OPT_TOOLS, false },
    { "http", 0, NULL, TEXT_OPT_INSTALL_HTTP, false },
    { "no-trust", 0, NULL, TEXT_OPT_INSTALL_NO_TRUST, false },
    { "gate", 0, NULL, TEXT_OPT_INSTALL_GATE, false },
    { "prompts", 0, NULL, TEXT_OPT_INSTALL_PROMPTS, false },
    { "yes", 'y', NULL, TEXT_OPT_INSTALL_YES, false },
    { "print", 0, NULL, TEXT_OPT_INSTALL_PRINT, false },
    { "undo", 0, NULL, TEXT_OPT_INSTALL_UNDO, false },
};
static const char *const usage[] = {
    "install CLIENT [--project] [--name NAME] [--as NAME] [--tools LIST] [--http] [--no-trust] "
    "[--yes] [--print]",
    "install CLIENT --gate | --prompts [--project] [--yes] [--print]",
    "install CLIENT --undo [--gate | --prompts] [--project] [--name NAME] [--yes] [--print]", NULL
};
static const char *const examples[] = {
    "install claude",           "install codex --yes",    "install codex --tools all",
    "install vscode --project", "install gemini --print", "install claude --gate",
    "install claude --prompts", "install claude --undo",  NULL
};
VERB_ROW(install, TEXT_CLI_INSTALL, VERB_TABLES, .max_words = 1);
