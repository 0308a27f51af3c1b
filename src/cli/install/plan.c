/*
 * plan.c - what a client's file becomes. Undoing needs no record: if what we would write into the
 * backup is what stands there, the backup comes back; else only our entry goes. The entry is that
 * of an MCP server or, with --gate, a hook.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/install/config_text.h"
#include "cli/install/job.h"

static struct json *find_ours(const struct job *job, const struct text *text)
{
    return job->hook ? hook_find_item(job->hook, text) : entry_find(job->client, job->name, text);
}

static bool put_ours(const struct job *job, const struct json *entry, struct text *text,
                     struct error *err)
{
    return job->hook ? hook_put(job->hook, entry, text, err)
                     : entry_put(job->client, job->name, entry, text, err);
}

static bool drop_ours(const struct job *job, struct text *text, struct error *err)
{
    return job->hook ? hook_drop(job->hook, text, err)
                     : entry_drop(job->client, job->name, text, err);
}

/* `like` one that stands there, or as this run wants it. */
static struct json *make_ours(const struct job *job, const struct json *like)
{
    struct entry_options options = job->entry;

    if (job->hook)
        return hook_make(job->hook, job->client, job->program, like);
    if (like)
        options = (struct entry_options){ .like = like };
    return entry_make(job->client, &options);
}

/* Our entry is the same in both, and so is everything else. */
static bool differ_in_nothing(const struct job *job, struct text *again)
{
    struct json *here = find_ours(job, &job->file.bytes);
    struct json *there = find_ours(job, again);
    struct text rest = { 0 };
    bool is_same = here && there && json_same(here, there);

    text_add(&rest, text_string(&job->file.bytes), job->file.bytes.used);
    is_same = is_same && drop_ours(job, &rest, NULL) && drop_ours(job, again, NULL) &&
              rest.used == again->used &&
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
    struct json *written = make_ours(job, entry);
    struct text again = { 0 };
    bool is_so;

    text_add(&again, text_string(before), before->used);
    is_so = job->format->check(&again, NULL) && put_ours(job, written, &again, NULL) &&
            differ_in_nothing(job, &again);
    json_free(written);
    text_release(&again);
    return is_so;
}

/* What was made must read back as meant, or nothing is written. */
static bool is_sound(const struct job *job, const struct json *wanted)
{
    struct json *found = NULL;
    bool ok = job->format->check(&job->after, NULL);

    if (ok)
        found = find_ours(job, &job->after);
    for (void *it = wanted ? json_first(wanted) : NULL; ok && it; it = json_next(wanted, it)) {
        const struct json *value = json_member(found, json_key(it));

        if (json_kind(json_value(it)) != KIND_OBJECT)
            ok = value && json_same(value, json_value(it));
    }
    ok = ok && (found != NULL) == (wanted != NULL);
    json_free(found);
    return ok;
}

bool job_plan_install(struct job *job)
{
    struct json *old = find_ours(job, &job->file.bytes);
    struct json *wanted = make_ours(job, NULL);
    struct text backup = { 0 };
    struct error err;
    bool ok = false;

    text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
    if (old && !job->hook && !entry_is_ours(job->client, old))
        job_refuse(job, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    else if (!put_ours(job, wanted, &job->after, &err))
        job_refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, err.message);
    else if (!is_sound(job, wanted))
        job_refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
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

bool job_plan_undo(struct job *job)
{
    struct json *old = find_ours(job, &job->file.bytes);
    struct text backup = { 0 };
    struct error err;
    bool ok = true, has_backup;

    job->act = "unchanged";
    if (!old) {
        text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
        return true;
    }
    has_backup = config_file_read_backup(&job->file, &backup);
    if (!job->hook && !entry_is_ours(job->client, old)) {
        ok = job_refuse(job, ERROR_conflicting_arguments, TEXT_CLI_INSTALL_FOREIGN, "");
    } else if (led_here(job, old, &backup)) {
        job->act = "restored";
        job->is_restored = true;
        job->is_file_removed = !has_backup;
        text_add(&job->after, text_string(&backup), backup.used);
    } else {
        job->act = "removed";
        text_add(&job->after, text_string(&job->file.bytes), job->file.bytes.used);
        ok = drop_ours(job, &job->after, &err) && is_sound(job, NULL);
        if (!ok)
            job_refuse(job, ERROR_bad_type, TEXT_CLI_INSTALL_SHAPE, "");
    }
    text_release(&backup);
    json_free(old);
    return ok;
}

bool job_has_change(const struct job *job)
{
    return job->is_file_removed || job->after.used != job->file.bytes.used ||
           memcmp(text_string(&job->after), text_string(&job->file.bytes), job->after.used) != 0;
}
