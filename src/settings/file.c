/*
 * file.c - the host's saved rows: one JSON object, written whole and put in place of the old one.
 * People edit it by hand, so a member a line, in their order; what we don't know stays as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "settings/inside.h"
#include "settings/settings.h"

#define KIND_BIT(kind) (1u << (kind))

/* What kinds of JSON a type may be written as; text is read as on a command line. */
static const unsigned kinds[] = {
    [SETTING_TYPE_BOOL] = KIND_BIT(KIND_BOOL) | KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_INTEGER] = KIND_BIT(KIND_INTEGER) | KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_SECONDS] = KIND_BIT(KIND_INTEGER) | KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_ENUM] = KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_TEXT] = KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_PERIOD] = KIND_BIT(KIND_TEXT),
    [SETTING_TYPE_LIMITS] = KIND_BIT(KIND_OBJECT) | KIND_BIT(KIND_TEXT),
};

/* The object in the file; NULL with ERROR_NONE where there is none yet. */
static struct json *read_object(const char *path, struct error *err)
{
    struct text bytes = { 0 };
    struct json *object = NULL;

    *err = (struct error){ 0 };
    if (!os_read_file(path, SETTINGS_FILE_MAX_BYTES, &bytes, err)) {
        if (err->code == ERROR_not_found)
            *err = (struct error){ 0 };
    } else if (bytes.used > 0 && json_parse(bytes.bytes, bytes.used, &object, err) &&
               json_kind(object) != KIND_OBJECT) {
        json_free(object);
        object = NULL;
        error_set(err, ERROR_bad_json, "", "not an object");
    }
    text_release(&bytes);
    return object;
}

static enum text_id file_reason(enum error_code code)
{
    if (code == ERROR_bad_json)
        return TEXT_SETTING_FILE_NOT_JSON;
    return code == ERROR_too_long ? TEXT_SETTING_FILE_TOO_LONG : TEXT_SETTING_FILE_UNREADABLE;
}

/* False: of a kind that setting can't be. */
static bool value_to_text(const struct setting_row *row, const struct json *value, struct text *out)
{
    int64_t number;
    char *encoded;

    if (!(kinds[row->type] & KIND_BIT(json_kind(value))))
        return false;
    switch (json_kind(value)) {
    case KIND_TEXT:
        text_add(out, json_text(value), json_length(value));
        return strlen(text_string(out)) == json_length(value);
    case KIND_INTEGER:
        if (!json_integer_of(value, &number))
            return false;
        text_add_format(out, "%lld", (long long)number);
        return true;
    case KIND_BOOL:
        text_add_text(out, json_is_yes(value) ? "on" : "off");
        return true;
    default:
        encoded = json_encode(value);
        text_add_text(out, encoded);
        free(encoded);
        return true;
    }
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
    if (row->scope != SETTING_SCOPE_HOST)
        settings_warn(settings, name, SETTING_SAVED, TEXT_SETTING_NOT_IN_FILE);
    else if (!value_to_text(row, value, &text))
        settings_warn(settings, name, SETTING_SAVED, setting_takes(row));
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

void settings_load_file(struct settings *settings, const char *path)
{
    struct error err;
    struct json *object = read_object(path, &err);

    if (err.code != ERROR_NONE)
        settings_warn(settings, "", SETTING_SAVED, file_reason(err.code));
    if (!object)
        return;
    for (void *it = json_first(object); it; it = json_next(object, it)) {
        if (json_kind(json_value(it)) != KIND_NULL)
            load_member(settings, member_name(it), json_value(it));
    }
    json_free(object);
}

static void begin_member(struct text *out, const char *key, size_t length)
{
    struct json_writer writer = json_writer_to(out);

    text_add_text(out, out->used > 1 ? ",\n  " : "\n  ");
    json_write_text_n(&writer, NULL, key, length);
    text_add_text(out, ": ");
}

static bool is_to_be_written(const struct settings *settings, enum setting_id id)
{
    return setting_row(id)->scope == SETTING_SCOPE_HOST && settings_is_changed(settings, id);
}

static void write_row(const struct settings *settings, enum setting_id id, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    const char *name = setting_row(id)->name;

    if (!settings_has_saved(settings, id))
        return;
    begin_member(out, name, strlen(name));
    settings_write_saved(settings, id, &writer);
}

static void write_file(const struct settings *settings, const struct json *object, struct text *out)
{
    bool is_written[SETTING_COUNT] = { false };

    text_add_text(out, "{");
    for (void *it = object ? json_first(object) : NULL; it; it = json_next(object, it)) {
        enum setting_id id;
        char *encoded;

        if (setting_find(member_name(it), &id) && is_to_be_written(settings, id)) {
            write_row(settings, id, out);
            is_written[id] = true;
            continue;
        }
        encoded = json_encode(json_value(it));
        begin_member(out, json_key(it), json_key_length(it));
        text_add_text(out, encoded);
        free(encoded);
    }
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (!is_written[id] && is_to_be_written(settings, (enum setting_id)id))
            write_row(settings, (enum setting_id)id, out);
    }
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

static bool has_changes(const struct settings *settings)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (is_to_be_written(settings, (enum setting_id)id))
            return true;
    }
    return false;
}

bool settings_save_file(struct settings *settings, const char *path, struct error *err)
{
    struct text out = { .max_bytes = SETTINGS_FILE_MAX_BYTES };
    struct error problem;
    struct json *object;
    bool ok = false;

    if (!has_changes(settings))
        return true;
    object = read_object(path, &problem);
    if (problem.code != ERROR_NONE)
        return error_set(err, problem.code, "", "%s", i18n_text(file_reason(problem.code)));
    write_file(settings, object, &out);
    if (out.has_overflowed)
        error_set(err, ERROR_too_long, "", "%s", i18n_text(TEXT_SETTING_FILE_TOO_LONG));
    else
        ok = replace_file(path, &out, err);
    if (ok)
        settings_forget_changes(settings);
    json_free(object);
    text_release(&out);
    return ok;
}
