/*
 * fuzz_sse.c - any bytes as an event: read back by the rules of the HTML standard, it is one event
 * with that id, that name and that data, and nothing of it got out of its lines.
 * Proves: P14
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* Line ends of all three kinds become one; `take_out`: they go. */
static void add_plain(struct text *out, const char *bytes, size_t length, bool take_out)
{
    for (size_t i = 0; i < length; i++) {
        bool is_end = bytes[i] == '\r' || bytes[i] == '\n';

        if (is_end && !take_out && !(bytes[i] == '\n' && i > 0 && bytes[i - 1] == '\r'))
            text_add_char(out, '\n');
        else if (!is_end)
            text_add_char(out, bytes[i]);
    }
}

struct event {
    struct text id, name, data;
    int data_lines;
};

static void read_line(struct event *event, const char *line, size_t length)
{
    if (length >= 4 && memcmp(line, "id: ", 4) == 0) {
        text_add(&event->id, line + 4, length - 4);
    } else if (length >= 7 && memcmp(line, "event: ", 7) == 0) {
        text_add(&event->name, line + 7, length - 7);
    } else {
        demand(length >= 6 && memcmp(line, "data: ", 6) == 0);
        if (event->data_lines++)
            text_add_char(&event->data, '\n');
        text_add(&event->data, line + 6, length - 6);
    }
}

static bool is_same(const struct text *a, const struct text *b)
{
    return a->used == b->used && (a->used == 0 || memcmp(a->bytes, b->bytes, a->used) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t id_length = size ? data[0] % size : 0;
    char *id = size ? mem_text_n((const char *)data, id_length) : NULL;
    const char *rest = (const char *)data + id_length;
    size_t rest_length = size - id_length;
    struct event event = { 0 };
    struct text frame = { 0 }, plain_id = { 0 }, plain = { 0 };

    sse_add_event(&frame, id, id, rest, rest_length);
    demand(frame.used >= 2 && memcmp(frame.bytes + frame.used - 2, "\n\n", 2) == 0);
    demand(!memchr(frame.bytes, '\r', frame.used));
    for (size_t at = 0; at < frame.used - 1;) {
        const char *end = memchr(frame.bytes + at, '\n', frame.used - at);
        size_t length = (size_t)(end - frame.bytes) - at;

        demand(length > 0); /* an empty line only at the end */
        read_line(&event, frame.bytes + at, length);
        at += length + 1;
    }
    add_plain(&plain, rest, rest_length, false);
    demand(is_same(&event.data, &plain));
    if (id)
        add_plain(&plain_id, id, strlen(id), true);
    demand(is_same(&event.id, &plain_id) && is_same(&event.name, &plain_id));
    text_release(&frame);
    text_release(&plain);
    text_release(&plain_id);
    text_release(&event.id);
    text_release(&event.name);
    text_release(&event.data);
    free(id);
    return 0;
}
