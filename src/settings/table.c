/* table.c - the rows of settings.def, and finding them. */
#include <string.h>

#include "core/limits.h"
#include "settings/settings.h"

static const struct setting_row rows[SETTING_COUNT] = {
#define SETTING(id, name, type, scope, environment, flag, built_in, least, most, choices)          \
    [SETTING_##id] = { name,                                                                       \
                       SETTING_TYPE_##type,                                                        \
                       SETTING_SCOPE_##scope,                                                      \
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

bool setting_find_flag(const char *flag, enum setting_id *ret_id, bool *ret_is_negated)
{
    bool is_negated = strncmp(flag, "--no-", 5) == 0;
    const char *word = flag + (is_negated ? 5 : 2);

    if (strncmp(flag, "--", 2) != 0)
        return false;
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (!rows[id].flag || strcmp(rows[id].flag + 2, word) != 0)
            continue;
        if (is_negated && rows[id].type != SETTING_TYPE_BOOL)
            continue;
        *ret_id = (enum setting_id)id;
        *ret_is_negated = is_negated;
        return true;
    }
    return false;
}
