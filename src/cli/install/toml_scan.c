/* toml_scan.c - see toml.h. */
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/install/config_text.h"
#include "cli/install/toml.h"

enum { MOST_LEVELS = 64 };
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

static bool scan_value(struct scan *scan, const struct text *prefix, int level);

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

static int32_t read_hex(const char *digits, size_t count)
{
    char number[9] = "";

    if (strspn(digits, "0123456789abcdefABCDEF") < count)
        return -1;
    memcpy(number, digits, count);
    return (int32_t)strtol(number, NULL, 16);
}

/* One escape behind its backslash; the bytes it took, 0: none we know. */
static size_t read_escape(const char *at, bool may_break, struct text *out)
{
    static const char names[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\x1b\"\\";
    const char *found = *at ? strchr(names, *at) : NULL;
    size_t digits = *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    int32_t code_point;

    if (found) {
        text_add_char(out, meant[found - names]);
        return 1;
    }
    if (digits) {
        code_point = read_hex(at + 1, digits);
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
    struct text path = { 0 };
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
        ok = scan_value(scan, &path, level);
        scan->items->items[item].value_end = scan->at;
    }
    text_release(&path);
    return ok;
}

static bool scan_list(struct scan *scan, int level)
{
    for (skip_lines(scan); !take(scan, "]"); skip_lines(scan)) {
        if (!scan_value(scan, &nowhere, level + 1))
            return false;
        skip_lines(scan);
        if (!take(scan, ",") && scan->bytes[scan->at] != ']')
            return false;
    }
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

static bool scan_value(struct scan *scan, const struct text *prefix, int level)
{
    struct text unused = { 0 };
    bool ok;
    size_t length;

    if (level > MOST_LEVELS)
        return false;
    skip_blanks(scan);
    if (scan->bytes[scan->at] == '"' || scan->bytes[scan->at] == '\'') {
        ok = scan_text(scan, &unused);
        text_release(&unused);
        return ok;
    }
    if (take(scan, "["))
        return scan_list(scan, level);
    if (take(scan, "{"))
        return scan_inline(scan, prefix, level);
    length = strspn(scan->bytes + scan->at, BARE_VALUE);
    scan->at += length;
    return length > 0;
}

static bool scan_header(struct scan *scan)
{
    enum toml_kind kind;
    struct text path = { 0 };
    size_t from = scan->at, item;
    bool ok;

    kind = take(scan, "[[") ? TOML_TABLES : TOML_TABLE;
    ok = (kind == TOML_TABLES || take(scan, "[")) && scan_key(scan, &path) &&
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

bool toml_scan(const struct text *text, struct toml_items *ret_items, size_t *ret_at)
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
    *ret_at = bad == text->used ? scan.at : bad;
    return ok && !is_header_twice(ret_items);
}

void toml_release(struct toml_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        free(items->items[i].path);
    free(items->items);
    *items = (struct toml_items){ 0 };
}

static void add_list(struct text *out, struct scan *scan)
{
    const char *before = "";

    text_add_char(out, '[');
    scan->at++;
    for (skip_lines(scan); scan->at < scan->length && !take(scan, "]"); skip_lines(scan)) {
        size_t from = scan->at;

        if (!scan_value(scan, &nowhere, 0))
            break;
        text_add_text(out, before);
        toml_add_json(out, scan->bytes + from, scan->at - from);
        before = ",";
        skip_lines(scan);
        take(scan, ",");
    }
    text_add_char(out, ']');
}

void toml_add_json(struct text *out, const char *value, size_t length)
{
    struct toml_items unused = { 0 };
    char *copy = mem_text_n(value, length);
    struct scan scan = { .bytes = copy, .length = length, .table = (size_t)-1, .items = &unused };
    struct json_writer writer = json_writer_to(out);
    struct text decoded = { 0 };
    int64_t number;

    if (*copy == '"' || *copy == '\'') {
        scan_text(&scan, &decoded);
        json_write_text_n(&writer, NULL, text_string(&decoded), decoded.used);
    } else if (*copy == '[') {
        add_list(out, &scan);
    } else if (strcmp(copy, "true") == 0 || strcmp(copy, "false") == 0) {
        text_add_text(out, copy);
    } else if (text_parse_integer(copy, &number)) {
        text_add_integer(out, number);
    } else {
        json_write_text_n(&writer, NULL, copy, length);
    }
    text_release(&decoded);
    toml_release(&unused);
    free(copy);
}
