/* json_writer.c - JSON out, without building a tree first. */
#include "base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct json_writer json_writer_to(struct text *out)
{
    return (struct json_writer){ .out = out };
}

static void write_quoted(struct text *out, const char *bytes, size_t length)
{
    size_t start = 0;

    text_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        char escape[8];

        if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f)
            continue;
        text_add(out, bytes + start, i - start);
        start = i + 1;
        if (byte == '"' || byte == '\\')
            snprintf(escape, sizeof escape, "\\%c", byte);
        else if (byte == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        text_add_text(out, escape);
    }
    text_add(out, bytes + start, length - start);
    text_add_char(out, '"');
}

static void begin(struct json_writer *writer, const char *key)
{
    if (writer->needs_comma)
        text_add_char(writer->out, ',');
    writer->needs_comma = true;
    if (key) {
        write_quoted(writer->out, key, strlen(key));
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
    write_quoted(writer->out, bytes, n);
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
    begin(writer, key);
    if (floor(number) == number && fabs(number) < 1e15)
        text_add_format(writer->out, "%lld", (long long)number);
    else
        text_add_format(writer->out, "%.17g", number);
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
