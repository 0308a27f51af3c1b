/* table.c - the rows of settings.def, and finding them. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "settings/settings.h"

#pragma GCC diagnostic ignored "-Woverlength-strings" /* the list of the gate */
static const struct setting_row rows[SETTING_COUNT] = {
#define SETTING(id, name, type, scope, strictness, environment, flag, built_in, least, most,       \
                choices)                                                                           \
    [SETTING_##id] = { name,                                                                       \
                       SETTING_TYPE_##type,                                                        \
                       SETTING_SCOPE_##scope,                                                      \
                       SETTING_##strictness,                                                       \
                       environment,                                                                \
                       flag,                                                                       \
                       built_in,                                                                   \
                       least,                                                                      \
                       most,                                                                       \
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

enum text_id setting_group_label(enum setting_group group)
{
    return groups[group].label;
}

const char *setting_heading(enum setting_id id)
{
    enum setting_group group = setting_group(id);
    bool is_first = id == 0 || setting_group((enum setting_id)(id - 1)) != group;

    return is_first ? i18n_text(groups[group].label) : NULL;
}

const char *setting_type_name(enum setting_type type)
{
    static const char *const names[] = {
        [SETTING_TYPE_BOOL] = "bool",       [SETTING_TYPE_INTEGER] = "integer",
        [SETTING_TYPE_SECONDS] = "seconds", [SETTING_TYPE_ENUM] = "enum",
        [SETTING_TYPE_TEXT] = "text",       [SETTING_TYPE_PERIOD] = "period",
        [SETTING_TYPE_LIMITS] = "limits",
    };

    return names[type];
}

void setting_add_values(enum setting_id id, struct text *out)
{
    const struct setting_row *row = &rows[id];

    switch (row->type) {
    case SETTING_TYPE_BOOL:
        text_add_text(out, "on|off");
        break;
    case SETTING_TYPE_ENUM:
        text_add_text(out, row->choices);
        break;
    case SETTING_TYPE_INTEGER:
    case SETTING_TYPE_SECONDS:
        text_add_format(out, "%lld..%lld%s", (long long)row->least, (long long)row->most,
                        row->type == SETTING_TYPE_SECONDS ? "s" : "");
        break;
    case SETTING_TYPE_PERIOD:
        text_add_text(out, "HH:MM-HH:MM");
        break;
    case SETTING_TYPE_LIMITS:
        text_add_text(out, "{\"NAME\":SECONDS}");
        break;
    case SETTING_TYPE_TEXT:
        text_add_text(out, "TEXT");
        break;
    }
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
