/* choose_store.c - see choose_store.h. */
#include "hub/choose_store.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "settings/settings.h"
#include "store/postgres/postgres.h"
#include "store/sqlite.h"
#include "wire/place.h"

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgres://", 11) == 0 || strncmp(store, "postgresql://", 13) == 0;
}

bool choose_store(struct loop *loop, const struct settings *settings, const struct place *place,
                  struct store **ret_store, struct error *err)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (!store[0])
        return sqlite_store_open(loop, place->database, ret_store, err);
    if (is_postgres(store))
        return postgres_store_open(loop, store, ret_store, err);
    return error_set(err, ERROR_bad_format, "/store",
                     "store is empty for a file of this hub's own, or the address of a database, "
                     "as postgres://USER@HOST/DATABASE (sayso settings reset store)");
}

void choose_store_name(const struct settings *settings, const struct place *place, struct text *out)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (store[0])
        postgres_write_name(store, out); /* it may hold a password */
    else
        text_add_text(out, place->database);
}

char *choose_store_find(const struct place *place)
{
    struct settings *settings = settings_new();
    const char *store;
    char *found;

    settings_load_environment(settings);
    settings_load_file(settings, place->settings);
    store = settings_text(settings, SETTING_STORE);
    found = store[0] ? mem_text(store) : NULL;
    settings_free(settings);
    return found;
}
