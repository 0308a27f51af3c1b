/*
 * plan.c - what a client's file becomes. Undoing needs no record: if what we would write into the
 * backup is what stands there, the backup comes back; else only our entry goes. What is ours
 * is the entry of an MCP server, a rule that allows its tools or, with --gate, a hook.
 */
#include "cli/install/plan.h"

#include "base/json.h"

static bool is_entry(const struct change *change)
{
    return !change->list.format;
}

static bool is_rule(const struct job *job, const struct change *change)
{
    return !is_entry(change) && !job->is_gate;
}

static struct json *find_ours(const struct job *job, const struct change *change,
                              const struct text *text)
{
    return is_entry(change) ? entry_find(job->client, job->name, text)
                            : config_list_find(&change->list, text);
}

static bool put_ours(const struct job *job, const struct change *change, const struct json *ours,
                     struct text *text, struct error *err)
{
    return is_entry(change) ? entry_put(job->client, job->name, ours, text, err)
           : job->is_gate   ? hook_put(job->client, ours, text, err)
                            : config_list_put(&change->list, ours, text, err);
}

static bool drop_ours(const struct job *job, const struct change *change, struct text *text,
                      struct error *err)
{
    return is_entry(change) ? entry_drop(job->client, job->name, text, err)
                            : config_list_drop(&change->list, text, err);
}

/* `like` one that is there, or as this run wants it. */
static struct json *make_ours(const struct job *job, const struct change *change,
                              const struct json *like)
{
    struct entry_options options = job->entry;

    if (job->is_gate)
        return hook_make(job->client, job->program, like);
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
    ok = ok && (found != NULL) == (wanted != NULL);
    json_free(found);
    return ok;
}

bool job_plan_install(struct job *job, struct change *change)
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

bool job_plan_undo(struct job *job, struct change *change)
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

bool job_has_change(const struct change *change)
{
    return change->is_file_removed || !config_same(&change->after, &change->file.bytes);
}
