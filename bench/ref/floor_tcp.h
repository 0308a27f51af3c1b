/* floor_tcp.h - the loop of the floors that are reached over TCP: everybody is let in, and a
 * peer that sends something is handed on. Peers are trusted. */
#ifndef BENCH_FLOOR_TCP_H
#define BENCH_FLOOR_TCP_H
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { FLOOR_TURN_EVENTS = 256 };

/* On the loopback; port 0: any that is free. */
static inline int floor_listen(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0)
        exit(2);
    return fd;
}

static inline int floor_port(int listener)
{
    struct sockaddr_in address = { 0 };
    socklen_t size = sizeof address;

    return getsockname(listener, (struct sockaddr *)&address, &size) == 0 ? ntohs(address.sin_port)
                                                                          : -1;
}

static inline void floor_let_in(int poller, int listener)
{
    int fd, yes = 1;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct epoll_event wanted = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wanted);
    }
}

static inline void floor_serve(int listener, void (*take)(int fd))
{
    struct epoll_event ready[FLOOR_TURN_EVENTS],
        wanted = { .events = EPOLLIN, .data.fd = listener };
    int poller = epoll_create1(0);
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &wanted);
    for (;;) {
        int found = epoll_wait(poller, ready, FLOOR_TURN_EVENTS, -1);

        for (int i = 0; i < found; i++) {
            if (ready[i].data.fd == listener)
                floor_let_in(poller, listener);
            else
                take(ready[i].data.fd);
        }
    }
}

#endif
