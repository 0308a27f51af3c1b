/* json.c - looking at JSON that was read; see json_value.h for how it lies in memory. */
#include "base/json.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"

static struct json_document *document_of(const struct json *value)
{
    union {
        const char *borrowed;
        struct json_document *owned;
    } view = { .borrowed =
                   (const char *)(value - value->place) - offsetof(struct json_document, values) };

    return view.owned;
}

void json_free(struct json *value)
{
    struct json_document *document = value ? document_of(value) : NULL;

    if (document && --document->owners == 0)
        free(document);
}

struct json *json_keep(const struct json *value)
{
    union {
        const struct json *borrowed;
        struct json *owned;
    } view = { .borrowed = value };

    if (value)
        document_of(value)->owners++;
    return view.owned;
}

/* Items by their places, members by their keys. */
static bool same_parts(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < a->length; i++) {
        const struct json *part = &a->of.parts[i];
        const struct json *other =
            part->key ? json_member_n(b, part->key, part->key_length) : &b->of.parts[i];

        if (!other || !json_same(part, other))
            return false;
    }
    return true;
}

bool json_same(const struct json *a, const struct json *b)
{
    enum json_kind kind = json_kind(a);

    if (kind != json_kind(b) || json_length(a) != json_length(b))
        return false;
    switch (kind) {
    case KIND_NULL:
        return true;
    case KIND_BOOL:
        return a->of.is_yes == b->of.is_yes;
    case KIND_INTEGER:
        return a->of.integer == b->of.integer;
    case KIND_REAL:
        return a->of.real == b->of.real;
    case KIND_TEXT:
    case KIND_HUGE:
        return memcmp(a->of.text, b->of.text, a->length) == 0;
    case KIND_LIST:
    case KIND_OBJECT:
        return same_parts(a, b);
    }
    return false;
}

enum json_kind json_kind(const struct json *value)
{
    return value ? value->kind : KIND_NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [KIND_NULL] = "null",          [KIND_BOOL] = "a boolean",
        [KIND_INTEGER] = "an integer", [KIND_REAL] = "a number",
        [KIND_TEXT] = "a string",      [KIND_LIST] = "an array",
        [KIND_OBJECT] = "an object",   [KIND_HUGE] = "a number out of range",
    };

    return names[kind];
}

size_t json_length(const struct json *value)
{
    return value ? value->length : 0;
}

const char *json_text(const struct json *value)
{
    return json_kind(value) == KIND_TEXT ? value->of.text : NULL;
}

bool json_is_true(const struct json *value)
{
    return json_kind(value) == KIND_BOOL && value->of.is_yes;
}

bool json_integer_of(const struct json *value, int64_t *ret_number)
{
    if (json_kind(value) != KIND_INTEGER)
        return false;
    *ret_number = value->of.integer;
    return true;
}

double json_number_of(const struct json *value)
{
    if (json_kind(value) == KIND_INTEGER)
        return (double)value->of.integer;
    return json_kind(value) == KIND_REAL ? value->of.real : 0;
}

/* Leaves the path in `err`, written from its end on; it stops short of a key that is not plain. */
static bool find_huge(const struct json *value, struct error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    enum json_kind kind = json_kind(value);
    char below[sizeof err->path];
    int length;

    for (size_t i = 0; (kind == KIND_LIST || kind == KIND_OBJECT) && i < value->length; i++) {
        const struct json *part = &value->of.parts[i];

        if (!find_huge(part, err))
            continue;
        memcpy(below, err->path, sizeof below);
        length = part->key ? snprintf(err->path, sizeof below, "/%s%s", part->key, below)
                           : snprintf(err->path, sizeof below, "/%zu%s", i, below);
        if (length >= (int)sizeof below || (part->key && part->key[strspn(part->key, plain)]))
            err->path[0] = '\0';
        return true;
    }
    return kind == KIND_HUGE;
}

bool json_check_range(const struct json *value, struct error *err)
{
    struct error found = { 0 };

    if (!value || !document_of(value)->has_huge || !find_huge(value, &found))
        return true;
    return error_say_base(err, ERROR_out_of_range, found.path, BASE_REASON_NUMBER_RANGE, NULL);
}

const struct json *json_member_n(const struct json *object, const char *key, size_t length)
{
    if (json_kind(object) != KIND_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->length; i++) {
        const struct json *member = &object->of.parts[i];

        if (member->key_length == length && member->key[0] == key[0] &&
            memcmp(member->key, key, length) == 0)
            return member;
    }
    return NULL;
}

const char *json_member_text(const struct json *object, const char *key)
{
    return json_text(json_member(object, key));
}

int64_t json_member_integer(const struct json *object, const char *key, int64_t fallback)
{
    int64_t number;

    return json_integer_of(json_member(object, key), &number) ? number : fallback;
}

int64_t json_member_span(const struct json *object, const char *key, int64_t fallback)
{
    const int64_t max = 1000000000000, span = json_member_integer(object, key, fallback);

    return span > max ? max : span < -max ? -max : span;
}

const struct json *json_item(const struct json *array, size_t index)
{
    if (json_kind(array) != KIND_LIST || index >= array->length)
        return NULL;
    return &array->of.parts[index];
}

void *json_first(const struct json *object)
{
    return json_kind(object) == KIND_OBJECT && object->length ? object->of.parts : NULL;
}

void *json_next(const struct json *object, void *iterator)
{
    struct json *next = (struct json *)iterator + 1;

    return next < object->of.parts + object->length ? next : NULL;
}

const char *json_key(void *iterator)
{
    return ((struct json *)iterator)->key;
}

size_t json_key_length(void *iterator)
{
    return ((struct json *)iterator)->key_length;
}

const struct json *json_value(void *iterator)
{
    return iterator;
}

void json_drop_member(struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);

    if (member)
        json_drop_part(object, (size_t)(member - object->of.parts));
}

void json_drop_part(struct json *object, size_t index)
{
    object->length--;
    for (; index < object->length; index++) {
        uint32_t place = object->of.parts[index].place;

        object->of.parts[index] = object->of.parts[index + 1];
        object->of.parts[index].place = place;
    }
}

struct json *json_part(struct json *value, size_t index)
{
    return &value->of.parts[index];
}

/* A value back to text: compact, in the order received or sorted by key. */

static void add_value(const struct json *value, bool is_sorted, struct text *out);

/* Shortest exponent, and always a sign that it is no integer. */
static void add_real(double real, struct text *out)
{
    char digits[TEXT_REAL_BYTES];
    const char *exponent;

    text_of_real(real, digits);
    exponent = strchr(digits, 'e');
    text_add(out, digits, exponent ? (size_t)(exponent - digits) : strlen(digits));
    if (!exponent) {
        if (!strchr(digits, '.'))
            text_add_text(out, ".0");
        return;
    }
    text_add_char(out, 'e');
    exponent++;
    if (*exponent == '-')
        text_add_char(out, '-');
    exponent += strspn(exponent, "+-");
    exponent += strspn(exponent, "0");
    text_add_text(out, exponent);
}

static int compare_members(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;

    return strcmp(x->key, y->key);
}

static void add_part(const struct json *part, bool is_first, bool is_sorted, struct text *out)
{
    char comma = is_first ? '\0' : ',';

    if (!part->key || !json_write_plain(out, comma, part->key, part->key_length, ':')) {
        if (comma)
            text_add_char(out, comma);
        if (part->key) {
            json_write_quoted(out, part->key, part->key_length, true);
            text_add_char(out, ':');
        }
    }
    add_value(part, is_sorted, out);
}

static void add_sorted(const struct json *object, struct text *out)
{
    const struct json **members = mem_new((object->length + 1) * sizeof *members);

    for (size_t i = 0; i < object->length; i++)
        members[i] = &object->of.parts[i];
    qsort(members, object->length, sizeof *members, compare_members);
    for (size_t i = 0; i < object->length; i++)
        add_part(members[i], i == 0, true, out);
    free(members);
}

static void add_parts(const struct json *value, bool is_sorted, struct text *out)
{
    bool is_object = value->kind == KIND_OBJECT;

    text_add_char(out, is_object ? '{' : '[');
    if (is_object && is_sorted)
        add_sorted(value, out);
    for (size_t i = 0; !(is_object && is_sorted) && i < value->length; i++)
        add_part(&value->of.parts[i], i == 0, is_sorted, out);
    text_add_char(out, is_object ? '}' : ']');
}

static void add_value(const struct json *value, bool is_sorted, struct text *out)
{
    switch (json_kind(value)) {
    case KIND_NULL:
        text_add_text(out, "null");
        break;
    case KIND_BOOL:
        text_add_text(out, value->of.is_yes ? "true" : "false");
        break;
    case KIND_INTEGER:
        text_add_integer(out, value->of.integer);
        break;
    case KIND_REAL:
        add_real(value->of.real, out);
        break;
    case KIND_TEXT:
        json_write_quoted(out, value->of.text, value->length, true);
        break;
    case KIND_HUGE:
        text_add(out, value->of.text, value->length);
        break;
    case KIND_LIST:
    case KIND_OBJECT:
        add_parts(value, is_sorted, out);
        break;
    }
}

static void encode(const struct json *value, bool is_sorted, struct text *out)
{
    if (json_kind(value) == KIND_LIST || json_kind(value) == KIND_OBJECT)
        COUNT_JSON(false);
    add_value(value, is_sorted, out);
}

void json_add(struct text *out, const struct json *value)
{
    encode(value, false, out);
}

void json_write_value(struct json_writer *writer, const char *key, const struct json *value)
{
    if (!value)
        return;
    json_write_raw(writer, key, "");
    json_add(writer->out, value);
}

char *json_encode(const struct json *value)
{
    struct text out = { 0 };

    encode(value, false, &out);
    return text_take(&out);
}

char *json_encode_canonical(const struct json *value)
{
    struct text out = { 0 };

    encode(value, true, &out);
    return text_take(&out);
}

#ifdef SAYSO_CRASH_POINTS
static atomic_long parsed, encoded;
static atomic_flag is_counting = ATOMIC_FLAG_INIT;

static void write_counts(void)
{
    fprintf(stderr, "json parsed=%ld encoded=%ld\n", (long)parsed, (long)encoded);
}

void json_count(bool is_parsed)
{
    if (!getenv("SAYSO_COUNT_JSON"))
        return;
    atomic_fetch_add(is_parsed ? &parsed : &encoded, 1);
    if (!atomic_flag_test_and_set(&is_counting))
        atexit(write_counts);
}
#endif
