/*
 * settings.c - which value is in force: each row has a place for every source, and the strongest
 * place that is filled wins. A setting as JSON, and what values say that are more than a number.
 */
#include "settings/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/known_clients.h"
#include "i18n/i18n.h"
#include "settings/values.h"

struct place {
    bool is_set;
    struct setting_value value;
};
struct settings {
    struct place places[SETTING_COUNT][SETTING_SOURCE_COUNT - 1]; /* weakest first, none built in */
    /* Each value is read when it is first asked for, and most processes ask for few; owned. */
    struct place *built_in;
    enum language locale;
    struct setting_warning *warnings; /* SETTINGS_MAX_WARNINGS where there are any; owned */
    size_t warning_count;
    char *path;             /* of the file that was loaded; owned */
    char file_problem[128]; /* why it can't be read */
    size_t line;            /* of what is being loaded */
    bool has_file;          /* there was something at the path */
    struct stat file;       /* as it was before it was read */
};
/* R8.2: a language we do not have is English, and not what the locale says. */
static const char *const environment_fallbacks[SETTING_COUNT] = { [SETTING_LANGUAGE] = "en" };

/* Strict rows that the store keeps: a value that can't be read (an older version doesn't know a
 * newer word) becomes the one that allows least, because only a hub that runs can repair it. */
static const char *const saved_fallbacks[SETTING_COUNT] = { [SETTING_CLI_ANSWERS] = "off" };

static void put(struct settings *settings, enum setting_id id, enum setting_source source,
                struct setting_value take_value)
{
    struct place *place = &settings->places[id][source - 1];

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
    struct place *place = &settings->places[id][source - 1];

    setting_value_release(&place->value);
    place->is_set = false;
}

struct settings *settings_new(void)
{
    struct settings *settings = mem_new(sizeof *settings);

    settings->built_in = mem_new(SETTING_COUNT * sizeof *settings->built_in);
    return settings;
}

void settings_free(struct settings *settings)
{
    if (!settings)
        return;
    for (int id = 0; id < SETTING_COUNT; id++) {
        for (int source = 0; source < SETTING_SOURCE_COUNT - 1; source++)
            setting_value_release(&settings->places[id][source].value);
        setting_value_release(&settings->built_in[id].value);
    }
    free(settings->built_in);
    free(settings->warnings);
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
    if (!path)
        return;
    settings_at(settings, path, 0);
    settings->has_file = stat(path, &settings->file) == 0 || !settings_file_is_absent(path);
    if (settings->has_file)
        settings_load_file(settings, path);
}

/* Settings are saved by renaming a new file over the old one, and edited in place by people. */
static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev &&
           one->st_size == other->st_size && one->st_ctim.tv_sec == other->st_ctim.tv_sec &&
           one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

bool settings_file_is_absent(const char *path)
{
    char *way = mem_text(path), *slash;
    struct stat found;
    bool is_missing;

    while (lstat(way, &found) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
           (slash = strrchr(way, '/')))
        slash[slash == way] = '\0'; /* the root stays */
    is_missing = strcmp(way, path) != 0 && stat(way, &found) == 0 && S_ISDIR(found.st_mode);
    free(way);
    return is_missing;
}

static bool is_unchanged(const struct settings *settings)
{
    struct stat file;

    if (!settings->path)
        return true;
    if (stat(settings->path, &file) == 0)
        return is_same_file(&file, &settings->file);
    return !settings->has_file && settings_file_is_absent(settings->path);
}

const struct settings *current_settings(struct current_settings *current)
{
    struct settings *settings;

    if (!current->is_seen && !is_unchanged(current->settings)) {
        settings = settings_new();
        settings_load(settings, current->settings->path);
        settings_free(current->settings);
        current->settings = settings;
    }
    current->is_seen = true;
    return current->settings;
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

    while (source > SETTING_BUILT_IN && !settings->places[id][source - 1].is_set)
        source--;
    return (enum setting_source)source;
}

static const struct setting_value *built_in_value(const struct settings *settings,
                                                  enum setting_id id)
{
    struct place *place = &settings->built_in[id];

    if (!place->is_set)
        place->is_set = setting_read(id, setting_row(id)->built_in, &place->value) == ERROR_NONE;
    assert(place->is_set);
    return &place->value;
}

static const struct setting_value *value_of(const struct settings *settings, enum setting_id id)
{
    enum setting_source source = settings_source(settings, id);

    return source == SETTING_BUILT_IN ? built_in_value(settings, id)
                                      : &settings->places[id][source - 1].value;
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
void settings_write(const struct settings *settings, enum setting_id id, struct json_writer *writer,
                    const char *key)
{
    struct text shown = { 0 };

    if (id == SETTING_STORE) {
        setting_hide_password(settings_text(settings, id), &shown);
        json_write_text(writer, key, text_string(&shown));
    } else {
        setting_write_value(id, value_of(settings, id), writer, key);
    }
    text_release(&shown);
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
    if (!settings->warnings)
        settings->warnings = mem_new(SETTINGS_MAX_WARNINGS * sizeof *settings->warnings);
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

static void explain(const struct settings *settings, const struct setting_warning *warning,
                    struct error *ret_err)
{
    bool is_saved = warning->source == SETTING_SAVED;
    struct text choices = { 0 };
    enum text_id text;
    enum setting_id id;

    if (!setting_find(warning->setting, &id) || warning->reason != setting_takes(id)) {
        error_say(ret_err, ERROR_unavailable, "", warning->reason, "name", warning->setting, "path",
                  settings->path, "line", TEXT_NUMBER((int64_t)warning->line), "most",
                  TEXT_NUMBER(SETTINGS_FILE_MAX_BYTES), "reason", settings->file_problem, NULL);
        return;
    }
    if (settings_is_fatal(settings, warning))
        text = is_saved ? TEXT_SETTING_REFUSED_SAVED : TEXT_SETTING_REFUSED;
    else
        text = is_saved ? TEXT_SETTING_IGNORED_SAVED : TEXT_SETTING_IGNORED;
    setting_choices(setting_row(id), &choices);
    error_say_within(ret_err, ERROR_unavailable, text, warning->reason,
                     SETTING_PAIRS(setting_row(id), choices), "source",
                     setting_row(id)->environment, "path", settings->path, "line",
                     TEXT_NUMBER((int64_t)warning->line), NULL);
    text_release(&choices);
}

void settings_describe_warning(const struct settings *settings, enum language language,
                               const struct setting_warning *warning, struct text *out)
{
    struct error err;

    explain(settings, warning, &err);
    error_write_in(&err, language, out);
}

bool settings_problem(const struct settings *settings, struct error *err)
{
    size_t i = 0;

    while (i < settings->warning_count && !settings_is_fatal(settings, &settings->warnings[i]))
        i++;
    if (i == settings->warning_count)
        return false;
    explain(settings, &settings->warnings[i], err);
    return true;
}

/* What the row of the table says, for panels and scripts that have no table of their own. */
static void write_description(enum setting_id id, struct json_writer *writer)
{
    const struct setting_row *row = setting_row(id);

    json_write_text(writer, "group", setting_group_name(setting_group(id)));
    json_write_text(writer, "type", setting_type_name(row->type));
    if (row->choices) {
        json_write_list(writer, "choices");
        for (const char *at = row->choices; *at; at += *at == '|') {
            size_t length = strcspn(at, "|");

            json_write_text_n(writer, NULL, at, length);
            at += length;
        }
        json_write_end_list(writer);
    }
    if (row->max > 0) {
        json_write_integer(writer, "least", row->min);
        json_write_integer(writer, "most", row->max);
    }
    json_write_bool(writer, "strict", row->strictness == SETTING_STRICT);
    json_write_text(writer, "environment", row->environment);
    if (row->flag)
        json_write_text(writer, "flag", row->flag);
}

void settings_write_row(const struct settings *settings, enum setting_id id, bool is_described,
                        struct json_writer *writer)
{
    static const char *const sources[] = {
        [SETTING_BUILT_IN] = "built_in",
        [SETTING_ENVIRONMENT] = "environment",
        [SETTING_SAVED] = "saved",
        [SETTING_FLAG] = "flag",
    };
    const struct setting_row *row = setting_row(id);

    json_write_object(writer, NULL);
    json_write_text(writer, "name", row->name);
    settings_write(settings, id, writer, "value");
    json_write_text(writer, "source", sources[settings_source(settings, id)]);
    json_write_text(writer, "scope", row->scope == SETTING_SCOPE_HOST ? "host" : "person");
    json_write_text(writer, "built_in", row->built_in);
    if (is_described)
        write_description(id, writer);
    json_write_end_object(writer);
}

void settings_write_list(const struct settings *settings, const char *name,
                         struct json_writer *writer)
{
    json_write_object(writer, NULL);
    json_write_list(writer, "settings");
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (!name || strcmp(setting_row((enum setting_id)id)->name, name) == 0)
            settings_write_row(settings, (enum setting_id)id, true, writer);
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
}

enum ask_interface settings_interface(const struct settings *settings)
{
    static const enum ask_interface interfaces[] = { INTERFACE_AUTO, INTERFACE_WEB,
                                                     INTERFACE_TERMINAL, INTERFACE_CLIENT };

    if (settings_source(settings, SETTING_INTERFACE) == SETTING_BUILT_IN)
        return INTERFACE_NONE;
    return interfaces[settings_integer(settings, SETTING_INTERFACE)];
}

enum language settings_language(const struct settings *settings)
{
    enum language language = settings->locale;

    language_find(settings_text(settings, SETTING_LANGUAGE), &language); /* auto is no language */
    return language;
}

const char *settings_language_tag(const struct settings *settings)
{
    return language_tag(settings_language(settings));
}

bool settings_speak(const char *value, bool is_saved, const char *asked)
{
    const char *const said[] = { is_saved ? value : NULL,
                                 getenv(setting_row(SETTING_LANGUAGE)->environment), asked, value };
    enum language language;

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        if (said[i] && language_find(said[i], &language)) {
            i18n_use(language);
            return true;
        }
    }
    return false;
}

bool settings_is_quiet(const struct settings *settings, int minute_of_day)
{
    return settings_is_on(settings, SETTING_DO_NOT_DISTURB) ||
           settings_is_within(settings_text(settings, SETTING_QUIET_HOURS), minute_of_day);
}

bool settings_is_within(const char *period, int minute_of_day)
{
    int from, to;

    if (!setting_read_period(period, &from, &to))
        return false;
    if (from <= to)
        return minute_of_day >= from && minute_of_day < to;
    return minute_of_day >= from || minute_of_day < to;
}

/* Of the longest key that ends in * and fits; 0: there is none. */
static int64_t limit_by_beginning(const struct json *limits, const char *client_name)
{
    int64_t limit = 0;
    size_t longest = 0;

    for (void *at = json_first(limits); at; at = json_next(limits, at)) {
        size_t length = json_key_length(at);
        const char *key = json_key(at);

        if (length > longest && key[length - 1] == '*' &&
            strncmp(key, client_name, length - 1) == 0) {
            longest = length;
            limit = json_member_integer(limits, key, 0);
        }
    }
    return limit;
}

int64_t settings_hold_limit_s(const struct settings *settings, const char *client_name,
                              bool has_progress, int64_t timeout_s)
{
    const struct json *limits = value_of(settings, SETTING_HOLD_LIMITS)->limits;
    int64_t limit = json_member_integer(limits, client_name, 0);

    limit = limit ? limit : limit_by_beginning(limits, client_name);
    return limit ? limit : known_client_hold_s(client_name, has_progress, timeout_s);
}

struct gate_match settings_gate(const struct settings *settings, const struct gate_call *call)
{
    const struct gate_rules rules = {
        .commands = settings_text(settings, SETTING_GATE_COMMANDS),
        .words = settings_text(settings, SETTING_GATE_WORDS),
        .paths = settings_text(settings, SETTING_GATE_PATHS),
        .tools = settings_text(settings, SETTING_GATE_TOOLS),
    };

    return gate_find(&rules, call);
}

bool settings_offers_modern(const struct settings *settings, const char *client_name)
{
    int64_t wish = settings_integer(settings, SETTING_MCP_MODERN);

    return wish == MCP_MODERN_AUTO ? !known_client(client_name)->keeps_rounds_open
                                   : wish == MCP_MODERN_ON;
}
