/*
 * json.h - reading JSON strictly; the reader is our own.
 * Refused: depth over 64, duplicate keys, bad UTF-8, lone surrogates,
 * anything behind the value. U+0000 is kept with its length: who uses a text must look at
 * json_length (validation refuses it by name). Values are trees; the root is freed, parts are
 * borrowed from it. Numbers without a fraction are integers however they are written. A number in
 * digits alone that int64_t can't hold, or another one that double can't, is kept as it was
 * written: no getter returns it, and json_check_range names it.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct error;
struct json;
struct text;

enum json_kind {
    KIND_NULL,
    KIND_BOOL,
    KIND_INTEGER,
    KIND_REAL,
    KIND_TEXT,
    KIND_LIST,
    KIND_OBJECT,
    KIND_HUGE, /* a number out of range: 9223372036854775808, 1e400 */
};
enum { JSON_MAX_DEPTH = 64 };

/* On failure `err` is bad_json without a path. */
bool json_parse(const char *bytes, size_t length, struct json **ret_value, struct error *err);
/* The same, and where the root's member `key` is written: it can be passed on as it is. */
struct json_piece {
    const char *bytes; /* of those that were read; NULL: there is no such member */
    size_t length;
};
bool json_parse_message(const char *bytes, size_t length, const char *key,
                        struct json_piece *ret_piece, struct json **ret_value, struct error *err);
struct json *json_of(const char *text); /* NULL: it is no JSON, or NULL itself */
void json_free(struct json *value);
struct json *json_keep(const struct json *value);          /* one more owner; each frees once */
char *json_encode(const struct json *value);               /* compact; the caller frees */
void json_add(struct text *out, const struct json *value); /* the same behind what is there */
char *json_encode_canonical(const struct json *value); /* keys sorted: equal values, equal bytes */
bool json_same(const struct json *a, const struct json *b);

enum json_kind json_kind(const struct json *value); /* NULL counts as KIND_NULL */
const char *json_kind_name(enum json_kind kind);    /* "text", "list", … for messages */
size_t json_length(const struct json *value);       /* bytes, items or members */
const char *json_text(const struct json *value);    /* NULL unless it is a text */
bool json_is_true(const struct json *value);        /* false for anything but true */
/* False unless the value is a whole number that fits. */
bool json_integer_of(const struct json *value, int64_t *ret_number);
double json_number_of(const struct json *value); /* 0 unless a number in range */
/* On false `err` is out_of_range at the JSON pointer, from `value` on, of the first KIND_HUGE. */
bool json_check_range(const struct json *value, struct error *err);

/* NULL if absent. */
const struct json *json_member_n(const struct json *object, const char *key, size_t length);
static inline const struct json *json_member(const struct json *object, const char *key)
{
    return json_member_n(object, key, strlen(key)); /* known of a literal */
}
const char *json_member_text(const struct json *object, const char *key); /* NULL unless text */
int64_t json_member_integer(const struct json *object, const char *key, int64_t fallback);
/* Seconds or milliseconds, limited so that a thousand times as much can be added to a clock. */
int64_t json_member_span(const struct json *object, const char *key, int64_t fallback);
const struct json *json_item(const struct json *array, size_t index);

/* Members in the order received: for (it = json_first(o); it; it = json_next(o, it)). A key lies in
 * a copy of the bytes that were read, at its own place among them. */
void *json_first(const struct json *object);
void *json_next(const struct json *object, void *iterator);
const char *json_key(void *iterator);
size_t json_key_length(void *iterator);
const struct json *json_value(void *iterator);

/* Drop a member, by name or by place among those left. Those behind it move: look them up again. */
void json_drop_member(struct json *object, const char *key);
void json_drop_part(struct json *object, size_t index);
struct json *json_part(struct json *value, size_t index); /* an item or member that is there */

#endif
