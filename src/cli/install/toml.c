/*
 * toml.c - changes a TOML text in place; see config_text.h.
 * A new entry is a table at the end of the file. What stands in one is changed where it stands; a
 * key that is new goes behind the last one of its table.
 */
#include "cli/install/toml.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/install/config_text.h"
#include "i18n/i18n.h"

static bool check(const struct text *text, struct error *err)
{
    struct toml_items items;
    size_t at;
    bool ok = toml_scan(text, &items, &at);

    toml_release(&items);
    return ok || config_fail_at(text, at, err);
}

static char *join(const struct config_path *path)
{
    struct text out = { 0 };

    for (size_t i = 0; i < path->count; i++)
        text_add_format(&out, "%s%c", path->keys[i], TOML_SEPARATOR);
    return text_take(&out);
}

static bool is_below(const char *path, const char *above)
{
    return strncmp(path, above, strlen(above)) == 0;
}

static const struct toml_item *find_item(const struct toml_items *items, const char *path,
                                         bool is_table)
{
    for (size_t i = 0; i < items->count; i++) {
        if (strcmp(items->items[i].path, path) == 0 &&
            (items->items[i].kind == TOML_TABLE) == is_table)
            return &items->items[i];
    }
    return NULL;
}

/* Everything below the path as an object; tables inside of it become objects too, one level deep,
 * which is all that entries have. */
static void add_object(struct text *out, const struct text *text, const struct toml_items *items,
                       const char *path)
{
    struct json_writer writer = json_writer_to(out);
    struct text inner = { 0 };

    json_write_object(&writer, NULL);
    for (size_t i = 0; i < items->count; i++) {
        const struct toml_item *item = &items->items[i];
        const char *rest = item->path + strlen(path), *end;
        char *key;

        if (!is_below(item->path, path) || !*rest || item->kind == TOML_TABLES)
            continue;
        end = strchr(rest, TOML_SEPARATOR);
        key = mem_text_n(rest, (size_t)(end - rest));
        text_clear(&inner);
        if (end[1] || item->kind == TOML_TABLE || text->bytes[item->value] == '{') {
            char *below = mem_format("%s%s%c", path, key, TOML_SEPARATOR);
            bool is_first = true;

            for (size_t k = 0; k < i && is_first; k++)
                is_first = !is_below(items->items[k].path, below);
            if (is_first) {
                add_object(&inner, text, items, below);
                json_write_foreign_key(&writer, key);
                writer.needs_comma = true;
                text_add_text(out, text_string(&inner));
            }
            free(below);
        } else {
            toml_add_json(&inner, text->bytes + item->value, item->value_end - item->value);
            json_write_foreign_key(&writer, key);
            writer.needs_comma = true;
            text_add_text(out, text_string(&inner));
        }
        free(key);
    }
    text_release(&inner);
    json_write_end_object(&writer);
}

static struct json *find(const struct text *text, const struct config_path *path)
{
    struct toml_items items;
    struct text out = { 0 };
    struct json *value = NULL;
    char *wanted = join(path);
    size_t at;
    bool is_there = false;

    toml_scan(text, &items, &at);
    for (size_t i = 0; i < items.count; i++)
        is_there = is_there || is_below(items.items[i].path, wanted);
    if (is_there) {
        const struct toml_item *item = find_item(&items, wanted, false);

        if (item && text->bytes[item->value] != '{')
            toml_add_json(&out, text->bytes + item->value, item->value_end - item->value);
        else
            add_object(&out, text, &items, wanted);
        value = config_read_value(text_string(&out), out.used);
    }
    toml_release(&items);
    text_release(&out);
    free(wanted);
    return value;
}

static void add_string(struct text *out, const char *bytes, size_t length)
{
    text_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\')
            text_add_format(out, "\\%c", bytes[i]);
        else if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            text_add_format(out, "\\u%04x", (unsigned)bytes[i]);
        else
            text_add_char(out, bytes[i]);
    }
    text_add_char(out, '"');
}

static void add_key(struct text *out, const char *key)
{
    static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    if (*key && strspn(key, bare) == strlen(key))
        text_add_text(out, key);
    else
        add_string(out, key, strlen(key));
}

static void add_value(struct text *out, const struct json *value)
{
    const char *before = " ";
    char *encoded;

    if (json_kind(value) == KIND_TEXT) {
        add_string(out, json_text(value), json_length(value));
    } else if (json_kind(value) == KIND_LIST) {
        text_add_char(out, '[');
        for (size_t i = 0; i < json_length(value); i++) {
            text_add_text(out, i ? ", " : "");
            add_value(out, json_item(value, i));
        }
        text_add_char(out, ']');
    } else if (json_kind(value) == KIND_OBJECT) {
        text_add_char(out, '{');
        for (void *it = json_first(value); it; it = json_next(value, it)) {
            text_add_text(out, before);
            add_key(out, json_key(it));
            text_add_text(out, " = ");
            add_value(out, json_value(it));
            before = ", ";
        }
        text_add_text(out, " }");
    } else {
        encoded = json_encode(value);
        text_add_text(out, encoded);
        free(encoded);
    }
}

static void add_pair(struct text *out, const char *key, const struct json *value, const char *end)
{
    add_key(out, key);
    text_add_text(out, " = ");
    add_value(out, value);
    text_add_text(out, end);
}

/* [a.b] with its values, at the end of the file behind a blank line. */
static void append_table(struct text *text, const struct config_path *path,
                         const struct json *value)
{
    const char *end = config_line_end(text);
    size_t bom = config_bom(text);

    if (text->used > bom && text->bytes[text->used - 1] != '\n')
        text_add_text(text, end);
    if (text->used > bom)
        text_add_text(text, end);
    text_add_char(text, '[');
    for (size_t i = 0; i < path->count; i++) {
        text_add_text(text, i ? "." : "");
        add_key(text, path->keys[i]);
    }
    text_add_format(text, "]%s", end);
    for (void *it = json_first(value); it; it = json_next(value, it))
        add_pair(text, json_key(it), json_value(it), end);
}

/* Behind the last value that stands under this header, at the end of its line. */
static void insert_under(struct text *text, const struct toml_items *items,
                         const struct toml_item *header, const char *key, const struct json *value)
{
    size_t at = header->value_end;
    struct text line = { 0 };

    for (size_t i = 0; i < items->count; i++) {
        if (items->items[i].table == header->table && items->items[i].value_end > at)
            at = items->items[i].value_end;
    }
    at += strcspn(text_string(text) + at, "\r\n");
    text_add_text(&line, config_line_end(text));
    add_pair(&line, key, value, "");
    config_splice(text, at, at, line.bytes, line.used);
    text_release(&line);
}

static void insert_inline(struct text *text, const struct toml_item *inline_table, const char *key,
                          const struct json *value)
{
    size_t at = inline_table->value_end - 1; /* the closing brace */
    struct text pair = { 0 };

    while (strchr(" \t", text->bytes[at - 1]))
        at--;
    text_add_text(&pair, text->bytes[at - 1] == '{' ? " " : ", ");
    add_pair(&pair, key, value, text->bytes[at] == '}' ? " " : "");
    config_splice(text, at, at, pair.bytes, pair.used);
    text_release(&pair);
}

static bool refuse(const struct config_path *path, struct error *err)
{
    return error_say(err, ERROR_bad_type, "", TEXT_REASON_NOT_TABLE, "path", path->keys[1], "outer",
                     path->keys[0], "inner", path->keys[1], NULL);
}

static bool add(struct text *text, const struct toml_items *items, const struct config_path *path,
                const struct json *value, struct error *err)
{
    struct config_path above = *path;
    const struct toml_item *header, *inline_table;
    struct json *wrapped;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    char *prefix, *encoded;
    const char *key = path->keys[--above.count];
    bool ok = true;

    prefix = join(&above);
    header = find_item(items, prefix, true);
    inline_table = find_item(items, prefix, false);
    free(prefix);
    if (header) {
        insert_under(text, items, header, key, value);
        return true;
    }
    if (inline_table && text->bytes[inline_table->value] == '{') {
        insert_inline(text, inline_table, key, value);
        return true;
    }
    if (path->count < 4 || inline_table)
        return refuse(path, err);
    encoded = json_encode(value); /* the table in between is not there yet: an inline one */
    json_write_object(&writer, NULL);
    json_write_foreign_key(&writer, key);
    text_add_format(&out, "%s}", encoded);
    ok = json_parse(text_string(&out), out.used, &wrapped, NULL);
    if (ok) {
        ok = add(text, items, &above, wrapped, err);
        json_free(wrapped);
    }
    text_release(&out);
    free(encoded);
    return ok;
}

/* A table can't be added below what is a value, or a list of tables. */
static bool may_append(const struct toml_items *items, const struct config_path *path)
{
    struct config_path above = { .keys = { path->keys[0] }, .count = 1 };
    char *prefix = join(&above);
    bool may = !find_item(items, prefix, false);

    free(prefix);
    return may;
}

static bool set(struct text *text, const struct config_path *path, const struct json *value,
                struct error *err)
{
    struct toml_items items;
    const struct toml_item *item;
    struct text made = { 0 };
    char *wanted = join(path);
    size_t at;
    bool ok = true;

    toml_scan(text, &items, &at);
    item = find_item(&items, wanted, false);
    if (item) {
        add_value(&made, value);
        config_splice(text, item->value, item->value_end, made.bytes, made.used);
    } else if (path->count == 2) {
        ok = may_append(&items, path) || refuse(path, err);
        if (ok)
            append_table(text, path, value);
    } else {
        ok = add(text, &items, path, value, err);
    }
    text_release(&made);
    toml_release(&items);
    free(wanted);
    return ok;
}

/* From the beginning of its line to the end of the last line that belongs to it; with the blank
 * line before a table. */
static void drop_lines(struct text *text, size_t from, size_t to, bool is_table)
{
    const char *bytes = text_string(text);
    size_t bom = config_bom(text);

    while (from > bom && bytes[from - 1] != '\n')
        from--;
    to += strcspn(bytes + to, "\n");
    to += bytes[to] == '\n';
    if (is_table && from > bom + 1 && bytes[from - 1] == '\n') {
        size_t before = from - 1;

        before -= before > bom && bytes[before - 1] == '\r';
        if (before > bom && bytes[before - 1] == '\n')
            from = before;
    }
    config_splice(text, from, to, "", 0);
}

/* One part of what is at or below the path: the last table, or the last value under another one. */
static bool drop_last(struct text *text, const char *wanted, const struct config_path *path,
                      bool *ret_is_done, struct error *err)
{
    struct toml_items items;
    size_t at, end = 0;
    const struct toml_item *found = NULL;
    bool ok = true;

    toml_scan(text, &items, &at);
    for (size_t i = 0; i < items.count; i++) {
        const struct toml_item *item = &items.items[i];

        if (!is_below(item->path, wanted))
            continue;
        if (item->kind == TOML_TABLES || item->kind == TOML_TABLE || item->kind == TOML_VALUE) {
            bool is_under = found && found->kind == TOML_TABLE && item->kind == TOML_VALUE &&
                            item->table == found->table;

            if (!is_under) {
                found = item;
                end = item->value_end;
            }
        } else if (!found || item->from >= end) {
            ok = refuse(path, err); /* inside of somebody's inline table */
        }
        if (found && item->value_end > end)
            end = item->value_end;
    }
    *ret_is_done = !found;
    if (found && ok)
        drop_lines(text, found->from, end, found->kind != TOML_VALUE);
    toml_release(&items);
    return ok;
}

static bool drop(struct text *text, const struct config_path *path, struct error *err)
{
    char *wanted = join(path);
    bool is_done = false, ok = true;

    while (ok && !is_done)
        ok = drop_last(text, wanted, path, &is_done, err);
    free(wanted);
    return ok;
}

const struct config_format config_toml = { check, find, set, drop };
