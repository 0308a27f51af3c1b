/*
 * http_exchange.c - one request: its head is understood, the gate admits it, llhttp takes the body
 * apart, then it is served. llhttp sees only bytes that http_request.h let through, and never one
 * behind the end of the request.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/os.h"
#include "base/pool.h"
#include "net/http_request.h"
#include "net/http_server.h"

static int on_headers_complete(llhttp_t *parser)
{
    parser->upgrade = 0; /* a handler may take the connection over; until then it is HTTP */
    return 0;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t length)
{
    struct http_exchange *exchange = parser->data;
    struct http_asked *asked = exchange->asked;

    if ((int64_t)(asked->body.used + length) > asked->body_limit) {
        asked->is_too_long = true;
        return HPE_USER;
    }
    if (http_server_keep(exchange->connection, &asked->body, bytes, length))
        return 0;
    asked->has_no_room = true;
    return HPE_USER;
}

static int on_message_complete(llhttp_t *parser)
{
    struct http_exchange *exchange = parser->data;

    exchange->is_body_done = true;
    return 0;
}

static const llhttp_settings_t parser_settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static void http_asked_free(struct http_server *server, struct http_asked *asked)
{
    if (!asked)
        return;
    http_request_release(&asked->request);
    http_server_give_back(server, asked->held);
    http_server_drop(server, &asked->body);
    text_release(&asked->scratch);
    free(asked);
}

static void drop_headers(struct http_exchange *exchange)
{
    if (exchange->headers)
        text_release(exchange->headers);
    free(exchange->headers);
    exchange->headers = NULL;
}

void http_exchange_end(struct http_exchange *exchange, enum http_fate fate)
{
    struct http_connection *connection = exchange->connection;
    struct http_server *server = connection->server;

    if (connection->wait.kind == HTTP_WAIT_BEAT)
        http_wait_end(&connection->wait);
    server->exchange_count--;
    if (exchange->is_counted)
        server->stranger_count--;
    exchange->connection = NULL; /* whatever is said now is not heard */
    if (exchange->on_fate)
        exchange->on_fate(exchange->fate_context, exchange, fate);
    http_asked_free(server, exchange->asked);
    if (!exchange->has_begun)
        drop_headers(exchange);
    pool_free(exchange, sizeof *exchange);
}

void http_forget_request(struct http_exchange *exchange)
{
    if (!exchange->connection)
        return; /* its end is under way */
    http_asked_free(exchange->connection->server, exchange->asked);
    exchange->asked = NULL;
}

static void serve(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;
    struct http_server *server = connection->server;

    exchange->is_body_done = true;
    http_wait_end(&connection->wait);
    connection->phase = PHASE_HELD;
    server->handler.serve(server->handler.context, exchange);
}

/* Strangers leave some places to those who show a token. */
static bool has_place(struct http_exchange *exchange)
{
    struct http_server *server = exchange->connection->server;

    if (exchange->connection->is_known)
        return true;
    if (server->stranger_count + server->reserved >= server->max)
        return false;
    exchange->is_counted = true;
    server->stranger_count++;
    return true;
}

static void begin_body(struct http_exchange *exchange, size_t held)
{
    struct http_connection *connection = exchange->connection;

    connection->phase = PHASE_BODY;
    exchange->asked->held = held;
    exchange->asked->body_began_ms = loop_boot_ms();
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BODY_START);
    if (exchange->asked->request.expects_continue) {
        text_add_text(http_connection_out(connection), "HTTP/1.1 100 Continue\r\n\r\n");
        http_connection_mark_dirty(connection);
    }
}

/* The gate, then the body or the route. */
static void admit(struct http_exchange *exchange, size_t head_length)
{
    struct http_connection *connection = exchange->connection;
    struct http_handler *handler = &connection->server->handler;
    bool has_body = !exchange->is_body_done;
    int64_t limit;

    connection->phase = PHASE_HELD;
    limit = handler->admit(handler->context, exchange);
    if (limit < 0 || exchange->has_begun)
        return;
    exchange->asked->body_limit = limit;
    if (!has_place(exchange))
        http_connection_refuse(connection, 503, "too many requests are open; try again");
    else if (exchange->asked->request.length > limit ||
             (exchange->asked->request.is_chunked && limit == 0))
        http_connection_refuse(connection, 413, "the body is longer than this route takes");
    else if (!has_body)
        serve(exchange);
    else if (http_server_hold(connection->server, head_length, connection->is_known))
        begin_body(exchange, head_length);
    else
        http_connection_refuse(connection, 503, "too much is waiting here; try again");
}

bool http_exchange_begin(struct http_connection *connection, const char *head, size_t length)
{
    struct http_exchange *exchange;
    struct http_request request;
    struct http_fault fault;

    if (!http_request_parse(&request, head, length, &fault)) {
        http_connection_refuse(connection, fault.status, fault.why);
        return false;
    }
    exchange = pool_new(sizeof *exchange);
    exchange->connection = connection;
    exchange->minor = request.minor;
    exchange->is_head = strcmp(request.method, "HEAD") == 0;
    exchange->asked = mem_new(sizeof *exchange->asked);
    exchange->asked->request = request;
    llhttp_init(&exchange->asked->parser, HTTP_REQUEST, &parser_settings);
    exchange->asked->parser.data = exchange;
    connection->exchange = exchange;
    connection->server->exchange_count++;
    connection->closes_after = request.closes || connection->server->is_draining;
    if (llhttp_execute(&exchange->asked->parser, head, length) != HPE_OK ||
        exchange->is_body_done == (request.is_chunked || request.length > 0)) {
        http_connection_refuse(connection, 400, "the request is malformed");
        return false;
    }
    admit(exchange, length);
    return true;
}

/* How many of the bytes belong to this body, and whether it ends with them. */
static enum http_scanned measure(struct http_exchange *exchange, const char *bytes, size_t length,
                                 size_t *ret_used, struct http_fault *fault)
{
    struct http_asked *asked = exchange->asked;
    uint64_t left;

    if (asked->request.is_chunked)
        return http_chunks_scan(&asked->chunks, bytes, length, ret_used, fault);
    left = (uint64_t)asked->request.length - asked->body.used;
    *ret_used = length < left ? length : (size_t)left;
    return *ret_used == left ? HTTP_SCAN_DONE : HTTP_SCAN_MORE;
}

size_t http_exchange_feed(struct http_exchange *exchange, const char *bytes, size_t length)
{
    struct http_fault fault = { 400, "the body is malformed" };
    struct http_asked *asked = exchange->asked;
    size_t used;
    enum http_scanned scanned = measure(exchange, bytes, length, &used, &fault);

    if (scanned != HTTP_SCAN_REFUSED) {
        bool is_good = llhttp_execute(&asked->parser, bytes, used) == HPE_OK;

        asked->body_came += used;
        if (asked->is_too_long)
            fault = (struct http_fault){ 413, "the body is longer than this route takes" };
        if (asked->has_no_room)
            fault = (struct http_fault){ 503, "too much is waiting here; try again" };
        /* Scan and parser agree on where a request ends, or nothing behind it is believed. */
        if (is_good && exchange->is_body_done == (scanned == HTTP_SCAN_DONE)) {
            if (exchange->is_body_done)
                serve(exchange);
            return used;
        }
    }
    http_connection_refuse(exchange->connection, fault.status, fault.why);
    return length;
}

void http_exchange_check_rate(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;
    const struct http_times *times = &connection->server->times;
    int64_t took_ms = loop_boot_ms() - exchange->asked->body_began_ms;
    int64_t wanted = took_ms * HTTP_BODY_BYTES_PER_S / 1000;

    if (took_ms >= times->body_ms || (int64_t)exchange->asked->body_came < wanted)
        http_connection_refuse(connection, 408, "the body took too long");
    else
        http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BODY_RATE);
}

/* What a handler may know of a request, and what it may want to hear; see http.h. */

static const struct http_request *request_of(const struct http_exchange *exchange)
{
    static const struct http_request forgotten = { .method = "", .path = "", .query = "" };

    return exchange->asked ? &exchange->asked->request : &forgotten;
}

const char *http_method(const struct http_exchange *exchange)
{
    return request_of(exchange)->method;
}

const char *http_path(const struct http_exchange *exchange)
{
    return request_of(exchange)->path;
}

const char *http_query(const struct http_exchange *exchange)
{
    return request_of(exchange)->query;
}

const char *http_header(const struct http_exchange *exchange, const char *name)
{
    const struct http_request *request = request_of(exchange);
    int index = http_request_find(request, name, 0);

    return index < 0 ? NULL : request->fields[index].value;
}

const char *http_body(const struct http_exchange *exchange, size_t *ret_length)
{
    *ret_length = exchange->asked ? exchange->asked->body.used : 0;
    return exchange->asked ? text_string(&exchange->asked->body) : "";
}

int http_port(const struct http_exchange *exchange)
{
    return exchange->connection ? exchange->connection->server->port : 0;
}

const struct http_virtual_host *http_virtual_host(const struct http_exchange *exchange)
{
    return exchange->connection ? exchange->connection->server->virtual_host : NULL;
}

bool http_own_address(const struct http_exchange *exchange, char *out, size_t size)
{
    struct sockaddr_storage own = { 0 };
    const struct sockaddr_in *four = (const void *)&own;
    const struct sockaddr_in6 *six = (const void *)&own;
    socklen_t length = sizeof own;
    char address[INET6_ADDRSTRLEN];
    bool is_mapped;

    if (!exchange->connection ||
        getsockname(exchange->connection->fd, (struct sockaddr *)&own, &length) != 0)
        return false;
    is_mapped = own.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    if (own.ss_family == AF_INET)
        inet_ntop(AF_INET, &four->sin_addr, address, sizeof address);
    else if (is_mapped) /* who came to an address of version 4 calls it by that */
        inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], address, sizeof address);
    else
        inet_ntop(AF_INET6, &six->sin6_addr, address, sizeof address);
    return snprintf(out, size, strchr(address, ':') ? "[%s]:%d" : "%s:%d", address,
                    exchange->connection->server->port) < (int)size;
}

void http_write_metrics(const struct http_exchange *exchange, struct text *out)
{
    const struct http_server *server = exchange->connection ? exchange->connection->server : NULL;

    if (!server)
        return;
    metrics_write_one(out, "sayso_http_connections", "gauge", "Connections that are open.",
                      (int64_t)server->count);
    metrics_write_one(out, "sayso_http_exchanges", "gauge", "Requests that are under way.",
                      (int64_t)server->exchange_count);
}

const char *http_parameter(struct http_exchange *exchange, const char *name)
{
    struct http_asked *asked = exchange->asked;

    if (!asked || !http_query_find(http_query(exchange), name, &asked->scratch))
        return NULL;
    return text_string(&asked->scratch);
}

bool http_peer(const struct http_exchange *exchange, int64_t *ret_uid, int64_t *ret_pid)
{
    struct http_connection *connection = exchange->connection;

    if (!connection || http_virtual_host(exchange))
        return false;
    if (!connection->is_located) {
        os_tcp_peer_process(connection->fd, ret_uid, ret_pid);
        connection->peer_uid = (uint32_t)*ret_uid; /* -1 becomes UINT32_MAX, which no user has */
        connection->peer_pid = (int32_t)*ret_pid;
        connection->is_located = true;
    }
    *ret_uid = connection->peer_uid == UINT32_MAX ? -1 : (int64_t)connection->peer_uid;
    *ret_pid = connection->peer_pid;
    return *ret_uid >= 0;
}

void http_recognise(struct http_exchange *exchange, uint64_t owner)
{
    struct http_connection *connection = exchange->connection;

    if (!connection)
        return;
    if (!connection->is_known) {
        connection->server->strangers--;
        http_address_leave(&connection->address);
    }
    connection->is_known = true;
    connection->owner = owner;
}

void http_on_fate(struct http_exchange *exchange,
                  void (*call)(void *context, struct http_exchange *exchange, enum http_fate fate),
                  void *context)
{
    exchange->on_fate = call;
    exchange->fate_context = context;
}

void http_want_room(struct http_exchange *exchange)
{
    exchange->wants_room = true;
}

/* Replies: their head, whole or in parts. What is said goes out with the next flush. */

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    { 101, "Switching Protocols" },
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 412, "Precondition Failed" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 421, "Misdirected Request" },
    { 422, "Unprocessable Content" },
    { 426, "Upgrade Required" },
    { 428, "Precondition Required" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 503, "Service Unavailable" },
    { 505, "HTTP Version Not Supported" },
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Status";
}

/* What keeps a browser from guessing, caching and telling others. */
static const struct {
    const char *name, *value;
} default_headers[] = {
    { "X-Content-Type-Options", "nosniff" },
    { "Cache-Control", "no-store" },
    { "Referrer-Policy", "no-referrer" },
};

static bool has_header(const struct text *headers, const char *name)
{
    size_t length = strlen(name);
    const char *line = text_string(headers);

    while (*line) {
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return true;
        line = strchr(line, '\n') + 1;
    }
    return false;
}

static const char *date_of(struct http_server *server)
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t now = (time_t)(loop_utc_ms() / 1000);
    struct tm tm;

    if (now != server->date_s && gmtime_r(&now, &tm)) {
        server->date_s = now;
        snprintf(server->date, sizeof server->date, "%s, %02u %s %04u %02u:%02u:%02u GMT",
                 days[tm.tm_wday], (unsigned)tm.tm_mday % 100, months[tm.tm_mon],
                 (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
                 (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
    }
    return server->date;
}

/* Every reply has several, so they are not formatted. */
static void add_line(struct text *out, const char *name, const char *value)
{
    text_add_text(out, name);
    text_add_text(out, ": ");
    text_add_text(out, value);
    text_add_text(out, "\r\n");
}

/* Everything of a head but how the length of the body is said, and its end. */
static void add_head(struct http_connection *connection, struct http_exchange *exchange, int status,
                     const char *type)
{
    static const struct text no_headers = { 0 };
    const struct text *headers = exchange && exchange->headers ? exchange->headers : &no_headers;
    struct text *out = http_connection_out(connection);

    if (connection->server->handler.on_reply)
        connection->server->handler.on_reply(connection->server->handler.context, exchange, status);
    text_add_text(out, "HTTP/1.1 ");
    text_add_integer(out, status);
    text_add_char(out, ' ');
    text_add_text(out, reason_of(status));
    add_line(out, "\r\nDate", date_of(connection->server));
    if (type)
        add_line(out, "Content-Type", type);
    for (size_t i = 0; i < ARRAY_LEN(default_headers); i++)
        if (!has_header(headers, default_headers[i].name))
            add_line(out, default_headers[i].name, default_headers[i].value);
    text_add(out, text_string(headers), headers->used);
    if (connection->closes_after)
        text_add_text(out, "Connection: close\r\n");
    http_connection_mark_dirty(connection);
}

void http_write_refusal(struct http_connection *connection, int status, const char *why)
{
    struct text *out = http_connection_out(connection);
    struct text body = { 0 };

    text_add_format(&body, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}",
                    status == 503   ? "unavailable"
                    : status == 408 ? "too_slow"
                    : status == 413 ? "too_long"
                                    : "bad_request",
                    why);
    add_head(connection, NULL, status, "application/json");
    text_add_format(out, "%sContent-Length: %zu\r\n\r\n", status == 503 ? "Retry-After: 1\r\n" : "",
                    body.used);
    text_add(out, body.bytes, body.used);
    text_release(&body);
}

static bool may_reply(const struct http_exchange *exchange)
{
    return exchange->connection && !exchange->connection->is_doomed && !exchange->has_ended;
}

void http_set_header(struct http_exchange *exchange, const char *name, const char *value)
{
    struct text *headers = exchange->headers;

    if (exchange->has_begun)
        return;
    if (!headers)
        headers = exchange->headers = mem_new(sizeof *headers);
    text_add_text(headers, name);
    text_add_text(headers, ": ");
    for (; *value; value++) /* a line end in a value would begin a header of its own */
        text_add_char(headers, (unsigned char)*value < ' ' || *value == 0x7f ? ' ' : *value);
    text_add_text(headers, "\r\n");
}

void http_close_after(struct http_exchange *exchange)
{
    if (exchange->connection)
        exchange->connection->closes_after = true;
}

/* A body that was refused is never read; so what follows it is no request. */
static void begin(struct http_exchange *exchange, int status, const char *type)
{
    struct http_connection *connection = exchange->connection;

    exchange->has_begun = true;
    if (!exchange->is_body_done || connection->server->is_draining)
        connection->closes_after = true;
    add_head(connection, exchange, status, type);
    drop_headers(exchange);
}

static void finish(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;

    exchange->has_ended = true;
    if (connection->wait.kind == HTTP_WAIT_BEAT)
        http_wait_end(&connection->wait);
    connection->phase = PHASE_WRITING;
    http_connection_mark_dirty(connection);
}

void http_reply(struct http_exchange *exchange, int status, const char *type, const char *body,
                size_t length)
{
    bool has_body = status >= 200 && status != 204 && status != 304;
    struct text *out;

    if (!may_reply(exchange) || exchange->has_begun)
        return;
    begin(exchange, status, type);
    out = http_connection_out(exchange->connection);
    if (has_body) {
        text_add_text(out, "Content-Length: ");
        text_add_integer(out, (int64_t)length);
        text_add_text(out, "\r\n");
    }
    text_add_text(out, "\r\n");
    if (has_body && !exchange->is_head)
        text_add(out, body, length);
    finish(exchange);
}

void http_upgrade(struct http_exchange *exchange)
{
    if (!may_reply(exchange) || exchange->has_begun || !exchange->connection->server->handler.taken)
        return;
    exchange->is_upgraded = true;
    http_reply(exchange, 101, NULL, "", 0);
}

void http_begin(struct http_exchange *exchange, int status, const char *type)
{
    struct http_connection *connection = exchange->connection;

    if (!may_reply(exchange) || exchange->has_begun)
        return;
    exchange->is_chunked = exchange->minor > 0;
    if (!exchange->is_chunked) /* HTTP/1.0: the end of the connection is the end of the body */
        connection->closes_after = true;
    begin(exchange, status, type);
    text_add_text(http_connection_out(connection),
                  exchange->is_chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

void http_send(struct http_exchange *exchange, const char *bytes, size_t length)
{
    struct http_connection *connection = exchange->connection;
    struct text *out;

    if (!may_reply(exchange) || !exchange->has_begun || length == 0 || exchange->is_head)
        return;
    if (http_connection_unsent(connection) + length > HTTP_STREAM_BYTES) {
        http_connection_doom(connection);
        return;
    }
    out = http_connection_out(connection);
    if (exchange->is_chunked)
        text_add_format(out, "%zx\r\n", length);
    text_add(out, bytes, length);
    if (exchange->is_chunked)
        text_add_text(out, "\r\n");
    http_connection_mark_dirty(connection);
}

size_t http_unsent(const struct http_exchange *exchange)
{
    return exchange->connection ? http_connection_unsent(exchange->connection) : 0;
}

void http_end(struct http_exchange *exchange)
{
    if (!may_reply(exchange) || !exchange->has_begun)
        return;
    if (exchange->is_chunked && !exchange->is_head)
        text_add_text(http_connection_out(exchange->connection), "0\r\n\r\n");
    finish(exchange);
}

/* Server-sent events; the format is of the HTML standard, 9.2. */

static const char keep_alive[] = ": keepalive\n\n";

void sse_beat(struct http_exchange *exchange)
{
    http_send(exchange, keep_alive, sizeof keep_alive - 1);
}

/* From now until the end sse_beat is called whenever nothing else was waited for in times.beat_ms.
 */
static void begin_beat(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;

    if (!may_reply(exchange))
        return;
    exchange->beats = true;
    if (connection->wait.kind == HTTP_WAIT_NONE) /* else when that is over */
        http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BEAT);
}

void sse_begin(struct http_exchange *exchange)
{
    http_set_header(exchange, "Cache-Control", "no-cache, no-transform");
    http_set_header(exchange, "X-Accel-Buffering", "no");
    http_begin(exchange, 200, "text/event-stream");
    sse_beat(exchange);
    begin_beat(exchange);
}

/* A value on a line of its own; what would end the line is left out. */
static void add_field(struct text *out, const char *name, const char *value)
{
    text_add_text(out, name);
    for (; *value; value++)
        if (*value != '\r' && *value != '\n')
            text_add_char(out, *value);
    text_add_char(out, '\n');
}

static void add_data(struct text *out, const char *data, size_t length)
{
    const char *end = data + length;

    for (;;) {
        const char *stop = data;

        while (stop < end && *stop != '\r' && *stop != '\n')
            stop++;
        text_add_text(out, "data: ");
        text_add(out, data, (size_t)(stop - data));
        text_add_char(out, '\n');
        if (stop == end)
            return;
        data = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
    }
}

void sse_add_event(struct text *out, const char *id, const char *event, const char *data,
                   size_t length)
{
    if (id)
        add_field(out, "id: ", id);
    if (event)
        add_field(out, "event: ", event);
    add_data(out, data, length);
    text_add_char(out, '\n');
}

void sse_send(struct http_exchange *exchange, const char *id, const char *event, const char *data,
              size_t length)
{
    struct text frame = { 0 };

    sse_add_event(&frame, id, event, data, length);
    http_send(exchange, frame.bytes, frame.used);
    text_release(&frame);
}

void sse_retry(struct http_exchange *exchange, int milliseconds)
{
    char line[32];
    int length = snprintf(line, sizeof line, "retry: %d\n\n", milliseconds);

    http_send(exchange, line, (size_t)length);
}
