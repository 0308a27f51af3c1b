/* later.c - see later.h. */
#include "tui/later.h"

#include <time.h>

#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/draw.h"

enum { MORNING_HOUR = 9 };

static const struct {
    int64_t seconds; /* 0: tomorrow morning */
    enum text_id words;
} choices[] = {
    { 600, TEXT_TUI_LATER_10_MIN },
    { 3600, TEXT_TUI_LATER_1_HOUR },
    { 14400, TEXT_TUI_LATER_4_HOURS },
    { 0, TEXT_TUI_LATER_TOMORROW },
};

static int64_t until_morning(int64_t utc_ms)
{
    time_t now = (time_t)(utc_ms / 1000);
    struct tm local;

    if (!localtime_r(&now, &local))
        return 0;
    local.tm_mday++;
    local.tm_hour = MORNING_HOUR;
    local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    return (int64_t)(mktime(&local) - now);
}

int64_t later_seconds(char digit, struct screen_time now)
{
    size_t choice = (size_t)(digit - '1');

    if (digit < '1' || choice >= ARRAY_LEN(choices))
        return 0;
    return choices[choice].seconds ? choices[choice].seconds : until_morning(now.utc_ms);
}

void later_draw(struct pen *pen)
{
    static const char *const digits[] = { "1", "2", "3", "4" };
    struct hint hints[ARRAY_LEN(choices) + 1];

    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        hints[i] = (struct hint){ digits[i], i18n_text(choices[i].words), 9 - (int)i, false };
    hints[ARRAY_LEN(choices)] = (struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false };
    pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_LATER_ASK));
    draw_hint_row(pen, hints, ARRAY_LEN(hints));
}
