/*
 * origin.h - what a request's head says about where it comes from and whom it means: Host, Origin,
 * Sec-Fetch-Site, Authorization (reliability.md A1 to A5). Pure, exact, no prefixes.
 */
#ifndef NET_ORIGIN_H
#define NET_ORIGIN_H
#include <stdbool.h>

struct http_virtual_host;

enum { ORIGIN_TOKEN_BYTES = 128 }; /* more than any token of ours has */

/* Each value may be NULL: the header is absent. */
bool origin_is_our_host(const char *host, int port);      /* must be there */
bool origin_is_ours(const char *origin, int port);        /* absent: not a browser's, fine */
bool origin_is_from_our_page(const char *sec_fetch_site); /* likewise */
/* The same for a listener that others come to: it is called by its public name, or by the very
 * address ("10.0.0.5:7443") that the peer came to, which no name service can be made to lie about.
 */
bool origin_is_host_of(const struct http_virtual_host *virtual_host, const char *address,
                       const char *host);
bool origin_is_of(const struct http_virtual_host *virtual_host, const char *address,
                  const char *origin);
/* Reads "https://name[:port]", and nothing behind it but a slash, into origin, host and
 * public_port of the site; false: it is not that. */
bool origin_read_url(const char *url, struct http_virtual_host *virtual_host);
/* The token of `Bearer …`; NULL: another scheme, or nothing that could be one of ours. */
const char *origin_bearer(const char *authorization);
/* "application/json; charset=utf-8" is of type "application/json". */
bool origin_is_type(const char *content_type, const char *type);

#endif
