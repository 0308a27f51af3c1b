/* inbox_screen.c - see inbox_screen.h. The list and its keys; an open ask has them while it is. */
#include "tui/inbox_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/limits.h"
#include "i18n/i18n.h"
#include "tui/ask_screen.h"
#include "tui/keyboard.h"

void inbox_emit(struct inbox_screen *screen, const struct screen_effect *effect)
{
    struct screen_effect whole = *effect;

    if (!whole.session_id)
        whole.session_id = "";
    screen->setup.effect(screen->setup.context, &whole);
}

void inbox_emit_kind(struct inbox_screen *screen, enum screen_effect_kind kind)
{
    inbox_emit(screen, &(struct screen_effect){ .kind = kind });
}

static struct facts *find(struct inbox_screen *screen, const char *id)
{
    for (size_t i = 0; id && i < screen->count; i++) {
        if (strcmp(screen->rows[i].id, id) == 0)
            return &screen->rows[i];
    }
    return NULL;
}

/* Newest first; what is finished and old enough is let go. */
static void add(struct inbox_screen *screen, const struct json *ask)
{
    struct facts facts = { 0 };
    size_t at = 0;

    facts_read(&facts, ask, screen->setup.home, screen->now);
    while (at < screen->count && screen->rows[at].created_utc_ms > facts.created_utc_ms)
        at++;
    if (screen->count == INBOX_ROWS) {
        if (at == screen->count) {
            facts_release(&facts);
            return;
        }
        facts_release(&screen->rows[--screen->count]);
    }
    memmove(screen->rows + at + 1, screen->rows + at, (screen->count - at) * sizeof *screen->rows);
    screen->rows[at] = facts;
    screen->count++;
}

static bool is_put_off(const struct inbox_screen *screen, const struct facts *row)
{
    return row->snooze_utc_ms > screen->now.utc_ms;
}

/* Rings once for each ask that came while we look: now, or when the agent's client no longer shows
 * it, or when the time it was put off for is over. Where the person wants quiet it counts as
 * told. */
static void tell_waiting(struct inbox_screen *screen)
{
    bool is_quiet = !preferences_is_on(&screen->preferences, SETTING_NOTIFICATIONS) ||
                    preferences_is_quiet(&screen->preferences, screen->now.utc_ms);

    for (size_t i = 0; i < screen->count; i++) {
        struct facts *row = &screen->rows[i];

        if (row->is_told || !state_is_open(row->state) || is_put_off(screen, row) ||
            screen->now.mono_ms < row->quiet_until_mono_ms)
            continue;
        row->is_told = true;
        if (!is_quiet)
            inbox_emit(screen,
                       &(struct screen_effect){ .kind = EFFECT_BELL, .session_id = row->id });
    }
}

static void take_ask(struct inbox_screen *screen, const struct json *ask, bool is_news)
{
    const char *id = json_member_text(ask, "session_id");
    struct facts *row = find(screen, id);
    size_t before = inbox_cursor(screen);

    if (!id)
        return;
    if (row) {
        if (json_member_integer(ask, "version", 0) >= row->version)
            facts_read(row, ask, screen->setup.home, screen->now);
    } else {
        add(screen, ask);
        row = find(screen, id);
        if (row)
            row->is_told = !is_news; /* what was there before has nothing to announce */
    }
    if (row && is_put_off(screen, row))
        row->is_told = false;
    inbox_keep_cursor(screen, before);
}

static void take_list(struct inbox_screen *screen, const struct json *list)
{
    const struct json *asks = json_member(list, "asks");
    size_t known_count = screen->count;
    char(*known)[sizeof screen->cursor] = mem_new((known_count + 1) * sizeof *known);

    for (size_t i = 0; i < known_count; i++) {
        memcpy(known[i], screen->rows[i].id, sizeof *known);
        facts_release(&screen->rows[i]);
    }
    screen->count = 0;
    for (size_t i = 0; i < json_length(asks); i++) {
        const char *id = json_member_text(json_item(asks, i), "session_id");
        bool is_news = screen->has_list && id;

        for (size_t k = 0; is_news && k < known_count; k++)
            is_news = strcmp(known[k], id) != 0;
        take_ask(screen, json_item(asks, i), is_news);
    }
    free(known);
    screen->has_list = true;
    screen->is_lost = false;
}

struct inbox_screen *inbox_screen_new(const struct screen_setup *setup, const struct json *list,
                                      struct screen_time now)
{
    struct inbox_screen *screen = mem_new(sizeof *screen);

    screen->setup = *setup;
    screen->setup.settings = NULL;
    screen->setup.home = mem_text(setup->home);
    screen->marks = marks_of(setup->is_ascii);
    screen->now = now;
    edit_init(&screen->filter, false, 100, "");
    edit_init(&screen->history.search, false, 100, "");
    edit_init(&screen->missed.note, false, LIMIT_ANNOTATION_CHARS, "");
    preferences_init(&screen->preferences);
    if (setup->settings)
        preferences_read(&screen->preferences, setup->settings);
    take_list(screen, list);
    return screen;
}

void inbox_screen_free(struct inbox_screen *screen)
{
    if (!screen)
        return;
    for (size_t i = 0; i < screen->count; i++)
        facts_release(&screen->rows[i]);
    ask_screen_free(screen->ask);
    edit_release(&screen->filter);
    inbox_history_release(&screen->history);
    inbox_rules_release(&screen->rules);
    edit_release(&screen->missed.note);
    free(screen->missed.title);
    preferences_release(&screen->preferences);
    text_release(&screen->said);
    text_release(&screen->settings.typed);
    free((char *)(uintptr_t)screen->setup.home);
    free(screen->url);
    free(screen);
}

/* What the open ask wants: leaving it is ours, the rest goes on to the app, which has the hub. */
static void on_ask_effect(void *context, const struct screen_effect *effect)
{
    struct inbox_screen *screen = context;

    if (effect->kind == EFFECT_CLOSE || effect->kind == EFFECT_QUIT ||
        effect->kind == EFFECT_BROWSER || effect->kind == EFFECT_SNOOZE)
        screen->is_ask_done = true;
    if (effect->kind == EFFECT_CLOSE || effect->kind == EFFECT_QUIT)
        return;
    if (effect->kind == EFFECT_NEIGHBOUR)
        screen->neighbour = effect->number < 0 ? -1 : 1;
    else
        inbox_emit(screen, effect);
}

static void open_row(struct inbox_screen *screen)
{
    const struct facts *row = inbox_current(screen);

    if (!row)
        return;
    memcpy(screen->opening, row->id, sizeof screen->opening);
    inbox_emit(screen,
               &(struct screen_effect){ .kind = EFFECT_OPEN, .session_id = screen->opening });
}

static void close_ask(struct inbox_screen *screen)
{
    if (screen->neighbour != 0 && screen->ask) {
        struct facts *rows[INBOX_ROWS];
        size_t count = inbox_open_rows(screen, rows), at = inbox_cursor(screen);

        if (count > 1) {
            at = (at + count + (size_t)(screen->neighbour + (int)count)) % count;
            memcpy(screen->cursor, rows[at]->id, sizeof screen->cursor);
            open_row(screen);
        }
        screen->neighbour = 0;
    }
    if (screen->is_ask_done) {
        ask_screen_free(screen->ask);
        screen->ask = NULL;
        screen->is_ask_done = false;
        preferences_speak(&screen->preferences);
    }
}

static void open_ask(struct inbox_screen *screen, const struct json *whole)
{
    struct screen_setup setup = screen->setup;
    const char *id = json_member_text(json_member(whole, "ask"), "session_id");
    struct ask_screen *ask = NULL;

    if (!id || strcmp(id, screen->opening) != 0)
        return;
    screen->opening[0] = '\0';
    setup.context = screen;
    setup.effect = on_ask_effect;
    setup.is_inbox = true;
    setup.preferences = &screen->preferences;
    if (!ask_screen_new(&setup, whole, screen->now, &ask, NULL))
        return;
    ask_screen_free(screen->ask);
    screen->ask = ask;
    if (screen->wants_cancel)
        ask_screen_cancel(ask);
    screen->wants_cancel = false;
}

/* One line above the keys, until the next key. */
void inbox_say(struct inbox_screen *screen, const char *words)
{
    text_clear(&screen->said);
    facts_add_visible(&screen->said, words);
}

void inbox_screen_take(struct inbox_screen *screen, enum screen_news news, const struct json *json,
                       struct screen_time now)
{
    screen->now = now;
    switch (news) {
    case NEWS_LIST:
        take_list(screen, json);
        break;
    case NEWS_CHANGED:
        take_ask(screen, json_member(json, "ask"), true);
        if (state_find(json_member_text(json_member(json, "ask"), "status")) == STATE_TIMEOUT)
            inbox_emit_kind(screen, EFFECT_UNSEEN);
        break;
    case NEWS_UNSEEN:
        inbox_missed_take(&screen->missed, json);
        break;
    case NEWS_TOLD:
        edit_clear(&screen->missed.note);
        inbox_say(screen, i18n_text(TEXT_TOLD));
        inbox_emit_kind(screen, EFFECT_UNSEEN);
        break;
    case NEWS_SETTINGS:
        preferences_read(&screen->preferences, json);
        break;
    case NEWS_STATUS:
        free(screen->url);
        screen->url = facts_visible(json_member_text(json, "url"), false);
        break;
    case NEWS_LOST:
        screen->is_lost = true;
        screen->retry_mono_ms = now.mono_ms + json_member_span(json, "retry_ms", 0);
        break;
    case NEWS_WHOLE:
        open_ask(screen, json);
        break;
    case NEWS_HISTORY:
        inbox_history_take(screen, json);
        break;
    case NEWS_LINK:
    case NEWS_REFUSED: /* of an open ask it is told there */
        if (!screen->ask)
            inbox_say(screen, json_member_text(json, news == NEWS_LINK ? "words" : "message"));
        break;
    default:
        break;
    }
    inbox_take_rules(screen, news, json);
    tell_waiting(screen);
    if (screen->ask)
        ask_screen_take(screen->ask, news, json, now);
    close_ask(screen);
}

static void extend(struct inbox_screen *screen)
{
    const struct facts *row = inbox_current(screen);
    int64_t left_ms = row ? facts_left_ms(row, screen->now) : -1;

    if (left_ms >= 0)
        inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_EXTEND,
                                                    .session_id = row->id,
                                                    .number = (left_ms + 999) / 1000 + 300 });
}

static void go_to_browser(struct inbox_screen *screen)
{
    const struct facts *row = inbox_current(screen);

    if (!screen->setup.has_portal || !preferences_is_on(&screen->preferences, SETTING_PORTAL))
        inbox_say(screen, i18n_text(TEXT_TUI_NO_PORTAL));
    else if (row)
        inbox_emit(screen,
                   &(struct screen_effect){ .kind = EFFECT_BROWSER, .session_id = row->id });
}

static void take_letter(struct inbox_screen *screen, char letter)
{
    switch (letter) {
    case '/':
        screen->is_filtering = true;
        break;
    case 's':
        screen->panel = INBOX_SETTINGS;
        break;
    case '?':
        screen->panel = INBOX_HELP;
        screen->scroll = 0;
        break;
    case 'e':
        extend(screen);
        break;
    case 'w':
        go_to_browser(screen);
        break;
    case 'c':
        screen->wants_cancel = true;
        open_row(screen);
        break;
    case 'h':
        inbox_open_history(screen);
        break;
    case 'a':
        inbox_open_rules(screen);
        break;
    case 'l':
        if (inbox_current(screen))
            screen->panel = INBOX_SNOOZE;
        break;
    case 't':
        if (screen->missed.count > 0)
            screen->panel = INBOX_MISSED;
        break;
    case 'r':
        if (screen->is_lost)
            inbox_emit_kind(screen, EFFECT_RECONNECT);
        break;
    case 'q':
        inbox_emit_kind(screen, EFFECT_CLOSE);
        break;
    default:
        break;
    }
}

static void key_in_list(struct inbox_screen *screen, const struct key *key)
{
    if (abs(key_distance(key)) == 1)
        inbox_move(screen, key_distance(key));
    switch (key->code) {
    case KEY_TEXT:
        take_letter(screen, key_letter(key));
        break;
    case KEY_ENTER:
        screen->wants_cancel = false;
        open_row(screen);
        break;
    case KEY_ESCAPE:
        edit_clear(&screen->filter);
        break;
    case KEY_CONTROL:
        if (key->text[0] == 'c')
            inbox_emit_kind(screen, EFFECT_QUIT);
        else if (key->text[0] == 'z')
            inbox_emit_kind(screen, EFFECT_SUSPEND);
        break;
    default:
        break;
    }
}

void inbox_screen_key(struct inbox_screen *screen, const struct key *key, struct screen_time now)
{
    screen->now = now;
    if (!screen->ask && (key->code == KEY_FOCUS_IN || key->code == KEY_FOCUS_OUT))
        return;
    text_clear(&screen->said);
    if (screen->ask)
        ask_screen_key(screen->ask, key, now);
    else if (screen->panel != INBOX_LIST && key->code != KEY_CONTROL)
        inbox_panel_key(screen, key);
    else if (screen->is_filtering && !(key->code == KEY_CONTROL && strchr("cz", key->text[0])))
        screen->is_filtering = edit_search_key(&screen->filter, key);
    else
        key_in_list(screen, key);
    close_ask(screen);
}

void inbox_screen_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows,
                       struct screen_time now)
{
    screen->now = now;
    tell_waiting(screen);
    if (screen->ask) {
        ask_screen_draw(screen->ask, canvas, columns, rows, now);
        close_ask(screen);
    }
    if (!screen->ask)
        inbox_draw(screen, canvas, columns, rows);
}

void inbox_screen_save(struct inbox_screen *screen)
{
    if (screen->ask)
        ask_screen_save(screen->ask);
}

int64_t inbox_screen_waiting(struct inbox_screen *screen)
{
    int64_t count = 0;

    for (size_t i = 0; i < screen->count; i++)
        count += state_is_open(screen->rows[i].state);
    return count;
}

int64_t inbox_screen_wake_ms(const struct inbox_screen *screen)
{
    if (screen->ask)
        return ask_screen_wake_ms(screen->ask);
    for (size_t i = 0; i < screen->count; i++) {
        if (state_is_open(screen->rows[i].state))
            return screen->now.mono_ms + 1000;
    }
    return screen->now.mono_ms + (screen->is_lost ? 1000 : 60000); /* ages in minutes */
}
