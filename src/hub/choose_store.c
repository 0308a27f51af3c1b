/* choose_store.c - see choose_store.h. */
#include "hub/choose_store.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "settings/settings.h"
#include "store/postgres/postgres.h"
#include "store/sqlite.h"
#include "wire/place.h"

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgres://", 11) == 0 || strncmp(store, "postgresql://", 13) == 0;
}

/* What an operator should know who relies on it (docs/operations.md). */
static void tell_facts(struct store *store)
{
    struct postgres_facts facts;

    postgres_store_facts(store, &facts);
    log_info("store.shared", "address=%s hears=%s", facts.shown, facts.is_hearing ? "yes" : "no");
    if (!facts.is_commit_kept)
        log_warning("store.commit_not_kept", "synchronous_commit is off: answers may be lost when "
                                             "the database crashes; set it to on");
    if (!facts.has_standby)
        log_warning("store.no_standby", "synchronous_standby_names is empty: a failover may lose "
                                        "what was just stored");
    if (facts.is_pooled)
        log_warning("store.pooled", "a pooler in transaction mode: what other hubs do is seen "
                                    "within 2 s; connect directly for less");
}

bool choose_store(struct loop *loop, const struct settings *settings, const struct place *place,
                  struct store **ret_store, struct error *err)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (!store[0])
        return sqlite_store_open(loop, place->database, ret_store, err);
    if (is_postgres(store)) {
        if (!postgres_store_open(loop, store, ret_store, err))
            return false;
        tell_facts(*ret_store);
        return true;
    }
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
