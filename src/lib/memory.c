/*
 * memory.c - base/mem.h for a library: out of memory is NULL, for the caller to tell, and never the
 * end of the program we are in. Of base only what is written for that is linked (meson.build).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void *mem_new(size_t bytes)
{
    return calloc(1, bytes ? bytes : 1);
}

void *mem_resize(void *take_old, size_t bytes)
{
    return realloc(take_old, bytes ? bytes : 1);
}

char *mem_text(const char *text)
{
    return text ? mem_text_n(text, strlen(text)) : NULL;
}

char *mem_text_n(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}
