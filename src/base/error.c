/* error.c - names of the closed list, and filling in a failure. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"

static const char *const names[ERROR_COUNT] = {
    [ERROR_NONE] = "none",
#define ERROR(name) [ERROR_##name] = #name,
#include "base/errors.def"
#undef ERROR
};

bool error_set(struct error *err, enum error_code code, const char *path, const char *format, ...)
{
    va_list arguments;

    if (!err)
        return false;
    *err = (struct error){ .code = code };
    snprintf(err->path, sizeof err->path, "%s", path);
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return false;
}

static const char out_of_memory[] = "out of memory";

bool error_set_no_memory(struct error *err)
{
    return error_set(err, ERROR_storage_failed, "", "%s", out_of_memory);
}

bool error_is_no_memory(const struct error *err)
{
    return err->code == ERROR_storage_failed && strcmp(err->message, out_of_memory) == 0;
}

void error_write(const struct error *err, struct json_writer *writer)
{
    json_write_text(writer, "code", error_name(err->code));
    json_write_text(writer, "path", err->path);
    if (err->retry_after_s > 0)
        json_write_integer(writer, "retry_after_seconds", err->retry_after_s);
}

const char *error_name(enum error_code code)
{
    return names[code];
}

enum error_code error_find(const char *name)
{
    for (int code = ERROR_NONE + 1; code < ERROR_COUNT; code++) {
        if (strcmp(names[code], name) == 0)
            return (enum error_code)code;
    }
    return ERROR_NONE;
}
