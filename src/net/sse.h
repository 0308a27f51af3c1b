/*
 * sse.h - server-sent events as the reply of an exchange: opened at once, kept alive by comments,
 * so that a client that waits for a person sees headers and bytes in time (docs/http.md). They end
 * by http_end.
 */
#ifndef NET_SSE_H
#define NET_SSE_H
#include <stddef.h>

struct http_exchange;
struct text;

void sse_begin(struct http_exchange *exchange); /* head and first comment go out at once */
/* `id`, `event` NULL: without that line. `data` may have lines; each gets its field name. */
void sse_send(struct http_exchange *exchange, const char *id, const char *event, const char *data,
              size_t length);
/* The same as bytes: one encoding for many streams. */
void sse_add_event(struct text *out, const char *id, const char *event, const char *data,
                   size_t length);
void sse_retry(struct http_exchange *exchange, int milliseconds);
void sse_beat(struct http_exchange *exchange); /* a comment, so that nobody thinks it dead */

#endif
