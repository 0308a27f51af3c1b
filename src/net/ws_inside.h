/* ws_inside.h - WebSocket server and peers as their own files see them; for ws_*.c only. */
#ifndef NET_WS_INSIDE_H
#define NET_WS_INSIDE_H
#include <uv.h>

#include "net/http_inside.h"
#include "net/websocket.h"
#include "net/ws_parser.h"

enum {
    WS_READ_BYTES = 65536,
    WS_MOST_PEERS = 12288,
    WS_DISCARD_BYTES = 8388608,
};

struct ws_frame {
    uint32_t references, length; /* length with its head */
    uint8_t head_length;
    char bytes[]; /* head and payload */
};

/* What of a peer could not be looked at yet; most have nothing. */
struct ws_unread {
    struct ws_parser parser;
    struct text backlog;
    size_t held; /* of all peers' bytes */
};

/* Each class is a list in order of expiry, as in http_clock.c. */
enum ws_class {
    WS_WAIT_NONE,
    WS_WAIT_HELLO,
    WS_WAIT_QUIET,
    WS_WAIT_PONG,
    WS_WAIT_CLOSE,
    WS_CLASSES
};

/* Ten thousand may watch, so it has no handle of libuv's. Freed on the loop after the turn in which
 * it was dropped. */
struct ws_peer {
    struct ws_server *server;
    struct http_server *http;     /* whose place it holds */
    struct tls *tls;              /* NULL: none */
    struct http_address *address; /* that it counts for; NULL: none */
    void *owner;
    struct http_link all, dirty, wait;
    struct ws_unread *unread; /* NULL: nothing */
    struct ws_frame **queue;  /* owned, with a reference each; NULL: empty */
    int64_t wait_ms;          /* since when */
    int64_t moved_ms;         /* when it last took something */
    uint32_t queued, room;
    uint32_t sent;      /* of the first */
    uint32_t behind;    /* bytes in the queue that are not sent */
    uint32_t discarded; /* since it was closed */
    int fd;
    uint8_t wait_class, interest; /* enum ws_class, enum os_events */
    bool has_token;               /* it came with one, and has yet to say hello */
    bool was_heard; /* since its wait began; times would not tell within one millisecond */
    bool is_known, is_paused, is_gone;
    bool is_closing; /* a close frame was sent or queued */
    bool has_shut;   /* and nothing follows it */
};

struct ws_server {
    struct loop *loop;
    struct ws_handler handler;
    struct ws_times times;
    struct http_link peers, dirty;
    struct http_link gone; /* dropped, and perhaps still on the stack */
    int poller;            /* for all peers */
    uv_poll_t poll;        /* for the poller */
    struct http_link waits[WS_CLASSES];
    struct loop_timer *timer;
    int64_t timer_ms;       /* 0: not armed */
    struct loop_wake *wake; /* a turn of the loop for what is left to flush or to free */
    size_t count, most, strangers, most_strangers;
    int references; /* the server, its handle, and who looks through its lists */
    bool is_freed;
    int64_t opened, messages, frames, dropped; /* counted since the start */
    char read_bytes[WS_READ_BYTES];
};
void ws_server_unref(struct ws_server *server);

/* ws_peer.c */
void ws_peer_new(struct ws_server *server, const struct http_taken *taken);
void ws_peer_drop(struct ws_peer *peer); /* at once, without a word */
void ws_peer_watch(struct ws_peer *peer);
void ws_peer_ready(struct ws_peer *peer, unsigned events);
void ws_peer_free(struct ws_peer *peer);
void ws_peer_drained(struct ws_peer *peer);

/* ws_write.c */
void ws_peer_send_control(struct ws_peer *peer, enum ws_opcode opcode, const char *bytes,
                          size_t length);
void ws_peer_write(struct ws_peer *peer);
void ws_peer_drop_queue(struct ws_peer *peer);

/* ws_clock.c */
void ws_clock_init(struct ws_server *server);
void ws_wait_begin(struct ws_peer *peer, enum ws_class kind);
void ws_wait_end(struct ws_peer *peer);

#endif
