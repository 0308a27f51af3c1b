/*
 * ask_back.c - asking back on a terminal: a question to the agent before deciding, and what was
 * asked and explained so far, below the prompt. The hub has made both harmless.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/canvas.h"
#include "tui/draw.h"

enum { TALK_SHOWN = 4, TALK_SHOWN_TIGHT = 1 }; /* of the newest */

void ask_read_talk(struct ask_screen *screen, const struct json *whole)
{
    const struct json *talk = json_member(whole, "talk");

    json_free(screen->talk);
    screen->talk = talk ? json_keep(talk) : NULL;
}

static void draw_said(const struct ask_screen *screen, struct pen *pen, const struct json *said)
{
    const char *by = json_member_text(said, "by"), *text = json_member_text(said, "text");
    bool is_agent = by && strcmp(by, "agent") == 0;
    struct text line = { 0 };

    text_add_format(&line, "%s ", is_agent ? screen->facts.agent : i18n_text(TEXT_TUI_YOU));
    pen_at(pen, pen->left, is_agent ? INK_ACCENT : INK_QUIET, text_string(&line));
    pen->row++;
    for (const char *at = text ? text : ""; at;) {
        size_t length = strcspn(at, "\n");

        pen_wrap(pen, pen->left + 2, INK_PLAIN, at, length);
        pen->row++;
        at = at[length] ? at + length + 1 : NULL;
    }
    text_release(&line);
}

void draw_talk(const struct ask_screen *screen, struct pen *pen)
{
    size_t count = json_length(screen->talk);
    size_t shown = screen->is_tight ? TALK_SHOWN_TIGHT : TALK_SHOWN;

    if (count == 0)
        return;
    for (size_t i = count > shown ? count - shown : 0; i < count; i++)
        draw_said(screen, pen, json_item(screen->talk, i));
    pen->row++;
}

void draw_ask_back(struct ask_screen *screen, struct pen *pen)
{
    const struct hint hints[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_ASK), 9, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 8, false },
    };
    struct text line = { 0 };

    draw_header(screen, pen);
    pen->row++;
    draw_talk(screen, pen);
    i18n_format(&line, TEXT_TUI_ASK_BACK, "agent", screen->facts.agent, NULL);
    pen_lines(pen, INK_PLAIN, text_string(&line));
    draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_YOUR_QUESTION), &screen->question, 4,
                       true, NULL);
    pen->row++;
    if (screen->said.used > 0)
        pen_lines(pen, (enum ink)screen->said_ink, text_string(&screen->said));
    draw_hint_row(pen, hints, 2);
    text_release(&line);
}

void ask_send_back(struct ask_screen *screen)
{
    struct text json = { 0 };
    struct json_writer writer = json_writer_to(&json);

    if (screen->question.text.used == 0)
        return;
    if (!ask_may_answer(screen)) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_NOT_SENT_LOST));
        return;
    }
    json_write_object(&writer, NULL);
    json_write_text(&writer, "text", text_string(&screen->question.text));
    json_write_end_object(&writer);
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_BACK, .json = text_string(&json) });
    text_release(&json);
    text_clear(&screen->question.text);
    screen->question.at = 0;
    ask_focus_field(screen);
}
