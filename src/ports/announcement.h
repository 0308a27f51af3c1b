/*
 * announcement.h - that an agent waits, told to a person who looks at none of our screens. The
 * words are made harmless; everything is borrowed for the call.
 */
#ifndef PORTS_ANNOUNCEMENT_H
#define PORTS_ANNOUNCEMENT_H
#include <stdbool.h>
#include <stdint.h>

struct announcement {
    const char *session_id, *title, *agent;
    const char *url;  /* NULL: there is no portal */
    bool is_reminder; /* it was told of before, and has waited for long */
    bool is_destructive;
    bool is_watched; /* a page or an inbox is open, which makes itself known */
    int64_t waited_ms, remaining_s;
};

#endif
