/*
 * file.c - the host's saved rows: one JSON object, written whole and put in place of the old one.
 * People edit it by hand, so a member a line, in their order; what we don't know stays as it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "settings/settings.h"
#include "settings/values.h"

/* What kind of JSON a type is written as; each may be a text, read as on a command line. */
static const enum json_kind kinds[] = {
    [SETTING_TYPE_BOOL] = KIND_BOOL,       [SETTING_TYPE_INTEGER] = KIND_INTEGER,
    [SETTING_TYPE_SECONDS] = KIND_INTEGER, [SETTING_TYPE_ENUM] = KIND_TEXT,
    [SETTING_TYPE_TEXT] = KIND_TEXT,       [SETTING_TYPE_PERIOD] = KIND_TEXT,
    [SETTING_TYPE_LIMITS] = KIND_OBJECT,
};

static size_t lines_between(const struct text *bytes, int64_t from, int64_t until)
{
    size_t count = 0;

    for (int64_t i = from; i < until && i < (int64_t)bytes->used; i++)
        count += bytes->bytes[i] == '\n';
    return count;
}

/* What comes last in an error of base: "syntax at byte 7", "Is a directory". */
static const char *detail_of(const struct error *err)
{
    const char *colon = strrchr(err->message, ':');

    return colon && colon[1] ? colon + 2 : err->message;
}

/* The object in the file, and its bytes; NULL and a warning, or ERROR_NONE: there is no file. */
static struct json *read_object(struct settings *settings, const char *path, struct text *bytes,
                                struct error *err)
{
    struct json *object = NULL;
    int64_t offset = 0;

    *err = (struct error){ 0 };
    settings_at(settings, path, 0);
    if (!os_read_file(path, SETTINGS_FILE_MAX_BYTES, bytes, err)) {
        if (settings_file_is_absent(path))
            *err = (struct error){ 0 };
        else if (err->code == ERROR_too_long)
            settings_warn_of_file(settings, TEXT_SETTING_FILE_TOO_LONG, "");
        else
            settings_warn_of_file(settings, TEXT_SETTING_FILE_UNREADABLE, detail_of(err));
    } else if (json_parse(text_string(bytes), bytes->used, &object, err) &&
               json_kind(object) == KIND_OBJECT) {
        return object;
    } else {
        if (object)
            error_set(err, ERROR_bad_json, "", "not an object");
        else
            text_parse_integer(strrchr(err->message, ' ') + 1, &offset); /* the byte it came to */
        settings_at(settings, NULL, 1 + lines_between(bytes, 0, offset));
        settings_warn_of_file(settings, TEXT_SETTING_FILE_NOT_JSON, detail_of(err));
        json_free(object);
    }
    return NULL;
}

/* False: of a kind that setting can't be. */
static bool value_to_text(const struct setting_row *row, const struct json *value, struct text *out)
{
    if (!json_text(value) && json_kind(value) != kinds[row->type])
        return false;
    if (json_text(value))
        text_add(out, json_text(value), json_length(value));
    else if (json_kind(value) == KIND_BOOL)
        text_add_text(out, json_is_true(value) ? "on" : "off");
    else
        json_add(out, value);
    return !json_text(value) || strlen(text_string(out)) == json_length(value);
}

static void load_member(struct settings *settings, const char *name, const struct json *value)
{
    const struct setting_row *row;
    struct text text = { 0 };
    enum setting_id id;

    if (!setting_find(name, &id)) {
        settings_warn(settings, name, SETTING_SAVED, TEXT_SETTING_UNKNOWN);
        return;
    }
    row = setting_row(id);
    if (json_kind(value) == KIND_NULL && row->strictness == SETTING_LOOSE)
        return; /* as if it were not there; for a strict row it is no value */
    if (row->scope != SETTING_SCOPE_HOST)
        settings_warn(settings, name, SETTING_SAVED, TEXT_SETTING_NOT_IN_FILE);
    else if (!value_to_text(row, value, &text))
        settings_warn(settings, name, SETTING_SAVED, setting_takes(id));
    else
        settings_take_saved(settings, id, text_string(&text));
    text_release(&text);
}

/* The name in it that is ours, or "" for what can't be. */
static const char *member_name(void *member)
{
    const char *key = json_key(member);

    return strlen(key) == json_key_length(member) ? key : "";
}

/* Keys lie in a copy of the bytes, each where it was read; before the first is only a brace. */
static int64_t place_of_member(const struct text *bytes, const struct json *object, void *member)
{
    const char *first = strchr(text_string(bytes), '"') + 1;

    return first - bytes->bytes + (json_key(member) - json_key(json_first(object)));
}

void settings_load_file(struct settings *settings, const char *path)
{
    struct text bytes = { 0 };
    struct error err;
    struct json *object = read_object(settings, path, &bytes, &err);
    int64_t before = 0;
    size_t line = 1;

    for (void *it = json_first(object); it; it = json_next(object, it)) {
        int64_t place = place_of_member(&bytes, object, it);

        line += lines_between(&bytes, before, place);
        settings_at(settings, NULL, line);
        before = place;
        load_member(settings, member_name(it), json_value(it));
    }
    settings_at(settings, NULL, 0);
    json_free(object);
    text_release(&bytes);
}

static void begin_member(struct text *out, const char *key, size_t length)
{
    struct json_writer writer = json_writer_to(out);

    text_add_text(out, out->used > 1 ? ",\n  " : "\n  ");
    json_write_text_n(&writer, NULL, key, length);
    text_add_text(out, ": ");
}

static void write_row(enum setting_id id, const struct setting_value *value, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    begin_member(out, setting_row(id)->name, strlen(setting_row(id)->name));
    setting_write_value(id, value, &writer, NULL);
}

/* `value` NULL: without that row. */
static void write_file(const struct json *object, enum setting_id id,
                       const struct setting_value *value, struct text *out)
{
    text_add_text(out, "{");
    for (void *it = json_first(object); it; it = json_next(object, it)) {
        if (strcmp(member_name(it), setting_row(id)->name) != 0) {
            begin_member(out, json_key(it), json_key_length(it));
            json_add(out, json_value(it));
        } else if (value) {
            write_row(id, value, out); /* where it was */
            value = NULL;
        }
    }
    if (value)
        write_row(id, value, out);
    text_add_text(out, "\n}\n");
}

/* A link to a file kept elsewhere stays a link: the file behind it is replaced. */
static bool replace_file(const char *path, const struct text *bytes, struct error *err)
{
    char *behind = realpath(path, NULL), *directory = mem_text(path);
    char *slash = strrchr(directory, '/');
    bool ok = true;

    if (!behind && slash && slash != directory) { /* the first value ever saved */
        *slash = '\0';
        ok = os_private_directory(directory, err);
        if (!ok && err)
            err->code = ERROR_storage_failed;
    }
    free(directory);
    ok = ok && os_write_file(behind ? behind : path, bytes->bytes, bytes->used, err);

    free(behind);
    return ok;
}

bool settings_save(const char *path, enum setting_id id, const char *text, struct error *err)
{
    struct text out = { .max_bytes = SETTINGS_FILE_MAX_BYTES }, bytes = { 0 };
    struct settings *settings;
    struct setting_value value = { 0 };
    struct error problem;
    struct json *object;
    bool ok = false;

    if (text && !settings_parse(id, text, &value, err))
        return false;
    settings = settings_new();
    object = read_object(settings, path, &bytes, &problem);
    if (problem.code == ERROR_NONE) {
        write_file(object, id, text ? &value : NULL, &out);
        ok = !out.has_overflowed && replace_file(path, &out, err);
    }
    if (out.has_overflowed) {
        problem.code = ERROR_too_long;
        settings_warn_of_file(settings, TEXT_SETTING_FILE_TOO_LONG, "");
    }
    if (settings_problem(settings, err)) /* else replace_file said why */
        err->code = problem.code;
    settings_free(settings);
    setting_value_release(&value);
    json_free(object);
    text_release(&bytes);
    text_release(&out);
    return ok;
}
