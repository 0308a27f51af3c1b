/*
 * libpq.h - PostgreSQL's client library, loaded when a store is there and not before: a program
 * that keeps its asks in a file should neither wait for it nor need it.
 * Its functions are called as libpq.getvalue(…) for PQgetvalue.
 */
#ifndef STORE_POSTGRES_LIBPQ_H
#define STORE_POSTGRES_LIBPQ_H
#include <libpq-fe.h>
#include <stdbool.h>

struct error;

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
    FUNCTION(getlength)                                                                            \
    FUNCTION(getvalue)                                                                             \
    FUNCTION(isBusy)                                                                               \
    FUNCTION(libVersion)                                                                           \
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
    FUNCTION(serverVersion)                                                                        \
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

#endif
