/*
 * fault.h - what an error of PostgreSQL means for us, by its SQLSTATE, and what to tell people.
 * What the server says may hold people's words, so only its code is passed on.
 */
#ifndef STORE_POSTGRES_FAULT_H
#define STORE_POSTGRES_FAULT_H
#include <libpq-fe.h>
#include <stdbool.h>

struct error;

enum fault {
    FAULT_NONE,
    FAULT_DATA,     /* this one statement was refused, and would be again */
    FAULT_AGAIN,    /* the next try may do: somebody was in the way */
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

#endif
