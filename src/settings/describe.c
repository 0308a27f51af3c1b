/* describe.c - a setting as JSON, for panels, scripts and the wire. */
#include <string.h>

#include "base/json_writer.h"
#include "settings/settings.h"

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
    if (row->most > 0) {
        json_write_integer(writer, "least", row->least);
        json_write_integer(writer, "most", row->most);
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
