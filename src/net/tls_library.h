/*
 * tls_library.h - OpenSSL, loaded when TLS is configured and not before: a hub or client without
 * TLS neither starts slower for it nor needs it installed.
 */
#ifndef NET_TLS_LIBRARY_H
#define NET_TLS_LIBRARY_H
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

struct error;

/* Each function under its own name, with the type that the headers give it. */
struct tls_library {
#define TLS_SSL(name)    __typeof__(name) *name;
#define TLS_CRYPTO(name) __typeof__(name) *name;
#include "net/tls_library.def"
#undef TLS_SSL
#undef TLS_CRYPTO
};

/* The one table, lent for ever. NULL: it is not there, or not of version 3; `err` says what to
 * install. May be called from any thread. */
const struct tls_library *tls_library_get(struct error *err);

#endif
