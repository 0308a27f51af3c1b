/* settings_panel.h - the settings a person changes while being asked (R6.4), as rows. */
#ifndef TUI_SETTINGS_PANEL_H
#define TUI_SETTINGS_PANEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "settings/settings.h"

struct key;
struct pen;
struct preferences;

struct settings_panel {
    size_t row;
    struct text typed; /* digits of a number that is not in force yet */
};
enum settings_act {
    SETTINGS_NOTHING,
    SETTINGS_CHANGE, /* of the row under the cursor; *ret_value, NULL: the built-in one */
    SETTINGS_CLOSE,
    SETTINGS_OTHER, /* the key is not the panel's */
};
/* *ret_value is owned by the caller. */
enum settings_act settings_panel_key(struct settings_panel *panel,
                                     const struct preferences *preferences, const struct key *key,
                                     char **ret_value);
enum setting_id settings_panel_id(const struct settings_panel *panel);
bool settings_panel_is_number(const struct settings_panel *panel); /* digits may be typed */
/* `hidden` options are hidden in this ask; -1: no ask. */
void settings_panel_draw(const struct settings_panel *panel, const struct preferences *preferences,
                         int hidden, bool is_ascii, struct pen *pen);

/*
 * A person's settings as the hub told them, for screens that obey them and for the panel that
 * changes them. The hub alone decides; here is a copy.
 */
struct preference {
    char *value; /* owned; as settings_parse reads it */
    enum setting_source source;
};
struct preferences {
    struct preference rows[SETTING_COUNT];
    char asked[8];          /* of the ask that is shown, by its agent's client; "": not said */
    enum language language; /* where nothing is said: what the process spoke at the start */
};
void preferences_init(struct preferences *preferences); /* built-in values */
void preferences_release(struct preferences *preferences);
void preferences_copy(struct preferences *preferences, const struct preferences *from);
/* {settings: [{name, value, source}]}; others stay. A new language applies immediately. */
void preferences_read(struct preferences *preferences, const struct json *settings);
void preferences_speak(const struct preferences *preferences);

/* Do not disturb is on, or it is a time of day at which the person wants quiet. */
bool preferences_is_quiet(const struct preferences *preferences, int64_t utc_ms);
bool preferences_is_on(const struct preferences *preferences, enum setting_id id);
const char *preferences_value(const struct preferences *preferences, enum setting_id id);

#endif
