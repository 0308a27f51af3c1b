/*
 * http.h - HTTP/1.1 for servers: bytes to requests, replies to bytes. llhttp does the parsing,
 * behind a scan that refuses what it lets through (docs/http.md).
 *
 * One exchange a connection at a time: while one is open, further bytes of the peer stay in the
 * kernel, so pipelining costs no memory. An exchange lives from a complete head to its fate;
 * everything it lends (texts, body) lives as long.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct http_address;
struct http_exchange;
struct http_server;
struct loop;
struct text;
struct tls;
struct tls_context;

/* How a reply ended. TAKEN: all of it was written, and the peer went on, closed in order, or stayed
 * and acknowledged every byte for a while. LOST: it was reset, or cut before the end; a caller that
 * counts deliveries must not count this one. ROOM is no end: a stream that asked for it
 * (http_want_room) may go on. */
enum http_fate { HTTP_TAKEN, HTTP_LOST, HTTP_ROOM };

/* A connection that goes on as something else. The code that takes it holds a place of the server
 * until http_server_free_place. */
struct http_taken {
    struct http_server *server;
    int fd;                       /* the caller that takes it owns it */
    struct tls *tls;              /* likewise; NULL: none */
    struct http_address *address; /* that it counts for, likewise; NULL: none */
    bool has_token;
    char *bytes; /* what the peer sent behind its request; for the call */
    size_t length;
};

struct http_handler {
    void *context;
    /* The head is there and well formed, the body is not: the gate. Returns how long a body may be;
     * -1: refused, and replied to. */
    int64_t (*admit)(void *context, struct http_exchange *exchange);
    /* The whole body is there. Replies now or later; if never, the peer is. */
    void (*serve)(void *context, struct http_exchange *exchange);
    /* A reply begins; NULL for one to what was no request. May be NULL. */
    void (*on_reply)(void *context, struct http_exchange *exchange, int status);
    /* The connection of an exchange that was upgraded is no longer HTTP. Right behind its fate.
     * NULL: nothing is upgraded here. */
    void (*taken)(void *context, const struct http_taken *taken);
    void *taken_context;
};

/* A peer that shows a token keeps its place when places are scarce; strangers go first. Called by
 * the gate while it admits; from now on the connection belongs to `owner`. */
void http_recognise(struct http_exchange *exchange, uint64_t owner);
/* The end of everything that is theirs: open exchanges are LOST. */
void http_server_cut(struct http_server *server, uint64_t owner);

/* Listens on 127.0.0.1 and ::1 with one port number. `port` 0: any free one; taken: the next free
 * one if may_move, else a failure that says who to ask. A host without IPv6 gets IPv4 alone. */
/* How long a peer may take, in milliseconds; 0 stands for the default, docs/http.md says which. */
struct http_times {
    int64_t idle_ms, head_ms, body_ms, body_grace_ms, stall_ms, settle_ms, linger_ms, beat_ms;
    int64_t handshake_ms; /* of TLS, all of it */
};
/* A listener for more than this machine: where it listens, and as what it is known. Borrowed as
 * long as the server lives. */
struct http_virtual_host {
    char address[64]; /* "0.0.0.0", "::1" */
    int port;         /* 0: any free one */
    /* What people and clients call it, "https://sayso.example.org"; "": by its address alone. */
    char origin[300];
    const char *host; /* the part of it that is in Host; "" likewise */
    int public_port;  /* the part of it that is the port; 0 likewise */
    bool has_tls;     /* here, or nowhere that we know */
};
struct http_options {
    int port;
    bool may_move;
    const struct http_virtual_host
        *virtual_host;             /* instead of those two; NULL: this machine alone */
    const struct tls_context *tls; /* NULL: none; else borrowed until http_server_use_tls */
    struct http_handler handler;
    struct http_times times;
    size_t max_connections; /* 0: what the limit of open files leaves */
    /* Of all heads, bodies, unfinished messages and unread replies that are held; half of it for
     * who has shown no token. 0: 64 MiB. */
    size_t max_bytes;
};
bool http_server_open(struct loop *loop, const struct http_options *options,
                      struct http_server **ret_server, struct error *err);
int http_server_port(const struct http_server *server);
const struct http_virtual_host *
http_server_virtual_host(const struct http_server *server); /* NULL: this machine */
/* Another certificate, for those who come from now on. */
void http_server_use_tls(struct http_server *server, const struct tls_context *tls);
void http_server_flush(struct http_server *server); /* before the loop sleeps: one write a peer */
/* No new peers and no new requests; open exchanges may end by themselves. */
void http_server_drain(struct http_server *server);
/* Streams that are still open are ended as LOST, everything written is flushed, peers are closed.
 */
void http_server_dismiss(struct http_server *server);
bool http_server_is_drained(const struct http_server *server);
size_t http_server_peer_count(const struct http_server *server); /* with an open exchange */
void http_server_free(struct http_server *server);

/* What was asked. */
const char *http_method(const struct http_exchange *exchange); /* "GET" */
const char *http_path(const struct http_exchange *exchange);  /* decoded; no ".", "..", NUL, "//" */
const char *http_query(const struct http_exchange *exchange); /* behind "?", as sent; "" */
/* By name in lower case, blanks around it cut off; NULL: absent. A name that may stand only once
 * (host, origin, authorization, content-type, …) and stands twice was refused before; the lines of
 * one that may repeat (accept, connection) are joined by commas. */
const char *http_header(const struct http_exchange *exchange, const char *name);
const char *http_body(const struct http_exchange *exchange, size_t *ret_length);
int http_port(const struct http_exchange *exchange); /* of the listener it came through */
/* NULL: it came from this machine. */
const struct http_virtual_host *http_virtual_host(const struct http_exchange *exchange);
/* The address and port that the peer came to, as Host has them: "10.0.0.5:7443", "[::1]:7443". */
bool http_own_address(const struct http_exchange *exchange, char *out, size_t size);
/* The process of this machine that is at the other end; false: unknown, as from elsewhere. Looked
 * for once per connection. */
bool http_peer(const struct http_exchange *exchange, int64_t *ret_uid, int64_t *ret_pid);
/* Figures of the server it came through. */
void http_write_metrics(const struct http_exchange *exchange, struct text *out);
/* One parameter of the query, decoded, UTF-8 without NUL; NULL: absent. Borrowed, valid until the
 * next call. */
const char *http_parameter(struct http_exchange *exchange, const char *name);

/* Head and body are needed no more: a request that waits for a person lets their memory go. Path,
 * headers and body are empty afterwards. */
void http_forget_request(struct http_exchange *exchange);

/* Called once, and the exchange is gone when it returns. A peer that leaves before the reply has
 * begun is LOST too: then no reply is wanted any more. Never called out of one of the functions
 * below, so the code that replies may go on using the exchange. */
void http_on_fate(struct http_exchange *exchange,
                  void (*call)(void *context, struct http_exchange *exchange, enum http_fate fate),
                  void *context);

/* Headers first, then one of the two below. Every reply has the headers that keep browsers from
 * guessing, caching and referring (nosniff, no-store, no-referrer) unless one of the name is set.
 */
void http_set_header(struct http_exchange *exchange, const char *name, const char *value);
/* `close_after`: the connection ends with this reply, as after anything malformed. */
void http_close_after(struct http_exchange *exchange);
void http_reply(struct http_exchange *exchange, int status, const char *type, const char *body,
                size_t length);
/* In parts, chunked: begin, any number of sends, end. A peer that is more than HTTP_STREAM_BYTES
 * behind is cut off. */
enum { HTTP_STREAM_BYTES = 1048576 };
void http_begin(struct http_exchange *exchange, int status, const char *type);
void http_send(struct http_exchange *exchange, const char *bytes, size_t length);
void http_end(struct http_exchange *exchange);
/* What was sent in parts and is not with the system yet. */
size_t http_unsent(const struct http_exchange *exchange);
/* From now on HTTP_ROOM is said whenever all of it is; nothing may be sent out of that call. */
void http_want_room(struct http_exchange *exchange);

/* A reply of server-sent events: opened immediately, kept alive by comments, so that a client that
 * waits for a person sees headers and bytes in time (docs/http.md). http_end ends it. */
void sse_begin(struct http_exchange *exchange); /* head and first comment go out immediately */
/* `id`, `event` NULL: without that line. `data` may have lines; each gets its field name. */
void sse_send(struct http_exchange *exchange, const char *id, const char *event, const char *data,
              size_t length);
/* The same as bytes: one encoding for many streams. */
void sse_add_event(struct text *out, const char *id, const char *event, const char *data,
                   size_t length);
void sse_retry(struct http_exchange *exchange, int milliseconds);

/* 101 with the headers that were set; once it is out the handler's `taken` has the connection. */
void http_upgrade(struct http_exchange *exchange);
void http_server_free_place(struct http_server *server);

#endif
