/* settings_edit.h - `sayso settings edit`: the table as a page of lines in the person's editor. */
#ifndef CLI_SETTINGS_EDIT_H
#define CLI_SETTINGS_EDIT_H
#include "cli/call.h"

/* The value of a setting as it is typed; the caller frees. "" where a hub gave none. */
char *settings_value_text(const struct json *setting);
enum exit_code settings_edit(const struct arguments *arguments);

#endif
