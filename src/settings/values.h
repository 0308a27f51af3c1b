/* values.h - what the files of settings/ share among themselves. */
#ifndef SETTINGS_VALUES_H
#define SETTINGS_VALUES_H
#include <stdbool.h>

#include "base/error.h"
#include "settings/settings.h"

/* ERROR_NONE and a value to be released, or why not. */
enum error_code setting_read(enum setting_id id, const char *text, struct setting_value *ret_value);
/* Minutes since midnight of "HH:MM-HH:MM"; false: it is not. */
bool setting_read_period(const char *text, int *ret_from_minute, int *ret_to_minute);
/* The sentence that says what a row takes, and what stands at its names. */
enum text_id setting_takes(enum setting_id id);
void setting_choices(const struct setting_row *row, struct text *out);
#define SETTING_PAIRS(row, choices)                                                                \
    "name", (row)->name, "least", TEXT_NUMBER((row)->min), "most", TEXT_NUMBER((row)->max),        \
        "choices", text_string(&(choices))

/* A saved value as it was found. False: a warning was collected. */
bool settings_take_saved(struct settings *settings, enum setting_id id, const char *text);
/* Never created: what exists of its path is directories that can be searched, no broken link. */
bool settings_file_is_absent(const char *path);
/* Where the saved values that come now are from. */
void settings_at(struct settings *settings, const char *path, size_t line);
void settings_warn_of_file(struct settings *settings, enum text_id reason, const char *detail);
/* `name` is whatever was found, so only a name that could be one of ours is repeated. */
void settings_warn(struct settings *settings, const char *name, enum setting_source source,
                   enum text_id reason);
void setting_write_value(enum setting_id id, const struct setting_value *value,
                         struct json_writer *writer, const char *key);

#endif
