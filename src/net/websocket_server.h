/* websocket_server.h - WebSocket server and peers as their own files see them; for ws_*.c only. */
#ifndef NET_WEBSOCKET_SERVER_H
#define NET_WEBSOCKET_SERVER_H
#include <uv.h>

#include "net/frames.h"
#include "net/http_server.h"
#include "net/websocket.h"

enum {
    WS_READ_BYTES = 65536,
    WS_MAX_PEERS = 12288,
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

/* Each class is a list in order of expiry, as in http_server.c. */
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
    size_t count, max, strangers, max_strangers;
    int references; /* the server, its handle, and who looks through its lists */
    bool is_freed;
    int64_t opened, messages, frames, dropped; /* counted since the start */
    char read_bytes[WS_READ_BYTES];
};

#endif
