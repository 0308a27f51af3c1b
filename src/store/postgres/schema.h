/*
 * schema.h - the tables and functions in PostgreSQL, as one statement that makes them, brings them
 * up to date or finds that there is nothing to do. It is one transaction under a lock of its own,
 * so hubs that start at once wait for each other, and a killed one leaves the old or the new.
 *
 * Everything is in the first schema of the connection's search_path (public, where nothing else is
 * said). Ours is known by the table `sayso`, which counts the steps behind it; who finds other
 * tables there and not that one leaves them alone.
 */
#ifndef STORE_POSTGRES_SCHEMA_H
#define STORE_POSTGRES_SCHEMA_H
#include <stdbool.h>

struct error;
struct text;

int postgres_schema_version(void); /* that this program writes */
/* One statement without parameters, not to be prepared: DO. A newer text may take long. */
void postgres_schema_write(struct text *out);
/* After it failed: true if the schema itself refused, and `err` says why and what helps. */
bool postgres_schema_refused(const char *sqlstate, const char *message, struct error *err);

#endif
