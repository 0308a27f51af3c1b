/*
 * postgres.h - the store port over a PostgreSQL database that any number of hubs share. Everything
 * runs in the loop; only opening and closing wait.
 */
#ifndef STORE_POSTGRES_POSTGRES_H
#define STORE_POSTGRES_POSTGRES_H
#include <stdbool.h>

struct error;
struct loop;
struct store;
struct text;

/* `url` is postgres://… It may wait for ten seconds for the server, and longer for others that
 * bring the tables up to date. The loop must not be running. */
bool postgres_store_open(struct loop *loop, const char *url, struct store **ret_store,
                         struct error *err);

/* The address as people may see it, well written or not: no password, no parameters. */
void postgres_write_name(const char *url, struct text *out);

/* What a person should know of a store that postgres_store_open gave. */
struct postgres_facts {
    const char *shown;   /* its address without the password; borrowed */
    bool is_commit_kept; /* a commit is on the server's disk before it is told */
    bool has_standby;    /* and on a standby's: a failover loses nothing */
    bool is_pooled;      /* a pooler stands between: others' writes are seen within 2 s */
    bool is_hearing;     /* others' writes are heard of immediately */
};
void postgres_store_facts(struct store *store, struct postgres_facts *out);

#endif
