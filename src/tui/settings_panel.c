#include "tui/settings_panel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/ask_state.h"
#include "tui/draw.h"
#include "tui/keyboard.h"

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

    size_t source = name ? text_index(name, names, ARRAY_LEN(names)) : SETTING_BUILT_IN;

    return source < ARRAY_LEN(names) ? (enum setting_source)source : SETTING_BUILT_IN;
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
        put(preferences, id, json_is_true(value) ? "on" : "off", source);
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

static const char *preferences_source(const struct preferences *preferences, enum setting_id id)
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
    int64_t number = 0, next;

    text_parse_integer(value, &number);
    next = number;
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        if (by < 0 && stops[i] < number)
            next = stops[i];
        if (by > 0 && stops[ARRAY_LEN(stops) - 1 - i] > number)
            next = stops[ARRAY_LEN(stops) - 1 - i];
    }
    if (next < row->min || next > row->max || next == number)
        return NULL;
    return mem_text(TEXT_NUMBER(next));
}

/* The value that `by` (1, -1) steps away, owned by the caller; NULL: there is none. */
static char *preferences_next(const struct preferences *preferences, enum setting_id id, int by)
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

enum { VALUE_COLUMN = 29, TYPED_DIGITS = 7 };

/* Where the table's label is too long for its place. */
static const struct {
    enum setting_id id;
    enum text_id label;
} short_labels[] = {
    { SETTING_NOTE_FOCUS, TEXT_TUI_LABEL_NOTE_FOCUS },
    { SETTING_SHOW_HIDDEN, TEXT_TUI_LABEL_HIDDEN },
    { SETTING_SETTINGS_FIRST, TEXT_TUI_LABEL_SETTINGS_FIRST },
};

static const char *label_of(enum setting_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(short_labels); i++) {
        if (short_labels[i].id == id)
            return i18n_text(short_labels[i].label);
    }
    return i18n_text(setting_row(id)->label);
}

/* The rows are those of the table's group, in its order. */
static size_t list_rows(enum setting_id rows[SETTING_COUNT])
{
    size_t count = 0;

    for (int id = 0; id < SETTING_COUNT; id++) {
        if (setting_group((enum setting_id)id) == SETTING_GROUP_QUESTION)
            rows[count++] = (enum setting_id)id;
    }
    return count;
}

enum setting_id settings_panel_id(const struct settings_panel *panel)
{
    enum setting_id rows[SETTING_COUNT];

    list_rows(rows);
    return rows[panel->row];
}

bool settings_panel_is_number(const struct settings_panel *panel)
{
    enum setting_type type = setting_row(settings_panel_id(panel))->type;

    return type == SETTING_TYPE_SECONDS || type == SETTING_TYPE_INTEGER;
}

/* Digits are collected until Enter; Esc drops them before it closes anything. */
static bool takes_digit(struct settings_panel *panel, const struct key *key, char letter,
                        enum settings_act *ret_act, char **ret_value)
{
    bool has_typed = panel->typed.used > 0;

    *ret_act = SETTINGS_NOTHING;
    if (letter >= '0' && letter <= '9' && settings_panel_is_number(panel)) {
        if (panel->typed.used < TYPED_DIGITS)
            text_add_char(&panel->typed, letter);
    } else if (has_typed && key->code == KEY_BACKSPACE) {
        panel->typed.bytes[--panel->typed.used] = '\0';
    } else if (has_typed && key->code == KEY_ENTER) {
        *ret_value = mem_text(text_string(&panel->typed));
        *ret_act = SETTINGS_CHANGE;
        text_clear(&panel->typed);
    } else if (has_typed && key->code == KEY_ESCAPE) {
        text_clear(&panel->typed);
    } else {
        return false;
    }
    return true;
}

enum settings_act settings_panel_key(struct settings_panel *panel,
                                     const struct preferences *preferences, const struct key *key,
                                     char **ret_value)
{
    char letter = key_letter(key);
    enum setting_id rows[SETTING_COUNT];
    size_t count = list_rows(rows);
    enum settings_act act;

    *ret_value = NULL;
    if (takes_digit(panel, key, letter, &act, ret_value))
        return act;
    if (abs(key_distance(key)) == 1) {
        text_clear(&panel->typed);
        panel->row = (panel->row + count + (size_t)(key_distance(key) + (int)count)) % count;
    } else if (key->code == KEY_ESCAPE || letter == 's' || letter == 'q') {
        return SETTINGS_CLOSE;
    } else if (key->code == KEY_LEFT || key->code == KEY_RIGHT || key->code == KEY_ENTER) {
        text_clear(&panel->typed);
        *ret_value =
            preferences_next(preferences, settings_panel_id(panel), key->code == KEY_LEFT ? -1 : 1);
        return *ret_value ? SETTINGS_CHANGE : SETTINGS_NOTHING;
    } else if (letter == 'r') {
        text_clear(&panel->typed);
        return SETTINGS_CHANGE;
    } else {
        return SETTINGS_OTHER;
    }
    return SETTINGS_NOTHING;
}

/* Words people read instead of the values that are stored. */
static const struct {
    enum setting_id id;
    const char *value;
    enum text_id words;
} meanings[] = {
    { SETTING_INTERFACE, "auto", TEXT_TUI_AUTO },
    { SETTING_INTERFACE, "web", TEXT_CHANNEL_WEB },
    { SETTING_INTERFACE, "terminal", TEXT_CHANNEL_TERMINAL },
    { SETTING_INTERFACE, "client", TEXT_CHANNEL_CLIENT },
    { SETTING_SINGLE_SUBMIT, "agent", TEXT_TUI_AS_ASKED },
    { SETTING_SINGLE_SUBMIT, "single", TEXT_TUI_SENDS_AT_ONCE },
    { SETTING_SINGLE_SUBMIT, "batch", TEXT_TUI_WAITS_FOR_ENTER },
    { SETTING_PLACEHOLDER, "on", TEXT_TUI_SHOWN },
    { SETTING_PLACEHOLDER, "off", TEXT_TUI_NOT_SHOWN },
    { SETTING_LANGUAGE, "auto", TEXT_TUI_AUTO },
};

static void add_value(const struct preferences *preferences, enum setting_id id, int hidden,
                      struct text *out)
{
    const char *value = preferences_value(preferences, id);
    enum language language;
    int64_t seconds;

    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (meanings[i].id == id && strcmp(meanings[i].value, value) == 0) {
            text_add_text(out, i18n_text(meanings[i].words));
            return;
        }
    }
    if (id == SETTING_SHOW_HIDDEN && hidden > 0 && strcmp(value, "off") == 0)
        i18n_format(out, TEXT_TUI_COUNT_HIDDEN, "count", TEXT_NUMBER(hidden), NULL);
    else if (id == SETTING_SHOW_HIDDEN)
        text_add_text(out,
                      i18n_text(strcmp(value, "on") == 0 ? TEXT_TUI_SHOWN : TEXT_TUI_NOT_SHOWN));
    else if (id == SETTING_LANGUAGE && language_find(value, &language))
        text_add_text(out, language_name(language));
    else if (setting_row(id)->type == SETTING_TYPE_BOOL)
        text_add_text(out, i18n_text(strcmp(value, "on") == 0 ? TEXT_ON : TEXT_OFF));
    else if (setting_row(id)->type == SETTING_TYPE_SECONDS && text_parse_integer(value, &seconds))
        i18n_format(out, TEXT_DURATION_SECONDS, "count", TEXT_NUMBER(seconds), NULL);
    else
        text_add_text(out, value);
}

static void draw_row(const struct preferences *preferences, enum setting_id id, bool is_here,
                     const char *typed, int hidden, bool is_ascii, struct pen *pen)
{
    struct text value = { 0 }, framed = { 0 };

    if (*typed)
        text_add_format(&value, "%s_", typed);
    else
        add_value(preferences, id, hidden, &value);
    text_add_format(&framed, is_here ? "< %s >" : "%s", text_string(&value));
    if (is_here)
        pen_at(pen, pen->left, INK_ACCENT, marks_of(is_ascii)->cursor);
    pen_at(pen, pen->left + 2, is_here ? INK_STRONG : INK_PLAIN, label_of(id));
    if (pen->end < SCREEN_NARROW) {
        pen_right(pen, is_here ? INK_ACCENT : INK_PLAIN, text_string(&framed));
    } else {
        pen_at(pen, VALUE_COLUMN, is_here ? INK_ACCENT : INK_PLAIN, text_string(&framed));
        pen_right(pen, INK_QUIET, preferences_source(preferences, id));
    }
    pen->row++;
    text_release(&value);
    text_release(&framed);
}

void settings_panel_draw(const struct settings_panel *panel, const struct preferences *preferences,
                         int hidden, bool is_ascii, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    enum setting_id rows[SETTING_COUNT];
    size_t count = list_rows(rows);

    draw_list_head(pen, marks_of(is_ascii),
                   i18n_text(is_narrow ? TEXT_TUI_SETTINGS_SHORT : TEXT_TUI_SETTINGS),
                   is_narrow ? "" : i18n_text(TEXT_TUI_SETTINGS_SAVED));
    for (size_t i = 0; i < count; i++) {
        bool is_here = i == panel->row;

        draw_row(preferences, rows[i], is_here, is_here ? text_string(&panel->typed) : "", hidden,
                 is_ascii, pen);
    }
}
