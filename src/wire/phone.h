/*
 * phone.h - a process speaks with the hub, on a loop: calls, notifications, and finding the hub
 * again when it is lost. A call that was under way is made again on the next connection, so what
 * was done is done once: an answer carries its answer_key, an agent's call is matched (R5.5), the
 * rest may be said twice.
 */
#ifndef WIRE_PHONE_H
#define WIRE_PHONE_H
#include <stdbool.h>
#include <stdint.h>

#include "wire/link.h"

struct json;
struct loop;
struct phone;

struct phone_parts {
    struct loop *loop;
    struct link_identity identity; /* its texts are borrowed as long as it lives */
    void *context;
    /* There is a hub; also each time after it was lost. What must be said first is said here. */
    void (*opened)(void *context);
    /* There is none; it is tried again after so long. `err` NULL: it went away. */
    void (*lost)(void *context, int64_t retry_ms, const struct error *err);
    void (*note)(void *context, const char *method, const struct json *params);
};
/* `err` NULL: it worked. `json` is the result, or the detail of a refusal (maybe NULL); borrowed.
 * The result of ask/create and ask/wait is told when the ask is over. */
typedef void phone_done(void *context, const struct error *err, const struct json *json);

struct phone *phone_new(const struct phone_parts *parts); /* begins to look for the hub */
/* Kept until there is a hub. */
void phone_call(struct phone *phone, const char *method, const char *params_json, phone_done *done,
                void *context);
void phone_retry(struct phone *phone); /* now, if it is lost */
bool phone_is_busy(const struct phone *phone);
/* Calls under way are forgotten. To be freed while it is busy it must be given up first. */
void phone_give_up(struct phone *phone);
void phone_free(struct phone *phone);

#endif
