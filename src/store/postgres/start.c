/* start.c - see start.h. */
#include "store/postgres/start.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "store/postgres/address.h"
#include "store/postgres/fault.h"
#include "store/postgres/libpq.h"
#include "store/postgres/params.h"
#include "store/postgres/schema.h"

enum {
    START_PAUSE_MS = 200,
    START_SAID_BYTES = 300,
    STATE_BYTES = 6,
    SCHEMA_MS = 60000, /* others may be bringing it up to date, or it is big */
    BEHIND_SCHEMA_MS = 10000,
};

struct start {
    struct address *address;
    PGconn *connection;
    int64_t limit_ms;
    char state[STATE_BYTES];
    char said[START_SAID_BYTES]; /* by the server, plain */
};

static void no_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

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

static bool is_starting(const char *state)
{
    return strcmp(state, "57P03") == 0;
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
    } else if (fault == FAULT_GONE && !is_starting(start->state)) {
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

/* Once through all hosts. libpq looks names up by itself here: nobody else waits yet. */
static bool try_once(struct start *start)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    struct address_keywords keywords;

    address_keywords_init_plain(start->address, &keywords);
    start->connection =
        mem_or_abort(libpq.connectStartParams(keywords.keywords, keywords.values, 0));
    address_keywords_release(&keywords);
    libpq.setNoticeProcessor(start->connection, no_notice, NULL);
    libpq.setErrorVerbosity(start->connection, PQERRORS_VERBOSE);
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

const char *start_said(const struct start *start)
{
    return start->said;
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
    ok = start_run(start, "SET statement_timeout = '58s'; SET lock_timeout = '55s'", NULL, NULL,
                   err) &&
         start_run(start, text_string(&schema), NULL, NULL, err);
    if (!ok)
        postgres_schema_refused(start_state(start), start_said(start), err);
    text_release(&schema);
    start_extend(start, BEHIND_SCHEMA_MS);
    return ok;
}
