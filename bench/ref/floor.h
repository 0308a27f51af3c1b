/* floor.h - what the floors say: canned replies, no JSON parser. Input is trusted. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLOOR_INIT                                                                                 \
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"                         \
    "\"serverInfo\":{\"name\":\"floor\",\"version\":\"0\"}}"
#define FLOOR_LIST                                                                                 \
    "{\"tools\":[{\"name\":\"ask\",\"description\":\"Ask the human to choose\",\"inputSchema\":"   \
    "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"}},"                      \
    "\"required\":[\"prompt\"]}}]}"
#define FLOOR_DONE "{\"content\":[{\"type\":\"text\",\"text\":\"yes\"}]}"
#define FLOOR_QUESTION                                                                             \
    "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"Ship it?\","    \
    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\","    \
    "\"enum\":[\"yes\",\"no\"]}},\"required\":[\"answer\"]}}}\n"

static const char *floor_list = FLOOR_LIST;

enum { FLOOR_BYTES = 1 << 20 };
static char floor_out[FLOOR_BYTES];
static size_t floor_used;

static inline void floor_read_list(const char *path)
{
    static char list[FLOOR_BYTES];
    FILE *file = fopen(path, "r");

    if (!file || fread(list, 1, sizeof list - 1, file) == 0)
        exit(2);
    fclose(file);
    floor_list = list;
}

static inline void floor_flush(void)
{
    for (size_t done = 0; done < floor_used;) {
        ssize_t put = write(STDOUT_FILENO, floor_out + done, floor_used - done);

        if (put <= 0)
            _exit(1);
        done += (size_t)put;
    }
    floor_used = 0;
}

static inline void floor_put(const char *bytes, size_t length)
{
    if (floor_used + length > sizeof floor_out)
        floor_flush();
    memcpy(floor_out + floor_used, bytes, length);
    floor_used += length;
}

static inline long floor_number(const char *line, size_t length, const char *key)
{
    const char *found = memmem(line, length, key, strlen(key));

    return found ? strtol(found + strlen(key) + (found[strlen(key)] == '"'), NULL, 10) : -1;
}

/* The canned result, "" for a call of the tool, NULL for what is no request of ours. */
static inline const char *floor_result(const char *line, size_t length)
{
    const char *method = memmem(line, length, "\"method\":\"", 10);

    if (!method)
        return NULL;
    if (method[10] == 't')
        return method[16] == 'l' ? floor_list : "";
    return method[10] == 'i' ? FLOOR_INIT : method[10] == 'p' ? "{}" : NULL;
}

#endif
