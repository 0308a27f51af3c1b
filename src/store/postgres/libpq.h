/*
 * libpq.h - libpq as it is used here: loaded at run time, with its parameters, results, and
 * faults.
 */
#ifndef STORE_POSTGRES_LIBPQ_H
#define STORE_POSTGRES_LIBPQ_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct column;
struct column_value;
struct columns;
struct error;

/* PostgreSQL's client library, loaded when a store is there and not before: a program that keeps
 * its asks in a file should neither wait for it nor need it. Its functions are called as
 * libpq.getvalue(…) for PQgetvalue. */

#define LIBPQ_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(backendPID)                                                                           \
    FUNCTION(clear)                                                                                \
    FUNCTION(cmdStatus)                                                                            \
    FUNCTION(connectPoll)                                                                          \
    FUNCTION(connectStartParams)                                                                   \
    FUNCTION(conninfoFree)                                                                         \
    FUNCTION(conninfoParse)                                                                        \
    FUNCTION(consumeInput)                                                                         \
    FUNCTION(enterPipelineMode)                                                                    \
    FUNCTION(errorMessage)                                                                         \
    FUNCTION(finish)                                                                               \
    FUNCTION(flush)                                                                                \
    FUNCTION(freemem)                                                                              \
    FUNCTION(getResult)                                                                            \
    FUNCTION(getisnull)                                                                            \
    FUNCTION(getvalue)                                                                             \
    FUNCTION(isBusy)                                                                               \
    FUNCTION(nfields)                                                                              \
    FUNCTION(notifies)                                                                             \
    FUNCTION(ntuples)                                                                              \
    FUNCTION(pipelineSync)                                                                         \
    FUNCTION(resultErrorField)                                                                     \
    FUNCTION(resultStatus)                                                                         \
    FUNCTION(sendPrepare)                                                                          \
    FUNCTION(sendQuery)                                                                            \
    FUNCTION(sendQueryParams)                                                                      \
    FUNCTION(sendQueryPrepared)                                                                    \
    FUNCTION(setErrorVerbosity)                                                                    \
    FUNCTION(setNoticeProcessor)                                                                   \
    FUNCTION(setnonblocking)                                                                       \
    FUNCTION(socket)                                                                               \
    FUNCTION(status)

/* The types are those of libpq-fe.h itself, so that a table of our own can't say otherwise. */
#define LIBPQ_MEMBER(name) __typeof__(PQ##name) *name;
struct libpq {
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
};
extern struct libpq libpq;

/* Once is enough; again is harmless. `err` says what to install. */
bool libpq_load(struct error *err);

/* What an error of PostgreSQL means for us, by its SQLSTATE, and what to tell people. What the
 * server says may hold people's words, so only its code is passed on. */

enum fault {
    FAULT_NONE,
    FAULT_DATA,     /* this one statement was refused, and would be again */
    FAULT_AGAIN,    /* the next try may do: another session was in the way */
    FAULT_SESSION,  /* what this session had prepared is gone: there is a pooler between us */
    FAULT_GONE,     /* this server serves us no longer: connect again */
    FAULT_FULL,     /* its disk, its memory, its connections */
    FAULT_RIGHTS,   /* our user may not do that */
    FAULT_SCHEMA,   /* our tables or functions are not there */
    FAULT_LOGIN,    /* wrong user or password */
    FAULT_DATABASE, /* no such database */
    FAULT_COUNT,
};

enum fault fault_of_state(const char *sqlstate); /* "": FAULT_GONE */
enum fault fault_of(const PGresult *result);     /* FAULT_NONE: it is none */
const char *fault_state(const PGresult *result); /* "" where it has none */
/* storage_failed, with the remedy. */
void fault_describe(enum fault fault, const char *sqlstate, struct error *err);

/* What stands for $1, $2 and so on in a statement, in that order; copied, so that a statement may
 * wait for its connection and be sent twice. Zeroed is empty. */

enum { PARAMS_MAX = 48 };

struct params {
    struct text bytes; /* all values, a NUL behind each */
    int count;
    struct param {
        size_t at; /* in bytes */
        int length;
        bool is_null, is_binary;
    } each[PARAMS_MAX];
};

void params_text(struct params *params, const char *text_or_null);
void params_add(struct params *params, const struct column_value *values, size_t count);
/* Members of `from`. */
void params_values(struct params *params, const struct column *list, size_t count,
                   const void *from);
/* An array, in PostgreSQL's binary form, which needs no quoting. */
enum params_element {
    PARAMS_BYTES = 17,
    PARAMS_NUMBER = 20,
    PARAMS_TEXT = 25
}; /* PostgreSQL's OIDs */
enum params_element params_element_of(const struct column *column);
void params_array(struct params *params, enum params_element element,
                  const struct column_value *values, size_t count);
void params_release(struct params *params);
/* A text as PostgreSQL writes it in an array. */
void params_add_element(struct text *out, const char *text, size_t length);

/* As libpq wants them; borrowed until the next value is added. */
struct params_view {
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
};
void params_look(const struct params *params, struct params_view *out);

/* Values out of a row that PostgreSQL sent. What is not there, or not of that kind, is 0, NULL or
 * empty: a database that others write to may hold anything. */

int result_count(const PGresult *result); /* rows */
bool result_is_null(const PGresult *result, int row, int column);
int64_t result_integer(const PGresult *result, int row, int column);
bool result_flag(const PGresult *result, int row, int column);
/* NULL where it is NULL; borrowed until PQclear. */
const char *result_text(const PGresult *result, int row, int column);
/* A bytea; never more than `size` bytes, the rest of `out` is zeroed. */
void result_bytes(const PGresult *result, int row, int column, void *out, size_t size);
/* Into its member of `out`; a text is borrowed until PQclear. */
void result_column(const PGresult *result, int row, int at, const struct column *column, void *out);
/* All columns of a struct from `first` on, zeroed where absent; texts are borrowed until PQclear.
 */
void result_read(const PGresult *result, int row, int first, const struct columns *columns,
                 void *out);

/* One statement for PostgreSQL. A named one is prepared where it is first used on a connection; a
 * name stands for one text for ever, so these are constants. */

struct sql {
    const char *name; /* unique in the program; NULL: not worth preparing */
    const char *text; /* with $1, $2 and so on; one statement */
};

#endif
