/*
 * settings.c - which value is in force: each row has a place for every source, and the strongest
 * place that is filled wins.
 */
#include "settings/settings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "settings/inside.h"

struct place {
    bool is_set;
    struct setting_value value;
};
struct settings {
    struct place places[SETTING_COUNT][SETTING_SOURCE_COUNT];
    enum language locale;
    struct setting_warning warnings[SETTINGS_MAX_WARNINGS];
    size_t warning_count;
    char *path;             /* of the file that was loaded; owned */
    char file_problem[128]; /* why it can't be read */
    size_t line;            /* of what is being loaded */
};

/* R8.2: a language we do not have is English, and not what the locale says. */
static const char *const environment_fallbacks[SETTING_COUNT] = { [SETTING_LANGUAGE] = "en" };

/* Strict rows that the store keeps: a value that can't be read (an older version doesn't know a
 * newer word) becomes the one that allows least, because only a hub that runs can repair it. */
static const char *const saved_fallbacks[SETTING_COUNT] = { [SETTING_CLI_ANSWERS] = "off" };

static void put(struct settings *settings, enum setting_id id, enum setting_source source,
                struct setting_value take_value)
{
    struct place *place = &settings->places[id][source];

    setting_value_release(&place->value);
    *place = (struct place){ .is_set = true, .value = take_value };
}

static bool put_text(struct settings *settings, enum setting_id id, enum setting_source source,
                     const char *text)
{
    struct setting_value value;

    if (setting_read(id, text, &value) != ERROR_NONE)
        return false;
    put(settings, id, source, value);
    return true;
}

static void clear(struct settings *settings, enum setting_id id, enum setting_source source)
{
    struct place *place = &settings->places[id][source];

    setting_value_release(&place->value);
    place->is_set = false;
}

struct settings *settings_new(void)
{
    struct settings *settings = mem_new(sizeof *settings);

    for (int id = 0; id < SETTING_COUNT; id++) {
        bool is_valid = put_text(settings, (enum setting_id)id, SETTING_BUILT_IN,
                                 setting_row((enum setting_id)id)->built_in);

        assert(is_valid);
        (void)is_valid;
    }
    return settings;
}

void settings_free(struct settings *settings)
{
    if (!settings)
        return;
    for (int id = 0; id < SETTING_COUNT; id++) {
        for (int source = 0; source < SETTING_SOURCE_COUNT; source++)
            setting_value_release(&settings->places[id][source].value);
    }
    free(settings->path);
    free(settings);
}

static void load_locale(struct settings *settings)
{
    static const char *const variables[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

    settings->locale = LANGUAGE_EN;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *locale = getenv(variables[i]);

        if (locale && *locale) {
            language_find(locale, &settings->locale);
            return;
        }
    }
}

void settings_load_environment(struct settings *settings)
{
    load_locale(settings);
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        const struct setting_row *row = setting_row(id);
        const char *text = getenv(row->environment);

        clear(settings, id, SETTING_ENVIRONMENT);
        if (!text || !*text || put_text(settings, id, SETTING_ENVIRONMENT, text))
            continue;
        settings_warn(settings, row->name, SETTING_ENVIRONMENT, setting_takes(id));
        if (environment_fallbacks[id])
            put_text(settings, id, SETTING_ENVIRONMENT, environment_fallbacks[id]);
    }
}

void settings_load(struct settings *settings, const char *path)
{
    settings_load_environment(settings);
    if (path)
        settings_load_file(settings, path);
}

bool settings_take_saved(struct settings *settings, enum setting_id id, const char *text)
{
    if (put_text(settings, id, SETTING_SAVED, text))
        return true;
    if (saved_fallbacks[id])
        put_text(settings, id, SETTING_SAVED, saved_fallbacks[id]);
    settings_warn(settings, setting_row(id)->name, SETTING_SAVED, setting_takes(id));
    return false;
}

bool settings_put_saved(struct settings *settings, const char *name, const char *text)
{
    enum setting_id id;

    if (!setting_find(name, &id)) {
        settings_warn(settings, name, SETTING_SAVED, TEXT_SETTING_UNKNOWN);
        return false;
    }
    if (text)
        return settings_take_saved(settings, id, text);
    clear(settings, id, SETTING_SAVED);
    return true;
}

bool settings_put_flag(struct settings *settings, enum setting_id id, const char *text,
                       struct error *err)
{
    struct setting_value value;

    if (!settings_parse(id, text, &value, err))
        return false;
    put(settings, id, SETTING_FLAG, value);
    return true;
}

enum setting_source settings_source(const struct settings *settings, enum setting_id id)
{
    int source = SETTING_SOURCE_COUNT - 1;

    while (source > SETTING_BUILT_IN && !settings->places[id][source].is_set)
        source--;
    return (enum setting_source)source;
}

static const struct setting_value *value_of(const struct settings *settings, enum setting_id id)
{
    return &settings->places[id][settings_source(settings, id)].value;
}

bool settings_is_on(const struct settings *settings, enum setting_id id)
{
    assert(setting_row(id)->type == SETTING_TYPE_BOOL);
    return value_of(settings, id)->number != 0;
}

int64_t settings_integer(const struct settings *settings, enum setting_id id)
{
    assert(setting_row(id)->type <= SETTING_TYPE_ENUM);
    return value_of(settings, id)->number;
}

const char *settings_text(const struct settings *settings, enum setting_id id)
{
    assert(setting_row(id)->type >= SETTING_TYPE_ENUM);
    return value_of(settings, id)->text;
}

const struct json *settings_limits(const struct settings *settings, enum setting_id id)
{
    assert(setting_row(id)->type == SETTING_TYPE_LIMITS);
    return value_of(settings, id)->limits;
}

void settings_print(const struct settings *settings, enum setting_id id, struct text *out)
{
    settings_print_value(id, value_of(settings, id), out);
}

void setting_write_value(enum setting_id id, const struct setting_value *value,
                         struct json_writer *writer, const char *key)
{
    enum setting_type type = setting_row(id)->type;

    if (type == SETTING_TYPE_BOOL)
        json_write_bool(writer, key, value->number != 0);
    else if (type == SETTING_TYPE_LIMITS)
        json_write_raw(writer, key, value->text);
    else if (value->text)
        json_write_text(writer, key, value->text);
    else
        json_write_integer(writer, key, value->number);
}

/* The password of an address is not shown to those who only look at settings. */
static void write_without_password(const char *address, struct json_writer *writer, const char *key)
{
    struct text shown = { 0 };

    setting_hide_password(address, &shown);
    json_write_text(writer, key, text_string(&shown));
    text_release(&shown);
}

void settings_write(const struct settings *settings, enum setting_id id, struct json_writer *writer,
                    const char *key)
{
    if (id == SETTING_STORE)
        write_without_password(settings_text(settings, id), writer, key);
    else
        setting_write_value(id, value_of(settings, id), writer, key);
}

enum language settings_locale(const struct settings *settings)
{
    return settings->locale;
}

/* A name that no setting could have is not shown. */
static bool is_plain_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return length > 0 && length < SETTING_NAME_BYTES && !name[length];
}

void settings_at(struct settings *settings, const char *path, size_t line)
{
    if (path) {
        free(settings->path);
        settings->path = mem_text(path);
    }
    settings->line = line;
}

bool settings_is_fatal(const struct settings *settings, const struct setting_warning *warning)
{
    enum setting_id id;

    if (!setting_find(warning->setting, &id))
        return warning->setting[0] == '\0' && warning->reason != TEXT_SETTING_UNKNOWN_KEYS;
    return setting_row(id)->strictness == SETTING_STRICT && warning->reason == setting_takes(id) &&
           settings_source(settings, id) < warning->source;
}

void settings_warn(struct settings *settings, const char *name, enum setting_source source,
                   enum text_id reason)
{
    struct setting_warning warning = { .source = source, .reason = reason };

    if (source == SETTING_SAVED)
        warning.line = settings->line;
    if (is_plain_name(name))
        snprintf(warning.setting, sizeof warning.setting, "%s", name);
    else if (reason == TEXT_SETTING_UNKNOWN)
        warning.reason = TEXT_SETTING_UNKNOWN_KEYS;
    for (size_t i = 0; i < settings->warning_count; i++) {
        struct setting_warning *known = &settings->warnings[i];

        if (known->source == source && known->reason == warning.reason &&
            strcmp(known->setting, warning.setting) == 0) {
            known->line = warning.line;
            return;
        }
    }
    if (settings->warning_count < SETTINGS_MAX_WARNINGS)
        settings->warnings[settings->warning_count++] = warning;
    else if (settings_is_fatal(settings, &warning)) /* of too many the one that matters stays */
        settings->warnings[SETTINGS_MAX_WARNINGS - 1] = warning;
}

void settings_warn_of_file(struct settings *settings, enum text_id reason, const char *detail)
{
    text_put(settings->file_problem, sizeof settings->file_problem, detail);
    settings_warn(settings, "", SETTING_SAVED, reason);
}

size_t settings_warning_count(const struct settings *settings)
{
    return settings->warning_count;
}

const struct setting_warning *settings_warning(const struct settings *settings, size_t index)
{
    return &settings->warnings[index];
}

void settings_describe_warning(const struct settings *settings, enum language language,
                               const struct setting_warning *warning, struct text *out)
{
    bool is_saved = warning->source == SETTING_SAVED;
    char line[TEXT_INTEGER_BYTES], most[TEXT_INTEGER_BYTES];
    enum text_id text = warning->reason;
    struct text takes = { 0 };
    const char *source = "";
    enum setting_id id;

    if (setting_find(warning->setting, &id) && warning->reason == setting_takes(id)) {
        setting_explain(language, setting_row(id), warning->reason, &takes);
        source = setting_row(id)->environment;
        if (settings_is_fatal(settings, warning))
            text = is_saved ? TEXT_SETTING_REFUSED_SAVED : TEXT_SETTING_REFUSED;
        else
            text = is_saved ? TEXT_SETTING_IGNORED_SAVED : TEXT_SETTING_IGNORED;
    }
    i18n_format_in(language, out, text, "takes", text_string(&takes), "source", source, "name",
                   warning->setting, "path", settings->path, "line",
                   text_of_integer((int64_t)warning->line, line), "most",
                   text_of_integer(SETTINGS_FILE_MAX_BYTES, most), "reason", settings->file_problem,
                   NULL);
    text_release(&takes);
}

bool settings_problem(const struct settings *settings, struct error *err)
{
    struct text words = { 0 };

    for (size_t i = 0; i < settings->warning_count && words.used == 0; i++) {
        if (settings_is_fatal(settings, &settings->warnings[i]))
            settings_describe_warning(settings, LANGUAGE_EN, &settings->warnings[i], &words);
    }
    if (words.used == 0)
        return false;
    error_set(err, ERROR_unavailable, "", "%s", text_string(&words));
    text_release(&words);
    return true;
}
