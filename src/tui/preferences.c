/* preferences.c - see preferences.h. */
#include "tui/preferences.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

static void put(struct preferences *preferences, enum setting_id id, const char *value,
                enum setting_source source)
{
    struct preference *row = &preferences->rows[id];
    char *copy = mem_text(value);

    free(row->value);
    row->value = copy;
    row->source = source;
}

void preferences_init(struct preferences *preferences)
{
    memset(preferences, 0, sizeof *preferences);
    preferences->language = i18n_language();
    for (int id = 0; id < SETTING_COUNT; id++)
        put(preferences, (enum setting_id)id, setting_row((enum setting_id)id)->built_in,
            SETTING_BUILT_IN);
}

void preferences_release(struct preferences *preferences)
{
    for (int id = 0; id < SETTING_COUNT; id++)
        free(preferences->rows[id].value);
    memset(preferences, 0, sizeof *preferences);
}

void preferences_copy(struct preferences *preferences, const struct preferences *from)
{
    preferences->language = from->language;
    for (int id = 0; id < SETTING_COUNT; id++)
        put(preferences, (enum setting_id)id, from->rows[id].value, from->rows[id].source);
}

static enum setting_source find_source(const char *name)
{
    static const char *const names[] = {
        [SETTING_BUILT_IN] = "built_in",
        [SETTING_ENVIRONMENT] = "environment",
        [SETTING_SAVED] = "saved",
        [SETTING_FLAG] = "flag",
    };

    for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0)
            return (enum setting_source)i;
    }
    return SETTING_BUILT_IN;
}

static void read_row(struct preferences *preferences, const struct json *row)
{
    const char *name = json_member_text(row, "name");
    const struct json *value = json_member(row, "value");
    enum setting_source source = find_source(json_member_text(row, "source"));
    enum setting_id id;
    char *encoded;

    if (!name || !setting_find(name, &id))
        return;
    if (json_kind(value) == KIND_TEXT) {
        put(preferences, id, json_text(value), source);
    } else if (json_kind(value) == KIND_BOOL) {
        put(preferences, id, json_is_yes(value) ? "on" : "off", source);
    } else if (json_kind(value) != KIND_NULL) {
        encoded = json_encode(value);
        put(preferences, id, encoded, source);
        free(encoded);
    }
}

void preferences_read(struct preferences *preferences, const struct json *settings)
{
    const struct json *rows = json_member(settings, "settings");

    for (size_t i = 0; i < json_length(rows); i++)
        read_row(preferences, json_item(rows, i));
    preferences_speak(preferences);
}

void preferences_speak(const struct preferences *preferences)
{
    const struct preference *row = &preferences->rows[SETTING_LANGUAGE];

    if (!settings_speak(row->value, row->source == SETTING_SAVED, preferences->asked))
        i18n_use(preferences->language);
}

bool preferences_is_quiet(const struct preferences *preferences, int64_t utc_ms)
{
    time_t now = (time_t)(utc_ms / 1000);
    struct tm local;

    if (preferences_is_on(preferences, SETTING_DO_NOT_DISTURB))
        return true;
    return localtime_r(&now, &local) &&
           settings_is_within(preferences_value(preferences, SETTING_QUIET_HOURS),
                              local.tm_hour * 60 + local.tm_min);
}

bool preferences_is_on(const struct preferences *preferences, enum setting_id id)
{
    return strcmp(preferences->rows[id].value, "on") == 0;
}

const char *preferences_value(const struct preferences *preferences, enum setting_id id)
{
    return preferences->rows[id].value;
}

const char *preferences_source(const struct preferences *preferences, enum setting_id id)
{
    switch (preferences->rows[id].source) {
    case SETTING_ENVIRONMENT:
        return setting_row(id)->environment;
    case SETTING_SAVED:
        return i18n_text(TEXT_SOURCE_SAVED);
    case SETTING_FLAG:
        return setting_row(id)->flag;
    default:
        return i18n_text(TEXT_SOURCE_BUILT_IN);
    }
}

static char *next_choice(const char *choices, const char *value, int by)
{
    size_t count = 1, at = 0, length = strlen(value);
    const char *word = choices;

    for (const char *c = choices; *c; c++)
        count += *c == '|';
    for (size_t i = 0; i < count; i++) {
        if (strncmp(word, value, length) == 0 && (word[length] == '|' || !word[length]))
            at = i;
        word += strcspn(word, "|") + 1;
    }
    at = (at + count + (size_t)(by + (int)count)) % count;
    for (word = choices; at > 0; at--)
        word += strcspn(word, "|") + 1;
    return mem_text_n(word, strcspn(word, "|"));
}

/* Steps that people think in; a value between two goes to the nearer end of its gap. */
static char *next_number(const struct setting_row *row, const char *value, int by)
{
    static const int64_t stops[] = { 0,   1,   2,   5,    10,   15,   30,    60,    120,   180,
                                     300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800 };
    char room[TEXT_INTEGER_BYTES];
    int64_t number = 0, next;

    text_parse_integer(value, &number);
    next = number;
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        if (by < 0 && stops[i] < number)
            next = stops[i];
        if (by > 0 && stops[ARRAY_LEN(stops) - 1 - i] > number)
            next = stops[ARRAY_LEN(stops) - 1 - i];
    }
    if (next < row->least || next > row->most || next == number)
        return NULL;
    return mem_text(text_of_integer(next, room));
}

char *preferences_next(const struct preferences *preferences, enum setting_id id, int by)
{
    const struct setting_row *row = setting_row(id);
    const char *value = preferences_value(preferences, id);

    switch (row->type) {
    case SETTING_TYPE_BOOL:
        return mem_text(preferences_is_on(preferences, id) ? "off" : "on");
    case SETTING_TYPE_ENUM:
        return next_choice(row->choices, value, by);
    case SETTING_TYPE_INTEGER:
    case SETTING_TYPE_SECONDS:
        return next_number(row, value, by);
    default:
        return NULL;
    }
}
