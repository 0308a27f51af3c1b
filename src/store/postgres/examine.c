/* examine.c - see examine.h. */
#include "store/postgres/examine.h"

#include "base/error.h"
#include "loop/loop.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/postgres/result.h"
#include "store/postgres/schema.h"
#include "store/postgres/start.h"

enum { EXAMINE_MS = 5000 };

static const char server_sql[] =
    "SELECT to_regclass('sayso') IS NOT NULL AND to_regclass('tokens') IS NOT NULL,"
    " current_setting('synchronous_commit') <> 'off',"
    " current_setting('synchronous_standby_names') <> ''"
    " AND current_setting('synchronous_commit') NOT IN ('off', 'local'),"
    " floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
static const char store_sql[] =
    "WITH shown AS (SELECT kind, expires_ms,"
    " floor(extract(epoch FROM clock_timestamp()) * 1000) AS now FROM tokens WHERE revoked_ms = 0)"
    " SELECT (SELECT version FROM sayso), EXISTS (SELECT FROM meta WHERE name = 'migrating'),"
    " count(*) FILTER (WHERE kind IN ('agent', 'host') AND (expires_ms = 0 OR expires_ms > now)),"
    " count(*) FILTER (WHERE expires_ms = 0 OR expires_ms > now),"
    " count(*) FILTER (WHERE expires_ms > 0 AND expires_ms <= now) FROM shown";

static bool look(struct start *start, struct postgres_examined *out, struct error *err)
{
    int64_t sent_ms = loop_boot_ms(), took_ms;
    PGresult *result = NULL;
    bool is_made;

    if (!start_run(start, server_sql, NULL, &result, err))
        return false;
    took_ms = loop_boot_ms() - sent_ms;
    is_made = result_flag(result, 0, 0);
    out->is_commit_kept = result_flag(result, 0, 1);
    out->has_standby = result_flag(result, 0, 2);
    out->ahead_ms = result_integer(result, 0, 3) - (loop_utc_ms() - took_ms / 2);
    libpq.clear(result);
    if (!is_made)
        return true;
    if (!start_run(start, store_sql, NULL, &result, err))
        return false;
    out->version = (int)result_integer(result, 0, 0);
    out->is_migrating = result_flag(result, 0, 1);
    out->agent_tokens = result_integer(result, 0, 2);
    out->all_tokens = result_integer(result, 0, 3);
    out->expired_tokens = result_integer(result, 0, 4);
    libpq.clear(result);
    return true;
}

bool postgres_examine(const char *url, struct postgres_examined *out, struct error *err)
{
    struct address *address = NULL;
    struct start *start = NULL;
    bool ok;

    *out = (struct postgres_examined){ .our_version = postgres_schema_version() };
    *err = (struct error){ 0 };
    ok = libpq_load(err) && address_parse(url, &address, err) &&
         start_open(address, EXAMINE_MS, &start, err) && look(start, out, err);
    start_close(start);
    address_free(address);
    return ok;
}
