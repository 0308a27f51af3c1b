/* when.c - times for people, in local time; i18n.h says how. */
#include <time.h>

#include "base/text.h"
#include "i18n/i18n.h"

static bool is_same_day(const struct tm *one, const struct tm *other)
{
    return one->tm_year == other->tm_year && one->tm_yday == other->tm_yday;
}

void i18n_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms)
{
    time_t then_s = (time_t)(utc_ms / 1000), now_s = (time_t)(now_utc_ms / 1000);
    struct tm then, now, yesterday;
    char minute[8], day[32];

    if (!localtime_r(&then_s, &then) || !localtime_r(&now_s, &now))
        return;
    yesterday = now;
    yesterday.tm_mday--;
    yesterday.tm_hour = 12; /* days may have 23 or 25 hours */
    yesterday.tm_isdst = -1;
    mktime(&yesterday);
    strftime(minute, sizeof minute, "%H:%M", &then);
    strftime(day, sizeof day, "%Y-%m-%d ", &then);
    if (is_same_day(&then, &yesterday))
        i18n_format(out, TEXT_YESTERDAY, "time", minute, NULL);
    else
        text_add_format(out, "%s%s", is_same_day(&then, &now) ? "" : day, minute);
}
