/*
 * fuzz_json.c - whatever the reader accepts is strict JSON and survives being written and read; it
 * accepts what jansson accepts, and understands the same.
 * Proves: P14
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef json_is_true /* a macro of jansson, which base/json.h has as a function */

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_error(const struct error *err)
{
    demand(err->code == ERROR_bad_json && err->path[0] == '\0');
    for (const char *at = err->message; *at; at++)
        demand(*at >= ' ' && *at <= '~');
}

static void check_encoding(const struct json *value, char *(*encode)(const struct json *))
{
    char *first = encode(value), *second;
    struct json *again;

    demand(json_parse(first, strlen(first), &again, NULL));
    second = encode(again);
    demand(strcmp(first, second) == 0);
    demand(json_same(value, again));
    json_free(again);
    free(first);
    free(second);
}

static void write_value(struct json_writer *writer, const struct json *value);

static void write_members(struct json_writer *writer, const struct json *value)
{
    json_write_object(writer, NULL);
    for (void *at = json_first(value); at; at = json_next(value, at)) {
        json_write_foreign_key(writer, json_key(at));
        write_value(writer, json_value(at));
    }
    json_write_end_object(writer);
}

static void write_value(struct json_writer *writer, const struct json *value)
{
    int64_t number;

    switch (json_kind(value)) {
    case KIND_NULL:
        json_write_null(writer, NULL);
        break;
    case KIND_BOOL:
        json_write_bool(writer, NULL, json_is_true(value));
        break;
    case KIND_INTEGER:
        demand(json_integer_of(value, &number));
        json_write_integer(writer, NULL, number);
        break;
    case KIND_REAL:
        json_write_number(writer, NULL, json_number_of(value));
        break;
    case KIND_HUGE: {
        char *written = json_encode(value);

        json_write_raw(writer, NULL, written);
        free(written);
        break;
    }
    case KIND_TEXT:
        json_write_text_n(writer, NULL, json_text(value), json_length(value));
        break;
    case KIND_LIST:
        json_write_list(writer, NULL);
        for (size_t i = 0; i < json_length(value); i++)
            write_value(writer, json_item(value, i));
        json_write_end_list(writer);
        break;
    case KIND_OBJECT:
        write_members(writer, value);
        break;
    }
}

/* Not the same value: beyond 2^53 a real comes back as an integer when it is written in full. */
static void check_writer(const struct json *value)
{
    struct text first = { 0 }, second = { 0 };
    struct json_writer writer = json_writer_to(&first);
    struct json *again;

    write_value(&writer, value);
    demand(json_parse(first.bytes, first.used, &again, NULL));
    writer = json_writer_to(&second);
    write_value(&writer, again);
    demand(strcmp(first.bytes, second.bytes) == 0);
    json_free(again);
    text_release(&first);
    text_release(&second);
}

static bool same_value(const struct json *ours, const json_t *theirs);

static bool same_members(const struct json *ours, const json_t *theirs)
{
    for (void *at = json_first(ours); at; at = json_next(ours, at)) {
        if (!same_value(json_value(at),
                        json_object_getn(theirs, json_key(at), json_key_length(at))))
            return false;
    }
    return json_length(ours) == json_object_size(theirs);
}

static bool same_items(const struct json *ours, const json_t *theirs)
{
    for (size_t i = 0; i < json_length(ours); i++) {
        if (!same_value(json_item(ours, i), json_array_get(theirs, i)))
            return false;
    }
    return json_length(ours) == json_array_size(theirs);
}

/* To us 1.0 is the integer 1. */
static bool same_integer(int64_t ours, const json_t *theirs)
{
    return json_is_integer(theirs)
               ? json_integer_value(theirs) == ours
               : json_is_real(theirs) && json_real_value(theirs) == (double)ours;
}

static bool same_value(const struct json *ours, const json_t *theirs)
{
    int64_t number;

    switch (json_kind(ours)) {
    case KIND_NULL:
        return json_is_null(theirs);
    case KIND_BOOL:
        return json_is_true(ours) ? json_typeof(theirs) == JSON_TRUE : json_is_false(theirs);
    case KIND_INTEGER:
        return json_integer_of(ours, &number) && same_integer(number, theirs);
    case KIND_REAL:
        return json_is_real(theirs) && json_real_value(theirs) == json_number_of(ours);
    case KIND_HUGE: /* nought was put in its place */
        return json_is_integer(theirs) && json_integer_value(theirs) == 0;
    case KIND_TEXT:
        return json_is_string(theirs) && json_string_length(theirs) == json_length(ours) &&
               memcmp(json_string_value(theirs), json_text(ours), json_length(ours)) == 0;
    case KIND_LIST:
        return json_is_array(theirs) && same_items(ours, theirs);
    case KIND_OBJECT:
        return json_is_object(theirs) && same_members(ours, theirs);
    }
    return false;
}

static int depth_of(const json_t *value)
{
    int deepest = 0, below;
    size_t i;
    const char *key;
    json_t *part;

    if (!json_is_array(value) && !json_is_object(value))
        return 0;
    json_array_foreach(value, i, part)
    {
        below = depth_of(part);
        deepest = below > deepest ? below : deepest;
    }
    json_object_foreach((json_t *)value, key, part)
    {
        below = depth_of(part);
        deepest = below > deepest ? below : deepest;
    }
    return deepest + 1;
}

static size_t count_digits(const char *at)
{
    return strspn(at, "0123456789");
}

/* Bytes of the number that begins here; 0: none does. */
static size_t number_bytes(const char *begin, bool *ret_is_real)
{
    const char *at = begin + (*begin == '-');
    size_t digits = *at == '0' ? 1 : count_digits(at), power;

    *ret_is_real = false;
    if (digits == 0)
        return 0;
    at += digits;
    if (*at == '.' && count_digits(at + 1) > 0) {
        *ret_is_real = true;
        at += 1 + count_digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        power = at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (count_digits(at + power) > 0) {
            *ret_is_real = true;
            at += power + count_digits(at + power);
        }
    }
    return (size_t)(at - begin);
}

static bool is_huge(const char *number, bool is_real)
{
    errno = 0;
    if (is_real)
        return isinf(strtod(number, NULL));
    strtoll(number, NULL, 10);
    return errno == ERANGE;
}

/* jansson refuses numbers out of range: it is given blanks and nought in their place. Returns how
 * many there were. */
static size_t replace_huge(char *text)
{
    size_t count = 0;

    for (char *at = text; *at;) {
        bool is_real;
        size_t bytes = number_bytes(at, &is_real);

        if (*at == '"') {
            for (at++; *at && *at != '"'; at++)
                at += *at == '\\' && at[1];
            at += *at == '"';
        } else if (bytes == 0) {
            at++;
        } else {
            if (is_huge(at, is_real) && !strchr(".eE", at[bytes] ? at[bytes] : ' ')) {
                memset(at, ' ', bytes);
                at[bytes - 1] = '0'; /* behind the blanks: it must not join the one before */
                count++;
            }
            at += bytes;
        }
    }
    return count;
}

static size_t count_huge(const struct json *value)
{
    size_t count = json_kind(value) == KIND_HUGE;

    for (size_t i = 0; json_kind(value) == KIND_LIST && i < json_length(value); i++)
        count += count_huge(json_item(value, i));
    for (void *at = json_first(value); at; at = json_next(value, at))
        count += count_huge(json_value(at));
    return count;
}

/* jansson overlooks a NUL behind a number, and goes deeper than we do. */
static void check_oracle(const char *bytes, size_t size, const struct json *ours)
{
    bool has_nul = memchr(bytes, '\0', size) != NULL;
    char *text = calloc(1, size + 1);
    size_t huge;
    json_t *theirs;
    bool is_good;

    memcpy(text, bytes, size);
    huge = has_nul ? 0 : replace_huge(text);
    theirs =
        json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    is_good = theirs && !has_nul && depth_of(theirs) <= JSON_MAX_DEPTH;
    demand(is_good == (ours != NULL));
    demand(!ours || (same_value(ours, theirs) && count_huge(ours) == huge));
    json_decref(theirs);
    free(text);
}

static void check_range(const struct json *value)
{
    struct error err = { 0 };

    demand(json_check_range(value, &err) == (count_huge(value) == 0));
    demand(err.path[0] == '\0' || err.path[0] == '/');
}

/* With any bytes at all: an id that is found is one, or nothing is. */
static void check_id(const char *bytes, size_t size)
{
    char *id = jsonrpc_find_id(bytes, size);
    struct json *value = NULL;

    demand(!id || json_parse(id, strlen(id), &value, NULL));
    demand(!id || json_text(value) || json_kind(value) == KIND_INTEGER ||
           json_kind(value) == KIND_REAL || json_kind(value) == KIND_HUGE);
    json_free(value);
    free(id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct error err = { 0 };
    struct json *value;

    check_id(bytes, size);
    if (!json_parse(bytes, size, &value, &err)) {
        check_error(&err);
        check_oracle(bytes, size, NULL);
        return 0;
    }
    demand(text_is_utf8(bytes, size) && !memchr(bytes, '\0', size));
    check_encoding(value, json_encode);
    check_encoding(value, json_encode_canonical);
    check_writer(value);
    check_range(value);
    check_oracle(bytes, size, value);
    json_free(value);
    return 0;
}
