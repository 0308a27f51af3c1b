/* meaning.c - settings whose value says more than a number or a word. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/known_clients.h"
#include "settings/inside.h"
#include "settings/settings.h"

enum ask_interface settings_interface(const struct settings *settings)
{
    static const enum ask_interface interfaces[] = { INTERFACE_AUTO, INTERFACE_WEB,
                                                     INTERFACE_TERMINAL, INTERFACE_CLIENT };

    if (settings_source(settings, SETTING_INTERFACE) == SETTING_BUILT_IN)
        return INTERFACE_NONE;
    return interfaces[settings_integer(settings, SETTING_INTERFACE)];
}

enum language settings_language(const struct settings *settings)
{
    enum language language = settings_locale(settings);

    language_find(settings_text(settings, SETTING_LANGUAGE), &language); /* auto is no language */
    return language;
}

const char *settings_language_tag(const struct settings *settings)
{
    return language_tag(settings_language(settings));
}

bool settings_speak(const char *value, bool is_saved, const char *asked)
{
    const char *const said[] = { is_saved ? value : NULL,
                                 getenv(setting_row(SETTING_LANGUAGE)->environment), asked, value };
    enum language language;

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        if (said[i] && language_find(said[i], &language)) {
            i18n_use(language);
            return true;
        }
    }
    return false;
}

bool settings_is_quiet(const struct settings *settings, int minute_of_day)
{
    return settings_is_on(settings, SETTING_DO_NOT_DISTURB) ||
           settings_is_within(settings_text(settings, SETTING_QUIET_HOURS), minute_of_day);
}

bool settings_is_within(const char *period, int minute_of_day)
{
    int from, to;

    if (!setting_read_period(period, &from, &to))
        return false;
    if (from <= to)
        return minute_of_day >= from && minute_of_day < to;
    return minute_of_day >= from || minute_of_day < to;
}

/* Of the longest key that ends in * and fits; 0: there is none. */
static int64_t limit_by_beginning(const struct json *limits, const char *client_name)
{
    int64_t limit = 0;
    size_t longest = 0;

    for (void *at = json_first(limits); at; at = json_next(limits, at)) {
        size_t length = json_key_length(at);
        const char *key = json_key(at);

        if (length > longest && key[length - 1] == '*' &&
            strncmp(key, client_name, length - 1) == 0) {
            longest = length;
            limit = json_member_integer(limits, key, 0);
        }
    }
    return limit;
}

int64_t settings_hold_limit_s(const struct settings *settings, const char *client_name,
                              bool has_progress, int64_t timeout_s)
{
    const struct json *limits = settings_limits(settings, SETTING_HOLD_LIMITS);
    int64_t limit = json_member_integer(limits, client_name, 0);

    limit = limit ? limit : limit_by_beginning(limits, client_name);
    return limit ? limit : known_client_hold_s(client_name, has_progress, timeout_s);
}

bool settings_offers_modern(const struct settings *settings, const char *client_name)
{
    int64_t wish = settings_integer(settings, SETTING_MCP_MODERN);

    return wish == MCP_MODERN_AUTO ? !known_client(client_name)->keeps_rounds_open
                                   : wish == MCP_MODERN_ON;
}
