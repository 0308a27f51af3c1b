/*
 * remote_call.h - the acts of one visit that are on their way to the hub: each is kept as the words
 * it was made with until its reply is there, so that it can be sent again to the next hub.
 */
#ifndef WIRE_REMOTE_CALL_H
#define WIRE_REMOTE_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "ports/desk.h"

struct text;

struct remote_call {
    struct remote_call *next, *previous; /* in the order they were made */
    struct table_link by_id, by_tag;
    int64_t id;   /* of the request; 0: it was not sent yet */
    char tag[24]; /* of ask/create; empty: none, or the next hub must get it whole */
    enum method method;
    char session_id[27];   /* once the hub has named its ask */
    int64_t until_boot_ms; /* the end of its wait; -1: none */
    desk_done *done;
    void *context;
    size_t length;
    char params_json[];
};
struct remote_calls {
    struct remote_call *first, *last;
    struct table by_id, by_tag;
    int64_t last_id;
};

void remote_calls_init(struct remote_calls *calls);
void remote_calls_release(struct remote_calls *calls); /* with all that are under way */
/* With parameters as text. */
struct remote_call *remote_calls_add(struct remote_calls *calls, const struct request *request,
                                     desk_done *done, void *context);
/* No longer one of these; for remote_call_free. */
void remote_calls_take(struct remote_calls *calls, struct remote_call *call);
void remote_call_free(struct remote_call *call);
struct remote_call *remote_calls_find(const struct remote_calls *calls, int64_t id);
/* The hub has named the asks of the calls with this tag. */
void remote_calls_name(struct remote_calls *calls, const char *tag, const char *session_id);

/* One line with an id of its own. To another hub, or late: by the ask's id where we know it, else
 * as it was made, but with what is left of its wait. False: the hub would skip so long a line. */
bool remote_call_send(struct remote_calls *calls, struct remote_call *call, struct text *out);
bool remote_call_send_again(struct remote_calls *calls, struct remote_call *call, struct text *out);

#endif
