/* settings_panel.h - the settings a person changes while being asked (R6.4), as rows. */
#ifndef TUI_SETTINGS_PANEL_H
#define TUI_SETTINGS_PANEL_H
#include <stddef.h>

#include "settings/settings.h"

struct ask_screen;
struct pen;
struct preferences;

size_t settings_panel_count(void);
size_t settings_panel_move(size_t row, int by);
enum setting_id settings_panel_id(size_t row);
/* `hidden` options are hidden in this ask; -1: no ask. */
void settings_panel_draw(const struct preferences *preferences, size_t row, int hidden,
                         bool is_ascii, struct pen *pen);

#endif
