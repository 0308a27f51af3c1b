/*
 * address.h - where the database is, out of the setting `store`, with what we want of every
 * connection unless the setting says otherwise. One for all connections, so that what one finds
 * out about the server the others know. It holds the password; nothing made of it for people does.
 */
#ifndef STORE_POSTGRES_ADDRESS_H
#define STORE_POSTGRES_ADDRESS_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct error;

/* True: this is for PostgreSQL, well written or not. */
bool address_is_ours(const char *url);
bool address_parse(const char *url, struct address **ret_address, struct error *err);
void address_free(struct address *address); /* NULL is fine */
/* postgres://USER@HOST:PORT/DATABASE, for logs and status; borrowed. */
const char *address_shown(const struct address *address);
int64_t address_connect_ms(const struct address *address); /* the longest a try may take */

/* A pooler gives us another session with each transaction: nothing is kept in one. */
void address_set_pooled(struct address *address);
bool address_is_pooled(const struct address *address);
/* It does not even let us say what we want of a session. */
void address_drop_options(struct address *address);

/* Hosts that have to be looked up, by number; NULL: no more. */
const char *address_host(const struct address *address, size_t number);
struct address_keywords {
    const char *keywords[96], *values[96];
    char *hosts, *numbers, *ports; /* owned */
};
/* For PQconnectStartParams. `numbers[i]` are the addresses of host i, a comma between, NULL where
 * it has none; `first` is where in the list to begin. False: no host has any. `numbers` NULL: names
 * stay as they are, libpq looks them up, and who calls it waits. */
bool address_keywords_init(const struct address *address, char *const *numbers, size_t first,
                           struct address_keywords *out);
void address_keywords_release(struct address_keywords *keywords);
/* Begins to connect with them, and releases them; never NULL. */
PGconn *address_connect(struct address_keywords *keywords);

/* The first line of what libpq said, without the password and without what is not plain. */
void address_clean(const struct address *address, const char *said, char *out, size_t size);

#endif
