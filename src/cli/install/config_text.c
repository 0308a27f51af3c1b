/* config_text.c - what the formats share; see config_text.h. */
#include "cli/install/config_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
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

struct json *config_take_object(struct json_writer *writer)
{
    struct json *value = NULL;

    json_write_end_object(writer);
    json_parse(text_string(writer->out), writer->out->used, &value, NULL);
    text_release(writer->out);
    return value;
}

bool config_same(const struct text *a, const struct text *b)
{
    return a->used == b->used && memcmp(text_string(a), text_string(b), a->used) == 0;
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

/* Changes are in one place: one hunk, between what is alike before and behind it, is enough. */

enum { CONTEXT_LINES = 3, MAX_COMPARED = 2000 };

struct line {
    const char *bytes;
    size_t length; /* with its line end */
};
struct lines {
    struct line *items;
    size_t count;
};

static void split(const struct text *text, struct lines *out)
{
    const char *at = text_string(text), *end = at + text->used;
    size_t room = 1;

    for (size_t i = 0; i < text->used; i++)
        room += text->bytes[i] == '\n';
    *out = (struct lines){ .items = mem_new(room * sizeof *out->items) };
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop + 1 : end;
        out->items[out->count++] = (struct line){ at, (size_t)(stop - at) };
        at = stop;
    }
}

static bool is_same(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static void add_line(struct text *out, char mark, const struct line *line)
{
    static const char no_end[] = "\n\\ No newline at end of file\n"; /* not for people */
    size_t length = line->length;
    bool has_end = length > 0 && line->bytes[length - 1] == '\n';

    if (has_end)
        length--;
    if (length > 0 && line->bytes[length - 1] == '\r')
        length--; /* line ends are kept as they are; a terminal need not see them */
    text_add_char(out, mark);
    text_add(out, line->bytes, length);
    text_add_text(out, has_end ? "\n" : no_end);
}

/* The lines between `from` and the ends: kept ones found by the longest common subsequence. */
static void add_changes(struct text *out, const struct lines *a, size_t a_end,
                        const struct lines *b, size_t b_end, size_t from)
{
    size_t rows = a_end - from, columns = b_end - from;
    bool is_small = rows < MAX_COMPARED && columns < MAX_COMPARED;
    uint16_t *alike = is_small ? mem_new((rows + 1) * (columns + 1) * sizeof *alike) : NULL;
    size_t i = 0, k = 0;

    for (size_t row = rows; is_small && row-- > 0;) {
        for (size_t column = columns; column-- > 0;) {
            uint16_t *cell = &alike[row * (columns + 1) + column];
            uint16_t down = cell[columns + 1], right = cell[1];

            *cell = is_same(&a->items[from + row], &b->items[from + column])
                        ? (uint16_t)(cell[columns + 2] + 1)
                    : down > right ? down
                                   : right;
        }
    }
    while (i < rows || k < columns) {
        if (is_small && i < rows && k < columns &&
            is_same(&a->items[from + i], &b->items[from + k])) {
            add_line(out, ' ', &a->items[from + i++]);
            k++;
        } else if (i < rows &&
                   (k == columns || !is_small ||
                    alike[(i + 1) * (columns + 1) + k] >= alike[i * (columns + 1) + k + 1])) {
            add_line(out, '-', &a->items[from + i++]);
        } else {
            add_line(out, '+', &b->items[from + k++]);
        }
    }
    free(alike);
}

void diff_add(struct text *out, const char *path, const struct text *before,
              const struct text *after)
{
    struct lines a, b;
    size_t from = 0, tail = 0, first, last;

    split(before, &a);
    split(after, &b);
    while (from < a.count && from < b.count && is_same(&a.items[from], &b.items[from]))
        from++;
    while (tail < a.count - from && tail < b.count - from &&
           is_same(&a.items[a.count - 1 - tail], &b.items[b.count - 1 - tail]))
        tail++;
    if (from < a.count || from < b.count) {
        first = from > CONTEXT_LINES ? from - CONTEXT_LINES : 0;
        last = tail < CONTEXT_LINES ? tail : CONTEXT_LINES;
        text_add_format(out, "--- %s\n+++ %s\n@@ -%zu,%zu +%zu,%zu @@\n", path, path,
                        first + (a.count > 0), a.count - tail + last - first, first + (b.count > 0),
                        b.count - tail + last - first);
        for (size_t i = first; i < from; i++)
            add_line(out, ' ', &a.items[i]);
        add_changes(out, &a, a.count - tail, &b, b.count - tail, from);
        for (size_t i = 0; i < last; i++)
            add_line(out, ' ', &a.items[a.count - tail + i]);
    }
    free(a.items);
    free(b.items);
}
