/*
 * json_writer.h - appends JSON to a text: commas and quoting are its business, order is yours.
 * Keys are literals of ours. A NULL text is written as null; use the _if form to leave it out.
 */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct json;

struct json_writer {
    struct text *out; /* borrowed */
    bool needs_comma;
};

struct json_writer json_writer_to(struct text *out);
struct json_writer json_object_to(struct text *out); /* inside an object it has begun */

/* `key` is NULL inside a list and for the root. */
void json_write_object(struct json_writer *writer, const char *key);
void json_write_list(struct json_writer *writer, const char *key);
void json_write_end_object(struct json_writer *writer);
void json_write_end_list(struct json_writer *writer);
void json_write_text(struct json_writer *writer, const char *key, const char *text);
void json_write_text_if(struct json_writer *writer, const char *key, const char *text);
void json_write_text_n(struct json_writer *writer, const char *key, const char *bytes, size_t n);
void json_write_integer(struct json_writer *writer, const char *key, int64_t number);
/* null where it is not known */
void json_write_known(struct json_writer *writer, const char *key, int64_t number, bool is_known);
void json_write_number(struct json_writer *writer, const char *key, double number);
void json_write_bool(struct json_writer *writer, const char *key, bool value);
void json_write_bool_if(struct json_writer *writer, const char *key, bool value); /* only true */
void json_write_null(struct json_writer *writer, const char *key);
void json_write_raw(struct json_writer *writer, const char *key, const char *json); /* as it is */
/* A value that was read, encoded (json_encode); NULL is left out. */
void json_write_value(struct json_writer *writer, const char *key, const struct json *value);
/* For keys that are not ours (option ids): quoted and escaped like a text. */
void json_write_foreign_key(struct json_writer *writer, const char *key);

/* For callers that write JSON themselves: quoted, after `before` (0: none) and before `behind`.
 * False: something in it must be escaped, and nothing was written. */
bool json_write_plain(struct text *out, char before, const char *bytes, size_t length, char behind);
/* Whatever is in it. `is_shortest`: as short as JSON has it, as values that were read are. */
void json_write_quoted(struct text *out, const char *bytes, size_t length, bool is_shortest);

#endif
