/*
 * watch.h - a descriptor that other code owns, such as a database library's socket. Free the
 * watch before its owner closes the descriptor; the number may be another's right after.
 */
#ifndef BASE_WATCH_H
#define BASE_WATCH_H

struct loop;
struct resolve;
struct watch;

enum { WATCH_READ = 1, WATCH_WRITE = 2 };

/* Watches for nothing yet. NULL: the system can't watch it. */
struct watch *watch_new(struct loop *loop, int fd, void (*call)(void *context), void *context);
void watch_for(struct watch *watch, int events); /* WATCH_READ | WATCH_WRITE; 0: nothing */
void watch_free(struct watch *watch);            /* NULL is fine */

/* The addresses of a host, asked for without the loop waiting. */

enum { RESOLVE_MAX = 8 }; /* addresses of one name */

/* `addresses` are numeric, a comma between; NULL: there are none, and `why` says it. */
typedef void resolve_done(void *context, const char *addresses, const char *why);
/* `done` runs later. NULL: it can't be asked for now. */
struct resolve *resolve_start(struct loop *loop, const char *host, resolve_done *done,
                              void *context);
void resolve_cancel(struct resolve *resolve); /* `done` is not called any more; NULL is fine */

#endif
