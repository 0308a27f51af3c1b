/* fault.c - see fault.h. Codes: PostgreSQL's documentation, appendix A. */
#include "store/postgres/fault.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/libpq.h"

/* The first row whose code begins a state is meant: a class has two characters. */
static const struct {
    const char *code;
    enum fault fault;
} by_state[] = {
    { "40001", FAULT_AGAIN },    { "40P01", FAULT_AGAIN },   { "55P03", FAULT_AGAIN },
    { "57014", FAULT_AGAIN },    { "26000", FAULT_SESSION }, { "42P05", FAULT_SESSION },
    { "25006", FAULT_GONE },     { "25P03", FAULT_GONE },    { "25P04", FAULT_GONE },
    { "08", FAULT_GONE },        { "57P", FAULT_GONE },      { "F0", FAULT_GONE },
    { "53", FAULT_FULL },        { "54000", FAULT_FULL },    { "58030", FAULT_FULL },
    { "42501", FAULT_RIGHTS },   { "42P01", FAULT_SCHEMA },  { "42883", FAULT_SCHEMA },
    { "42703", FAULT_SCHEMA },   { "3F000", FAULT_SCHEMA },  { "28", FAULT_LOGIN },
    { "3D000", FAULT_DATABASE },
};
static const char *const remedies[FAULT_COUNT] = {
    [FAULT_NONE] = "the database refused this",
    [FAULT_DATA] = "the database refused this; nothing of it was stored",
    [FAULT_AGAIN] = "the database is too busy; nothing was stored: try again",
    [FAULT_SESSION] = "the pooler before the database mixes sessions up: try again",
    [FAULT_GONE] = "the database does not answer; nothing was stored: try again",
    [FAULT_FULL] = "the database has no room left (disk, memory or connections); nothing was "
                   "stored: make room, then try again",
    [FAULT_RIGHTS] = "our user may not do this in the database: let it own the schema, or "
                     "GRANT ALL ON SCHEMA public to it",
    [FAULT_SCHEMA] = "tables or functions of sayso are missing in the database: restart sayso, "
                     "it makes them anew",
    [FAULT_LOGIN] = "the database refused the user or the password: look at the setting store, "
                    "or at ~/.pgpass and the server's pg_hba.conf",
    [FAULT_DATABASE] = "the server has no database of that name: make it with createdb, or name "
                       "another in the setting store",
};

enum fault fault_of_state(const char *sqlstate)
{
    if (!*sqlstate)
        return FAULT_GONE;
    for (size_t i = 0; i < ARRAY_LEN(by_state); i++) {
        if (strncmp(sqlstate, by_state[i].code, strlen(by_state[i].code)) == 0)
            return by_state[i].fault;
    }
    return FAULT_DATA;
}

const char *fault_state(const PGresult *result)
{
    const char *state = result ? libpq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    return state ? state : "";
}

enum fault fault_of(const PGresult *result)
{
    switch (libpq.resultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        return FAULT_NONE;
    case PGRES_PIPELINE_ABORTED:
        return FAULT_AGAIN; /* something before it was refused */
    default:
        return fault_of_state(fault_state(result));
    }
}

void fault_describe(enum fault fault, const char *sqlstate, struct error *err)
{
    error_set(err, ERROR_storage_failed, "", "%s%s%s%s", remedies[fault],
              *sqlstate ? " (SQLSTATE " : "", sqlstate, *sqlstate ? ")" : "");
}
