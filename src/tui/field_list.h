/*
 * field_list.h - the rows a person chooses from: options, own words, yes and no. An item is the
 * place of an option in its field; own words have the place behind the last option, yes and no are
 * 0 and 1.
 */
#ifndef TUI_FIELD_LIST_H
#define TUI_FIELD_LIST_H
#include <stdbool.h>
#include <stddef.h>

#include "core/limits.h"

struct ask_screen;
struct field_state;
struct text;

enum { LIST_MOST = LIMIT_OPTIONS + 2 };

/* Those that are shown now, in their order: not hidden, not filtered out. */
size_t list_items(const struct ask_screen *screen, const struct field_state *state,
                  size_t items[LIST_MOST]);
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
