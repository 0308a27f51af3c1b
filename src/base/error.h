/*
 * error.h - one shape for every failure: a code of the closed list, where, and what to do.
 * A value of fixed size, so failing never allocates.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H
#include <stdbool.h>
#include <stdint.h>

struct json_writer;

enum error_code {
    ERROR_NONE,
#define ERROR(name) ERROR_##name,
#include "base/errors.def"
#undef ERROR
    ERROR_COUNT,
};

struct error {
    enum error_code code;
    char path[160];        /* JSON pointer of the offending field; "" where there is none */
    char message[480];     /* what is wrong and how to mend it; plain ASCII or checked text */
    int64_t retry_after_s; /* only with rate_limited */
};

/* Always returns false, so that `return error_set(…)` reads as a failure. */
bool error_set(struct error *err, enum error_code code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* For what is also linked where memory may be missing (mem.h); false, as error_set. */
bool error_set_no_memory(struct error *err);
bool error_is_no_memory(const struct error *err);
/* Members code, path and, where there is one, retry_after_seconds of the object being written. */
void error_write(const struct error *err, struct json_writer *writer);
const char *error_name(enum error_code code); /* "missing_property" */
enum error_code error_find(const char *name); /* ERROR_NONE where unknown */

#endif
