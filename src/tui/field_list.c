#include "tui/field_view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fields/field_class.h"
#include "core/glyph.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/canvas.h"
#include "tui/draw.h"

static bool has_own(const struct field_state *state)
{
    return class_of(state->field)->has_options && class_of(state->field)->has_words;
}

size_t list_item_count(const struct field_state *state)
{
    return list_numbered_count(state) + has_own(state);
}

size_t list_numbered_count(const struct field_state *state)
{
    return class_of(state->field)->is_yes_no ? 2 : state->field->option_count;
}

bool list_is_own(const struct field_state *state, size_t item)
{
    return has_own(state) && item == state->field->option_count;
}

static bool contains(const char *text, const char *words)
{
    return text && strcasestr(text, words);
}

static bool fits_filter(const struct ask_screen *screen, const struct field_state *state,
                        size_t item)
{
    const char *words = text_string(&screen->filter.text);
    const struct option *option;

    if (!*words || item >= state->field->option_count)
        return true;
    option = &state->shown->options[item];
    return contains(option->label, words) || contains(option->description, words) ||
           contains(option->id, words);
}

static bool is_away(const struct ask_screen *screen, const struct field_state *state, size_t item)
{
    return item < state->field->option_count && state->is_hidden[item] && !screen->shows_hidden &&
           !form_may_destroy(&screen->form);
}

bool list_is_shown(const struct ask_screen *screen, const struct field_state *state, size_t item)
{
    return item < list_item_count(state) && !is_away(screen, state, item) &&
           fits_filter(screen, state, item);
}

size_t list_items(const struct ask_screen *screen, const struct field_state *state,
                  size_t items[LIST_MAX])
{
    size_t count = 0;

    for (size_t item = 0; item < list_item_count(state) && count < LIST_MAX; item++) {
        if (list_is_shown(screen, state, item))
            items[count++] = item;
    }
    return count;
}

size_t list_hidden_count(const struct ask_screen *screen, const struct field_state *state)
{
    size_t count = 0;

    for (size_t item = 0; item < state->field->option_count; item++)
        count += is_away(screen, state, item);
    return count;
}

size_t list_picked_count(const struct field_state *state)
{
    size_t count = 0;

    for (size_t i = 0; i < state->field->option_count; i++)
        count += state->is_picked[i];
    return count;
}

bool list_is_one_of_many(const struct field_state *state)
{
    return class_of(state->field)->is_exclusive ||
           (has_own(state) && state->field->max_selections <= 1);
}

bool list_is_picked(const struct field_state *state, size_t item)
{
    if (class_of(state->field)->is_yes_no)
        return state->confirm == (item == 0 ? CONFIRM_YES : CONFIRM_NO);
    return list_is_own(state, item) ? state->has_own : state->is_picked[item];
}

static void set(struct field_state *state, size_t item, bool is_on)
{
    if (class_of(state->field)->is_yes_no)
        state->confirm = !is_on ? CONFIRM_OPEN : item == 0 ? CONFIRM_YES : CONFIRM_NO;
    else if (list_is_own(state, item))
        state->has_own = is_on;
    else
        state->is_picked[item] = is_on;
}

void list_pick(struct ask_screen *screen, struct field_state *state, size_t item)
{
    state->cursor = item;
    if (list_is_one_of_many(state)) {
        for (size_t i = 0; i < list_item_count(state); i++)
            set(state, i, false);
    }
    set(state, item, true);
    ask_touch(screen);
}

bool list_toggle(struct ask_screen *screen, struct field_state *state, size_t item)
{
    bool is_on = list_is_picked(state, item);
    struct text words = { 0 };

    if (list_is_one_of_many(state)) {
        list_pick(screen, state, item);
        return true;
    }
    if (!is_on && !list_is_own(state, item) &&
        (int64_t)list_picked_count(state) >= state->field->max_selections) {
        i18n_format(&words, TEXT_TUI_MOST_CHOSEN, "max", TEXT_NUMBER(state->field->max_selections),
                    NULL);
        ask_say(screen, INK_WARN, text_string(&words));
        text_release(&words);
        return false;
    }
    set(state, item, !is_on);
    state->is_emptied = is_on && list_picked_count(state) == 0;
    ask_touch(screen);
    return true;
}

void list_move(struct ask_screen *screen, struct field_state *state, int by)
{
    size_t items[LIST_MAX], count = list_items(screen, state, items), at = 0;

    if (count == 0)
        return;
    while (at < count && items[at] != state->cursor)
        at++;
    if (at == count)
        at = 0;
    else if (by < 0)
        at = at >= (size_t)-by ? at - (size_t)-by : by == -1 ? count - 1 : 0;
    else
        at = at + (size_t)by < count ? at + (size_t)by : by == 1 ? 0 : count - 1;
    state->cursor = items[at];
    state->is_emptied = state->is_empty_told = false;
    screen->scroll = 0;
}

void list_move_to_shown(struct ask_screen *screen, struct field_state *state)
{
    size_t items[LIST_MAX], count = list_items(screen, state, items);

    if (count > 0 && !list_is_shown(screen, state, state->cursor))
        state->cursor = items[0];
}

void list_tick_all(struct ask_screen *screen, struct field_state *state, bool is_on)
{
    size_t items[LIST_MAX], count = list_items(screen, state, items);

    for (size_t i = 0; i < count; i++) {
        if (list_is_own(state, items[i]) || state->is_picked[items[i]] == is_on)
            continue;
        if (!list_toggle(screen, state, items[i]))
            return;
    }
    state->is_emptied = list_picked_count(state) == 0;
}

/* What can still be ticked: "2 chosen, 1 more possible". Appends. */
static void list_add_count(const struct ask_screen *screen, const struct field_state *state,
                           bool is_short, struct text *out)
{
    int64_t picked = (int64_t)list_picked_count(state), max = state->field->max_selections;
    size_t unseen = 0;

    for (size_t i = 0; i < state->field->option_count; i++)
        unseen += state->is_picked[i] && !list_is_shown(screen, state, i);
    if (unseen > 0 && !is_short)
        i18n_format(out, TEXT_TUI_CHOSEN_UNSEEN, "count", TEXT_NUMBER(picked), "unseen",
                    TEXT_NUMBER((int64_t)unseen), NULL);
    else if (is_short || max >= (int64_t)state->field->option_count)
        i18n_format(out, TEXT_TUI_CHOSEN, "count", TEXT_NUMBER(picked), NULL);
    else
        i18n_format(out, TEXT_TUI_CHOSEN_MORE, "count", TEXT_NUMBER(picked), "more",
                    TEXT_NUMBER(max - picked), NULL);
}

/* The list of options: marks, numbers, labels, notes, own words, what is hidden. */

enum { WORDS_ROWS = 8, NOTE_ROWS = 4 };

/* The columns of this list; they are the same for all of its rows. */
struct columns {
    int mark, number_end, label;
};

static bool has_marks(const struct ask_screen *screen, const struct field_state *state)
{
    return !class_of(state->field)->is_exclusive || !ask_sends_at_once(screen) ||
           list_picked_count(state) > 0;
}

static struct columns lay_out(const struct ask_screen *screen, const struct field_state *state,
                              int left)
{
    const char *mark = list_is_one_of_many(state) ? screen->marks->picked : screen->marks->ticked;
    int marks = has_marks(screen, state) ? glyph_columns(mark, strlen(mark)) + 1 : 0;
    size_t count = list_item_count(state);
    int number_end = left + 2 + marks + (count > 99 ? 3 : count > 9 ? 2 : 1);

    return (struct columns){ left + 2, number_end, number_end + 2 };
}

static void draw_mark(struct ask_screen *screen, const struct field_state *state, struct pen *pen,
                      struct columns columns, size_t item)
{
    const struct marks *marks = screen->marks;
    bool is_picked = list_is_picked(state, item), is_one = list_is_one_of_many(state);
    const char *number = list_is_own(state, item) ? "o" : TEXT_NUMBER((int64_t)item + 1);

    if (state->cursor == item)
        pen_at(pen, pen->left, INK_ACCENT, marks->cursor);
    if (has_marks(screen, state))
        pen_at(pen, columns.mark, is_picked ? INK_ACCENT : INK_QUIET,
               is_one ? (is_picked ? marks->picked : marks->unpicked)
                      : (is_picked ? marks->ticked : marks->unticked));
    pen_at(pen, columns.number_end - (int)strlen(number), INK_QUIET, number);
}

static const char *label_of(const struct ask_screen *screen, const struct field_state *state,
                            size_t item)
{
    if (class_of(state->field)->is_yes_no)
        return i18n_text(item == 0 ? TEXT_TUI_YES : TEXT_TUI_NO);
    if (list_is_own(state, item))
        return i18n_text(screen->form.field_count > 1 ? TEXT_OTHER : TEXT_OWN_WORDS);
    return state->shown->options[item].label;
}

/* "recommended" behind the label where there is room, else short or on a row of its own. */
static void draw_recommended(struct pen *pen, struct columns columns, int column, bool is_described)
{
    const char *word = i18n_text(TEXT_RECOMMENDED), *terse = i18n_text(TEXT_TUI_RECOMMENDED_SHORT);

    if (column + 2 + glyph_columns(word, strlen(word)) <= pen->end) {
        pen_at(pen, column + 2, INK_ACCENT, word);
    } else if (!is_described && column + 2 + glyph_columns(terse, strlen(terse)) <= pen->end) {
        pen_at(pen, column + 2, INK_ACCENT, terse);
    } else {
        pen->row++;
        pen_at(pen, columns.label, INK_ACCENT, word);
    }
}

/* A word behind the label; where there is no room, below it. */
static int draw_word(struct pen *pen, struct columns columns, int column, enum ink ink,
                     const char *word)
{
    if (column + 2 + glyph_columns(word, strlen(word)) > pen->end) {
        pen->row++;
        column = columns.label - 2;
    }
    return pen_at(pen, column + 2, ink, word);
}

/* In a destructive ask each option shows its id: labels can be written to mislead. */
static void draw_id(struct pen *pen, struct columns columns, int column,
                    const struct option *option)
{
    int width = glyph_columns(option->id, strlen(option->id));

    if (pen->end >= SCREEN_NARROW) {
        if (option->is_recommended)
            column = draw_word(pen, columns, column, INK_ACCENT, i18n_text(TEXT_RECOMMENDED));
        if (option->is_destructive)
            column = draw_word(pen, columns, column, INK_DANGER, i18n_text(TEXT_DESTRUCTIVE));
        if (column + 2 + width > pen->end)
            pen->row++;
        pen_right(pen, INK_QUIET, option->id);
        return;
    }
    pen->row++;
    column = pen_wrap(pen, columns.label, INK_QUIET, option->id, strlen(option->id));
    if (option->is_recommended) {
        column = pen_at(pen, column, INK_QUIET, ", ");
        column = pen_at(pen, column, INK_ACCENT, i18n_text(TEXT_RECOMMENDED));
    }
    if (option->is_destructive)
        draw_word(pen, columns, column, INK_DANGER, i18n_text(TEXT_DESTRUCTIVE));
}

static void draw_note(struct ask_screen *screen, struct pen *pen, int column, size_t item)
{
    struct edit *note = &screen->notes[item];
    bool has_focus = screen->focus == FOCUS_NOTE && screen->fields[0].cursor == item;

    if (!ask_has_notes(screen) || screen->form.field_count > 1 ||
        (!has_focus && note->text.used == 0))
        return;
    pen->row++;
    draw_labelled_edit(pen, column, i18n_text(TEXT_TUI_NOTE), note, NOTE_ROWS, has_focus,
                       screen->is_tight && !has_focus ? screen->marks->cut_end : NULL);
    pen->row--;
}

/* In the question of several the text of "Other" stands behind it, until it is being written. */
static bool draw_words_inline(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                              int column)
{
    char *words;

    if (screen->form.field_count == 1 || state->words.text.used == 0 ||
        (screen->focus == FOCUS_WORDS && ask_field(screen) == state))
        return false;
    words = facts_visible(text_string(&state->words.text), false);
    column = pen_at(pen, column, INK_PLAIN, ": ");
    pen_cut(pen, column, pen->end, INK_PLAIN, words, screen->marks->cut_end);
    free(words);
    return true;
}

static bool is_described(const struct draw_plan *plan, const struct field_state *state, size_t item)
{
    return plan->describe == DESCRIBE_ALL ||
           (plan->describe == DESCRIBE_CURRENT && state->cursor == item);
}

static void draw_item(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                      const struct draw_plan *plan, size_t item)
{
    struct columns columns = lay_out(screen, state, pen->left);
    const char *label = label_of(screen, state, item);
    bool is_option = item < state->field->option_count, is_cursor = state->cursor == item;
    bool is_writing = screen->focus == FOCUS_WORDS && ask_field(screen) == state;
    const struct option *option = is_option ? &state->shown->options[item] : NULL;
    bool has_more =
        is_option && is_described(plan, state, item) && option->description && *option->description;
    int column;

    canvas_need_row(pen->canvas, pen->row);
    draw_mark(screen, state, pen, columns, item);
    if (screen->is_tight && !is_cursor && !form_may_destroy(&screen->form))
        column = pen_cut(pen, columns.label, pen->end, INK_PLAIN, label, screen->marks->cut_end);
    else
        column =
            pen_wrap(pen, columns.label, is_cursor ? INK_STRONG : INK_PLAIN, label, strlen(label));
    if (option && form_may_destroy(&screen->form))
        draw_id(pen, columns, column, option);
    else if (option && option->is_recommended && (!screen->is_tight || column + 9 < pen->end))
        draw_recommended(pen, columns, column, has_more);
    if (has_more) {
        pen->row++;
        pen_wrap(pen, columns.label, INK_QUIET, option->description, strlen(option->description));
    }
    if (is_option && state == screen->fields)
        draw_note(screen, pen, columns.label, item);
    if (list_is_own(state, item) && !draw_words_inline(screen, state, pen, column) &&
        (is_writing || state->words.text.used > 0)) {
        pen->row++;
        draw_edit(screen, state, pen, columns.label, WORDS_ROWS, is_writing);
        pen->row--;
    }
    pen->row++;
}

/* How many rows an item takes, by drawing it aside. */
static int item_rows(struct ask_screen *screen, struct field_state *state, const struct pen *pen,
                     const struct draw_plan *plan, size_t item)
{
    struct canvas scratch = { 0 };
    struct pen aside = { .canvas = &scratch, .left = pen->left, .end = pen->end };

    canvas_reset(&scratch, pen->canvas->columns);
    draw_item(screen, state, &aside, plan, item);
    canvas_release(&scratch);
    return aside.row;
}

/* The cursor's item is always whole in sight. A few steps over the edge move the window as little
 * as possible, because the painter has the terminal move the rows that stay; after a jump there is
 * something in sight on both sides of it. */
static size_t find_top(struct ask_screen *screen, struct field_state *state, const struct pen *pen,
                       const struct draw_plan *plan, const size_t *items, size_t count)
{
    size_t cursor = 0, top = 0, half = (size_t)plan->list_rows / 2;
    int rows = 0, max = plan->list_rows;

    for (size_t i = 0; i < count; i++) {
        if (items[i] == state->cursor)
            cursor = i;
        if (items[i] < state->top)
            top = i + 1;
    }
    if (cursor < top && top - cursor < half)
        top = cursor;
    else if (cursor < top)
        top = cursor > half ? cursor - half : 0;
    for (size_t i = top; i <= cursor && i < count; i++)
        rows += item_rows(screen, state, pen, plan, items[i]);
    if (rows > max + max / 2)
        max /= 2;
    while (rows > max && top < cursor)
        rows -= item_rows(screen, state, pen, plan, items[top++]);
    return top;
}

static void draw_window(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                        const struct draw_plan *plan, const size_t *items, size_t count)
{
    int begin = pen->row, last = begin + plan->list_rows;
    size_t top = 0, all = count;
    struct text line = { 0 };

    if (plan->list_rows > 0) {
        last--; /* the row that says where we are */
        top = find_top(
            screen, state, pen,
            &(struct draw_plan){ .describe = plan->describe, .list_rows = plan->list_rows - 1 },
            items, count);
        if (count > 0)
            state->top = items[top];
    }
    for (size_t i = top; i < count; i++) {
        if (plan->list_rows > 0 && i > top &&
            pen->row + item_rows(screen, state, pen, plan, items[i]) > last) {
            count = count < i ? count : i;
            break;
        }
        draw_item(screen, state, pen, plan, items[i]);
    }
    if (plan->list_rows > 0 && (top > 0 || count < all)) {
        i18n_format(&line, TEXT_TUI_WINDOW, "first", TEXT_NUMBER((int64_t)top + 1), "last",
                    TEXT_NUMBER((int64_t)count), "all", TEXT_NUMBER((int64_t)all), NULL);
        pen_line(pen, pen->left + 2, INK_QUIET, text_string(&line));
    }
    screen->list_rows = pen->row - begin;
    text_release(&line);
}

void list_add_rule(const struct field_state *state, struct text *out)
{
    int64_t min = state->field->min_selections, max = state->field->max_selections;
    bool may_write = has_own(state);
    enum text_id text = may_write ? TEXT_CHOOSE_RANGE_OR_WRITE : TEXT_CHOOSE_RANGE;

    if (min == 0 && max >= (int64_t)state->field->option_count)
        text = may_write ? TEXT_CHOOSE_OR_WRITE : TEXT_TUI_CHOOSE_ANY;
    else if (min == max)
        text = may_write ? TEXT_CHOOSE_COUNT_OR_WRITE : TEXT_CHOOSE_COUNT;
    i18n_format(out, text, "min", TEXT_NUMBER(min), "max", TEXT_NUMBER(max), NULL);
}

/* The rule and the count; the filter takes their place while there is one. */
static void draw_legend(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                        size_t shown)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    bool is_many = !list_is_one_of_many(state) && screen->form.field_count == 1;
    bool is_filtering = screen->focus == FOCUS_FILTER || screen->filter.text.used > 0;
    struct text count = { 0 }, rule = { 0 };

    if (is_filtering) {
        i18n_format(&count, TEXT_TUI_OF, "count", TEXT_NUMBER((int64_t)shown), "all",
                    TEXT_NUMBER((int64_t)list_item_count(state)), NULL);
        text_add_text(&count, is_many ? "  " : "");
        pen_at(pen, pen->left, INK_ACCENT, "/");
        edit_draw(&screen->filter, pen->canvas, pen->row, pen->left + 2,
                  pen->end - (is_narrow ? 18 : 42), 1, screen->focus == FOCUS_FILTER);
    } else if (is_many) {
        list_add_rule(state, &rule);
        pen_at(pen, pen->left, INK_PLAIN, text_string(&rule));
    }
    if (is_many)
        list_add_count(screen, state, is_narrow, &count);
    pen_right(pen, INK_QUIET, text_string(&count));
    if (is_many || is_filtering)
        pen->row++;
    text_release(&count);
    text_release(&rule);
}

/* One row that is always there, so that the list above it does not move. */
static void draw_below(struct ask_screen *screen, struct field_state *state, struct pen *pen)
{
    const struct option *option =
        state->cursor < state->field->option_count ? &state->shown->options[state->cursor] : NULL;
    int column = lay_out(screen, state, pen->left).label;
    const char *words = option && option->description ? option->description : "";

    canvas_need_row(pen->canvas, pen->row);
    canvas_put_cut(pen->canvas, pen->row, column, pen->end, INK_QUIET, words, strcspn(words, "\n"),
                   screen->marks->cut_end);
    pen->row++;
}

void draw_list(struct ask_screen *screen, struct field_state *state, struct pen *pen,
               const struct draw_plan *plan)
{
    size_t items[LIST_MAX], count = list_items(screen, state, items);
    size_t hidden = list_hidden_count(screen, state);
    struct text line = { 0 };

    draw_legend(screen, state, pen, count);
    if (count == 0)
        pen_line(pen, pen->left + 2, INK_QUIET, i18n_text(TEXT_TUI_NOTHING_FITS));
    draw_window(screen, state, pen, plan, items, count);
    if (plan->describe == DESCRIBE_BELOW)
        draw_below(screen, state, pen);
    if (hidden > 0) {
        i18n_format(&line, pen->end < SCREEN_NARROW ? TEXT_TUI_HIDDEN_SHORT : TEXT_TUI_HIDDEN,
                    "count", TEXT_NUMBER((int64_t)hidden), NULL);
        pen_line(pen, pen->left + 2, INK_QUIET, text_string(&line));
    }
    text_release(&line);
}
