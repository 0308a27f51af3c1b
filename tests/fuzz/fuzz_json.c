/*
 * fuzz_json.c - whatever the reader accepts is strict JSON and survives being written and read.
 * Proves: P14
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
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
        json_write_bool(writer, NULL, json_is_yes(value));
        break;
    case KIND_INTEGER:
        demand(json_integer_of(value, &number));
        json_write_integer(writer, NULL, number);
        break;
    case KIND_REAL:
        json_write_number(writer, NULL, json_number_of(value));
        break;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct error err = { 0 };
    struct json *value;

    if (!json_parse(bytes, size, &value, &err)) {
        check_error(&err);
        return 0;
    }
    demand(text_is_utf8(bytes, size) && !memchr(bytes, '\0', size));
    check_encoding(value, json_encode);
    check_encoding(value, json_encode_canonical);
    check_writer(value);
    json_free(value);
    return 0;
}
