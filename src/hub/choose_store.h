/* choose_store.h - which store this hub works on: its own file, or a database that others share. */
#ifndef HUB_CHOOSE_STORE_H
#define HUB_CHOOSE_STORE_H
#include <stdbool.h>

struct error;
struct loop;
struct place;
struct settings;
struct store;
struct text;

bool choose_store(struct loop *loop, const struct settings *settings, const struct place *place,
                  struct store **ret_store, struct error *err);
/* What people are told of it: a path, or an address without its parameters. */
void choose_store_name(const struct settings *settings, const struct place *place,
                       struct text *out);
/* What the setting `store` of this user is for a hub that starts now: an address, for the caller to
 * free; NULL: a file of its own. False: the settings can't be read. */
bool choose_store_find(const struct place *place, char **ret_store, struct error *err);

#endif
