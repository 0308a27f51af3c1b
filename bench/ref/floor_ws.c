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
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURN_EVENTS = 256, MOST_WATCHERS = 1 << 17, FRAME_BYTES = 4 + UINT16_MAX, MASKED_HEAD = 6 };

#define SWITCHED                                                                                   \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"            \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

static int watchers[MOST_WATCHERS];
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

static int listen_on_any_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        exit(2);
    printf("{\"pid\":%d,\"port\":%d}\n", (int)getpid(), ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void let_in(int poller, int listener)
{
    int fd, yes = 1;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct epoll_event wanted = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wanted);
    }
}

int main(void)
{
    struct epoll_event ready[TURN_EVENTS], wanted = { .events = EPOLLIN };
    struct rlimit files;
    int poller = epoll_create1(0), listener;

    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    listener = listen_on_any_port();
    wanted.data.fd = listener;
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &wanted);
    for (;;) {
        int found = epoll_wait(poller, ready, TURN_EVENTS, -1);

        for (int i = 0; i < found; i++) {
            if (ready[i].data.fd == listener)
                let_in(poller, listener);
            else
                take_bytes(ready[i].data.fd);
        }
    }
}
