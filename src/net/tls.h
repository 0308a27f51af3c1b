/*
 * tls.h - TLS 1.2 and 1.3 without sockets: what came from the peer goes in, what is for the peer
 * comes out, and the caller moves the bytes (stream_recv and the like, or remote.c with poll).
 * Memory is bounded by who feeds it: nothing is kept but an unfinished record and what was not
 * taken yet.
 */
#ifndef NET_TLS_H
#define NET_TLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct tls;
struct tls_context;

/* A server's certificate with its chain, and its key, which no other user may read. */
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

/* What was kept for the calling thread goes, as before it ends; it may use all of this again. */
void tls_leave_thread(void);

/* Why it failed, in words: of the certificate where that was it. */
void tls_explain(const struct tls *tls, struct error *err);

/*
 * A connected socket as the loop's servers use it, with or without TLS: recv, send, shutdown and
 * close with the meaning, and the errno, of the calls without it. No byte that was decrypted
 * stays inside: a read takes whole what one read of the socket brought, so a socket that is not
 * readable has nothing for us, and a caller that stops reading leaves everything to the kernel.
 */
enum { STREAM_READ_BYTES = 65536 }; /* what stream_recv is given at least */

/* Everywhere `tls` NULL: none. */
ssize_t stream_recv(int fd, struct tls *tls, char *bytes, size_t size);
/* What it returns is with the kernel, encrypted. After EAGAIN the next call begins with the same
 * bytes. */
ssize_t stream_send(int fd, struct tls *tls, const char *bytes, size_t length);
bool stream_is_open(const struct tls *tls);  /* the handshake is over */
bool stream_is_stuck(const struct tls *tls); /* something of TLS's own waits to be written */
bool stream_flush(int fd, struct tls *tls);  /* that; false: it is broken */
bool stream_shut(int fd, struct tls *tls);   /* nothing follows; false: it is broken */
void stream_close(int fd, struct tls *take_tls);

#endif
