/* values.c - the rows of settings.def, and their types: values read from text and printed. */
#include "settings/values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "i18n/i18n.h"
#include "settings/settings.h"

#pragma GCC diagnostic ignored "-Woverlength-strings" /* the list of the gate */
static const struct setting_row rows[SETTING_COUNT] = {
#define SETTING(id, name, type, scope, strictness, environment, flag, built_in, min, max, choices) \
    [SETTING_##id] = { name,                                                                       \
                       SETTING_TYPE_##type,                                                        \
                       SETTING_SCOPE_##scope,                                                      \
                       SETTING_##strictness,                                                       \
                       environment,                                                                \
                       flag,                                                                       \
                       built_in,                                                                   \
                       min,                                                                        \
                       max,                                                                        \
                       choices,                                                                    \
                       TEXT_LABEL_##id,                                                            \
                       TEXT_HELP_##id },
#include "settings/settings.def"
#undef SETTING
};

static const struct {
    const char *name;
    enum text_id label;
} groups[SETTING_GROUP_COUNT] = {
    [SETTING_GROUP_QUESTION] = { "question", TEXT_GROUP_QUESTION },
    [SETTING_GROUP_ANSWERING] = { "answering", TEXT_GROUP_ANSWERING },
    [SETTING_GROUP_ATTENTION] = { "attention", TEXT_GROUP_ATTENTION },
    [SETTING_GROUP_LOOKS] = { "looks", TEXT_GROUP_LOOKS },
    [SETTING_GROUP_REACHING] = { "reaching", TEXT_GROUP_REACHING },
    [SETTING_GROUP_KEEPING] = { "keeping", TEXT_GROUP_KEEPING },
    [SETTING_GROUP_AGENTS] = { "agents", TEXT_GROUP_AGENTS },
    [SETTING_GROUP_GATE] = { "gate", TEXT_GROUP_GATE },
    [SETTING_GROUP_HUB] = { "hub", TEXT_GROUP_HUB },
};

/* The file from top to bottom: a row is the id of a setting, a group is -1 - its id. */
static const int lines[] = {
#define SETTING_GROUP(id) -1 - SETTING_GROUP_##id,
#define SETTING(id, ...)  SETTING_##id,
#include "settings/settings.def"
#undef SETTING
};

enum setting_group setting_group(enum setting_id id)
{
    int group = 0;

    for (size_t i = 0; i < ARRAY_LEN(lines) && lines[i] != (int)id; i++) {
        if (lines[i] < 0)
            group = -1 - lines[i];
    }
    return (enum setting_group)group;
}

const char *setting_group_name(enum setting_group group)
{
    return groups[group].name;
}

const char *setting_heading(enum setting_id id)
{
    enum setting_group group = setting_group(id);
    bool is_first = id == 0 || setting_group((enum setting_id)(id - 1)) != group;

    return is_first ? i18n_text(groups[group].label) : NULL;
}

const struct setting_row *setting_row(enum setting_id id)
{
    return &rows[id];
}

bool setting_find(const char *name, enum setting_id *ret_id)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (strcmp(rows[id].name, name) == 0) {
            *ret_id = (enum setting_id)id;
            return true;
        }
    }
    return false;
}

static const char stars[] = "****";

/* A parameter that names a password, or whose name is written so that one can't tell. */
static bool is_secret(const char *name, size_t length)
{
    static const char secret[] = "password";
    size_t end = strlen(secret);

    return memchr(name, '%', length) ||
           (length >= end && strncasecmp(name + length - end, secret, end) == 0);
}

bool setting_hide_password(const char *address, struct text *out)
{
    const char *user = strstr(address, "://"), *at, *colon, *query;
    bool is_hidden = false;

    user = user ? user + 3 : address;
    at = strrchr(user, '@'); /* a password may hold anything, so the last one ends it */
    colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon) {
        text_add(out, address, (size_t)(colon + 1 - address));
        text_add_text(out, stars);
        address = at;
        is_hidden = true;
    }
    query = strchr(address, '?');
    text_add(out, address, query ? (size_t)(query - address) : strlen(address));
    while (query && *query) {
        size_t whole = 1 + strcspn(query + 1, "&"), name = strcspn(query + 1, "=&");
        bool hides = is_secret(query + 1, name);

        text_add(out, query, hides ? name + 1 : whole);
        if (hides)
            text_add_format(out, "=%s", stars);
        is_hidden = is_hidden || hides;
        query += whole;
    }
    return is_hidden;
}

/* Where the password should be. */
static bool has_stars(const char *address)
{
    struct text shown = { 0 };
    bool is_so =
        setting_hide_password(address, &shown) && strcmp(text_string(&shown), address) == 0;

    text_release(&shown);
    return is_so;
}

bool setting_read_listen(const char *text, char *address, size_t size, int *ret_port)
{
    bool is_long = text[0] == '[';
    const char *begin = text + is_long, *end = is_long ? strchr(text, ']') : strrchr(text, ':');
    uint8_t bytes[16];
    int64_t port;

    if (!end || (size_t)(end - begin) >= size || (is_long && end[1] != ':') ||
        !text_parse_integer(end + 1 + is_long, &port) || port < 0 || port > 65535)
        return false;
    snprintf(address, size, "%.*s", (int)(end - begin), begin);
    *ret_port = (int)port;
    return inet_pton(is_long ? AF_INET6 : AF_INET, address, bytes) == 1;
}

enum {
    WORD_BYTES = 64, /* longer than any word or number a setting takes */
    MINUTES_PER_HOUR = 60,
    CLIENT_NAME_BYTES = 128,
    HOLD_LIMIT_MAX_S = 86400,
};

typedef enum error_code setting_reader(const struct setting_row *row, const char *text,
                                       struct setting_value *value);

/* Blanks around dropped, lower case; false: too long to be anything. */
static bool read_word(const char *text, char word[WORD_BYTES])
{
    size_t length;

    while (isspace((unsigned char)*text))
        text++;
    length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= WORD_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        word[i] = (char)tolower((unsigned char)text[i]);
    word[length] = '\0';
    return true;
}

static enum error_code read_bool(const struct setting_row *row, const char *text,
                                 struct setting_value *value)
{
    static const char *const on[] = { "on", "yes", "true", "1" };
    static const char *const off[] = { "off", "no", "false", "0" };
    char word[WORD_BYTES];

    (void)row;
    if (!read_word(text, word))
        return ERROR_bad_type;
    value->number = text_is_among(word, on, ARRAY_LEN(on));
    return value->number || text_is_among(word, off, ARRAY_LEN(off)) ? ERROR_NONE : ERROR_bad_type;
}

static enum error_code read_integer(const struct setting_row *row, const char *text,
                                    struct setting_value *value)
{
    char word[WORD_BYTES];
    int64_t number;

    if (!read_word(text, word) || !text_parse_integer(word, &number))
        return ERROR_bad_type;
    if (number < row->min || number > row->max)
        return ERROR_out_of_range;
    value->number = number;
    return ERROR_NONE;
}

static enum error_code read_seconds(const struct setting_row *row, const char *text,
                                    struct setting_value *value)
{
    static const char letters[] = "smhd";
    static const int64_t seconds[] = { 1, 60, 3600, 86400 };
    char word[WORD_BYTES], *end;
    int64_t number, unit = 1;

    if (!read_word(text, word))
        return ERROR_bad_type;
    end = strpbrk(word, letters);
    if (end && !end[1]) {
        unit = seconds[strchr(letters, *end) - letters];
        *end = '\0';
    }
    if (!text_parse_integer(word, &number))
        return ERROR_bad_type;
    if (number < 0 || number > row->max / unit || number * unit < row->min)
        return ERROR_out_of_range;
    value->number = number * unit;
    return ERROR_NONE;
}

static enum error_code read_enum(const struct setting_row *row, const char *text,
                                 struct setting_value *value)
{
    char word[WORD_BYTES];
    size_t length;

    if (!read_word(text, word) || !*word)
        return ERROR_bad_enum;
    for (const char *choice = row->choices; *choice; choice += length + (choice[length] == '|')) {
        length = strcspn(choice, "|");
        if (strlen(word) == length && memcmp(choice, word, length) == 0) {
            value->text = mem_text(word);
            return ERROR_NONE;
        }
        value->number++;
    }
    return ERROR_bad_enum;
}

static bool is_control(int32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
           code_point == 0x2029;
}

static enum error_code read_text(const struct setting_row *row, const char *text,
                                 struct setting_value *value)
{
    size_t length = strlen(text);
    const char *end = text + length;

    if (length > (size_t)row->max)
        return ERROR_too_long;
    if (!text_is_utf8(text, length))
        return ERROR_bad_unicode;
    for (const char *at = text; at < end;) {
        if (is_control(text_decode(&at, end)))
            return ERROR_bad_format;
    }
    value->text = mem_text(text);
    return ERROR_NONE;
}

/* Minutes since midnight of "HH:MM"; -1: it is not. */
static int read_clock(const char *text)
{
    int hours, minutes;

    for (int i = 0; i < 5; i++) {
        if (i == 2 ? text[i] != ':' : !isdigit((unsigned char)text[i]))
            return -1;
    }
    hours = (text[0] - '0') * 10 + text[1] - '0';
    minutes = (text[3] - '0') * 10 + text[4] - '0';
    return hours < 24 && minutes < MINUTES_PER_HOUR ? hours * MINUTES_PER_HOUR + minutes : -1;
}

bool setting_read_period(const char *text, int *ret_from_minute, int *ret_to_minute)
{
    if (strlen(text) != strlen("HH:MM-HH:MM") || text[5] != '-')
        return false;
    *ret_from_minute = read_clock(text);
    *ret_to_minute = read_clock(text + 6);
    return *ret_from_minute >= 0 && *ret_to_minute >= 0;
}

static enum error_code read_period(const struct setting_row *row, const char *text,
                                   struct setting_value *value)
{
    char word[WORD_BYTES] = { 0 };
    int from, to;

    (void)row;
    if (!read_word(text, word) || (*word && !setting_read_period(word, &from, &to)))
        return ERROR_bad_format;
    value->text = mem_text(word);
    return ERROR_NONE;
}

static enum error_code check_limits(const struct json *object)
{
    if (json_kind(object) != KIND_OBJECT)
        return ERROR_bad_type;
    for (void *it = json_first(object); it; it = json_next(object, it)) {
        size_t length = json_key_length(it);
        int64_t seconds;

        if (length == 0 || length > CLIENT_NAME_BYTES || strlen(json_key(it)) != length)
            return ERROR_bad_format;
        if (!json_integer_of(json_value(it), &seconds))
            return ERROR_bad_type;
        if (seconds < 1 || seconds > HOLD_LIMIT_MAX_S)
            return ERROR_out_of_range;
    }
    return ERROR_NONE;
}

static enum error_code read_limits(const struct setting_row *row, const char *text,
                                   struct setting_value *value)
{
    struct json *object = NULL;
    size_t length = strlen(text);
    enum error_code code;

    if (length > (size_t)row->max)
        return ERROR_too_long;
    if (!json_parse(text, length, &object, NULL))
        return ERROR_bad_format;
    code = check_limits(object);
    if (code == ERROR_NONE)
        *value = (struct setting_value){ .text = json_encode(object), .limits = object };
    else
        json_free(object);
    return code;
}

static const struct {
    const char *name;
    setting_reader *read;
    enum text_id takes;
    const char *values; /* in few words; NULL: the row's choices or bounds */
} types[] = {
    [SETTING_TYPE_BOOL] = { "bool", read_bool, TEXT_SETTING_TAKES_BOOL, "on|off" },
    [SETTING_TYPE_INTEGER] = { "integer", read_integer, TEXT_SETTING_TAKES_INTEGER, NULL },
    [SETTING_TYPE_SECONDS] = { "seconds", read_seconds, TEXT_SETTING_TAKES_SECONDS, NULL },
    [SETTING_TYPE_ENUM] = { "enum", read_enum, TEXT_SETTING_TAKES_ENUM, NULL },
    [SETTING_TYPE_TEXT] = { "text", read_text, TEXT_SETTING_TAKES_TEXT, "TEXT" },
    [SETTING_TYPE_PERIOD] = { "period", read_period, TEXT_SETTING_TAKES_PERIOD, "HH:MM-HH:MM" },
    [SETTING_TYPE_LIMITS] = { "limits", read_limits, TEXT_SETTING_TAKES_LIMITS,
                              "{\"NAME\":SECONDS}" },
};

const char *setting_type_name(enum setting_type type)
{
    return types[type].name;
}

void setting_add_values(enum setting_id id, struct text *out)
{
    const struct setting_row *row = setting_row(id);
    const char *values = row->choices ? row->choices : types[row->type].values;

    if (values)
        text_add_text(out, values);
    else
        text_add_format(out, "%lld..%lld%s", (long long)row->min, (long long)row->max,
                        row->type == SETTING_TYPE_SECONDS ? "s" : "");
}

/* As far as it can be checked without libpq. */
static bool is_store(const char *text)
{
    size_t scheme = strncmp(text, "postgres://", 11) == 0 ? 11 : 13;

    for (const char *at = text; (at = strchr(at, '%')); at++) {
        if (!isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]) ||
            (at[1] == '0' && at[2] == '0'))
            return false;
    }
    return (scheme == 11 || strncmp(text, "postgresql://", 13) == 0) && text[scheme];
}

static bool is_listen(const char *text)
{
    char address[WORD_BYTES];
    int port;

    return setting_read_listen(text, address, sizeof address, &port);
}

/* Texts that are more than that; each may be empty. */
static const struct {
    bool (*is_valid)(const char *text);
    enum text_id takes;
} forms[SETTING_COUNT] = {
    [SETTING_STORE] = { is_store, TEXT_SETTING_TAKES_STORE },
    [SETTING_LISTEN] = { is_listen, TEXT_SETTING_TAKES_LISTEN },
    [SETTING_TOOLS] = { offered_tools_are_valid, TEXT_SETTING_TAKES_TOOLS },
};

enum error_code setting_read(enum setting_id id, const char *text, struct setting_value *ret_value)
{
    const struct setting_row *row = setting_row(id);
    struct setting_value value = { 0 };
    enum error_code code = types[row->type].read(row, text, &value);

    if (code == ERROR_NONE && forms[id].is_valid && *text && !forms[id].is_valid(text)) {
        setting_value_release(&value);
        code = ERROR_bad_format;
    }
    if (code == ERROR_NONE)
        *ret_value = value;
    return code;
}

enum text_id setting_takes(enum setting_id id)
{
    return forms[id].is_valid ? forms[id].takes : types[setting_row(id)->type].takes;
}

void setting_choices(const struct setting_row *row, struct text *out)
{
    for (const char *at = row->choices ? row->choices : ""; *at; at++)
        text_add_text(out, *at == '|' ? ", " : (const char[]){ *at, '\0' });
}

bool settings_parse(enum setting_id id, const char *text, struct setting_value *ret_value,
                    struct error *err)
{
    const struct setting_row *row = setting_row(id);
    enum error_code code = setting_read(id, text, ret_value);
    enum text_id takes = setting_takes(id);
    char path[SETTING_NAME_BYTES + 1];
    struct text choices = { 0 };

    if (code == ERROR_NONE && id == SETTING_STORE && has_stars(text)) {
        setting_value_release(ret_value); /* as it was shown: no one's password is four stars */
        code = ERROR_bad_format;
        takes = TEXT_SETTING_STARS;
    }
    if (code == ERROR_NONE)
        return true;
    snprintf(path, sizeof path, "/%s", row->name);
    setting_choices(row, &choices);
    error_say(err, code, path, takes, SETTING_PAIRS(row, choices), NULL);
    text_release(&choices);
    return false;
}

void settings_print_value(enum setting_id id, const struct setting_value *value, struct text *out)
{
    if (value->text)
        text_add_text(out, value->text);
    else if (setting_row(id)->type == SETTING_TYPE_BOOL)
        text_add_text(out, value->number ? "on" : "off");
    else
        text_add_format(out, "%lld", (long long)value->number);
}

void setting_value_release(struct setting_value *value)
{
    free(value->text);
    json_free(value->limits);
    *value = (struct setting_value){ 0 };
}
