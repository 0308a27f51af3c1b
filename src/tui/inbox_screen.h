/*
 * inbox_screen.h - all asks, live, and answering them in place (R6.3). How to use it stands in
 * screen.h; it is made from the result of ask/watch {which: all}.
 *
 * Enter gives EFFECT_OPEN for the ask under the cursor; the NEWS_WHOLE that follows opens an
 * ask_screen inside, which gets keys and news until it closes; its effects come through the same
 * function, with its session_id. NEWS_CHANGED goes to both. While nothing is open it always wants
 * the alternate screen.
 */
#ifndef TUI_INBOX_SCREEN_H
#define TUI_INBOX_SCREEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "tui/draw.h"
#include "tui/edit.h"
#include "tui/facts.h"
#include "tui/inbox_history.h"
#include "tui/inbox_rules.h"
#include "tui/screen.h"
#include "tui/settings_panel.h"

struct inbox_screen;

struct inbox_screen *inbox_screen_new(const struct screen_setup *setup, const struct json *list,
                                      struct screen_time now);
void inbox_screen_free(struct inbox_screen *screen);

void inbox_screen_key(struct inbox_screen *screen, const struct key *key, struct screen_time now);
void inbox_screen_take(struct inbox_screen *screen, enum screen_news news, const struct json *json,
                       struct screen_time now);
void inbox_screen_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows,
                       struct screen_time now);
void inbox_screen_save(struct inbox_screen *screen);       /* as ask_screen_save, of an open ask */
int64_t inbox_screen_waiting(struct inbox_screen *screen); /* how many asks are open */
bool inbox_screen_wants_alternate(const struct inbox_screen *screen);
int64_t inbox_screen_wake_ms(const struct inbox_screen *screen);

/* The insides of inbox_screen: inbox_screen.c has its life, inbox_list.c its rows, inbox_panels.c
 * what lies over them. */

enum { INBOX_ROWS = 1000, INBOX_FINISHED = 5 };
enum inbox_panel {
    INBOX_LIST,
    INBOX_SETTINGS,
    INBOX_HELP,
    INBOX_HISTORY,
    INBOX_LATER,
    INBOX_STANDING,
    INBOX_MISSED,
};

/* What timed out while nobody looked: how many since the last visit, and the newest. */
struct inbox_missed {
    int64_t count, longer_s; /* longer_s 0: it is not offered */
    char id[32];
    char *title; /* owned */
    struct edit note;
};

struct inbox_screen {
    struct screen_setup setup;
    const struct marks *marks;
    struct preferences preferences;
    struct facts rows[INBOX_ROWS + 1]; /* newest first */
    size_t count;
    char cursor[32], opening[32]; /* ids */
    size_t top;
    enum inbox_panel panel;
    struct settings_panel settings;
    struct edit filter;
    bool is_filtering, is_lost, has_list, wants_cancel, is_ask_done;
    int neighbour;
    int scroll, scroll_most; /* of the help */
    struct inbox_history history;
    struct inbox_standing standing;
    struct inbox_missed missed;
    int64_t retry_mono_ms;
    char *url;
    struct text said;
    struct screen_time now;
    struct ask_screen *ask;
};

void inbox_emit(struct inbox_screen *screen, const struct screen_effect *effect);
void inbox_say(struct inbox_screen *screen, const char *words); /* one line, until the next key */

/* Keys while a panel is open, and what opens it. */
void inbox_panel_key(struct inbox_screen *screen, const struct key *key);
void inbox_open_history(struct inbox_screen *screen);
void inbox_open_standing(struct inbox_screen *screen);
/* What the hub says about answers that stand. */
void inbox_take_standing(struct inbox_screen *screen, enum screen_news news,
                         const struct json *json);

/* inbox_panels.c: a panel, and the line above the list */
void inbox_missed_take(struct inbox_missed *missed, const struct json *unseen);
void inbox_missed_draw(struct inbox_screen *screen, struct pen *pen);

/* The open ones that fit the filter, in the order drawn. */
size_t inbox_open_rows(struct inbox_screen *screen, struct facts *rows[INBOX_ROWS]);
size_t inbox_cursor(struct inbox_screen *screen); /* its place among them */
void inbox_move(struct inbox_screen *screen, int by);
/* After a change: the row under the cursor stays where it is on the screen. */
void inbox_keep_cursor(struct inbox_screen *screen, size_t before);
const char *inbox_end_mark(const struct marks *marks, enum ask_state state);
void inbox_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows);

#endif
