/*
 * postgres_proxy.h - stands between a program and the server's socket, in a thread of its own, and
 * does to what goes through it what a bad network does.
 */
#ifndef TESTS_POSTGRES_PROXY_H
#define TESTS_POSTGRES_PROXY_H
#include <stddef.h>

struct proxy;

enum proxy_mode {
    PROXY_PASS,
    PROXY_MUTE, /* what the server says is lost */
    PROXY_HOLD, /* what the program says is kept back */
    PROXY_SHUT, /* no connection gets in */
};

/* `url` as postgres_create gives it, on a socket; `out_url` leads through the proxy. */
struct proxy *proxy_new(const char *url, char *out_url, size_t size);
void proxy_free(struct proxy *proxy);
void proxy_set(struct proxy *proxy, enum proxy_mode mode);
int proxy_count(struct proxy *proxy); /* connections that were let in since the beginning */
int proxy_held(struct proxy *proxy);  /* bytes kept back */
/* Ends every connection on both sides. */
void proxy_cut(struct proxy *proxy);
/* The program is cut off; the server's side stays, with what was kept back for it. */
void proxy_cut_program(struct proxy *proxy);
/* Hands on what was kept back, also for programs that are gone. */
void proxy_release(struct proxy *proxy);

#endif
