/*
 * dial.h - a connection from a loop to the hub: found, or started, on another thread, because that
 * waits; then lines in and out. What they mean is its owner's business (remote.c, phone.c).
 */
#ifndef WIRE_DIAL_H
#define WIRE_DIAL_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "wire/link.h"

struct dial;
struct loop;

/* Never called from within a function of dial.h, nor after dial_free. */
struct dial_ops {
    void (*opened)(void *context); /* hello was said */
    void (*failed)(void *context, const struct error *err);
    void (*line)(void *context, const char *line, size_t length); /* without its end */
    void (*closed)(void *context); /* the other end went away; it may be dialled again */
};

/* `busy` counts threads that are looking for the hub, until each has ended. */
struct dial *dial_new(struct loop *loop, const struct dial_ops *ops, void *context, size_t *busy);
/* To be called while it is idle; `identity` is copied. */
void dial_start(struct dial *dial, const struct link_identity *identity, enum link_start start);
bool dial_is_idle(const struct dial *dial); /* neither open nor on the way there */
bool dial_is_open(const struct dial *dial);
void dial_send(struct dial *dial, struct text *take_line); /* while it is open */
void dial_free(struct dial *dial);                         /* NULL is fine */

#endif
