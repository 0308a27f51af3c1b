/*
 * floor_ws.c - the least it can cost to tell an event to many WebSockets: the frame is made once
 * and written to one socket after the other. Nothing is parsed, checked or stored; who says
 * anything is trusted.
 *
 *   floor_ws      prints {"pid":N,"port":N} when it listens
 *
 * A connection that sends a text frame with a number makes it happen: all get a frame of so many
 * bytes, and the one that asked too.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "floor_tcp.h"

enum { MAX_WATCHERS = 1 << 17, FRAME_BYTES = 4 + UINT16_MAX, MASKED_HEAD = 6 };

#define SWITCHED                                                                                   \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"            \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

static int watchers[MAX_WATCHERS];
static size_t watcher_count;

static void tell_all(uint16_t length)
{
    static char frame[FRAME_BYTES];
    size_t bytes = 4 + (size_t)length;

    memset(frame, 'x', bytes);
    frame[0] = (char)0x81;
    frame[1] = 126;
    frame[2] = (char)(length >> 8);
    frame[3] = (char)length;
    for (size_t i = 0; i < watcher_count; i++) {
        if (send(watchers[i], frame, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
            _exit(1); /* the generator reads faster than we write */
    }
}

static void forget(int fd)
{
    for (size_t i = 0; i < watcher_count; i++) {
        if (watchers[i] == fd) {
            watchers[i] = watchers[--watcher_count];
            break;
        }
    }
    close(fd);
}

static void take_bytes(int fd)
{
    static char in[65536];
    ssize_t got = recv(fd, in, sizeof in - 1, 0);

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        forget(fd);
        return;
    }
    in[got] = '\0';
    if (memcmp(in, "GET ", 4) == 0) {
        if (send(fd, SWITCHED, sizeof SWITCHED - 1, MSG_NOSIGNAL) < 0)
            _exit(1);
        watchers[watcher_count++] = fd;
    } else if (in[0] == (char)0x81 && got > MASKED_HEAD) { /* the generator's key is zero */
        tell_all((uint16_t)strtoul(in + MASKED_HEAD, NULL, 10));
    }
}

int main(void)
{
    int listener = floor_listen(0);

    signal(SIGPIPE, SIG_IGN);
    printf("{\"pid\":%d,\"port\":%d}\n", (int)getpid(), floor_port(listener));
    fflush(stdout);
    floor_serve(listener, take_bytes);
}
