/*
 * remote.h - the way to a hub of another machine: a WebSocket, over TLS, at whose end the wire's
 * lines come out of an ordinary socket, so that code that speaks with a hub needs to know nothing
 * of it. A thread of its own carries the bytes.
 */
#ifndef NET_REMOTE_H
#define NET_REMOTE_H
#include <stdbool.h>
#include <stddef.h>

#include "net/frames.h"

struct error;

struct remote_target {
    const char *url;        /* https://NAME[:PORT]; http:// on this machine alone */
    const char *token_file; /* other users may not read it; read again each time */
    const char *ca_file;    /* NULL: whom the system trusts */
};
/* Whether it can be used at all, before anything is connected; `err` says what to change. */
bool remote_check(const struct remote_target *target, struct error *err);

/* Connects on a thread of its own, which then carries the bytes of *ret_fd. The pipe that is
 * returned says how it went, as a daemon does (os_hear_daemon): REMOTE_AWAY and why, where it may
 * be worth to try again. -1: no thread. What is written into *ret_fd before it is closed arrives;
 * at the end of the process that is waited for. */
enum { REMOTE_AWAY = 'a' };
int remote_begin(const struct remote_target *target, int *ret_fd, struct error *err);

/* Lines to frames of a client, frames of a server to lines. */
struct remote_reader {
    struct ws_parser parser;
    bool is_closed;
};
void remote_add_frame(struct text *out, enum ws_opcode opcode, const char *bytes, size_t length);
/* Adds lines to `lines` and what must be replied to `out`; false: it is not RFC 6455. */
bool remote_read_frames(struct remote_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out);

#endif
