/* mem.c - the one place where running out of memory ends the process. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEM_SMALL_BYTES = 4096 };

void *mem_or_abort(void *memory)
{
    static const char words[] = "sayso: out of memory\n";

    if (memory)
        return memory;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        abort();
    abort();
}

/* glibc's calloc leaves what was freed lately to malloc; large memory it gets zeroed anyhow. */
void *mem_new(size_t bytes)
{
    void *memory;

    if (bytes > MEM_SMALL_BYTES)
        return mem_or_abort(calloc(1, bytes));
    memory = mem_or_abort(malloc(bytes ? bytes : 1));
    memset(memory, 0, bytes);
    return memory;
}

void *mem_resize(void *take_old, size_t bytes)
{
    return mem_or_abort(realloc(take_old, bytes ? bytes : 1));
}

char *mem_text(const char *text)
{
    return text ? mem_text_n(text, strlen(text)) : NULL;
}

char *mem_text_n(const char *bytes, size_t length)
{
    char *copy = mem_or_abort(malloc(length + 1));

    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

char *mem_format(const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return mem_or_abort(length < 0 ? NULL : text);
}
