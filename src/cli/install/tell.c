/* tell.c - what a person or a script hears of an installation. */
#include <stdio.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "cli/call.h"
#include "cli/install/job.h"
#include "cli/say.h"
#include "core/known_clients.h"
#include "settings/settings.h"

bool job_fail(const struct job *job, const struct error *err)
{
    say_error(job->arguments, err, NULL);
    return false;
}

bool job_refuse(const struct job *job, const struct change *change, enum error_code code,
                enum text_id id, const char *more)
{
    const char *file = change->file.path ? change->file.path : "";
    struct error err = { 0 };
    struct text english = { 0 };

    if (!job->arguments->is_json) {
        say_problem(id, "file", file, "name", change->name, "client", job->client->title, "more",
                    more);
        return false;
    }
    i18n_format_in(LANGUAGE_EN, &english, id, "file", file, "name", change->name, "client",
                   job->client->title, "more", more, NULL);
    error_set(&err, code, "", "%.470s", text_string(&english));
    text_release(&english);
    return job_fail(job, &err);
}

static void write_change(struct json_writer *writer, const struct change *change)
{
    json_write_text(writer, "file", change->file.path);
    json_write_text(writer, "act", change->act);
    json_write_text(writer, "backup",
                    access(change->file.backup, F_OK) == 0 ? change->file.backup : NULL);
}

void job_print_json(const struct job *job, const char *diff)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    bool has_timeout = (job->is_gate || job->client->timeout_key) && !job->is_undo;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "client", job->client->name);
    json_write_text(&writer, "name", job->name);
    write_change(&writer, &job->changes[0]);
    json_write_known(&writer, "timeout_seconds", job->is_gate ? HOOK_TIMEOUT_S : CLIENT_TIMEOUT_S,
                     has_timeout);
    if (job->change_count > 1) {
        json_write_object(&writer, "permission");
        write_change(&writer, &job->changes[1]);
        json_write_end_object(&writer);
    }
    json_write_text(&writer, "diff", diff);
    json_write_end_object(&writer);
    say_json(text_string(&out));
    text_release(&out);
}

/* How long a person has, and what else it needs. */
static void tell_gate(const struct job *job)
{
    say_note(TEXT_CLI_INSTALL_GATE_TIME, "client", job->client->title, "seconds",
             say_number(HOOK_TIMEOUT_S), "wait", say_number(HOOK_WAIT_S));
    if (job->client->hook.needs_trust)
        say_note(TEXT_CLI_INSTALL_GATE_TRUST, "client", job->client->title);
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

void job_tell_effects(const struct job *job)
{
    const struct client *client = job->client;
    struct settings *settings = call_settings();

    if (job->is_gate) {
        tell_gate(job);
        settings_free(settings);
        return;
    }
    if (client->timeout_key)
        say_note(TEXT_CLI_INSTALL_TIMEOUT, "client", client->title, "key", client->timeout_key,
                 "seconds", say_number(CLIENT_TIMEOUT_S), "patience",
                 say_number(client->patience_s));
    else
        say_note(TEXT_CLI_INSTALL_NO_TIMEOUT, "client", client->title);
    say_note(TEXT_CLI_INSTALL_HOLD, "seconds",
             say_number(settings_hold_limit_s(settings, known_client_of_program(client->name)->name,
                                              false, client->timeout_key ? CLIENT_TIMEOUT_S : 0)));
    tell_trust(job);
    settings_free(settings);
}

static void tell_undone(const struct job *job, const struct change *change)
{
    enum text_id id = change->is_file_removed ? TEXT_CLI_INSTALL_FILE_REMOVED
                      : change->is_restored   ? TEXT_CLI_INSTALL_RESTORED
                                              : TEXT_CLI_INSTALL_REMOVED;

    say_result(id, "client", job->client->title, "file", change->file.path, "name", change->name);
}

void job_tell_done(const struct job *job)
{
    if (!job->is_undo)
        say_result(job->is_gate ? TEXT_CLI_INSTALL_GATE_DONE : TEXT_CLI_INSTALL_DONE, "client",
                   job->client->title, "file", job->changes[0].file.path, "name", job->name);
    for (size_t i = 0; i < job->change_count; i++) {
        const struct change *change = &job->changes[i];

        if (job->is_undo && job_has_change(change))
            tell_undone(job, change);
        else if (!job->is_undo && access(change->file.backup, F_OK) == 0)
            say_note(TEXT_CLI_INSTALL_BACKUP, "file", change->file.backup);
    }
    if (job->is_undo)
        return;
    if (job->entry.port > 0 && job->entry.needs_token)
        say_note(TEXT_CLI_INSTALL_TOKEN, "client", job->client->title);
    say_note(TEXT_CLI_INSTALL_RESTART, "client", job->client->title);
}
