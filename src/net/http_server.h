/*
 * http_server.h - server, connection and exchange as their own files see them; for http_*.c,
 * websocket.c only.
 *
 *   IDLE --byte--> HEAD --head, admitted--> BODY --whole--> HELD --reply--> WRITING --sent-->
 *    ^                                                                          |
 *    |--- SETTLING (only if a caller wants to know the fate) <------------------|
 *    `--- or LINGERING: the last reply is out, what the peer still sends is thrown away
 */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H
#include <llhttp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/table.h"
#include "base/text.h"
#include "net/http.h"
#include "net/http_request.h"
#include "net/tls.h"

enum {
    HTTP_READ_BYTES = 65536,
    HTTP_MAX_CONNECTIONS = 16384,
    HTTP_LINGER_BYTES = 8388608,
    HTTP_BODY_BYTES_PER_S = 1024,
    HTTP_HELD_BYTES = 67108864,
    HTTP_TLS_STRANGERS = 512, /* up to 90 KB each */
    HTTP_TURN_PEERS =
        128, /* whose bytes are looked at in one turn; then everybody else has theirs */
};

/* A place in a list that goes round through its head. */
struct http_link {
    struct http_link *next, *previous;
};
void http_link_init(struct http_link *head);
static inline bool http_list_is_empty(const struct http_link *head)
{
    return head->next == head;
}
void http_link_append(struct http_link *head, struct http_link *link);
void http_link_remove(struct http_link *link); /* in no list: nothing happens */

/* What a connection or a stream waits for at most so long; each class is a list in order of expiry,
 * so that a look at its front is enough. */
enum http_class {
    HTTP_WAIT_NONE,
    HTTP_WAIT_DOOMED,    /* immediately, but not on the caller's stack */
    HTTP_WAIT_RESUME,    /* bytes that were read with the request before */
    HTTP_WAIT_HANDSHAKE, /* of TLS */
    HTTP_WAIT_IDLE,
    HTTP_WAIT_KNOWN_IDLE, /* idle too, but not sent away to make room */
    HTTP_WAIT_HEAD,
    HTTP_WAIT_BODY_START,
    HTTP_WAIT_BODY_RATE,
    HTTP_WAIT_STALL,
    HTTP_WAIT_STAY,   /* for a sign of the peer, or for it to stay long enough */
    HTTP_WAIT_SETTLE, /* the sign is there, an acknowledgement is not */
    HTTP_WAIT_LINGER,
    HTTP_WAIT_BEAT,
    HTTP_CLASSES,
};
struct http_wait {
    struct http_link link; /* first */
    int64_t since_ms : 56;
    uint64_t kind : 8; /* enum http_class */
};
void http_wait_begin(struct http_server *server, struct http_wait *wait, enum http_class kind);
void http_wait_end(struct http_wait *wait);

enum http_phase {
    PHASE_IDLE,
    PHASE_HEAD,
    PHASE_BODY,
    PHASE_HELD,
    PHASE_WRITING,
    PHASE_SETTLING,
    PHASE_LINGERING,
    PHASE_CLOSED,
};

/* Bytes of the peer that could not be used yet. */
struct http_incoming {
    /* PHASE_HEAD: the part of a head that came; else read with the request before */
    struct text kept;
    struct http_scan scan;
    uint32_t lingered_bytes;
};

struct http_outgoing {
    struct text text; /* from `sent` on not yet taken by the kernel */
    size_t sent;
    size_t held; /* of all peers' bytes: what this one was too slow to read */
};

/* Ten thousand may wait for a person, so it has no handle of libuv's, and what a peer that waits
 * does not need is outside. Freed at the end of the turn in which it closed. */
struct http_connection {
    struct http_server *server;
    struct http_link all, dirty;
    struct http_wait wait;
    struct http_exchange *exchange;
    struct http_incoming *in;  /* NULL: nothing is kept */
    struct http_outgoing *out; /* NULL: everything is sent */
    struct tls *tls;           /* NULL: none */
    union {
        struct http_address *address; /* that it counts for until it is_known; NULL: none */
        uint64_t owner;               /* from then on */
    };
    int fd;
    uint32_t peer_uid;       /* of a process of this machine; UINT32_MAX: unknown */
    int32_t peer_pid;        /* 0: unknown */
    uint8_t phase, interest; /* enum http_phase, enum os_events */
    bool closes_after : 1, is_known : 1, is_doomed : 1;
    bool has_early_bytes : 1; /* of the next request, left in the kernel until this one is done */
    bool has_ended : 1;       /* the peer sends nothing more */
    bool is_located : 1;      /* its process was looked for */
};

/* What was asked: gone as soon as it is not needed, because a person takes long. */
struct http_asked {
    struct http_request request;
    struct text body;
    struct text scratch; /* what http_parameter lends */
    llhttp_t parser;
    struct http_chunks chunks;
    int64_t body_limit, body_began_ms;
    uint64_t body_came;            /* with the frames of chunks */
    size_t held;                   /* of all peers' bytes: the head */
    bool is_too_long, has_no_room; /* the body, for the gate, for all peers' bodies together */
};

struct http_exchange {
    struct http_connection *connection; /* NULL: gone */
    struct http_asked *asked;           /* NULL: forgotten */
    union {
        struct text *headers; /* of the reply until it has_begun; NULL: none */
        int64_t written_ms;   /* when it was, in PHASE_SETTLING */
    };
    void (*on_fate)(void *context, struct http_exchange *exchange, enum http_fate fate);
    void *fate_context;
    uint8_t minor; /* of HTTP/1; outlives the request */
    bool is_body_done : 1, has_begun : 1, has_ended : 1, is_chunked : 1, is_head : 1;
    bool is_counted : 1;
    bool beats : 1;       /* a sign of life now and then */
    bool is_upgraded : 1; /* behind the reply it is no longer HTTP */
    bool wants_room : 1;  /* its handler goes on when all is with the system */
};

struct http_listener {
    uv_poll_t poll; /* first */
    struct http_server *server;
    int fd; /* -1: none */
};

struct http_server {
    struct loop *loop;
    struct http_handler handler;
    struct http_times times;
    const struct tls_context *tls;                /* of newcomers; NULL: none */
    const struct http_virtual_host *virtual_host; /* NULL: this machine alone */
    struct http_listener listeners[2];            /* IPv4, IPv6 */
    int port, spare_fd;
    int poller;     /* for all connections */
    uv_poll_t poll; /* for the poller */
    int references; /* the server, and every handle */
    int depth;      /* above 0: a connection may be on the stack */
    struct http_link connections, dirty;
    struct http_link gone;        /* closed in this turn */
    size_t held_bytes, max_bytes; /* what all peers together may make us keep */
    struct table addresses;       /* of connections without a token */
    size_t count, max, reserved, exchange_count, stranger_count;
    size_t strangers, max_strangers; /* connections without a token */
    struct http_link waits[HTTP_CLASSES];
    struct loop_timer *timer;
    int64_t timer_ms; /* when it goes off; 0: not armed */
    bool is_draining, is_dismissed, is_paused, is_freed;
    int64_t date_s;
    char date[32];
    char read_bytes[HTTP_READ_BYTES];
};
/* Bytes that a peer makes us keep; false: all of them together have reached the maximum. */
bool http_server_hold(struct http_server *server, size_t bytes, bool is_known);
void http_server_give_back(struct http_server *server, size_t bytes);
/* Adds what the peer of this connection sent. */
bool http_server_keep(const struct http_connection *connection, struct text *text,
                      const char *bytes, size_t length);
void http_server_drop(struct http_server *server, struct text *text); /* kept so: released */

/* http_connection.c: bytes in. */
void http_connection_new(struct http_server *server, int fd, struct http_address *address);
void http_connection_close(struct http_connection *connection); /* its exchange is LOST */
void http_connection_settle(struct http_connection *connection, enum http_fate fate);
void http_connection_ready(struct http_connection *connection, unsigned events);
void http_connection_free(struct http_connection *connection);
/* The one way of every malformed, late or oversized request: a reply, and the end. */
void http_connection_refuse(struct http_connection *connection, int status, const char *why);
void http_connection_resume(struct http_connection *connection);

/* http_listen.c: how many connections without a token one address has. */
void http_addresses_init(struct http_server *server);
/* False: too many. Else *ret_address is to be left; NULL: it does not count. */
bool http_address_enter(struct http_server *server, const struct sockaddr_storage *peer,
                        struct http_address **ret_address);
void http_address_leave(struct http_address **address);

/* http_connection.c: bytes out. */
enum http_sight { HTTP_SEES_NOTHING, HTTP_SEES_BYTES, HTTP_SEES_END, HTTP_SEES_RESET };
struct text *http_connection_out(struct http_connection *connection); /* to be added to */
size_t http_connection_unsent(const struct http_connection *connection);
void http_connection_mark_dirty(struct http_connection *connection);
void http_connection_doom(struct http_connection *connection);
void http_connection_write(struct http_connection *connection);
void http_connection_check_fate(struct http_connection *connection);

/* http_exchange.c: a request, from its head to its body. */
bool http_exchange_begin(struct http_connection *connection, const char *head, size_t length);
size_t http_exchange_feed(struct http_exchange *exchange, const char *bytes, size_t length);
void http_exchange_end(struct http_exchange *exchange, enum http_fate fate); /* freed */
void http_exchange_check_rate(struct http_exchange *exchange);

/* http_exchange.c */
void http_write_refusal(struct http_connection *connection, int status, const char *why);
void sse_beat(struct http_exchange *exchange); /* a comment, so that the client sees it is alive */

/* Opens the listening sockets of a server. */
/* `ret_fds` has room for two: IPv4 and IPv6; the second is -1 on a host without IPv6. */
bool http_listen(int port, bool may_move, int *ret_fds, int *ret_port, struct error *err);

/* One socket at this address alone: "0.0.0.0", "::" (IPv4 too), "10.0.0.5". */
bool http_listen_at(const char *address, int port, int *ret_fds, int *ret_port, struct error *err);

#endif
