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

enum { VALUE_BYTES = 400 };

/* So many bytes at most, and no part of a character: the message goes out as JSON. */
static size_t cut(const char *bytes, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && ((unsigned char)bytes[max] & 0xc0) == 0x80)
        max--;
    return max;
}

bool error_fill(struct error *err, enum error_code code, const char *path, unsigned text,
                const char *english, const struct text_pairs *pairs)
{
    size_t used = 0, count = 0;
    struct text_piece piece;

    if (!err)
        return false;
    *err = (struct error){ .code = code, .text = (uint16_t)(text + 1) };
    text_put(err->path, sizeof err->path, path);
    while (text_next_piece(&english, pairs, &piece)) {
        if (piece.is_value) /* something of the sentence is left */
            piece.length = cut(piece.bytes, piece.length, VALUE_BYTES);
        piece.length = cut(piece.bytes, piece.length, sizeof err->message - 1 - used);
        memcpy(err->message + used, piece.bytes, piece.length);
        used += piece.length;
        if (piece.is_value && count < ERROR_VALUES)
            err->lengths[count++] = (uint16_t)piece.length;
    }
    return false;
}

bool error_say_base(struct error *err, enum error_code code, const char *path, enum base_text text,
                    ...)
{
    static const char *const english[] = {
#define TEXT(name, english, chinese) [BASE_##name] = english,
#include "base/texts.def"
#undef TEXT
    };
    struct text_pairs pairs;
    va_list arguments;

    va_start(arguments, text);
    text_read_pairs(&pairs, arguments);
    va_end(arguments);
    return error_fill(err, code, path, (unsigned)text, english[text], &pairs);
}

static error_words_reader *words_reader;

void error_use_words(error_words_reader *reader)
{
    words_reader = reader;
}

void error_hear(struct error *err, const struct json *said)
{
    if (words_reader)
        words_reader(err, said);
}

/* What error_add packed at `at`; NULL: nothing is there. Moves `at` on. */
static const char *next_packed(const struct error *err, size_t *at, const char **ret_path,
                               const char **ret_message)
{
    const char *head = err->more + *at;

    if (*at >= err->more_bytes)
        return NULL;
    *ret_path = head + offsetof(struct error, path);
    *ret_message = *ret_path + strlen(*ret_path) + 1;
    *at = (size_t)(*ret_message + strlen(*ret_message) + 1 - err->more);
    return head;
}

bool error_at(const struct error *err, size_t index, struct error *ret_one)
{
    const char *head = (const char *)err, *path = err->path, *message = err->message;
    struct error one = { 0 };
    size_t at = 0;

    for (size_t i = 0; head && i < index; i++)
        head = next_packed(err, &at, &path, &message);
    if (!head)
        return false;
    memcpy(&one, head, offsetof(struct error, path)); /* without what follows in `more` */
    text_put(one.path, sizeof one.path, path);
    text_put(one.message, sizeof one.message, message);
    *ret_one = one;
    return true;
}

bool error_add(struct error *err, const struct error *next)
{
    const size_t head = offsetof(struct error, path);
    size_t at = 0, path_bytes = strlen(next->path) + 1, bytes = strlen(next->message) + 1;
    const char *path, *message;

    if (!err)
        return false;
    if (err->code == ERROR_NONE)
        *err = *next;
    if (strcmp(err->path, next->path) == 0)
        return false;
    while (next_packed(err, &at, &path, &message)) {
        if (strcmp(path, next->path) == 0)
            return false;
    }
    if (at + head + path_bytes + bytes > sizeof err->more)
        return false;
    memcpy(err->more + at, next, head);
    memcpy(err->more + at + head, next->path, path_bytes);
    memcpy(err->more + at + head + path_bytes, next->message, bytes);
    err->more_bytes = at + head + path_bytes + bytes;
    return false;
}

bool error_set_no_memory(struct error *err)
{
    return error_say_base(err, ERROR_storage_failed, "", BASE_REASON_OUT_OF_MEMORY, NULL);
}

bool error_is_no_memory(const struct error *err)
{
    return err->text == BASE_REASON_OUT_OF_MEMORY + 1;
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

void error_write_list(const struct error *err, error_add_words *add_words,
                      struct json_writer *writer)
{
    struct error one;

    if (err->more_bytes == 0)
        return;
    json_write_list(writer, "errors");
    for (size_t i = 0; error_at(err, i, &one); i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "code", error_name(one.code));
        json_write_text(writer, "path", one.path);
        json_write_text(writer, "message", one.message);
        if (add_words)
            add_words(&one, writer);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

void error_write(const struct error *err, error_add_words *add_words, struct json_writer *writer)
{
    json_write_text(writer, "code", error_name(err->code));
    json_write_text(writer, "path", err->path);
    if (err->retry_after_s > 0)
        json_write_integer(writer, "retry_after_seconds", err->retry_after_s);
    error_write_list(err, add_words, writer);
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
