/*
 * remote.h - the desk of a process that has no engine: each visit is a connection to the hub.
 * The hub is found or started at the first act, on another thread, so the loop never waits. If it
 * dies, it is started again and every act under way is taken up: by the ask's id where we know
 * it, else by the same call, which the hub matches (R5.5, R10.2).
 */
#ifndef WIRE_REMOTE_H
#define WIRE_REMOTE_H
#include <stdbool.h>

struct desk;
struct error;
struct loop;

/* `socket_path` NULL: the user's own hub, which may be started. `refuses` is called for each new
 * ask: true ends it with `err` before a hub is looked for. */
struct desk *remote_desk_new(struct loop *loop, const char *socket_path,
                             bool (*refuses)(void *context, struct error *err), void *context);
/* Every visit must have left; work of other threads is waited for by the loop. */
void remote_desk_free(struct desk *desk);
/* What the turn gave to say goes out: to be called before the loop sleeps. */
void remote_desk_flush(struct desk *desk);
/* Another thread still looks for the hub, or starts it; with a hub that hangs it takes seconds. */
bool remote_desk_is_busy(const struct desk *desk);

#endif
