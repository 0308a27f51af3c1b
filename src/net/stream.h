/*
 * stream.h - a connected socket as the loop's servers use it, with or without TLS: recv, send,
 * shutdown and close with the meaning, and the errno, of the calls without it.
 *
 * No byte that was decrypted stays inside: a read takes whole what one read of the socket brought,
 * so a socket that is not readable has nothing for us, and whoever stops reading leaves everything
 * to the kernel.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;

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
