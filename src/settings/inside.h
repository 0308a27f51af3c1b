/* inside.h - what the files of settings/ share among themselves. */
#ifndef SETTINGS_INSIDE_H
#define SETTINGS_INSIDE_H
#include <stdbool.h>

#include "base/error.h"
#include "settings/settings.h"

/* ERROR_NONE and a value to be released, or why not. */
enum error_code setting_read(const struct setting_row *row, const char *text,
                             struct setting_value *ret_value);
/* Minutes since midnight of "HH:MM-HH:MM"; false: it is not. */
bool setting_read_period(const char *text, int *ret_from_minute, int *ret_to_minute);
/* The sentence that says what a row takes, and its words filled in. */
enum text_id setting_takes(const struct setting_row *row);
void setting_explain(const struct setting_row *row, enum text_id sentence, struct text *out);

/* A saved value as it was found: does not count as changed. False: a warning was collected. */
bool settings_take_saved(struct settings *settings, enum setting_id id, const char *text);
/* `name` is whatever was found, so only a name that could be one of ours is repeated. */
void settings_warn(struct settings *settings, const char *name, enum setting_source source,
                   enum text_id reason);
const struct json *settings_limits(const struct settings *settings, enum setting_id id);
bool settings_is_changed(const struct settings *settings, enum setting_id id);
void settings_forget_changes(struct settings *settings);
bool settings_has_saved(const struct settings *settings, enum setting_id id);
enum language settings_locale(const struct settings *settings);
/* The saved value, whatever is in force. */
void settings_write_saved(const struct settings *settings, enum setting_id id,
                          struct json_writer *writer);

#endif
