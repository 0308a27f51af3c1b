/* error.c - names of the closed list, and filling in a failure. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"

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

/* So many texts on in what error_add packs: code, path and message of one after another. */
static const char *text_after(const char *text, size_t count)
{
    while (count-- > 0)
        text += strlen(text) + 1;
    return text;
}

bool error_at(const struct error *err, size_t index, struct error *ret_one)
{
    const char *at = err->more;

    if (index == 0)
        return !error_set(ret_one, err->code, err->path, "%s", err->message);
    while (*at && --index > 0)
        at = text_after(at, 3);
    return *at && !error_set(ret_one, error_find(at), text_after(at, 1), "%s", text_after(at, 2));
}

bool error_add(struct error *err, const struct error *next)
{
    const char *const texts[] = { error_name(next->code), next->path, next->message };
    size_t used = 0;

    if (!err)
        return false;
    if (err->code == ERROR_NONE)
        *err = *next;
    if (strcmp(err->path, next->path) == 0)
        return false;
    for (; err->more[used]; used = (size_t)(text_after(err->more + used, 3) - err->more)) {
        if (strcmp(text_after(err->more + used, 1), next->path) == 0)
            return false;
    }
    if (used + strlen(texts[0]) + strlen(texts[1]) + strlen(texts[2]) + 4 > sizeof err->more)
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t bytes = strlen(texts[i]) + 1;

        memcpy(err->more + used, texts[i], bytes);
        used += bytes;
    }
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

void error_write_message(const struct error *err, struct json_writer *writer)
{
    struct text message = { 0 };
    struct error one;

    text_add_text(&message, err->message);
    for (size_t i = 1; error_at(err, i, &one); i++)
        text_add_format(&message, "%s%s", i == 1 ? "; also wrong: " : ", ", one.path);
    json_write_text(writer, "message", text_string(&message));
    text_release(&message);
}

void error_write_list(const struct error *err, struct json_writer *writer)
{
    struct error one;

    if (!err->more[0])
        return;
    json_write_list(writer, "errors");
    for (size_t i = 0; error_at(err, i, &one); i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "code", error_name(one.code));
        json_write_text(writer, "path", one.path);
        json_write_text(writer, "message", one.message);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

void error_write(const struct error *err, struct json_writer *writer)
{
    json_write_text(writer, "code", error_name(err->code));
    json_write_text(writer, "path", err->path);
    if (err->retry_after_s > 0)
        json_write_integer(writer, "retry_after_seconds", err->retry_after_s);
    error_write_list(err, writer);
}

const char *error_name(enum error_code code)
{
    return names[code];
}

enum error_code error_find(const char *name)
{
    size_t code = text_index(name, names, ERROR_COUNT);

    return code < ERROR_COUNT ? (enum error_code)code : ERROR_NONE;
}
