/* json.c - the only file that knows jansson. */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* 2^53: from here on a real without a fraction no longer names one integer. */
static const double JSON_MAX_WHOLE = 9007199254740992.0;

static json_t *inner(const struct json *value)
{
    union {
        const struct json *outside;
        json_t *inside;
    } view = { .outside = value };

    return view.inside;
}

static struct json *outer(json_t *value)
{
    return (struct json *)value;
}

/* jansson recurses up to 2048 deep; we stop long before, without parsing. */
static bool json_is_too_deep(const char *bytes, size_t length)
{
    bool in_text = false;
    int depth = 0;

    for (size_t i = 0; i < length; i++) {
        char byte = bytes[i];

        if (in_text) {
            if (byte == '\\')
                i++;
            else if (byte == '"')
                in_text = false;
        } else if (byte == '"') {
            in_text = true;
        } else if (byte == '{' || byte == '[') {
            if (++depth > JSON_MAX_DEPTH)
                return true;
        } else if (byte == '}' || byte == ']') {
            depth--;
        }
    }
    return false;
}

static bool is_whole_real(const json_t *value)
{
    double number = json_real_value(value);

    return json_is_real(value) && floor(number) == number && fabs(number) < JSON_MAX_WHOLE;
}

static json_t *as_integer(const json_t *real)
{
    return json_integer((json_int_t)json_real_value(real));
}

/* 1.0 becomes 1 while reading, so that equal values have one kind, one encoding and one digest. */
static void make_whole(json_t *parent)
{
    for (size_t i = 0; i < json_array_size(parent); i++) {
        json_t *part = json_array_get(parent, i);

        if (is_whole_real(part))
            json_array_set_new(parent, i, as_integer(part));
        else
            make_whole(part);
    }
    for (void *at = json_object_iter(parent); at; at = json_object_iter_next(parent, at)) {
        json_t *part = json_object_iter_value(at);

        if (is_whole_real(part))
            json_object_iter_set_new(parent, at, as_integer(part));
        else
            make_whole(part);
    }
}

static void *allocate(size_t bytes)
{
    return mem_resize(NULL, bytes);
}

/* Out of memory ends the process in one place, for jansson too: it would answer with "null" or
 * with a syntax error, which would be an invented value. */
static void use_our_memory(void)
{
    static bool is_done;

    if (!is_done)
        json_set_alloc_funcs(allocate, free);
    is_done = true;
}

bool json_parse(const char *bytes, size_t length, struct json **ret_value, struct error *err)
{
    json_error_t problem;
    json_t *value;

    use_our_memory();
    /* jansson overlooks a NUL behind a number. */
    if (length && memchr(bytes, '\0', length))
        return error_set(err, ERROR_bad_json, "", "not readable as JSON: a NUL byte");
    if (json_is_too_deep(bytes, length))
        return error_set(err, ERROR_bad_json, "", "JSON is nested deeper than %d levels",
                         JSON_MAX_DEPTH);
    value = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY,
                       &problem);
    if (!value) {
        bool is_duplicate = json_error_code(&problem) == json_error_duplicate_key;

        /* jansson's own text quotes the input, which is hostile: only the place is passed on. */
        return error_set(err, ERROR_bad_json, "", "not readable as JSON: %s at byte %d",
                         is_duplicate ? "the same key twice" : "syntax", problem.position);
    }
    if (is_whole_real(value)) {
        json_t *real = value;

        value = as_integer(real);
        json_decref(real);
    }
    make_whole(value);
    *ret_value = outer(value);
    return true;
}

void json_free(struct json *value)
{
    json_decref(inner(value));
}

struct json *json_keep(const struct json *value)
{
    return outer(json_incref(inner(value)));
}

static char *json_print(const struct json *value, size_t flags)
{
    char *printed = json_dumps(inner(value), flags | JSON_COMPACT | JSON_ENCODE_ANY);

    return printed ? printed : mem_text("null");
}

char *json_encode(const struct json *value)
{
    return json_print(value, 0);
}

char *json_encode_canonical(const struct json *value)
{
    return json_print(value, JSON_SORT_KEYS);
}

bool json_same(const struct json *a, const struct json *b)
{
    return json_equal(inner(a), inner(b));
}

enum json_kind json_kind(const struct json *value)
{
    static const enum json_kind kinds[] = {
        [JSON_OBJECT] = KIND_OBJECT, [JSON_ARRAY] = KIND_LIST,      [JSON_STRING] = KIND_TEXT,
        [JSON_REAL] = KIND_REAL,     [JSON_INTEGER] = KIND_INTEGER, [JSON_TRUE] = KIND_BOOL,
        [JSON_FALSE] = KIND_BOOL,    [JSON_NULL] = KIND_NULL,
    };

    return value ? kinds[json_typeof(inner(value))] : KIND_NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [KIND_NULL] = "null",        [KIND_BOOL] = "true or false", [KIND_INTEGER] = "an integer",
        [KIND_REAL] = "a number",    [KIND_TEXT] = "a text",        [KIND_LIST] = "a list",
        [KIND_OBJECT] = "an object",
    };

    return names[kind];
}

size_t json_length(const struct json *value)
{
    switch (json_kind(value)) {
    case KIND_TEXT:
        return json_string_length(inner(value));
    case KIND_LIST:
        return json_array_size(inner(value));
    case KIND_OBJECT:
        return json_object_size(inner(value));
    default:
        return 0;
    }
}

const char *json_text(const struct json *value)
{
    return value ? json_string_value(inner(value)) : NULL;
}

bool json_is_yes(const struct json *value)
{
    return value && json_typeof(inner(value)) == JSON_TRUE;
}

bool json_integer_of(const struct json *value, int64_t *ret_number)
{
    if (json_kind(value) != KIND_INTEGER)
        return false;
    *ret_number = json_integer_value(inner(value));
    return true;
}

double json_number_of(const struct json *value)
{
    return value ? json_number_value(inner(value)) : 0;
}

const struct json *json_member(const struct json *object, const char *key)
{
    return object ? outer(json_object_get(inner(object), key)) : NULL;
}

const char *json_member_text(const struct json *object, const char *key)
{
    return json_text(json_member(object, key));
}

int64_t json_member_integer(const struct json *object, const char *key, int64_t otherwise)
{
    int64_t number;

    return json_integer_of(json_member(object, key), &number) ? number : otherwise;
}

const struct json *json_item(const struct json *array, size_t index)
{
    return array ? outer(json_array_get(inner(array), index)) : NULL;
}

void *json_first(const struct json *object)
{
    return object ? json_object_iter(inner(object)) : NULL;
}

void *json_next(const struct json *object, void *iterator)
{
    return json_object_iter_next(inner(object), iterator);
}

const char *json_key(void *iterator)
{
    return json_object_iter_key(iterator);
}

size_t json_key_length(void *iterator)
{
    return json_object_iter_key_len(iterator);
}

const struct json *json_value(void *iterator)
{
    return outer(json_object_iter_value(iterator));
}

void json_drop_member(struct json *object, const char *key)
{
    json_object_del(inner(object), key);
}
