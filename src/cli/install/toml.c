/*
 * toml.c - changes a TOML text in place; see config_text.h. A new entry is a table at the end of
 * the file. What stands in one is changed where it stands; a key that is new goes behind the last
 * one of its table.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/install/config_text.h"
#include "i18n/i18n.h"

enum toml_kind {
    TOML_TABLE,  /* [a.b] */
    TOML_TABLES, /* [[a.b]] */
    TOML_VALUE,  /* a.b = … */
    TOML_INLINE, /* the same inside of { } */
};
struct toml_item {
    enum toml_kind kind;
    char *path;              /* owned; keys, each with TOML_SEPARATOR behind it */
    size_t table;            /* index of the header it stands under, or its own; count: none */
    size_t from;             /* of the header or the key */
    size_t value, value_end; /* of a header: what is behind the bracket */
    char *json;              /* owned; the value; NULL: a header */
};
#define TOML_SEPARATOR '\x1f'

struct toml_items {
    struct toml_item *items;
    size_t count, capacity;
};

enum { MAX_LEVELS = 64 };
static const char BARE_KEY[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
static const char BARE_VALUE[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.:";

/* What stands in lists is under no path of the file. */
static char no_path[] = { TOML_SEPARATOR, '\0' };
static const struct text nowhere = { .bytes = no_path, .used = 1 };

struct scan {
    const char *bytes; /* NUL-terminated */
    size_t at, length;
    size_t table; /* of the header above */
    struct toml_items *items;
};

/* Appends the value as JSON; what JSON has no word for becomes a text. */
static bool scan_value(struct scan *scan, const struct text *prefix, int level, struct text *json);

static void skip_blanks(struct scan *scan)
{
    scan->at += strspn(scan->bytes + scan->at, " \t");
}

static bool take(struct scan *scan, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(scan);
    if (strncmp(scan->bytes + scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* The rest of a line: blanks and a comment. */
static bool end_line(struct scan *scan)
{
    skip_blanks(scan);
    if (scan->bytes[scan->at] == '#')
        scan->at += strcspn(scan->bytes + scan->at, "\n");
    if (scan->bytes[scan->at] == '\r' && scan->bytes[scan->at + 1] == '\n')
        scan->at++;
    if (scan->at == scan->length)
        return true;
    if (scan->bytes[scan->at] != '\n')
        return false;
    scan->at++;
    return true;
}

/* Blanks, comments and line ends, as arrays have them. */
static void skip_lines(struct scan *scan)
{
    for (;;) {
        scan->at += strspn(scan->bytes + scan->at, " \t\r\n");
        if (scan->bytes[scan->at] != '#')
            return;
        scan->at += strcspn(scan->bytes + scan->at, "\n");
    }
}

/* One escape behind its backslash; the bytes it took, 0: none we know. */
static size_t read_escape(const char *at, bool may_break, struct text *out)
{
    static const char names[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\x1b\"\\";
    const char *found = *at ? strchr(names, *at) : NULL;
    size_t digits = *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    char number[9] = "";
    int32_t code_point;

    if (found) {
        text_add_char(out, meant[found - names]);
        return 1;
    }
    if (digits) {
        if (strspn(at + 1, "0123456789abcdefABCDEF") < digits)
            return 0;
        memcpy(number, at + 1, digits);
        code_point = (int32_t)strtol(number, NULL, 16);
        if (code_point < 0 || code_point > 0x10ffff)
            return 0;
        text_add_code_point(out, code_point);
        return digits + 1;
    }
    return may_break && strchr(" \t\r\n", *at) && *at ? strspn(at, " \t\r\n") : 0;
}

/* A quoted text at scan->at, appended to `out`. */
static bool scan_text(struct scan *scan, struct text *out)
{
    char quote = scan->bytes[scan->at];
    char triple[4] = { quote, quote, quote, 0 };
    bool is_long = strncmp(scan->bytes + scan->at, triple, 3) == 0;

    scan->at += is_long ? 3 : 1;
    while (scan->at < scan->length) {
        const char *at = scan->bytes + scan->at;

        if (*at == quote && (!is_long || strncmp(at, triple, 3) == 0)) {
            size_t quotes = is_long ? strspn(at, triple) : 1; /* up to two belong to the text */

            if (quotes > 5)
                return false;
            for (size_t i = is_long ? 3 : 1; i < quotes; i++)
                text_add_char(out, quote);
            scan->at += quotes;
            return true;
        }
        if (!is_long && (*at == '\n' || *at == '\r'))
            return false;
        if (*at == '\\' && quote == '"') {
            size_t taken = read_escape(at + 1, is_long, out);

            if (!taken)
                return false;
            scan->at += taken + 1;
            continue;
        }
        text_add_char(out, *at);
        scan->at++;
    }
    return false;
}

/* a."b".c appended to `path`. */
static bool scan_key(struct scan *scan, struct text *path)
{
    do {
        size_t length;

        skip_blanks(scan);
        length = strspn(scan->bytes + scan->at, BARE_KEY);
        if (length > 0) {
            text_add(path, scan->bytes + scan->at, length);
            scan->at += length;
        } else if ((scan->bytes[scan->at] != '"' && scan->bytes[scan->at] != '\'') ||
                   !scan_text(scan, path)) {
            return false;
        }
        text_add_char(path, TOML_SEPARATOR);
    } while (take(scan, "."));
    return true;
}

static size_t add_item(struct scan *scan, enum toml_kind kind, const struct text *path, size_t from)
{
    struct toml_items *items = scan->items;

    if (items->count == items->capacity) {
        items->capacity = items->capacity ? items->capacity * 2 : 64;
        items->items = mem_resize(items->items, items->capacity * sizeof *items->items);
    }
    items->items[items->count] = (struct toml_item){
        .kind = kind, .path = mem_text(text_string(path)), .table = scan->table, .from = from
    };
    return items->count++;
}

/* key = value */
static bool scan_pair(struct scan *scan, enum toml_kind kind, const struct text *prefix, int level)
{
    struct text path = { 0 }, json = { 0 };
    size_t from, item;
    bool ok;

    text_add(&path, text_string(prefix), prefix->used);
    skip_blanks(scan);
    from = scan->at;
    ok = scan_key(scan, &path) && take(scan, "=");
    if (ok) {
        skip_blanks(scan);
        item = add_item(scan, kind, &path, from);
        scan->items->items[item].value = scan->at;
        ok = scan_value(scan, &path, level, &json);
        scan->items->items[item].value_end = scan->at;
        scan->items->items[item].json = text_take(&json);
    }
    text_release(&path);
    return ok;
}

static bool scan_list(struct scan *scan, int level, struct text *json)
{
    const char *before = "";

    text_add_char(json, '[');
    for (skip_lines(scan); !take(scan, "]"); skip_lines(scan)) {
        text_add_text(json, before);
        if (!scan_value(scan, &nowhere, level + 1, json))
            return false;
        before = ",";
        skip_lines(scan);
        if (!take(scan, ",") && scan->bytes[scan->at] != ']')
            return false;
    }
    text_add_char(json, ']');
    return true;
}

static bool scan_inline(struct scan *scan, const struct text *prefix, int level)
{
    if (take(scan, "}"))
        return true;
    do {
        if (!scan_pair(scan, TOML_INLINE, prefix, level + 1))
            return false;
    } while (take(scan, ","));
    return take(scan, "}");
}

static void add_word(struct text *json, const char *bytes, size_t length)
{
    struct json_writer writer = json_writer_to(json);
    char *word = mem_text_n(bytes, length);
    int64_t number;

    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        text_add_text(json, word);
    else if (text_parse_integer(word, &number))
        text_add_integer(json, number);
    else
        json_write_text_n(&writer, NULL, bytes, length);
    free(word);
}

static bool scan_value(struct scan *scan, const struct text *prefix, int level, struct text *json)
{
    struct json_writer writer = json_writer_to(json);
    struct text decoded = { 0 };
    size_t from;
    bool ok;

    if (level > MAX_LEVELS)
        return false;
    skip_blanks(scan);
    from = scan->at;
    if (scan->bytes[from] == '"' || scan->bytes[from] == '\'') {
        ok = scan_text(scan, &decoded);
        json_write_text_n(&writer, NULL, text_string(&decoded), decoded.used);
        text_release(&decoded);
        return ok;
    }
    if (take(scan, "["))
        return scan_list(scan, level, json);
    if (take(scan, "{")) {
        ok = scan_inline(scan, prefix, level);
    } else {
        scan->at += strspn(scan->bytes + from, BARE_VALUE);
        ok = scan->at > from;
    }
    add_word(json, scan->bytes + from, scan->at - from);
    return ok;
}

static bool scan_header(struct scan *scan)
{
    size_t from = scan->at, item;
    enum toml_kind kind = take(scan, "[[") ? TOML_TABLES : TOML_TABLE;
    struct text path = { 0 };
    bool ok = (kind == TOML_TABLES || take(scan, "[")) && scan_key(scan, &path) &&
              take(scan, kind == TOML_TABLES ? "]]" : "]");
    if (ok) {
        item = add_item(scan, kind, &path, from);
        scan->table = item;
        scan->items->items[item].table = item;
        scan->items->items[item].value = scan->items->items[item].value_end = scan->at;
    }
    text_release(&path);
    return ok;
}

static bool scan_statement(struct scan *scan)
{
    struct text prefix = { 0 };
    bool ok;

    skip_blanks(scan);
    if (strchr("#\r\n", scan->bytes[scan->at])) /* also at the end */
        return end_line(scan);
    if (scan->bytes[scan->at] == '[')
        return scan_header(scan) && end_line(scan);
    if (scan->table < scan->items->count)
        text_add_text(&prefix, scan->items->items[scan->table].path);
    ok = scan_pair(scan, TOML_VALUE, &prefix, 0) && end_line(scan);
    text_release(&prefix);
    return ok;
}

static bool is_header_twice(const struct toml_items *items)
{
    for (size_t i = 1; i < items->count; i++) {
        for (size_t k = 0; items->items[i].kind == TOML_TABLE && k < i; k++) {
            if (items->items[k].kind == TOML_TABLE &&
                strcmp(items->items[i].path, items->items[k].path) == 0 &&
                strchr(items->items[i].path, TOML_SEPARATOR)[1])
                return true;
        }
    }
    return false;
}

/* False: not TOML; *ret_at, if it isn't NULL, is where. The items are released either way. */
static bool toml_scan(const struct text *text, struct toml_items *ret_items, size_t *ret_at)
{
    struct scan scan = { .bytes = text_string(text),
                         .at = config_bom(text),
                         .length = text->used,
                         .table = (size_t)-1,
                         .items = ret_items };
    size_t bad = config_first_bad(text);
    bool ok = bad == text->used;

    *ret_items = (struct toml_items){ 0 };
    while (ok && scan.at < scan.length)
        ok = scan_statement(&scan);
    if (ret_at)
        *ret_at = bad == text->used ? scan.at : bad;
    return ok && !is_header_twice(ret_items);
}

static void toml_release(struct toml_items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        free(items->items[i].path);
        free(items->items[i].json);
    }
    free(items->items);
    *items = (struct toml_items){ 0 };
}

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
    struct json_writer writer = json_object_to(out);

    for (size_t i = 0; i < items->count; i++) {
        const struct toml_item *item = &items->items[i];
        const char *rest = item->path + strlen(path);
        bool is_first = true, has_more;
        char *key, *below;

        if (!is_below(item->path, path) || !*rest || item->kind == TOML_TABLES)
            continue;
        key = mem_text_n(rest, (size_t)(strchr(rest, TOML_SEPARATOR) - rest));
        below = mem_format("%s%s%c", path, key, TOML_SEPARATOR);
        has_more = strcmp(item->path, below) != 0 || item->kind == TOML_TABLE ||
                   text->bytes[item->value] == '{';
        for (size_t k = 0; k < i && has_more && is_first; k++)
            is_first = !is_below(items->items[k].path, below);
        if (is_first) {
            json_write_foreign_key(&writer, key);
            if (has_more)
                add_object(out, text, items, below);
            else
                text_add_text(out, item->json);
            writer.needs_comma = true;
        }
        free(below);
        free(key);
    }
    json_write_end_object(&writer);
}

static struct json *find(const struct text *text, const struct config_path *path)
{
    struct toml_items items;
    struct text out = { 0 };
    struct json *value = NULL;
    char *wanted = join(path);
    bool is_there = false;

    toml_scan(text, &items, NULL);
    for (size_t i = 0; i < items.count; i++)
        is_there = is_there || is_below(items.items[i].path, wanted);
    if (is_there) {
        const struct toml_item *item = find_item(&items, wanted, false);

        if (item && text->bytes[item->value] != '{')
            text_add_text(&out, item->json ? item->json : "\"\""); /* of [[a.b]] there is none */
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
    if (*key && strspn(key, BARE_KEY) == strlen(key))
        text_add_text(out, key);
    else
        add_string(out, key, strlen(key));
}

static void add_value(struct text *out, const struct json *value)
{
    const char *before = " ";

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
        json_add(out, value);
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
    const char *key = path->keys[--above.count];
    char *prefix = join(&above);
    const struct toml_item *header = find_item(items, prefix, true);
    const struct toml_item *inline_table = find_item(items, prefix, false);
    bool ok = true;

    free(prefix);
    if (header) {
        insert_under(text, items, header, key, value);
    } else if (inline_table && text->bytes[inline_table->value] == '{') {
        insert_inline(text, inline_table, key, value);
    } else if (path->count < 4 || inline_table) {
        ok = refuse(path, err);
    } else { /* the table in between is not there yet: an inline one */
        struct text out = { 0 };
        struct json_writer writer = json_object_to(&out);
        struct json *wrapped;

        json_write_value(&writer, key, value);
        wrapped = config_take_object(&writer);
        ok = wrapped && add(text, items, &above, wrapped, err);
        json_free(wrapped);
    }
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
    char *wanted = join(path);
    bool ok = true;

    toml_scan(text, &items, NULL);
    item = find_item(&items, wanted, false);
    if (item) {
        struct text made = { 0 };

        add_value(&made, value);
        config_splice(text, item->value, item->value_end, made.bytes, made.used);
        text_release(&made);
    } else if (path->count != 2) {
        ok = add(text, &items, path, value, err);
    } else if (may_append(&items, path)) {
        append_table(text, path, value);
    } else {
        ok = refuse(path, err);
    }
    toml_release(&items);
    free(wanted);
    return ok;
}

/* All its lines, from the one it begins in; with the blank line before a table. */
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
    size_t end = 0;
    const struct toml_item *found = NULL;
    bool ok = true;

    toml_scan(text, &items, NULL);
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
            ok = refuse(path, err); /* inside an inline table, which is not taken apart */
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
