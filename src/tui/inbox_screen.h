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
int64_t inbox_screen_wake_ms(const struct inbox_screen *screen);

/* The insides of inbox_screen: inbox_screen.c has its life, inbox_list.c its rows, inbox_panels.c
 * what lies over them. */

enum { INBOX_ROWS = 1000, INBOX_FINISHED = 5 };
enum inbox_panel {
    INBOX_LIST,
    INBOX_SETTINGS,
    INBOX_HELP,
    INBOX_HISTORY,
    INBOX_SNOOZE,
    INBOX_RULES,
    INBOX_MISSED,
};

/* What timed out while the person was away: how many since the last visit, and the newest. */
struct inbox_missed {
    int64_t count, longer_s; /* longer_s 0: it is not offered */
    char id[32];
    char *title; /* owned */
    struct edit note;
};

/* What was decided before. */
enum { HISTORY_ROWS = 200 }; /* the newest; what is older is found by searching */

struct history_row {
    struct facts facts;
    char *answer; /* in one line; visible; owned */
};
struct inbox_history {
    struct history_row rows[HISTORY_ROWS];
    size_t count, cursor, top;
    struct edit search;
    bool is_searching, is_waiting, has_more;
};

/* Answers that stand. */
enum { RULES_ROWS = 320, RULES_CASES = 10 };

/* Texts are visible; owned. */
struct rule_row {
    char id[32]; /* "": it is only proposed */
    char from[32];
    char *title, *answer, *agent, *directory, *person;
    bool any_prompt, is_over;
    int64_t until_utc_ms, count;
};
struct rule_past {
    char *answer;
    int64_t utc_ms;
    bool is_same;
};
/* The ask whose answer might stand, while the person looks at it. */
struct rule_case {
    char from[32];
    bool any_prompt, may_any_prompt;
    bool is_waiting, is_refused, is_from_history;
    struct rule_row facts;
    struct rule_past past[RULES_CASES];
    size_t past_count;
    int64_t same, other;
};
struct inbox_rules {
    struct rule_row rows[RULES_ROWS]; /* those in force first */
    size_t rule_count, count, cursor, top;
    bool has_rules, has_proposed; /* the hub has said which */
    bool is_case, is_revoking;
    char revoking[32];
    struct rule_case look;
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
    int scroll, scroll_max; /* of the help */
    struct inbox_history history;
    struct inbox_rules rules;
    struct inbox_missed missed;
    int64_t retry_mono_ms;
    char *url;
    struct text said;
    struct screen_time now;
    struct ask_screen *ask;
};

void inbox_emit(struct inbox_screen *screen, const struct screen_effect *effect);
void inbox_emit_kind(struct inbox_screen *screen, enum screen_effect_kind kind);
void inbox_say(struct inbox_screen *screen, const char *words); /* one line, until the next key */
void inbox_look(struct inbox_screen *screen, const char *id);   /* opens it, as one of the past */

/* Keys while a panel is open. */
void inbox_panel_key(struct inbox_screen *screen, const struct key *key);

void inbox_open_history(struct inbox_screen *screen);
void inbox_history_release(struct inbox_history *history);
void inbox_history_take(struct inbox_screen *screen, const struct json *result);
void inbox_history_draw(struct inbox_screen *screen, struct pen *pen, int rows);

/* inbox_rules.c */
void inbox_open_rules(struct inbox_screen *screen);
/* Begins to look at one; whatever the prompt says where the tool knows that. */
void inbox_consider(struct inbox_screen *screen, const char *from, bool any_prompt,
                    bool is_from_history);
void inbox_rules_release(struct inbox_rules *rules);
/* What the hub says about answers that stand. */
void inbox_take_rules(struct inbox_screen *screen, enum screen_news news, const struct json *json);
void inbox_rules_key(struct inbox_screen *screen, const struct key *key);
void inbox_rules_draw(struct inbox_screen *screen, struct pen *pen, int rows);

/* inbox_panels.c: a panel, and the line above the list */
void inbox_missed_take(struct inbox_missed *missed, const struct json *unseen);
void inbox_missed_draw(struct inbox_screen *screen, struct pen *pen);

/* The open ones that fit the filter, in the order drawn. */
size_t inbox_open_rows(struct inbox_screen *screen, struct facts *rows[INBOX_ROWS]);
size_t inbox_cursor(struct inbox_screen *screen);         /* its place among them */
struct facts *inbox_current(struct inbox_screen *screen); /* the one there; NULL: none */
void inbox_move(struct inbox_screen *screen, int by);
/* The first row drawn of as many as there is room for: as before, if the cursor's is among them. */
size_t inbox_top(size_t top, size_t cursor, size_t room);
/* After a change: the row under the cursor stays where it is on the screen. */
void inbox_keep_cursor(struct inbox_screen *screen, size_t before);
const char *inbox_end_mark(const struct marks *marks, enum ask_state state);
void inbox_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows);

#endif
