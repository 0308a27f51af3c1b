/* list.c - see list.h. */
#include "tui/list.h"

#include <string.h>
#include <strings.h>

#include "tui/ask_inside.h"
#include "tui/canvas.h"

static bool has_own(const struct field_state *state)
{
    return state->field->kind == FIELD_HYBRID;
}

size_t list_item_count(const struct field_state *state)
{
    if (state->field->kind == FIELD_CONFIRM)
        return 2;
    return state->field->option_count + has_own(state);
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

size_t list_items(const struct ask_screen *screen, const struct field_state *state,
                  size_t items[LIST_MOST])
{
    size_t count = 0;

    for (size_t item = 0; item < list_item_count(state) && count < LIST_MOST; item++) {
        if (!is_away(screen, state, item) && fits_filter(screen, state, item))
            items[count++] = item;
    }
    return count;
}

bool list_is_shown(const struct ask_screen *screen, const struct field_state *state, size_t item)
{
    size_t items[LIST_MOST], count = list_items(screen, state, items);

    for (size_t i = 0; i < count; i++) {
        if (items[i] == item)
            return true;
    }
    return false;
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
    return state->field->kind == FIELD_SINGLE || state->field->kind == FIELD_CONFIRM ||
           (has_own(state) && state->field->max_selections <= 1);
}

bool list_is_picked(const struct field_state *state, size_t item)
{
    if (state->field->kind == FIELD_CONFIRM)
        return state->confirm == (item == 0 ? CONFIRM_YES : CONFIRM_NO);
    return list_is_own(state, item) ? state->has_own : state->is_picked[item];
}

static void set(struct field_state *state, size_t item, bool is_on)
{
    if (state->field->kind == FIELD_CONFIRM)
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
    char most[TEXT_INTEGER_BYTES];

    if (list_is_one_of_many(state)) {
        list_pick(screen, state, item);
        return true;
    }
    if (!is_on && !list_is_own(state, item) &&
        (int64_t)list_picked_count(state) >= state->field->max_selections) {
        i18n_format(&words, TEXT_TUI_MOST_CHOSEN, "max",
                    text_of_integer(state->field->max_selections, most), NULL);
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
    size_t items[LIST_MOST], count = list_items(screen, state, items), at = 0;

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
    size_t items[LIST_MOST], count = list_items(screen, state, items);

    for (size_t i = 0; i < count; i++) {
        if (items[i] == state->cursor)
            return;
    }
    if (count > 0)
        state->cursor = items[0];
}

void list_tick_all(struct ask_screen *screen, struct field_state *state, bool is_on)
{
    size_t items[LIST_MOST], count = list_items(screen, state, items);

    for (size_t i = 0; i < count; i++) {
        if (list_is_own(state, items[i]) || state->is_picked[items[i]] == is_on)
            continue;
        if (!list_toggle(screen, state, items[i]))
            return;
    }
    state->is_emptied = list_picked_count(state) == 0;
}

static size_t count_unseen(const struct ask_screen *screen, const struct field_state *state)
{
    size_t count = 0;

    for (size_t i = 0; i < state->field->option_count; i++)
        count +=
            state->is_picked[i] && (is_away(screen, state, i) || !fits_filter(screen, state, i));
    return count;
}

void list_add_count(const struct ask_screen *screen, const struct field_state *state, bool is_short,
                    struct text *out)
{
    int64_t picked = (int64_t)list_picked_count(state), most = state->field->max_selections;
    size_t unseen = count_unseen(screen, state);
    char count[TEXT_INTEGER_BYTES], more[TEXT_INTEGER_BYTES];

    text_of_integer(picked, count);
    if (unseen > 0 && !is_short)
        i18n_format(out, TEXT_TUI_CHOSEN_UNSEEN, "count", text_of_integer(picked, count), "unseen",
                    text_of_integer((int64_t)unseen, more), NULL);
    else if (is_short || most >= (int64_t)state->field->option_count)
        i18n_format(out, TEXT_TUI_CHOSEN, "count", text_of_integer(picked, count), NULL);
    else
        i18n_format(out, TEXT_TUI_CHOSEN_MORE, "count", text_of_integer(picked, count), "more",
                    text_of_integer(most - picked, more), NULL);
}
