/*
 * inbox_panels.c - what lies over the list of the inbox and has the keys while it is open. To add
 * one: a name in enum inbox_panel, and its keys and its picture, like inbox_rules.c.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/draw.h"
#include "tui/inbox_screen.h"
#include "tui/keyboard.h"
#include "tui/settings_panel.h"

static void key_in_settings(struct inbox_screen *screen, const struct key *key)
{
    const char *name = setting_row(settings_panel_id(&screen->settings))->name;
    char *value;

    switch (settings_panel_key(&screen->settings, &screen->preferences, key, &value)) {
    case SETTINGS_CHANGE:
        inbox_emit(screen,
                   &(struct screen_effect){ .kind = EFFECT_SETTING, .name = name, .text = value });
        break;
    case SETTINGS_CLOSE:
        screen->panel = INBOX_LIST;
        break;
    default:
        break;
    }
    free(value);
}

void inbox_look(struct inbox_screen *screen, const char *id)
{
    text_put(screen->opening, sizeof screen->opening, id);
    inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_LOOK, .session_id = id });
}

static void key_in_later(struct inbox_screen *screen, const struct key *key)
{
    struct facts *rows[INBOX_ROWS];
    size_t count = inbox_open_rows(screen, rows), at = inbox_cursor(screen);
    int64_t seconds = later_seconds(key_letter(key), screen->now);

    screen->panel = INBOX_LIST;
    if (seconds > 0 && at < count)
        inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_LATER,
                                                    .session_id = rows[at]->id,
                                                    .number = seconds });
}

/* Scrolls where it is longer than the screen; any other key leaves it. */
static void key_in_help(struct inbox_screen *screen, const struct key *key)
{
    int by = key_distance(key);

    if (abs(by) != 1 || screen->scroll_most <= 0)
        screen->panel = INBOX_LIST;
    else if (by < 0 ? screen->scroll > 0 : screen->scroll < screen->scroll_most)
        screen->scroll += by;
}

static void inbox_missed_key(struct inbox_screen *screen, const struct key *key);

void inbox_panel_key(struct inbox_screen *screen, const struct key *key)
{
    switch (screen->panel) {
    case INBOX_SETTINGS:
        key_in_settings(screen, key);
        break;
    case INBOX_HELP:
        key_in_help(screen, key);
        break;
    case INBOX_HISTORY:
        inbox_history_key(screen, key);
        break;
    case INBOX_LATER:
        key_in_later(screen, key);
        break;
    case INBOX_STANDING:
        inbox_standing_key(screen, key);
        break;
    case INBOX_MISSED:
        inbox_missed_key(screen, key);
        break;
    case INBOX_LIST:
        break;
    }
}

/*
 * What timed out unseen: how many since the last visit, a note to the agent of the
 * newest, and more time for new asks.
 */

/* A note being written is for the agent whose ask is shown, so a new timeout doesn't replace it. */
void inbox_missed_take(struct inbox_missed *missed, const struct json *unseen)
{
    const struct json *newest = json_item(json_member(unseen, "asks"), 0);
    const char *id = json_member_text(newest, "session_id");

    missed->count = id ? json_member_integer(unseen, "count", 0) : 0;
    missed->longer_s = json_member_integer(unseen, "longer_seconds", 0);
    if (missed->count > 0 && missed->note.text.used > 0)
        return;
    text_put(missed->id, sizeof missed->id, id ? id : "");
    free(missed->title);
    missed->title = facts_visible(json_member_text(newest, "title"), false);
}

static void tell(struct inbox_screen *screen, struct inbox_missed *missed)
{
    struct screen_effect effect = { .kind = EFFECT_LOOK, .session_id = missed->id };
    struct text json = { 0 };
    struct json_writer writer = json_object_to(&json);

    json_write_text(&writer, "global_annotation", text_string(&missed->note.text));
    json_write_end_object(&writer);
    if (missed->note.text.used > 0) {
        effect.kind = EFFECT_TELL;
        effect.json = text_string(&json);
    } else { /* it is opened, as one of the history */
        text_put(screen->opening, sizeof screen->opening, missed->id);
    }
    inbox_emit(screen, &effect);
    text_release(&json);
}

static void inbox_missed_key(struct inbox_screen *screen, const struct key *key)
{
    struct inbox_missed *missed = &screen->missed;
    struct screen_effect longer = { .kind = EFFECT_SETTING,
                                    .name = setting_row(SETTING_TIMEOUT_SECONDS)->name,
                                    .text = TEXT_NUMBER(missed->longer_s) };

    if (key->code == KEY_TAB && missed->longer_s > 0) {
        inbox_emit(screen, &longer);
        missed->longer_s = 0;
    } else if (key->code == KEY_ENTER && missed->count > 0) {
        tell(screen, missed);
    } else if (key->code == KEY_ENTER || key->code == KEY_ESCAPE) {
        screen->panel = INBOX_LIST;
        missed->count = 0;
        inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_SEEN });
    } else {
        edit_key(&missed->note, key);
    }
}

void inbox_missed_draw(struct inbox_screen *screen, struct pen *pen)
{
    struct inbox_missed *missed = &screen->missed;
    struct text line = { 0 }, longer = { 0 };
    struct hint hints[] = {
        { "t", i18n_text(TEXT_TUI_KEY_TELL), 9, false },
        { "Enter", i18n_text(missed->note.text.used > 0 ? TEXT_TUI_KEY_SEND : TEXT_TUI_KEY_LOOK), 9,
          false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 8, false },
        { "Tab", NULL, 7, false },
    };

    i18n_format(&line, missed->count == 1 ? TEXT_TUI_UNSEEN_ONE : TEXT_TUI_UNSEEN, "count",
                TEXT_NUMBER(missed->count), NULL);
    pen_lines(pen, INK_WARN, text_string(&line));
    if (screen->panel == INBOX_MISSED && missed->count > 0) {
        pen_cut(pen, pen->left, pen->end, INK_STRONG, missed->title, screen->marks->cut_end);
        pen->row += 2;
        draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_TELL_NOTE), &missed->note, 3, true,
                           screen->marks->cut_end);
    }
    text_clear(&line);
    facts_add_duration(&line, missed->longer_s);
    i18n_format(&longer, TEXT_TUI_KEY_LONGER, "time", text_string(&line), NULL);
    hints[3].word = text_string(&longer);
    if (screen->panel != INBOX_MISSED)
        draw_hint_row(pen, hints, 1);
    else
        draw_hint_row(pen, hints + 1, missed->longer_s > 0 ? 3 : 2);
    text_release(&line);
    text_release(&longer);
}

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
