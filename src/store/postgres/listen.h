/*
 * listen.h - the connection that hears of what others wrote (LISTEN sayso). What it hears is a
 * hint and may be missed; the truth is read. It says a word to itself through another connection:
 * who does not hear that within two seconds sits behind a pooler, and is deaf until it tries again.
 */
#ifndef STORE_POSTGRES_LISTEN_H
#define STORE_POSTGRES_LISTEN_H
#include <stdbool.h>

struct address;
struct listener;
struct loop;
struct pool;

struct listener_parts {
    struct loop *loop;
    struct address *address; /* borrowed */
    struct pool *pool;       /* borrowed; closed before the listener is */
    /* Somebody wrote, or may have while nobody listened. */
    void (*on_news)(void *context);
    /* It is a session of our own that said it: no news. May be NULL. */
    bool (*is_own)(void *context, int pid);
    void *context;
};
struct listener *listener_open(const struct listener_parts *parts);
void listener_close(struct listener *listener);            /* NULL is fine */
bool listener_is_hearing(const struct listener *listener); /* it heard itself */

#endif
