/*
 * watch.h - a descriptor that belongs to somebody else, such as a database library's socket.
 * Free the watch before its owner closes the descriptor; the number may be another's right after.
 */
#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H

struct loop;
struct watch;

enum { WATCH_READ = 1, WATCH_WRITE = 2 };

/* Watches for nothing yet. NULL: the system can't watch it. */
struct watch *watch_new(struct loop *loop, int fd, void (*call)(void *context), void *context);
void watch_for(struct watch *watch, int events); /* WATCH_READ | WATCH_WRITE; 0: nothing */
void watch_free(struct watch *watch);            /* NULL is fine */

#endif
