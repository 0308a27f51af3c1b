/* inbox_missed.c - what timed out while nobody looked: how many since the last visit, a note to the
 * agent of the newest, and more time for new asks. */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "i18n/i18n.h"
#include "tui/draw.h"
#include "tui/inbox_inside.h"
#include "tui/keyboard.h"

/* What is being written is for the agent whose ask is shown, whoever's times out meanwhile. */
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
    struct json_writer writer = json_writer_to(&json);

    json_write_object(&writer, NULL);
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

void inbox_missed_key(struct inbox_screen *screen, const struct key *key)
{
    struct inbox_missed *missed = &screen->missed;
    char seconds[TEXT_INTEGER_BYTES];
    struct screen_effect longer = { .kind = EFFECT_SETTING,
                                    .name = setting_row(SETTING_TIMEOUT_SECONDS)->name,
                                    .text = text_of_integer(missed->longer_s, seconds) };

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
    char room[TEXT_INTEGER_BYTES];

    i18n_format(&line, missed->count == 1 ? TEXT_TUI_UNSEEN_ONE : TEXT_TUI_UNSEEN, "count",
                text_of_integer(missed->count, room), NULL);
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
