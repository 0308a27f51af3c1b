/* sse.c - see sse.h; the format is of the HTML standard, 9.2. */
#include "net/sse.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "net/http_server.h"

static const char keep_alive[] = ": keepalive\n\n";

void sse_beat(struct http_exchange *exchange)
{
    http_send(exchange, keep_alive, sizeof keep_alive - 1);
}

void sse_begin(struct http_exchange *exchange)
{
    http_set_header(exchange, "Cache-Control", "no-cache, no-transform");
    http_set_header(exchange, "X-Accel-Buffering", "no");
    http_begin(exchange, 200, "text/event-stream");
    sse_beat(exchange);
    http_begin_beat(exchange);
}

/* A value on a line of its own; what would end the line is left out. */
static void add_line(struct text *out, const char *name, const char *value)
{
    text_add_text(out, name);
    for (; *value; value++)
        if (*value != '\r' && *value != '\n')
            text_add_char(out, *value);
    text_add_char(out, '\n');
}

static void add_data(struct text *out, const char *data, size_t length)
{
    const char *end = data + length;

    for (;;) {
        const char *stop = data;

        while (stop < end && *stop != '\r' && *stop != '\n')
            stop++;
        text_add_text(out, "data: ");
        text_add(out, data, (size_t)(stop - data));
        text_add_char(out, '\n');
        if (stop == end)
            return;
        data = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
    }
}

void sse_add_event(struct text *out, const char *id, const char *event, const char *data,
                   size_t length)
{
    if (id)
        add_line(out, "id: ", id);
    if (event)
        add_line(out, "event: ", event);
    add_data(out, data, length);
    text_add_char(out, '\n');
}

void sse_send(struct http_exchange *exchange, const char *id, const char *event, const char *data,
              size_t length)
{
    struct text frame = { 0 };

    sse_add_event(&frame, id, event, data, length);
    http_send(exchange, frame.bytes, frame.used);
    text_release(&frame);
}

void sse_retry(struct http_exchange *exchange, int milliseconds)
{
    char line[32];
    int length = snprintf(line, sizeof line, "retry: %d\n\n", milliseconds);

    http_send(exchange, line, (size_t)length);
}
