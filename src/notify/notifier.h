/* notifier.h - one message on its way out, and the ways there are. */
#ifndef NOTIFY_NOTIFIER_H
#define NOTIFY_NOTIFIER_H
#include "base/text.h"
#include "core/ask.h"
#include "notify/notify.h"
#include "settings/settings.h"

enum { MESSAGE_WORDS = 16, MESSAGE_VARIABLES = 64 };

/* A program to be run; texts are the message's own. */
struct message {
    struct message *next;
    struct notify *notify;
    const char *way;                    /* for the log */
    const char *words[MESSAGE_WORDS];   /* NULL-ended; borrowed for ever, or `command` */
    char *command;                      /* owned */
    char *variables[MESSAGE_VARIABLES]; /* NULL-ended; owned */
    struct text input;
    struct child *child; /* NULL: it waits for its turn */
};

struct way {
    const char *name;
    bool (*is_wanted)(const struct notify_parts *parts, const struct announcement *announcement);
    /* Fills words and input; false: it can't be, and it was logged why. */
    bool (*prepare)(const struct notify_parts *parts, const struct announcement *announcement,
                    struct message *message);
};
extern const struct way way_desktop, way_command, way_webhook;

/* {event, session_id, title, agent, url?, destructive, waited_seconds, remaining_seconds} */
void message_write_facts(const struct announcement *announcement, struct text *out);

#endif
