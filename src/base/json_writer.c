/* json_writer.c - JSON out, without building a tree first. */
#include "base/json_writer.h"

#include <math.h>
#include <string.h>

struct json_writer json_writer_to(struct text *out)
{
    return (struct json_writer){ .out = out };
}

struct json_writer json_object_to(struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    return writer;
}

/* What stands behind the backslash; nought: the byte stands as it is. */
static char escape_of(unsigned char byte, bool is_shortest)
{
    static const char named[] = "\b\f\n\r\t", names[] = "bfnrt";
    const char *found = byte ? strchr(named, byte) : NULL;

    if (byte == '"' || byte == '\\')
        return (char)byte;
    if (found && (is_shortest || byte == '\n'))
        return names[found - named];
    return is_shortest && byte == 0x7f ? '\0' : 'u';
}

/* A run of bytes that are written as they are, and behind it an escape. */
static void write_run(struct text *out, const char *bytes, size_t length, char name)
{
    char *at = text_add_room(out, length + 2);

    if (!at)
        return;
    memcpy(at, bytes, length);
    at[length] = '\\';
    at[length + 1] = name;
}

bool json_write_plain(struct text *out, char before, const char *bytes, size_t length, char behind)
{
    char *at;

    if (text_plain_run(bytes, length) < length)
        return false;
    at = text_add_room(out, length + 2 + (before != 0) + (behind != 0));
    if (!at)
        return true;
    if (before)
        *at++ = before;
    *at++ = '"';
    memcpy(at, bytes, length);
    at += length;
    *at++ = '"';
    if (behind)
        *at = behind;
    return true;
}

void json_write_quoted(struct text *out, const char *bytes, size_t length, bool is_shortest)
{
    size_t start = 0, at = 0;

    if (json_write_plain(out, 0, bytes, length, 0))
        return;
    text_add_char(out, '"');
    while ((at += text_plain_run(bytes + at, length - at)) < length) {
        unsigned char byte = (unsigned char)bytes[at++];
        char name = byte < 0x80 ? escape_of(byte, is_shortest) : '\0';

        if (!name)
            continue;
        write_run(out, bytes + start, at - 1 - start, name);
        if (name == 'u')
            text_add_format(out, is_shortest ? "%04X" : "%04x", byte);
        start = at;
    }
    text_add(out, bytes + start, length - start);
    text_add_char(out, '"');
}

static void begin(struct json_writer *writer, const char *key)
{
    bool needs_comma = writer->needs_comma;

    writer->needs_comma = true;
    if (key && json_write_plain(writer->out, needs_comma ? ',' : 0, key, strlen(key), ':'))
        return;
    if (needs_comma)
        text_add_char(writer->out, ',');
    if (key) {
        json_write_quoted(writer->out, key, strlen(key), false);
        text_add_char(writer->out, ':');
    }
}

void json_write_object(struct json_writer *writer, const char *key)
{
    begin(writer, key);
    text_add_char(writer->out, '{');
    writer->needs_comma = false;
}

void json_write_list(struct json_writer *writer, const char *key)
{
    begin(writer, key);
    text_add_char(writer->out, '[');
    writer->needs_comma = false;
}

void json_write_end_object(struct json_writer *writer)
{
    text_add_char(writer->out, '}');
    writer->needs_comma = true;
}

void json_write_end_list(struct json_writer *writer)
{
    text_add_char(writer->out, ']');
    writer->needs_comma = true;
}

void json_write_text(struct json_writer *writer, const char *key, const char *text)
{
    if (text)
        json_write_text_n(writer, key, text, strlen(text));
    else
        json_write_null(writer, key);
}

void json_write_text_if(struct json_writer *writer, const char *key, const char *text)
{
    if (text && *text)
        json_write_text(writer, key, text);
}

void json_write_text_n(struct json_writer *writer, const char *key, const char *bytes, size_t n)
{
    begin(writer, key);
    json_write_quoted(writer->out, bytes, n, false);
}

void json_write_integer(struct json_writer *writer, const char *key, int64_t number)
{
    begin(writer, key);
    text_add_integer(writer->out, number);
}

void json_write_known(struct json_writer *writer, const char *key, int64_t number, bool is_known)
{
    if (is_known)
        json_write_integer(writer, key, number);
    else
        json_write_null(writer, key);
}

void json_write_number(struct json_writer *writer, const char *key, double number)
{
    char digits[TEXT_REAL_BYTES];

    begin(writer, key);
    if (floor(number) == number && fabs(number) < 1e15) {
        text_add_integer(writer->out, (int64_t)number);
    } else {
        text_of_real(number, digits);
        text_add_text(writer->out, digits);
    }
}

void json_write_bool(struct json_writer *writer, const char *key, bool value)
{
    begin(writer, key);
    text_add_text(writer->out, value ? "true" : "false");
}

void json_write_bool_if(struct json_writer *writer, const char *key, bool value)
{
    if (value)
        json_write_bool(writer, key, value);
}

void json_write_null(struct json_writer *writer, const char *key)
{
    begin(writer, key);
    text_add_text(writer->out, "null");
}

void json_write_raw(struct json_writer *writer, const char *key, const char *json)
{
    begin(writer, key);
    text_add_text(writer->out, json);
}

void json_write_foreign_key(struct json_writer *writer, const char *key)
{
    begin(writer, key);
    writer->needs_comma = false;
}
