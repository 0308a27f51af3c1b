/*
 * websocket.h - WebSocket peers (RFC 6455, docs/portal.md): messages in, messages out. A request
 * that passed the gate is taken over from HTTP; from then on its connection is a peer here.
 *
 * A message to many is encoded once (struct ws_frame) and counted by who still has to send it. What
 * is sent goes out at the end of the loop's turn. A peer that does not read is bounded: its owner
 * asks ws_peer_behind before sending more, and without any progress it is cut off.
 */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_exchange;
struct http_taken;
struct loop;
struct text;
struct ws_frame;
struct ws_peer;
struct ws_server;

struct ws_handler {
    void *context;
    /* A peer is there; returns its owner, which the others get. NULL: it is not wanted. */
    void *(*opened)(void *context, struct ws_peer *peer);
    void (*message)(void *owner, const char *text, size_t length);
    void (*drained)(void *owner); /* everything sent so far is with the kernel */
    void (*closed)(void *owner);  /* once; the peer is gone when it returns */
};
/* In milliseconds; 0 stands for the default, docs/portal.md says which. */
struct ws_times {
    int64_t hello_ms, quiet_ms, pong_ms, stall_ms, close_ms;
};
struct ws_options {
    struct loop *loop;
    struct ws_handler handler;
    struct ws_times times;
    size_t max_peers;     /* 0: 12,288 */
    size_t max_strangers; /* before hello; 0: a quarter of HTTP's places, or its strangers */
};
struct ws_server *ws_server_new(const struct ws_options *options);
/* Replies to the request: 101 and a peer later, or false and a refusal that says what is missing.
 * Pages must say their Origin. */
bool ws_server_upgrade(struct ws_server *server, struct http_exchange *exchange, bool is_page);
/* The `taken` of the HTTP server whose exchanges are upgraded; its context is the WebSocket
 * server. */
void ws_server_take(void *context, const struct http_taken *taken);
void ws_server_flush(struct ws_server *server); /* before the loop sleeps: one write a peer */
size_t ws_server_count(const struct ws_server *server);
void ws_server_write_metrics(const struct ws_server *server, struct text *out);
/* Closes all immediately, without a close frame; before the HTTP server goes. */
void ws_server_end_peers(struct ws_server *server);
void ws_server_free(struct ws_server *server); /* NULL is fine */

struct ws_frame *ws_frame_new(const char *text, size_t length); /* one reference */
void ws_frame_release(struct ws_frame *frame);                  /* NULL is fine */
bool ws_frame_is(const struct ws_frame *frame, const char *text, size_t length);

void ws_send_frame(struct ws_peer *peer, struct ws_frame *frame); /* takes a reference of its own */
void ws_send(struct ws_peer *peer, const char *text, size_t length);
size_t ws_peer_behind(const struct ws_peer *peer); /* bytes the kernel has not taken */
/* It has said who it is: no time-out of its own any more but that it must answer pings. */
void ws_peer_know(struct ws_peer *peer);
/* While paused nothing is read; a message that was read before may still come. */
void ws_peer_pause(struct ws_peer *peer, bool is_paused);
void ws_peer_stir(struct ws_peer *peer); /* `drained` comes with the next flush, if all is sent */
/* Says why, sends what was said before, and goes; `message` is not called any more. */
void ws_peer_close(struct ws_peer *peer, int code, const char *reason);
int ws_peer_port(const struct ws_peer *peer);      /* of ours, as its page sees it */
bool ws_peer_is_local(const struct ws_peer *peer); /* it came to this machine's own port */
/* Whose process it is, where it is one of this machine. False: not known. */
bool ws_peer_user(const struct ws_peer *peer, int64_t *ret_uid);
/* Which process of this machine it is; false: unknown. It costs a search. */
bool ws_peer_process(const struct ws_peer *peer, int64_t *ret_uid, int64_t *ret_pid);

#endif
