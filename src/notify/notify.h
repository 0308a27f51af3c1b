/*
 * notify.h - tells people who have no screen of ours open that an agent waits. Each way is a struct
 * and a row in notify.c: a program run next to the loop, which gets the message on its standard
 * input, so that nothing an agent wrote is ever part of a command line.
 */
#ifndef NOTIFY_NOTIFY_H
#define NOTIFY_NOTIFY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct announcement;
struct loop;
struct notify;
struct settings;
struct text;

/* Everything is borrowed. */
struct notify_parts {
    struct loop *loop;
    const struct settings *settings;
    const char *program; /* ours */
    /* Appends how a body is signed for this id and time; false: it can't be (base/crypto.h). */
    bool (*sign)(void *context, const char *id, int64_t time_s, const char *body, size_t length,
                 struct text *out);
    void *context;
};

struct notify *notify_new(const struct notify_parts *parts);
void notify_free(struct notify *notify); /* ends what still runs; NULL is fine */
void notify_tell(struct notify *notify, const struct announcement *announcement);

#endif
