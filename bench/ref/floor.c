/*
 * floor.c - what an ask over stdio costs when nothing is parsed, checked or stored: system calls
 * and copies. A limit to compare with, not a server.
 *
 *   floor [LIST]
 *
 * LIST is a file whose content is the result of tools/list, to send as much as another server does.
 */
#include <stdint.h>
#include <stdio.h>

#include "floor.h"

static uint32_t *calls; /* question number -> request id */
static size_t call_count, call_room;

static void take_line(const char *line, size_t length)
{
    const char *result = floor_result(line, length);
    unsigned long id = (unsigned long)floor_number(line, length, "\"id\":");
    char text[512];

    if (result && *result) {
        floor_put(text, (size_t)snprintf(text, sizeof text,
                                         "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"result\":", id));
        floor_put(result, strlen(result));
        floor_put("}\n", 2);
    } else if (result) {
        if (call_count == call_room) {
            call_room = call_room ? call_room * 2 : 1024;
            calls = realloc(calls, call_room * sizeof *calls);
        }
        calls[call_count] = (uint32_t)id;
        floor_put(text, (size_t)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%zu,",
                                         call_count++));
        floor_put(FLOOR_QUESTION, sizeof FLOOR_QUESTION - 1);
    } else if (memmem(line, length, "\"result\"", 8) && id < call_count) {
        floor_put(text,
                  (size_t)snprintf(text, sizeof text,
                                   "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":" FLOOR_DONE "}\n",
                                   calls[id]));
    }
}

int main(int count, char **arguments)
{
    static char in[FLOOR_BYTES];
    size_t used = 0;
    ssize_t got;

    if (count > 1)
        floor_read_list(arguments[1]);
    while ((got = read(STDIN_FILENO, in + used, sizeof in - used)) > 0) {
        char *line = in, *end;

        used += (size_t)got;
        while ((end = memchr(line, '\n', (size_t)(in + used - line)))) {
            take_line(line, (size_t)(end - line));
            line = end + 1;
        }
        used -= (size_t)(line - in);
        memmove(in, line, used);
        floor_flush();
    }
    return 0;
}
