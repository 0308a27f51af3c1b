/* stepper.c - several questions: a tab for each, and the review that alone sends. */
#include <string.h>

#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/draw.h"

enum { TAB_COLUMNS = 12 };

static const char *name_of(const struct ask_screen *screen, size_t i)
{
    const struct field *field = &screen->shown.fields[i];

    return field->header && *field->header ? field->header
           : field->label && *field->label ? field->label
                                           : field->name;
}

const char *ask_question(const struct field *shown)
{
    return shown->description && *shown->description ? shown->description
           : shown->label                            ? shown->label
                                                     : shown->name;
}

const char *ask_title(const struct ask_screen *screen)
{
    const char *title = screen->form.title, *first = screen->form.fields[0].label;
    struct text counted = { 0 };
    bool is_question = false;

    text_add_format(&counted, "%s (+%zu)", first ? first : "", screen->form.field_count - 1);
    for (size_t i = 0; i < screen->form.field_count; i++)
        is_question = is_question || strcmp(ask_question(&screen->form.fields[i]), title) == 0;
    is_question = screen->form.field_count > 1 && ask_field(screen) &&
                  (is_question || strcmp(text_string(&counted), title) == 0);
    text_release(&counted);
    return is_question ? ask_question(ask_field(screen)->shown) : screen->shown.title;
}

static int draw_tab(const struct ask_screen *screen, struct pen *pen, int column, size_t i)
{
    bool is_here = screen->step == i, is_answered = ask_is_answered(screen, i);
    const char *name = name_of(screen, i);
    struct text mark = { 0 };
    int end;

    if (is_here)
        text_add_format(&mark, "%s %d", screen->marks->cursor, (int)i + 1);
    else if (is_answered)
        text_add_text(&mark, screen->marks->done);
    else
        text_add_integer(&mark, (int64_t)i + 1);
    column =
        pen_at(pen, column, is_here || is_answered ? INK_ACCENT : INK_QUIET, text_string(&mark)) +
        1;
    end = column + TAB_COLUMNS < pen->end ? column + TAB_COLUMNS : pen->end;
    column =
        pen_cut(pen, column, end, is_here ? INK_STRONG : INK_PLAIN, name, screen->marks->cut_end);
    text_release(&mark);
    return column;
}

/* Where they do not all fit, those behind the one that is open are numbers only. */
static bool is_terse(const struct ask_screen *screen, const struct pen *pen, size_t i)
{
    return pen->end < SCREEN_NARROW && i > screen->step && !ask_is_answered(screen, i);
}

void draw_tabs(const struct ask_screen *screen, struct pen *pen)
{
    int gap = pen->end < SCREEN_NARROW ? 2 : 4, column = pen->left;
    struct text number = { 0 };

    for (size_t i = 0; i < screen->form.field_count && column < pen->end; i++) {
        if (is_terse(screen, pen, i)) {
            text_clear(&number);
            text_add_integer(&number, (int64_t)i + 1);
            column = pen_at(pen, column, INK_QUIET, text_string(&number));
        } else {
            column = draw_tab(screen, pen, column, i);
        }
        column += gap;
    }
    if (ask_is_review(screen))
        column = pen_at(pen, column, INK_ACCENT, screen->marks->cursor) + 1;
    pen_at(pen, column, ask_is_review(screen) ? INK_STRONG : INK_PLAIN, i18n_text(TEXT_TUI_REVIEW));
    pen->row++;
    text_release(&number);
}

void draw_review(struct ask_screen *screen, struct pen *pen)
{
    for (size_t i = 0; i < screen->form.field_count; i++) {
        struct text number = { 0 }, words = { 0 };
        const char *question = ask_question(&screen->shown.fields[i]);
        int column = pen->left + 5;

        text_add_integer(&number, (int64_t)i + 1);
        pen_at(pen, pen->left + 2, INK_ACCENT, text_string(&number));
        pen_wrap(pen, column, INK_PLAIN, question, strlen(question));
        pen->row++;
        ask_describe(screen, i, &words);
        if (words.used == 0)
            text_add_text(&words, i18n_text(TEXT_TUI_NO_ANSWER));
        pen_wrap(pen, column, INK_STRONG, text_string(&words), words.used);
        pen->row++;
        if (ask_has_notes(screen) && screen->fields[i].note.text.used > 0)
            draw_labelled_edit(pen, column, i18n_text(TEXT_TUI_NOTE), &screen->fields[i].note, 4,
                               false, NULL);
        if (screen->fields[i].problem.used > 0) {
            pen_wrap(pen, column, INK_DANGER, text_string(&screen->fields[i].problem),
                     screen->fields[i].problem.used);
            pen->row++;
        }
        text_release(&number);
        text_release(&words);
    }
}
