/* settings_panel.h - the settings a person changes while being asked (R6.4), as rows. */
#ifndef TUI_SETTINGS_PANEL_H
#define TUI_SETTINGS_PANEL_H
#include <stdbool.h>
#include <stddef.h>

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

#endif
