/*
 * schema.h - the tables, as a list of steps from one version of the file to the next.
 * PRAGMA user_version counts the steps a file has behind it; step and count change in one
 * transaction, so a killed process leaves the old version or the new one.
 */
#ifndef STORE_SQLITE_SCHEMA_H
#define STORE_SQLITE_SCHEMA_H
#include <sqlite3.h>

#include "store/sql_constants.h"

#define SCHEMA_PART ">> 8" /* from the number of an ask to the part of the index its id is in */

/* Of an ask: after its deadline a person told the agent something that it has not heard yet. */
#define SCHEMA_UNHEARD "(flags & " SQL_ASK_TOLD_OR_HEARD ") = " SQL_ASK_TOLD

/* "says", so that file(1) and we know our own. */
enum { SCHEMA_APPLICATION_ID = 0x73617973 };

enum schema_outcome {
    SCHEMA_READY,   /* ours, or empty */
    SCHEMA_NEWER,   /* written by a later sayso */
    SCHEMA_FOREIGN, /* someone else's database */
    SCHEMA_DAMAGED, /* tables and version do not belong together */
    SCHEMA_FAILED,  /* sqlite3_errcode says why */
};
enum schema_outcome schema_look(sqlite3 *db); /* reads only */
/* After schema_look said READY. A failed step leaves its transaction open: closing the connection
 * undoes it, and until then the connection says what went wrong. */
enum schema_outcome schema_upgrade(sqlite3 *db);
int schema_version(void); /* that this program writes */

#endif
