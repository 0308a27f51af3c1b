/* config_text.c - what the formats share; see config_text.h. */
#include "cli/install/config_text.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

void config_splice(struct text *text, size_t from, size_t to, const char *bytes, size_t length)
{
    struct text changed = { 0 };

    text_add(&changed, text_string(text), from);
    text_add(&changed, bytes, length);
    text_add(&changed, text_string(text) + to, text->used - to);
    text_release(text);
    *text = changed;
}

const char *config_line_end(const struct text *text)
{
    const char *first = text->used ? memchr(text->bytes, '\n', text->used) : NULL;

    return first && first > text->bytes && first[-1] == '\r' ? "\r\n" : "\n";
}

bool config_fail_at(const struct text *text, size_t at, struct error *err)
{
    char line[24];
    size_t number = 1;

    for (size_t i = 0; i < at && i < text->used; i++)
        number += text->bytes[i] == '\n';
    snprintf(line, sizeof line, "%zu", number);
    return error_set(err, ERROR_bad_json, line, "not readable in line %zu", number);
}

size_t config_bom(const struct text *text)
{
    static const char mark[] = "\xef\xbb\xbf";

    return text->used >= CONFIG_BOM_BYTES && memcmp(text->bytes, mark, CONFIG_BOM_BYTES) == 0
               ? CONFIG_BOM_BYTES
               : 0;
}

size_t config_first_bad(const struct text *text)
{
    const char *at = text_string(text), *end = at + text->used;

    while (at < end && *at && text_decode(&at, end) >= 0)
        ;
    return text->used - (size_t)(end - at);
}

struct json *config_read_value(const char *bytes, size_t length)
{
    static const char nothing[] = "null";
    struct json *value = NULL;

    if (!json_parse(bytes, length, &value, NULL))
        json_parse(nothing, sizeof nothing - 1, &value, NULL);
    return value;
}
