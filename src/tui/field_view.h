/*
 * field_view.h - how a kind of field is shown and answered in the terminal: a row a kind, beside
 * what its class says (core/fields/field_class.h). Functions that are not there have nothing to do;
 * what stands in the field is written by its class.
 */
#ifndef TUI_FIELD_VIEW_H
#define TUI_FIELD_VIEW_H
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "tui/ask_state.h"

struct plain_screen;

struct field_view {
    bool is_list;         /* its items are field_list.c's */
    enum ask_focus focus; /* who has the keys when it is entered */
    void (*begin)(struct field_state *state);
    void (*draw)(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                 const struct draw_plan *plan);
    /* Arrows, Home, End and pages; by default Left and Right go to the neighbors. */
    void (*key)(struct ask_screen *screen, struct field_state *state, enum key_code code);
    void (*digit)(struct ask_screen *screen, struct field_state *state, char digit);
    void (*hints)(const struct ask_screen *screen, const struct field_state *state,
                  struct pen *pen);
    /* The plain view: what it asks for, and a line in reply, false if that is not understood. By
     * default it takes lines of text. */
    void (*prompt)(const struct field_state *state, struct text *out);
    bool (*take_line)(struct plain_screen *screen, struct field_state *state, const char *line);
    void (*read)(struct field_state *state, const struct json *value);
    void (*describe)(const struct field_state *state, struct text *out); /* "" while it is empty */
};

extern const struct field_view field_views[FIELD_KIND_COUNT];

static inline const struct field_view *view_of(const struct field_state *state)
{
    return &field_views[state->field->kind];
}

/* What rows share: ask_keys.c, ask_draw.c, ask_hints.c, plain_screen.c. */
void ask_list_key(struct ask_screen *screen, struct field_state *state, enum key_code code);
void ask_list_digit(struct ask_screen *screen, struct field_state *state, char digit);
void draw_options(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                  const struct draw_plan *plan);
void draw_list_hints(const struct ask_screen *screen, const struct field_state *state,
                     struct pen *pen);
void draw_text_hints(const struct ask_screen *screen, const struct field_state *state,
                     struct pen *pen);
void draw_number_hints(const struct ask_screen *screen, const struct field_state *state,
                       struct pen *pen);
void plain_prompt_choice(const struct field_state *state, struct text *out);
void plain_prompt_number(const struct field_state *state, struct text *out);
bool plain_take_choice(struct plain_screen *screen, struct field_state *state, const char *line);
bool plain_take_number(struct plain_screen *screen, struct field_state *state, const char *line);

/*
 * field_list.c: the rows a person chooses from: options, own words, yes and no. An item is the
 * place of an option in its field; own words have the place behind the last option, yes and no are
 * 0 and 1.
 */

enum { LIST_MAX = LIMIT_OPTIONS + 2 };

/* Those that are shown now, in their order: not hidden, not filtered out. */
size_t list_items(const struct ask_screen *screen, const struct field_state *state,
                  size_t items[LIST_MAX]);
bool list_is_shown(const struct ask_screen *screen, const struct field_state *state, size_t item);
size_t list_item_count(const struct field_state *state);     /* of all */
size_t list_numbered_count(const struct field_state *state); /* of all but own words */
size_t list_hidden_count(const struct ask_screen *screen, const struct field_state *state);
size_t list_picked_count(const struct field_state *state); /* of options */
bool list_is_own(const struct field_state *state, size_t item);
bool list_is_picked(const struct field_state *state, size_t item);
bool list_is_one_of_many(const struct field_state *state); /* picking one unpicks the others */

void list_pick(struct ask_screen *screen, struct field_state *state, size_t item);
/* Picks or unpicks; false: so many are picked already, and the person was told. */
bool list_toggle(struct ask_screen *screen, struct field_state *state, size_t item);
void list_move(struct ask_screen *screen, struct field_state *state, int by);
void list_move_to_shown(struct ask_screen *screen, struct field_state *state);
void list_tick_all(struct ask_screen *screen, struct field_state *state, bool is_on);
/* "Choose 1 to 3". Appends. */
void list_add_rule(const struct field_state *state, struct text *out);

#endif
