/*
 * mem.h - memory that is there or the process is not.
 * Running out aborts in one place (mem.c). That is safe because an answer is on disk before
 * anyone is told about it; so everything a peer can send has a maximum where it is created.
 *
 * A library must not end the program it is in: libsayso links lib/memory.c in the place of mem.c,
 * which returns NULL instead. So text.c and json_parser.c look at what they get.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H
#include <stddef.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof *(array))

void *mem_or_abort(void *memory);                   /* as it is; NULL ends the process */
void *mem_new(size_t bytes);                        /* zeroed */
void *mem_resize(void *take_old, size_t bytes);     /* like realloc, new bytes undefined */
char *mem_text(const char *text);                   /* copy; NULL stays NULL */
char *mem_text_n(const char *bytes, size_t length); /* copy with a NUL behind it */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
