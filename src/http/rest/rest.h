/*
 * rest.h - asks over HTTP for people's own programs (R10.4, docs/rest.md): lists, long polls,
 * answers; beside them health, readiness and figures. Every route is a row that also prints the
 * OpenAPI document.
 */
#ifndef HTTP_REST_REST_H
#define HTTP_REST_REST_H

struct service;
struct guard;
struct loop;
struct rest;
struct text;

/* Borrowed; all of it must outlive the front. */
struct rest_parts {
    struct loop *loop;
    struct service *service;
    void *context;                           /* of the two below */
    const char *(*not_ready)(void *context); /* why nothing should be sent here; NULL: ready */
    void (*write_metrics)(void *context, struct text *out);
};
struct rest *rest_new(const struct rest_parts *parts);
void rest_free(struct rest *rest); /* no exchange is open any more; NULL is fine */
void rest_add_routes(struct rest *rest, struct guard *guard);
/* Behind the service's own flush and before HTTP's: long polls look at what changed. */
void rest_flush(struct rest *rest);
/* The hub is about to go: who waits is told to ask again. */
void rest_drain(struct rest *rest);

#endif
