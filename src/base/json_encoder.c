/* json_encoder.c - a value back to text: compact, in the order received or sorted by key. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"

static void add_value(const struct json *value, bool is_sorted, struct text *out);

static void add_text(const char *bytes, size_t length, struct text *out)
{
    static const char short_ones[] = "\b\f\n\r\t", names[] = "bfnrt";
    size_t start = 0, at = 0;

    if (json_write_plain(out, 0, bytes, length, 0))
        return;
    text_add_char(out, '"');
    while ((at += text_plain_run(bytes + at, length - at)) < length) {
        unsigned char byte = (unsigned char)bytes[at++];
        const char *found;

        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        text_add(out, bytes + start, at - 1 - start);
        start = at;
        text_add_char(out, '\\');
        found = byte ? strchr(short_ones, byte) : NULL;
        if (byte >= 0x20)
            text_add_char(out, (char)byte);
        else if (found)
            text_add_char(out, names[found - short_ones]);
        else
            text_add_format(out, "u%04X", byte);
    }
    text_add(out, bytes + start, length - start);
    text_add_char(out, '"');
}

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

static void add_member(const struct json *member, bool is_first, bool is_sorted, struct text *out)
{
    char comma = is_first ? 0 : ',';

    if (!json_write_plain(out, comma, member->key, member->key_length, ':')) {
        if (comma)
            text_add_char(out, comma);
        add_text(member->key, member->key_length, out);
        text_add_char(out, ':');
    }
    add_value(member, is_sorted, out);
}

static void add_sorted(const struct json *object, struct text *out)
{
    const struct json **members = mem_new((object->length + 1) * sizeof *members);

    for (size_t i = 0; i < object->length; i++)
        members[i] = &object->of.parts[i];
    qsort(members, object->length, sizeof *members, compare_members);
    for (size_t i = 0; i < object->length; i++)
        add_member(members[i], i == 0, true, out);
    free(members);
}

static void add_parts(const struct json *value, bool is_sorted, struct text *out)
{
    bool is_object = value->kind == KIND_OBJECT;

    text_add_char(out, is_object ? '{' : '[');
    if (is_object && is_sorted) {
        add_sorted(value, out);
    } else {
        for (size_t i = 0; i < value->length; i++) {
            if (is_object) {
                add_member(&value->of.parts[i], i == 0, is_sorted, out);
                continue;
            }
            if (i > 0)
                text_add_char(out, ',');
            add_value(&value->of.parts[i], is_sorted, out);
        }
    }
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
        add_text(value->of.text, value->length, out);
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
