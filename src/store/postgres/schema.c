/*
 * schema.c - see schema.h; the SQL is in sql/. Released steps are never edited, only followed by
 * new ones. Functions are replaced whenever their text is not the one the database has.
 */
#include "store/postgres/schema.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/store.h"

_Static_assert(STORE_DONE == 0 && STORE_LOST == 1 && STORE_REPEATED == 2 && STORE_MISSING == 3,
               "the functions return them by number");
_Static_assert(STORE_PAST_DEADLINE == 1 && STORE_BEFORE_DELIVERY == 2 && STORE_ABANDONED == 3,
               "sayso_change knows them");

/* Made of sql/ by tools/bundle_sql. */
extern const char schema_open[], schema_drop[], schema_functions[], schema_step_1[],
    schema_step_2[], schema_step_3[], schema_step_4[], schema_step_5[];

static const char *const steps[] = { schema_step_1, schema_step_2, schema_step_3, schema_step_4,
                                     schema_step_5 };

static const struct {
    const char *sqlstate, *remedy;
} refusals[] = {
    { "SY001", "it was written by a later sayso: use that one, or a newer one" },
    { "SY002", "it contains other tables: use a separate database, or a schema "
               "(options=-csearch_path=NAME)" },
    { "SY003", "its tables and its version do not belong together: restore it from a backup" },
    { "SY004", "create the database with ENCODING 'UTF8'" },
    { "SY005", "PostgreSQL 13 or later is needed" },
    { "SY007", "an earlier sayso still uses it: stop all hubs, wait 15 seconds, then start again" },
    { "SY006", "no schema that it names is there: create it, or name another" },
};

int postgres_schema_version(void)
{
    return (int)ARRAY_LEN(steps);
}

bool postgres_schema_refused(const char *sqlstate, const char *message, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (strcmp(sqlstate, refusals[i].sqlstate) != 0)
            continue;
        error_set(err, ERROR_storage_failed, "", "the database cannot be used (%s): %s", message,
                  refusals[i].remedy);
        return true;
    }
    return false;
}

static void write_functions(struct text *out)
{
    uint8_t hash[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    hash_parts(&(struct hash_part){ schema_functions, strlen(schema_functions) }, 1, hash);
    hash_hex(hash, HASH_BYTES, hex);
    text_add_format(out, "IF behind < %d OR made_of <> '%s' THEN\n", postgres_schema_version(),
                    hex);
    text_add_text(out, schema_drop);
    text_add_text(out, schema_functions);
    text_add_text(out, "IF behind < 5 THEN PERFORM sayso_list_asks(); END IF;\n");
    text_add_format(out, "UPDATE sayso SET version = %d, functions = '%s';\nEND IF;\n",
                    postgres_schema_version(), hex);
}

void postgres_schema_write(struct text *out)
{
    text_add_text(out, schema_open);
    text_add_format(out,
                    "IF behind > %d THEN RAISE EXCEPTION 'version %%', behind"
                    " USING ERRCODE = 'SY001'; END IF;\n",
                    postgres_schema_version());
    for (int step = 0; step < postgres_schema_version(); step++) {
        text_add_format(out, "IF behind < %d THEN\n", step + 1);
        text_add_text(out, steps[step]);
        text_add_text(out, "END IF;\n");
    }
    write_functions(out);
    text_add_text(out, "END $sayso$");
}

enum {
    START_PAUSE_MS = 200,
    START_SAID_BYTES = 300,
    STATE_BYTES = 6,
    SCHEMA_MS = 600000, /* others may be bringing it up to date, or it is big */
    BEHIND_SCHEMA_MS = 10000,
};

struct start {
    struct address *address;
    PGconn *connection;
    int64_t limit_ms;
    char state[STATE_BYTES];
    char said[START_SAID_BYTES]; /* by the server, plain */
};

/* False: the time is over. */
static bool wait_for(const struct start *start, short events)
{
    int64_t left = start->limit_ms - loop_boot_ms();
    struct pollfd poll_for = { libpq.socket(start->connection), events, 0 };

    return left > 0 && poll(&poll_for, 1, (int)left) != 0; /* interrupted: looked at again */
}

/* libpq puts it between two colons: "FATAL:  28P01: password ..."; the words around it may be in
 * any language. */
static void find_state(const char *said, char out[STATE_BYTES])
{
    out[0] = '\0';
    for (const char *at = strstr(said, ":  "); at; at = strstr(at + 1, ":  ")) {
        size_t length = strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        if (length == STATE_BYTES - 1 && at[3 + length] == ':') {
            memcpy(out, at + 3, length);
            out[length] = '\0';
            return;
        }
    }
}

static void describe_failure(const struct start *start, struct error *err)
{
    enum fault fault = fault_of_state(start->state);
    struct error meaning;

    if (strstr(start->said, "read-only") || strstr(start->said, "read only")) {
        error_set(err, ERROR_storage_failed, "",
                  "the database at %.160s is a standby, which can't be written to: name the "
                  "primary in the setting store, or all of them (host=A,B)",
                  address_shown(start->address));
    } else if (fault == FAULT_GONE && strcmp(start->state, "57P03") != 0) { /* it is starting */
        error_set(err, ERROR_storage_failed, "",
                  "the database at %.160s can't be reached (%.180s): start it, or look at the "
                  "setting store",
                  address_shown(start->address), start->said);
    } else {
        fault_describe(fault == FAULT_DATA ? FAULT_GONE : fault, start->state, &meaning);
        error_set(err, ERROR_storage_failed, "", "%.160s: %.300s", address_shown(start->address),
                  meaning.message);
    }
}

static void keep_why(struct start *start, const char *said)
{
    find_state(said, start->state);
    if (strstr(said, "unsupported startup parameter"))
        address_drop_options(start->address);
    address_clean(start->address, said, start->said, sizeof start->said);
}

/* Once through all hosts. libpq looks names up by itself here: nothing else waits yet. */
static bool try_once(struct start *start)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    struct address_keywords keywords;

    address_keywords_init(start->address, NULL, 0, &keywords);
    start->connection = address_connect(&keywords);
    if (libpq.status(start->connection) == CONNECTION_BAD)
        status = PGRES_POLLING_FAILED;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        if (!wait_for(start, status == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            break;
        status = libpq.connectPoll(start->connection);
    }
    if (status == PGRES_POLLING_OK)
        return true;
    if (status == PGRES_POLLING_FAILED)
        keep_why(start, libpq.errorMessage(start->connection));
    else if (!*start->said) /* else an earlier try was told why, which says more */
        keep_why(start, "the server does not answer");
    libpq.finish(start->connection);
    start->connection = NULL;
    return false;
}

bool start_open(struct address *address, int64_t limit_ms, struct start **ret_start,
                struct error *err)
{
    struct start *start = mem_new(sizeof *start);

    start->address = address;
    start->limit_ms = loop_boot_ms() + limit_ms;
    while (!try_once(start)) {
        enum fault fault = fault_of_state(start->state);
        const struct timespec pause = { 0, START_PAUSE_MS * 1000000L };
        bool may_come = fault == FAULT_GONE || fault == FAULT_FULL;

        if (!may_come || start->limit_ms - loop_boot_ms() <= START_PAUSE_MS) {
            describe_failure(start, err);
            start_close(start);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    *ret_start = start;
    return true;
}

void start_close(struct start *start)
{
    if (start && start->connection)
        libpq.finish(start->connection);
    free(start);
}

void start_extend(struct start *start, int64_t limit_ms)
{
    start->limit_ms = loop_boot_ms() + limit_ms;
}

const char *start_state(const struct start *start)
{
    return start->state;
}

/* NULL: the connection or the time is over. */
static PGresult *wait_result(struct start *start)
{
    while (libpq.isBusy(start->connection)) {
        if (!wait_for(start, POLLIN) || !libpq.consumeInput(start->connection))
            return NULL;
    }
    return libpq.getResult(start->connection);
}

static bool take_results(struct start *start, PGresult **ret_result)
{
    PGresult *kept = NULL, *result;
    bool is_fine = true;

    while ((result = wait_result(start))) {
        if (is_fine) { /* the last that was fine, or the first that was not */
            libpq.clear(kept);
            kept = result;
            is_fine = fault_of(result) == FAULT_NONE;
        } else {
            libpq.clear(result);
        }
    }
    *ret_result = kept;
    return kept && is_fine && libpq.status(start->connection) == CONNECTION_OK;
}

static void describe_refusal(struct start *start, const PGresult *result, struct error *err)
{
    const char *said = result ? libpq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    struct error meaning;

    snprintf(start->state, sizeof start->state, "%s", fault_state(result));
    address_clean(start->address, said ? said : "it does not answer", start->said,
                  sizeof start->said);
    fault_describe(fault_of_state(start->state), start->state, &meaning);
    error_set(err, ERROR_storage_failed, "", "%.120s: %.200s: %.150s",
              address_shown(start->address), start->said, meaning.message);
}

bool start_run(struct start *start, const char *text, const struct params *params,
               PGresult **ret_result, struct error *err)
{
    struct params_view view;
    PGresult *result = NULL;
    bool ok;

    start->state[0] = start->said[0] = '\0';
    if (params) {
        params_look(params, &view);
        ok = libpq.sendQueryParams(start->connection, text, params->count, NULL, view.values,
                                   view.lengths, view.formats, 0);
    } else {
        ok = libpq.sendQuery(start->connection, text);
    }
    ok = ok && take_results(start, &result);
    if (!ok)
        describe_refusal(start, result, err);
    if (ok && ret_result)
        *ret_result = result;
    else
        libpq.clear(result);
    return ok;
}

bool start_make_schema(struct start *start, struct error *err)
{
    struct text schema = { 0 };
    bool ok;

    start_extend(start, SCHEMA_MS);
    postgres_schema_write(&schema);
    ok = start_run(start, "SET statement_timeout = '595s'; SET lock_timeout = '590s'", NULL, NULL,
                   err) &&
         start_run(start, text_string(&schema), NULL, NULL, err);
    if (!ok)
        postgres_schema_refused(start->state, start->said, err);
    text_release(&schema);
    start_extend(start, BEHIND_SCHEMA_MS);
    return ok;
}

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
