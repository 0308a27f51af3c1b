/* tell.c - what a person or a script hears of an installation. */
#include <stdio.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "cli/install/job.h"
#include "cli/say.h"
#include "settings/settings.h"
#include "wire/place.h"

bool job_fail(const struct job *job, const struct error *err)
{
    say_error(job->arguments, err, NULL);
    return false;
}

bool job_refuse(const struct job *job, enum error_code code, enum text_id id, const char *more)
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
    return job_fail(job, &err);
}

struct settings *job_load_settings(void)
{
    struct settings *settings = settings_new();
    struct place place;

    settings_load(settings, place_find(&place, NULL) ? place.settings : NULL);
    return settings;
}

void job_print_json(const struct job *job, const char *diff)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    bool has_timeout = (job->hook || job->client->timeout_key) && !job->is_undo;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "client", job->client->name);
    json_write_text(&writer, "name", job->name);
    json_write_text(&writer, "file", job->file.path);
    json_write_text(&writer, "act", job->act);
    json_write_known(&writer, "timeout_seconds", job->hook ? HOOK_TIMEOUT_S : CLIENT_TIMEOUT_S,
                     has_timeout);
    json_write_text(&writer, "backup",
                    access(job->file.backup, F_OK) == 0 ? job->file.backup : NULL);
    json_write_text(&writer, "diff", diff);
    json_write_end_object(&writer);
    say_json(text_string(&out));
    text_release(&out);
}

/* How long a person has, and what else it needs. */
static void tell_gate(const struct job *job)
{
    char limit[24], wait[24];

    snprintf(limit, sizeof limit, "%d", HOOK_TIMEOUT_S);
    snprintf(wait, sizeof wait, "%d", HOOK_WAIT_S);
    say_note(TEXT_CLI_INSTALL_GATE_TIME, "client", job->client->title, "seconds", limit, "wait",
             wait, NULL);
    if (job->hook->needs_trust)
        say_note(TEXT_CLI_INSTALL_GATE_TRUST, "client", job->client->title, NULL);
}

void job_tell_times(const struct job *job)
{
    const struct client *client = job->client;
    struct settings *settings = job_load_settings();
    char limit[24], patience[24], hold[24];

    if (job->hook) {
        tell_gate(job);
        settings_free(settings);
        return;
    }
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

void job_tell_done(const struct job *job)
{
    enum text_id id = job->hook ? TEXT_CLI_INSTALL_GATE_DONE : TEXT_CLI_INSTALL_DONE;

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
