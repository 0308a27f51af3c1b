/* choose_store.c - see choose_store.h. */
#include "hub/choose_store.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "settings/settings.h"
#include "store/postgres/postgres.h"
#include "store/sqlite.h"
#include "wire/place.h"

/* What an answer that was taken may be lost by, as the server is set up: said once, where it can be
 * mended. */
static void warn_of_losses(struct store *store)
{
    struct postgres_facts facts;

    postgres_store_facts(store, &facts);
    if (!facts.is_commit_kept)
        log_warning("store.commits_not_kept", "setting=synchronous_commit value=off "
                                              "risk=a_crash_of_the_server_loses_answers");
    if (!facts.has_standby)
        log_warning("store.no_standby", "setting=synchronous_standby_names "
                                        "risk=a_failover_loses_answers");
    if (facts.is_pooled)
        log_warning("store.pooled", "pooling=transaction others_are_seen_within_ms=2000");
}

bool choose_store(struct loop *loop, const struct settings *settings, const struct place *place,
                  struct store **ret_store, struct error *err)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (!store[0])
        return sqlite_store_open(loop, place->database, ret_store, err);
    if (!postgres_store_open(loop, store, ret_store, err))
        return false;
    warn_of_losses(*ret_store);
    return true;
}

void choose_store_name(const struct settings *settings, const struct place *place, struct text *out)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (store[0])
        postgres_write_name(store, out); /* it may hold a password */
    else
        text_add_text(out, place->database);
}

bool choose_store_find(const struct place *place, char **ret_store, struct error *err)
{
    struct settings *settings = settings_new();
    const char *store;
    bool ok;

    settings_load(settings, place->settings);
    ok = !settings_problem(settings, err);
    store = settings_text(settings, SETTING_STORE);
    *ret_store = ok && store[0] ? mem_text(store) : NULL;
    settings_free(settings);
    return ok;
}
