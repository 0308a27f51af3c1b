/*
 * site.h - the listener for other machines, as the settings want it: listen, tls_cert, tls_key,
 * public_url, listen_plain. Refuses whatever would let tokens go over a network in the clear.
 */
#ifndef HUB_SITE_H
#define HUB_SITE_H
#include <stdbool.h>

struct error;
struct http_site;
struct settings;
struct tls_context;

bool site_is_wanted(const struct settings *settings);
/* On false `err` names the setting and what it takes. */
bool site_read(const struct settings *settings, struct http_site *ret_site, struct error *err);
/* The certificate as it is now; *ret_tls is NULL where none is set. */
bool site_load_tls(const struct settings *settings, struct tls_context **ret_tls,
                   struct error *err);

#endif
