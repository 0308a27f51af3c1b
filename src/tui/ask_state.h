/*
 * ask_state.h - the insides of ask_screen, shared by its files: ask_screen.c (life), ask_events.c
 * (what the hub says), ask_keys.c (what the person does), field_view.c (what would be sent), and
 * the widgets that draw it. No other file includes this.
 */
#ifndef TUI_ASK_STATE_H
#define TUI_ASK_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "core/fields/form.h"
#include "core/lifecycle.h"
#include "tui/ask_screen.h"
#include "tui/draw.h"
#include "tui/edit.h"
#include "tui/facts.h"
#include "tui/keyboard.h"
#include "tui/settings_panel.h"

enum {
    SCREEN_TOO_EARLY_MS = 500, /* keys that soon after the first picture do not answer */
    SCREEN_DIGIT_MS = 400,     /* for the second digit of a number */
    SCREEN_CALM_MS = 80,       /* Enter that soon after a key is a paste or an input method's */
    SCREEN_DRAFT_MS = 1000,
    SCREEN_TYPING_MS = 2000, /* after a key the person counts as typing for so long */
    SCREEN_NARROW = 60,      /* columns; below it is laid out for a phone's width */
    SCREEN_EXTEND_S = 300,
};

enum ask_phase {
    PHASE_OPEN,
    PHASE_SENDING, /* our decision is under way */
    PHASE_SAVED,   /* and can be taken back */
    PHASE_OURS,    /* over, by our act */
    PHASE_THEIRS,  /* over, by another's act or by the clock */
};
enum ask_focus {
    FOCUS_LIST, /* the list, the slider, the review: letters are commands */
    FOCUS_WORDS,
    FOCUS_NUMBER, /* the digits of a number */
    FOCUS_NOTE,   /* of the option under the cursor, or of one question of several */
    FOCUS_COMMON, /* the note to the agent */
    FOCUS_FILTER,
    FOCUS_PREVIEW,
    FOCUS_CANCEL, /* why; then the ask is cancelled */
    FOCUS_CODE,   /* the second act */
    FOCUS_TIME,   /* how many minutes more */
    FOCUS_SNOOZE, /* when to be reminded again */
    FOCUS_BACK,   /* a question to the agent */
};
enum ask_panel { PANEL_NONE, PANEL_SETTINGS, PANEL_HELP, PANEL_PROMPT, PANEL_PREVIEW };

/* Where a field of the form stands. */
struct field_state {
    const struct field *field; /* as received: its ids are what is sent */
    const struct field *shown; /* the same made visible */
    bool *is_picked, *is_hidden;
    bool has_own; /* hybrid: the own words are picked */
    struct edit words;
    bool has_number;
    double number;
    struct edit digits;
    enum confirm_default confirm;
    size_t cursor; /* an item, see field_list.c */
    size_t top;    /* first item drawn, where the list is longer than its place */
    bool is_touched;
    bool is_emptied;          /* its last tick was taken away, and the cursor has not moved since */
    bool is_empty_told;       /* the person was told that nothing is chosen */
    struct text problem;      /* why it cannot be sent; "" */
    struct markup **previews; /* of its options; NULL where none */
    struct edit note;         /* to this question, where there are several */
};

struct ask_screen {
    struct screen_setup setup;
    const struct marks *marks;
    struct facts facts;
    struct preferences preferences;
    struct form form, shown;
    struct field_state *fields;
    struct markup *prompt; /* NULL: the title says it all */

    unsigned flags;    /* visible_flags of the agent's words */
    bool is_sensitive; /* they speak of a secret */

    enum ask_phase phase;
    enum ask_focus focus;
    enum ask_panel panel;
    size_t step; /* field_count: the review */
    struct edit *notes;
    struct edit common, filter, why, code, minutes, question;
    struct json *talk; /* what was asked back and explained; owned, NULL: nothing */
    struct settings_panel settings;
    int scroll; /* of the panel or of the preview, first row drawn */
    int scroll_max;
    int pane_shift; /* columns the list beside a preview is wider than by itself */
    int pane_rows;  /* of the preview, as drawn last */
    int list_rows;  /* of the list, likewise */
    bool is_tight;  /* rows run short: what can be one row is one */
    bool has_offered_note;
    bool shows_hidden;
    bool is_lost;
    int64_t retry_mono_ms;

    struct screen_time now;
    int64_t visible_mono_ms; /* of the first picture; -1: not drawn yet */
    int64_t key_mono_ms;     /* of the last key */
    int64_t digit_mono_ms;
    size_t digit; /* typed so far; 0: none */
    bool is_draft_dirty, is_draft_saved, is_prompt_seen, has_rung;
    int64_t draft_mono_ms;
    int64_t undo_until_mono_ms;
    char challenge[16];  /* the code to be typed */
    bool is_challenged;  /* asked for it, not here yet */
    struct text sent;    /* what was chosen, in words, for the lines afterwards */
    struct text sending; /* the JSON of our decision, until it is answered */
    enum screen_effect_kind sending_kind;
    bool is_cancelled, is_declining, has_sent_note;
    bool is_typing;   /* the last key went into a text */
    struct text said; /* of the line above the keys, once: "too early, press again" */
    int said_ink;
    struct text problem; /* what the hub refused */
    bool wants_alternate;
    bool is_past;     /* it was over before it was opened: it is read, not answered */
    struct text note; /* of an answer that others gave */
};

/* ask_screen.c */
void ask_emit(struct ask_screen *screen, const struct screen_effect *effect);
void ask_emit_kind(struct ask_screen *screen, enum screen_effect_kind kind);
void ask_say(struct ask_screen *screen, int ink, const char *words);
bool ask_may_answer(const struct ask_screen *screen); /* the hub is there and the ask is open */
struct field_state *ask_field(const struct ask_screen *screen); /* of the step; NULL: review */
bool ask_is_review(const struct ask_screen *screen);
bool ask_has_notes(const struct ask_screen *screen);     /* they are allowed */
bool ask_has_portal(const struct ask_screen *screen);    /* `w` is offered */
bool ask_has_note_text(const struct ask_screen *screen); /* in any of them */
bool ask_has_written(const struct ask_screen *screen);   /* there is text that would be lost */
struct edit *ask_note(const struct ask_screen *screen);  /* that FOCUS_NOTE writes; NULL: none */
bool ask_sends_at_once(const struct ask_screen *screen);
int64_t ask_left_ms(const struct ask_screen *screen); /* -1: no clock */
bool ask_is_held(const struct ask_screen *screen);
bool ask_is_one_line(const struct ask_screen *screen, const struct field *field);
void ask_focus_field(struct ask_screen *screen); /* where its keys go */

/* field_view.c */
void ask_write_answer(const struct ask_screen *screen, const char *code, struct text *out);
void ask_read_draft(struct ask_screen *screen, const struct json *draft);
/* False: the field (and the step) that must be fixed is where the person is now. */
bool ask_check(struct ask_screen *screen);
void ask_describe(const struct ask_screen *screen, size_t field, struct text *out); /* in words */
bool ask_is_answered(const struct ask_screen *screen, size_t field);
void ask_add_number(struct text *out, double number);
bool ask_key_in_number(struct ask_screen *screen, const struct key *key);
double ask_number_step(const struct field *field);

/* ask_events.c */
void ask_take_end(struct ask_screen *screen, const struct json *whole); /* others decided */
void ask_send(struct ask_screen *screen);
void ask_describe_all(const struct ask_screen *screen, struct text *out);
bool ask_needs_code(const struct ask_screen *screen); /* what is chosen now */
void ask_cancel(struct ask_screen *screen);
void ask_take_code(struct ask_screen *screen);
void ask_leave_code(struct ask_screen *screen);
void ask_touch(struct ask_screen *screen); /* something was changed: a draft is due */
void ask_pass_time(struct ask_screen *screen, struct screen_time now);

void ask_read_talk(struct ask_screen *screen, const struct json *whole);
void ask_send_back(struct ask_screen *screen);

/* ask_keys.c and ask_input.c */
void ask_take_digits(struct ask_screen *screen);
bool ask_key_in_field(struct ask_screen *screen, const struct key *key);
void ask_step(struct ask_screen *screen, int by); /* to another question */
void ask_send_or_go_on(struct ask_screen *screen);
bool ask_enter_ticks(const struct ask_screen *screen, const struct field_state *state);
bool ask_scrolls(struct ask_screen *screen, const struct key *key); /* the key was for that */
void ask_extend(struct ask_screen *screen, int by_s);
void ask_go_to_browser(struct ask_screen *screen);
void ask_add_written(const struct ask_screen *screen, struct text *out);
void ask_copy_written(struct ask_screen *screen);

/* ask_header.c */
const struct markup *ask_preview(const struct ask_screen *screen); /* under the cursor; or NULL */
const char *ask_question(const struct field *shown);               /* the words of one of several */
/* In the title's row: where the title is only one of the questions, that of the step. */
const char *ask_title(const struct ask_screen *screen);

#endif
