/* config_text.c - what the formats share; see config_text.h. */
#include "cli/install/config_text.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "i18n/i18n.h"

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
    return error_say(err, ERROR_bad_json, line, TEXT_REASON_UNREADABLE_LINE, "line",
                     TEXT_NUMBER(number), NULL);
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

/* The path to our item, or to the place after the last one; that item is NULL then. */
static struct config_path find_place(const struct config_list *list, const struct text *text,
                                     struct json **ret_item)
{
    struct json *items = list->format->find(text, &list->path);
    size_t count = json_kind(items) == KIND_LIST ? json_length(items) : 0;
    struct config_path path = list->path;

    path.is_item = true;
    while (path.item < count && !list->fits(json_item(items, path.item), list->context))
        path.item++;
    *ret_item = path.item < count ? json_keep(json_item(items, path.item)) : NULL;
    json_free(items);
    return path;
}

struct json *config_list_find(const struct config_list *list, const struct text *text)
{
    struct json *item;

    find_place(list, text, &item);
    return item;
}

bool config_list_put(const struct config_list *list, const struct json *item, struct text *text,
                     struct error *err)
{
    struct json *old;
    struct config_path path = find_place(list, text, &old);
    bool ok = (old && json_same(old, item)) || list->format->set(text, &path, item, err);

    json_free(old);
    return ok;
}

bool config_list_drop(const struct config_list *list, struct text *text, struct error *err)
{
    struct json *old;
    struct config_path path = find_place(list, text, &old);
    bool ok = !old || list->format->drop(text, &path, err);

    json_free(old);
    return ok;
}
