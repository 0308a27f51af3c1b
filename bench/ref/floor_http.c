/*
 * floor_http.c - what MCP over HTTP costs when nothing is parsed, checked or stored: system calls
 * and copies. A limit to compare with, not a server; requests are trusted to come whole.
 *
 *   floor_http PORT [LIST]
 *
 * LIST is a file whose content is the result of tools/list, to send as much as another server does.
 * A call of the tool opens a stream with elicitation/create on it; the reply to that, in a POST of
 * its own, ends the stream with the result.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "floor.h"
#include "floor_tcp.h"

enum { REPLY_BYTES = 65536 };

#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define ACCEPTED "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"

static struct call {
    int fd;
    uint32_t id;
} * calls; /* by question number */
static size_t call_count, call_room;

static void put(int fd, const char *bytes, size_t length)
{
    if (write(fd, bytes, length) != (ssize_t)length)
        _exit(1); /* the generator reads faster than we write */
}

static void put_json(int fd, long id, const char *result)
{
    char head[256], text[REPLY_BYTES];
    int before = snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":", id);
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s%s}",
                          (size_t)before + strlen(result) + 1, head, result);

    put(fd, text, (size_t)length);
}

/* An event in a chunk; `begin` and `end` are what of the reply is around it. */
static void put_event(int fd, const char *begin, const char *data, const char *end)
{
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%zx\r\ndata: %s\n\n\r\n%s", begin, strlen(data) + 8,
                          data, end);

    put(fd, text, (size_t)length);
}

static void ask(int fd, long id)
{
    char data[1024];

    if (call_count == call_room) {
        call_room = call_room ? call_room * 2 : 1024;
        calls = realloc(calls, call_room * sizeof *calls);
    }
    calls[call_count] = (struct call){ fd, (uint32_t)id };
    snprintf(data, sizeof data, "{\"jsonrpc\":\"2.0\",\"id\":%zu,%.*s", call_count++,
             (int)sizeof FLOOR_QUESTION - 2, FLOOR_QUESTION); /* without the end of its line */
    put_event(fd, STREAM, data, "");
}

static void take_reply(size_t question)
{
    char data[256];

    if (question >= call_count)
        return;
    snprintf(data, sizeof data, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":" FLOOR_DONE "}",
             calls[question].id);
    put_event(calls[question].fd, "", data, "0\r\n\r\n");
}

static void take_body(int fd, const char *body, size_t length)
{
    const char *result = floor_result(body, length);
    long id = floor_number(body, length, "\"id\":");

    if (result && *result) {
        put_json(fd, id, result);
    } else if (result) {
        ask(fd, id);
    } else {
        put(fd, ACCEPTED, sizeof ACCEPTED - 1);
        if (id >= 0)
            take_reply((size_t)id);
    }
}

static void take_requests(int fd)
{
    static char in[FLOOR_BYTES];
    ssize_t got = read(fd, in, sizeof in);
    char *at = in, *end, *length;

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        close(fd);
        return;
    }
    while ((end = memmem(at, (size_t)(in + got - at), "\r\n\r\n", 4))) {
        length = memmem(at, (size_t)(end - at), "Content-Length: ", 16);
        take_body(fd, end + 4, length ? strtoul(length + 16, NULL, 10) : 0);
        at = end + 4 + (length ? strtoul(length + 16, NULL, 10) : 0);
    }
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    if (count > 2)
        floor_read_list(arguments[2]);
    floor_serve(floor_listen((uint16_t)strtoul(arguments[1], NULL, 10)), take_requests);
}
