/*
 * tls.h - TLS 1.2 and 1.3 without sockets: what came from the peer goes in, what is for the peer
 * comes out, whoever calls moves the bytes (stream.h on a loop, tunnel.c with poll). Memory is
 * bounded by who feeds it: nothing is kept but an unfinished record and what was not taken yet.
 */
#ifndef NET_TLS_H
#define NET_TLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct tls;
struct tls_context;

/* A server's certificate, with the chain behind it, and its key, which nobody else may read. */
bool tls_context_new_server(const char *certificate_file, const char *key_file,
                            struct tls_context **ret_context, struct error *err);
/* From when until when that certificate is good, in ms since 1970. */
bool tls_context_times(const struct tls_context *context, int64_t *ret_from_ms, int64_t *ret_to_ms);
/* Whom a client trusts: the certificates in this file; NULL: those of the system. */
bool tls_context_new_client(const char *ca_file, struct tls_context **ret_context,
                            struct error *err);
/* Connections that were made with it go on. NULL is fine. */
void tls_context_free(struct tls_context *context);

struct tls *tls_new_server(const struct tls_context *context);
/* `host` is a name or an address, and the certificate must be for it. */
struct tls *tls_new_client(const struct tls_context *context, const char *host);
void tls_free(struct tls *tls); /* NULL is fine */

enum tls_outcome {
    TLS_DONE,
    TLS_WANTS_MORE, /* of the peer's bytes */
    TLS_ENDED,      /* the peer said that nothing follows */
    TLS_FAILED,     /* for good; what is left to take out tells the peer why */
};
void tls_feed(struct tls *tls, const char *bytes, size_t length);
/* Both sides begin with this; reading goes through it by itself. */
enum tls_outcome tls_handshake(struct tls *tls);
bool tls_has_failed(const struct tls *tls);
bool tls_is_ready(const struct tls *tls); /* the handshake is over */
/* TLS_DONE: *ret_length is above 0. */
enum tls_outcome tls_read(struct tls *tls, char *bytes, size_t size, size_t *ret_length);
/* All of it, as one record or more; false: it is not ready, has ended or failed. */
bool tls_write(struct tls *tls, const char *bytes, size_t length);
void tls_end(struct tls *tls); /* nothing follows from our side */

/* What is for the peer. */
size_t tls_unsent(const struct tls *tls);
const char *tls_out(const struct tls *tls, size_t *ret_length); /* until the next call */
void tls_sent(struct tls *tls, size_t length);

/* What the caller wrote and has not been told to be with the kernel yet; 0 at first. */
size_t tls_owed(const struct tls *tls);
void tls_owe(struct tls *tls, size_t length);

/* What was kept for the calling thread goes, as before it ends; it may use all of this again. */
void tls_leave_thread(void);

/* Why it failed, in words: of the certificate where that was it. */
void tls_explain(const struct tls *tls, struct error *err);

#endif
