/*
 * sql.h - one statement for PostgreSQL. A named one is prepared where it is first used on a
 * connection; a name stands for one text for ever, so these are constants.
 */
#ifndef STORE_POSTGRES_SQL_H
#define STORE_POSTGRES_SQL_H

struct sql {
    const char *name; /* unique in the program; NULL: not worth preparing */
    const char *text; /* with $1, $2 and so on; one statement */
};

#endif
