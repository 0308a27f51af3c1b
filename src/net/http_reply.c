/* http_reply.c - replies: their head, whole or in parts. What is said goes out with the next flush.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_inside.h"

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
    if (exchange->headers)
        text_release(exchange->headers);
    free(exchange->headers);
    exchange->headers = NULL;
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

void http_begin_beat(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;

    if (!may_reply(exchange))
        return;
    exchange->beats = true;
    if (connection->wait.kind == HTTP_WAIT_NONE) /* else when that is over */
        http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BEAT);
}
