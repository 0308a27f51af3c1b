/*
 * person.h - a person's process speaks with the hub, on a loop: calls, notifications, and finding
 * the hub again when it is lost. A call that was under way is made again on the next connection, so
 * what the person did is done once: an answer carries its answer_key, the rest may be said twice.
 */
#ifndef WIRE_PERSON_H
#define WIRE_PERSON_H
#include <stdbool.h>
#include <stdint.h>

struct error;
struct json;
struct loop;
struct person;

struct person_parts {
    struct loop *loop;
    const char *channel; /* "terminal" */
    void *context;
    /* There is a hub; also each time after it was lost. What must be said first is said here. */
    void (*opened)(void *context);
    /* There is none; it is tried again after so long. `err` NULL: it went away. */
    void (*lost)(void *context, int64_t retry_ms, const struct error *err);
    void (*note)(void *context, const char *method, const struct json *params);
};
/* `err` NULL: it worked. `json` is the result, or the detail of a refusal (maybe NULL); borrowed.
 */
typedef void person_done(void *context, const struct error *err, const struct json *json);

struct person *person_new(const struct person_parts *parts); /* begins to look for the hub */
/* Kept until there is a hub. */
void person_call(struct person *person, const char *method, const char *params_json,
                 person_done *done, void *context);
void person_retry(struct person *person); /* now, if it is lost */
bool person_is_busy(const struct person *person);
/* Calls under way are forgotten. To be freed while it is busy it must be given up first. */
void person_give_up(struct person *person);
void person_free(struct person *person);

#endif
