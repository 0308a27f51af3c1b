/* postgres_proxy.c - see postgres_proxy.h. */
#include "postgres_proxy.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PROXY_MAX = 64, PROXY_BYTES = 65536, PROXY_PATH_BYTES = 108 };

struct pipe_pair {
    int program, server; /* -1: closed */
    char *held;
    size_t held_bytes;
};
struct proxy {
    char server_path[PROXY_PATH_BYTES], folder[64], path[PROXY_PATH_BYTES];
    int listening, wake[2];
    pthread_t thread;
    pthread_mutex_t lock; /* everything below */
    enum proxy_mode mode;
    struct pipe_pair pairs[PROXY_MAX];
    int count;
    bool is_closing;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pair(struct pipe_pair *pair)
{
    close_one(&pair->program);
    close_one(&pair->server);
    free(pair->held);
    pair->held = NULL;
    pair->held_bytes = 0;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        close_one(&fd);
    return fd;
}

static void let_in(struct proxy *proxy)
{
    int program = accept4(proxy->listening, NULL, NULL, SOCK_CLOEXEC), server;

    if (program < 0)
        return;
    server = proxy->mode == PROXY_SHUT ? -1 : connect_to(proxy->server_path);
    for (int i = 0; server >= 0 && i < PROXY_MAX; i++) {
        struct pipe_pair *pair = &proxy->pairs[i];

        if (pair->program < 0 && pair->server < 0) {
            pair->program = program;
            pair->server = server;
            proxy->count++;
            return;
        }
    }
    close(program);
    close_one(&server);
}

static bool send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static void from_program(struct proxy *proxy, struct pipe_pair *pair)
{
    char bytes[PROXY_BYTES];
    ssize_t got = recv(pair->program, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        if (pair->held_bytes > 0)
            close_one(&pair->program);
        else
            close_pair(pair);
    } else if (proxy->mode == PROXY_HOLD) {
        pair->held = realloc(pair->held, pair->held_bytes + (size_t)got);
        memcpy(pair->held + pair->held_bytes, bytes, (size_t)got);
        pair->held_bytes += (size_t)got;
    } else if (!send_all(pair->server, bytes, (size_t)got)) {
        close_pair(pair);
    }
}

static void from_server(struct proxy *proxy, struct pipe_pair *pair)
{
    char bytes[PROXY_BYTES];
    ssize_t got = recv(pair->server, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        close_pair(pair);
    else if (proxy->mode != PROXY_MUTE && pair->program >= 0 &&
             !send_all(pair->program, bytes, (size_t)got))
        close_pair(pair);
}

static void *proxy_main(void *context)
{
    struct proxy *proxy = context;
    bool is_closing = false;

    while (!is_closing) {
        struct pollfd fds[2 + 2 * PROXY_MAX] = { { proxy->listening, POLLIN, 0 },
                                                 { proxy->wake[0], POLLIN, 0 } };
        char byte;

        pthread_mutex_lock(&proxy->lock);
        for (int i = 0; i < PROXY_MAX; i++) {
            fds[2 + 2 * i] = (struct pollfd){ proxy->pairs[i].program, POLLIN, 0 };
            fds[3 + 2 * i] = (struct pollfd){ proxy->pairs[i].server, POLLIN, 0 };
        }
        pthread_mutex_unlock(&proxy->lock);
        poll(fds, 2 + 2 * PROXY_MAX, -1);
        pthread_mutex_lock(&proxy->lock);
        if (fds[1].revents && read(proxy->wake[0], &byte, 1) < 0)
            abort();
        for (int i = 0; i < PROXY_MAX; i++) {
            struct pipe_pair *pair = &proxy->pairs[i];

            if (fds[2 + 2 * i].revents && pair->program == fds[2 + 2 * i].fd)
                from_program(proxy, pair);
            if (fds[3 + 2 * i].revents && pair->server == fds[3 + 2 * i].fd && pair->server >= 0)
                from_server(proxy, pair);
        }
        if (fds[0].revents)
            let_in(proxy);
        is_closing = proxy->is_closing;
        pthread_mutex_unlock(&proxy->lock);
    }
    return NULL;
}

static void wake(struct proxy *proxy)
{
    if (write(proxy->wake[1], "", 1) != 1)
        abort();
}

/* The socket's folder is the parameter host of such a URL. */
struct proxy *proxy_new(const char *url, char *out_url, size_t size)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *host = strstr(url, "host="), *port = strstr(url, "port=");
    int head = (int)strcspn(url, "?"), length = 0;
    char folder[96] = "";

    for (const char *at = host + 5; *at && *at != '&'; at++) {
        if (at[0] == '%' && strncasecmp(at, "%2F", 3) == 0) {
            folder[length++] = '/';
            at += 2;
        } else {
            folder[length++] = *at;
        }
    }
    snprintf(proxy->server_path, sizeof proxy->server_path, "%s/.s.PGSQL.%d", folder,
             port ? (int)strtol(port + 5, NULL, 10) : 5432);
    snprintf(proxy->folder, sizeof proxy->folder, "/tmp/pgproxy.XXXXXX");
    if (!mkdtemp(proxy->folder) || pipe(proxy->wake) != 0)
        abort();
    snprintf(proxy->path, sizeof proxy->path, "%s/.s.PGSQL.5432", proxy->folder);
    memcpy(address.sun_path, proxy->path, sizeof proxy->path);
    proxy->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(proxy->listening, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(proxy->listening, 64) != 0)
        abort();
    for (int i = 0; i < PROXY_MAX; i++)
        proxy->pairs[i] = (struct pipe_pair){ .program = -1, .server = -1 };
    snprintf(out_url, size, "%.*s?host=%s", head, url, proxy->folder);
    pthread_mutex_init(&proxy->lock, NULL);
    pthread_create(&proxy->thread, NULL, proxy_main, proxy);
    return proxy;
}

void proxy_free(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->is_closing = true;
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
    pthread_join(proxy->thread, NULL);
    for (int i = 0; i < PROXY_MAX; i++)
        close_pair(&proxy->pairs[i]);
    close(proxy->listening);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    unlink(proxy->path);
    rmdir(proxy->folder);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

void proxy_set(struct proxy *proxy, enum proxy_mode mode)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->mode = mode;
    pthread_mutex_unlock(&proxy->lock);
}

int proxy_count(struct proxy *proxy)
{
    int count;

    pthread_mutex_lock(&proxy->lock);
    count = proxy->count;
    pthread_mutex_unlock(&proxy->lock);
    return count;
}

int proxy_held(struct proxy *proxy)
{
    size_t bytes = 0;

    pthread_mutex_lock(&proxy->lock);
    for (int i = 0; i < PROXY_MAX; i++)
        bytes += proxy->pairs[i].held_bytes;
    pthread_mutex_unlock(&proxy->lock);
    return (int)bytes;
}

void proxy_cut(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    for (int i = 0; i < PROXY_MAX; i++)
        close_pair(&proxy->pairs[i]);
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
}

void proxy_cut_program(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    for (int i = 0; i < PROXY_MAX; i++)
        close_one(&proxy->pairs[i].program);
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
}

void proxy_release(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    for (int i = 0; i < PROXY_MAX; i++) {
        struct pipe_pair *pair = &proxy->pairs[i];

        if (pair->held_bytes > 0 && !send_all(pair->server, pair->held, pair->held_bytes))
            close_pair(pair);
        free(pair->held);
        pair->held = NULL;
        pair->held_bytes = 0;
    }
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
}
