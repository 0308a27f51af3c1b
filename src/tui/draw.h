/*
 * draw.h - the pieces a question's picture is made of, from the title to the line of keys. Each
 * draws at its pen and moves it on; the pen's canvas may be a scratch one, to see how much room a
 * picture needs.
 */
#ifndef TUI_DRAW_H
#define TUI_DRAW_H
#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/screen.h"

struct ask_screen;
struct edit;
struct field_state;
struct markup;

struct pen {
    struct canvas *canvas;
    int row;
    int left, end; /* columns that text may stand in: from, and before */
};

/* One line at a column; the text is visible already. Returns the column behind. */
int pen_at(struct pen *pen, int column, enum ink ink, const char *text);
int pen_cut(struct pen *pen, int column, int end, enum ink ink, const char *text, const char *cut);
void pen_line(struct pen *pen, int column, enum ink ink, const char *text); /* a row of its own */
/* Lines from the pen's left on, wrapped; the pen is below them afterwards. */
void pen_lines(struct pen *pen, enum ink ink, const char *text);
void pen_lines_at(struct pen *pen, int column, enum ink ink, const char *text);
void pen_text(struct pen *pen, enum ink ink, const struct text *text); /* none where it is empty */
/* The same from another column on; the last row is *ret_row, returns the column behind it. */
int pen_wrap(struct pen *pen, int column, enum ink ink, const char *text, size_t length);
void pen_right(struct pen *pen, enum ink ink, const char *text); /* ends at the pen's end */
int draw_columns(const struct text *text);

/* How much of a question is drawn; what does not fit is left out in the order of ask_draw.c. */
/* BELOW: that of the option under the cursor in one row below the list, whose rows then stay. */
enum draw_describe { DESCRIBE_ALL, DESCRIBE_CURRENT, DESCRIBE_BELOW, DESCRIBE_NONE };
struct draw_plan {
    bool has_facts, has_strip;
    enum draw_describe describe;
    int prompt_rows; /* 0: none; more than it has: all */
    int list_rows;   /* at most; 0: all */
    int pane_rows;   /* of a preview, at least */
};

/* prose.c: blocks of spans; at most `most` rows (0: all) from `skip` on. Returns its rows in all.
 */
int draw_markup(struct pen *pen, const struct markup *markup, int skip, int max);

/* ask_header.c */
void draw_header(const struct ask_screen *screen, struct pen *pen);
bool draw_cuts_title(const struct ask_screen *screen, const struct pen *pen); /* draw_header does */
enum ink draw_clock_ink(int64_t left_ms); /* calm, under a minute, under ten seconds; -1: none */
void draw_facts(const struct ask_screen *screen, struct pen *pen);
void draw_strip(const struct ask_screen *screen, struct pen *pen);
void draw_rail(const struct ask_screen *screen, struct pen *pen, bool is_plain);

/* field_list.c */
void draw_list(struct ask_screen *screen, struct field_state *state, struct pen *pen,
               const struct draw_plan *plan);
/* field_view.c */
void draw_edit(struct ask_screen *screen, struct field_state *state, struct pen *pen, int column,
               int rows, bool has_focus);
void draw_labelled_edit(struct pen *pen, int column, const char *label, struct edit *edit, int rows,
                        bool has_focus, const char *cut);
/* ask_header.c */
void draw_tabs(const struct ask_screen *screen, struct pen *pen);
void draw_review(struct ask_screen *screen, struct pen *pen);
/* The preview of the option under the cursor within the pen's columns; at most so many rows. */
void draw_pane(struct ask_screen *screen, struct pen *pen, int rows);
int draw_pane_column(const struct ask_screen *screen, int columns); /* 0: it goes below */
/* ask_events.c */
void draw_talk(const struct ask_screen *screen, struct pen *pen);
void draw_ask_back(struct ask_screen *screen, struct pen *pen);
/* ask_outcome.c */
void draw_past(struct ask_screen *screen, struct pen *pen, int rows); /* of the history */
void draw_ended(const struct ask_screen *screen, struct pen *pen);
void draw_saved(const struct ask_screen *screen, struct pen *pen);
/* ask_hints.c: the keys, all and in one line */
int draw_help(struct pen *pen, int rows, int scroll); /* how far it can be scrolled */
void draw_hints(const struct ask_screen *screen, struct pen *pen);
void draw_reading_hints(struct pen *pen, bool scrolls); /* of a text that lies over everything */
/* ask_draw.c: the hub is gone, and when it is tried again. */
void draw_lost(struct pen *pen, bool is_short, int64_t left_ms);

/* "Enter send  Tab note"; the most important last to go where it is narrow. */
struct hint {
    const char *key;
    const char *word;
    int weight;    /* the lightest is shortened, then dropped first */
    bool is_terse; /* its key alone says enough */
};
void draw_hint_row(struct pen *pen, const struct hint *hints, size_t count);

/* A list's title, what stands at the right of it, and the line below. */
struct marks;
void draw_list_head(struct pen *pen, const struct marks *marks, const char *title,
                    const char *right);
void pen_rule(struct pen *pen, const struct marks *marks);
void draw_search(struct pen *pen, struct edit *edit, bool has_focus);

/* inbox_panels.c: answering later: when, as few choices that a digit takes (R7.9; the portal's are
 * the same). */
int64_t snooze_seconds(char digit, struct screen_time now); /* from now on; 0: no such choice */
void snooze_draw(struct pen *pen);                          /* the question and its keys */

/* The signs we draw, in Unicode and in ASCII; all are one column wide everywhere. */

struct marks {
    const char *cursor;
    const char *picked, *unpicked; /* one of many */
    const char *ticked, *unticked; /* any of many */
    const char *done, *crossed;    /* ended */
    const char *star, *no_star;
    const char *left, *gone; /* time */
    const char *divider;
    const char *cut_end, *cut_start;
};
const struct marks *marks_of(bool is_ascii);

#endif
