/*
 * web.h - HTTP for load generators: any number of kept connections to one port, one request on each
 * at a time, replies as JSON or as events, plain or chunked. Replies are trusted to be well formed.
 */
#ifndef BENCH_WEB_H
#define BENCH_WEB_H
#include <stdbool.h>
#include <stddef.h>

struct bytes;

struct web_reply {
    int status;
    bool is_stream; /* of events, which may go on for long */
    long tag;       /* as given with the request */
};
struct web_calls {
    void (*head)(const struct web_reply *reply, const char *head);
    /* A JSON body, or the data of an event. */
    void (*message)(const struct web_reply *reply, const char *text, size_t length);
};

/* Waits until the server listens, for so long. */
void web_open(int port, const struct web_calls *calls, double patience_s);
/* `headers` are whole lines. On a connection that is idle, else on a new one; leaves with the next
 * web_turn. */
void web_send(const char *method, const char *path, const struct bytes *headers,
              const struct bytes *body, long tag);
void web_turn(double until); /* waits for replies until then at most, and takes them */
long web_connection_count(void);

#endif
