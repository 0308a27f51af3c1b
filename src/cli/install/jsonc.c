/*
 * jsonc.c - changes a JSON text in place; see config_text.h. A new member goes behind the last one
 * of its object: a comma behind that one's value, the member on a line of its own behind whatever
 * comment shares that line.
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

struct jsonc_member {
    size_t key, key_end;     /* with its quotes */
    size_t value, value_end; /* one past its last byte */
};

enum { MAX_LEVELS = 256 };
static const char BLANKS[] = " \t\r\n";

static size_t jsonc_skip_blanks(const char *bare, size_t at)
{
    return at + strspn(bare + at, BLANKS);
}

/* Behind the quote that closes the text beginning at `at`. */
static size_t skip_text(const char *bytes, size_t length, size_t at)
{
    for (at++; at < length && bytes[at] != '"'; at++)
        at += bytes[at] == '\\';
    return at < length ? at + 1 : length;
}

/* A carriage return alone ends a line too, as in the clients' own readers. */
static size_t skip_comment(const char *bytes, size_t length, size_t at)
{
    const char *end;

    if (bytes[at + 1] == '/') {
        while (at < length && bytes[at] != '\n' && bytes[at] != '\r')
            at++;
        return at;
    }
    end = memmem(bytes + at + 2, length - at - 2, "*/", 2);
    return end ? (size_t)(end - bytes) + 2 : 0;
}

/* A copy without comments and byte order mark, `used` bytes long; the caller frees. */
static char *jsonc_blank(const struct text *text)
{
    const char *bytes = text_string(text);
    size_t at = config_bom(text);
    char *bare = mem_text_n(bytes, text->used);

    memset(bare, ' ', at);
    while (at < text->used) {
        size_t end = at + 1;

        if (bytes[at] == '"') {
            end = skip_text(bytes, text->used, at);
        } else if (bytes[at] == '/' && at + 1 < text->used &&
                   (bytes[at + 1] == '/' || bytes[at + 1] == '*')) {
            end = skip_comment(bytes, text->used, at);
            if (!end)
                break; /* never closed: jsonc_check refuses it */
            for (size_t i = at; i < end; i++)
                bare[i] = bytes[i] == '\n' || bytes[i] == '\r' ? bytes[i] : ' ';
        }
        at = end;
    }
    return bare;
}

struct checked {
    const char *bare;
    size_t at, length;
    bool is_lenient;
};

static bool check_value(struct checked *text, int level);

static bool take(struct checked *text, char byte)
{
    text->at = jsonc_skip_blanks(text->bare, text->at);
    if (text->at >= text->length || text->bare[text->at] != byte)
        return false;
    text->at++;
    return true;
}

static bool check_text(struct checked *text)
{
    if (!take(text, '"'))
        return false;
    for (; text->at < text->length && text->bare[text->at] != '"'; text->at++) {
        if ((unsigned char)text->bare[text->at] < ' ')
            return false;
        if (text->bare[text->at] != '\\')
            continue;
        text->at++;
        if (text->at >= text->length || !strchr("\"\\/bfnrtu", text->bare[text->at]))
            return false;
        if (text->bare[text->at] == 'u' &&
            strspn(text->bare + text->at + 1, "0123456789abcdefABCDEF") < 4)
            return false;
    }
    return take(text, '"');
}

static bool check_parts(struct checked *text, char close, int level)
{
    bool is_object = close == '}';

    if (level > MAX_LEVELS)
        return false;
    if (take(text, close))
        return true;
    for (;;) {
        if (is_object && !(check_text(text) && take(text, ':')))
            return false;
        if (!check_value(text, level))
            return false;
        if (!take(text, ','))
            return take(text, close);
        if (text->is_lenient && take(text, close))
            return true;
    }
}

/* Moves on over digits; false: there are none. */
static bool take_digits(const char **at)
{
    size_t digits = strspn(*at, "0123456789");

    *at += digits;
    return digits > 0;
}

/* How long the number at `from` is; 0: it is none. */
static size_t measure_number(const char *from)
{
    const char *at = from + (*from == '-'), *whole = at;

    if (!take_digits(&at) || (*whole == '0' && at > whole + 1))
        return 0;
    if (*at == '.') {
        at++;
        if (!take_digits(&at))
            return 0;
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        if (!take_digits(&at))
            return 0;
    }
    return (size_t)(at - from);
}

static bool check_word(struct checked *text)
{
    static const char *const words[] = { "true", "false", "null" };
    const char *from = text->bare + text->at;
    size_t length = measure_number(from);

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strncmp(from, words[i], strlen(words[i])) == 0)
            length = strlen(words[i]);
    }
    if (length == 0 || !strchr(" \t\r\n,]}", from[length])) /* also at the end */
        return false;
    text->at += length;
    return true;
}

static bool check_value(struct checked *text, int level)
{
    if (take(text, '{'))
        return check_parts(text, '}', level + 1);
    if (take(text, '['))
        return check_parts(text, ']', level + 1);
    if (text->at < text->length && text->bare[text->at] == '"')
        return check_text(text);
    return text->at < text->length && check_word(text);
}

/* Of UTF-8 without NUL. False: not JSON; *ret_at is where. Blanks alone are. `is_lenient`: a comma
 * may come last. */
static bool jsonc_check(const char *bare, size_t length, bool is_lenient, size_t *ret_at)
{
    struct checked text = { bare, strspn(bare, BLANKS), length, is_lenient };
    bool ok = text.at == length || check_value(&text, 0);

    if (ok)
        text.at = jsonc_skip_blanks(bare, text.at);
    *ret_at = text.at;
    return ok && text.at == length;
}

/* The rest is for texts that were checked. */
static size_t jsonc_skip_value(const char *bare, size_t at)
{
    size_t length = at + strlen(bare + at), level = 0;

    do {
        if (bare[at] == '"') {
            at = skip_text(bare, length, at);
            continue;
        }
        if (bare[at] == '{' || bare[at] == '[')
            level++;
        else if (bare[at] == '}' || bare[at] == ']')
            level--;
        else if (level == 0)
            return at + strcspn(bare + at, " \t\r\n,]}");
        at++;
    } while (level > 0 && at < length);
    return at;
}

/* Members of an object, or items of a list, one after the other: begins with *at at the bracket. An
 * item has no key, its place stands for both. */
static bool jsonc_next(const char *bare, bool is_list, size_t *at, struct jsonc_member *ret_member)
{
    size_t here = jsonc_skip_blanks(bare, *at + 1); /* behind the bracket or the comma */

    if (is_list ? bare[here] == ']' || bare[here] == '\0' : bare[here] != '"')
        return false;
    ret_member->key = ret_member->key_end = here;
    if (!is_list) {
        ret_member->key_end = skip_text(bare, here + strlen(bare + here), here);
        here = jsonc_skip_blanks(bare, jsonc_skip_blanks(bare, ret_member->key_end) + 1);
    }
    ret_member->value = here;
    ret_member->value_end = jsonc_skip_value(bare, here);
    here = jsonc_skip_blanks(bare, ret_member->value_end);
    *at = bare[here] == ',' ? here : here - 1; /* at the end: the closing bracket comes next */
    return true;
}

static bool is_named(const char *bare, const struct jsonc_member *member, const char *name)
{
    struct json *key = NULL;
    bool is_same = json_parse(bare + member->key, member->key_end - member->key, &key, NULL) &&
                   json_length(key) == strlen(name) && strcmp(json_text(key), name) == 0;

    json_free(key);
    return is_same;
}

/* The last of that name, as in the clients. */
static bool jsonc_find(const char *bare, size_t object, const char *name,
                       struct jsonc_member *ret_member)
{
    struct jsonc_member member;
    size_t at = object;
    bool is_found = false;

    while (jsonc_next(bare, false, &at, &member)) {
        if (is_named(bare, &member, name)) {
            *ret_member = member;
            is_found = true;
        }
    }
    return is_found;
}

/* How this text is laid out. */
struct layout {
    const char *line_end;
    struct text unit; /* one step of indentation */
};

static void read_layout(const struct text *text, const char *bare, struct layout *layout)
{
    size_t root = jsonc_skip_blanks(bare, 0);
    const char *line = bare[root] ? strchr(bare + root, '\n') : NULL;
    size_t blanks = 0;

    *layout = (struct layout){ .line_end = config_line_end(text) };
    while (line && (blanks = strspn(line + 1, " \t")) > 0 && strchr("\r\n", line[1 + blanks]))
        line = strchr(line + 1, '\n'); /* a blank line */
    if (line && blanks > 0)
        text_add(&layout->unit, line + 1, blanks);
    else
        text_add_text(&layout->unit, "  ");
}

/* The blanks at the beginning of the line that `at` is in. */
static void add_indent_of(struct text *out, const char *bare, size_t at, size_t bom)
{
    while (at > bom && bare[at - 1] != '\n')
        at--;
    text_add(out, bare + at, strspn(bare + at, " \t"));
}

static void add_key(struct text *out, const char *key)
{
    struct json_writer writer = json_writer_to(out);

    json_write_text(&writer, NULL, key);
    text_add_text(out, ": ");
}

static void add_json(struct text *out, const struct json *value, const struct layout *layout,
                     const char *indent)
{
    if (json_kind(value) == KIND_OBJECT && layout && json_length(value) > 0) {
        char *inner = mem_format("%s%s", indent, text_string(&layout->unit));
        const char *before = "";

        text_add_char(out, '{');
        for (void *it = json_first(value); it; it = json_next(value, it)) {
            text_add_format(out, "%s%s%s", before, layout->line_end, inner);
            add_key(out, json_key(it));
            add_json(out, json_value(it), layout, inner);
            before = ",";
        }
        text_add_format(out, "%s%s}", layout->line_end, indent);
        free(inner);
    } else if (json_kind(value) == KIND_LIST) {
        text_add_char(out, '[');
        for (size_t i = 0; i < json_length(value); i++) {
            text_add_text(out, i ? ", " : "");
            add_json(out, json_item(value, i), NULL, indent);
        }
        text_add_char(out, ']');
    } else {
        json_add(out, value);
    }
}

static bool check(const struct text *text, bool is_lenient, struct error *err)
{
    char *bare = is_lenient ? jsonc_blank(text) : mem_text_n(text_string(text), text->used);
    size_t at, root;
    bool ok;

    memset(bare, ' ', config_bom(text));
    at = config_first_bad(text); /* also in comments */
    ok = at == text->used && jsonc_check(bare, text->used, is_lenient, &at);
    root = jsonc_skip_blanks(bare, 0);
    if (ok && bare[root] && bare[root] != '{') { /* JSON, but no configuration */
        ok = false;
        at = root;
    }
    free(bare);
    return ok || config_fail_at(text, at, err);
}

static bool check_json(const struct text *text, struct error *err)
{
    return check(text, false, err);
}

static bool check_jsonc(const struct text *text, struct error *err)
{
    return check(text, true, err);
}

/* The object that holds the last key of the path, or the list with its item, and whether that is
 * there. `*ret_depth` counts the keys found before it. False: something on the way is no object. */
static bool walk_to(const char *bare, const struct config_path *path, size_t *ret_object,
                    size_t *ret_depth, struct jsonc_member *ret_member)
{
    size_t at, index = 0;

    *ret_object = jsonc_skip_blanks(bare, 0);
    *ret_member = (struct jsonc_member){ 0 };
    for (*ret_depth = 0; *ret_depth < path->count; ++*ret_depth) {
        if (bare[*ret_object] != '{')
            return false;
        if (!jsonc_find(bare, *ret_object, path->keys[*ret_depth], ret_member))
            return true;
        if (*ret_depth + 1 < path->count || path->is_item)
            *ret_object = ret_member->value;
    }
    if (path->is_item && bare[*ret_object] != '[')
        return false;
    at = *ret_object;
    while (path->is_item && *ret_depth == path->count && jsonc_next(bare, true, &at, ret_member)) {
        if (index++ == path->item)
            ++*ret_depth;
    }
    return true;
}

/* How deep what the path names is. */
static size_t depth_of(const struct config_path *path)
{
    return path->count + (path->is_item ? 1 : 0);
}

/* Without the comments and last commas in it, as the strict reader wants it. */
static struct json *read_value(const char *bare, size_t from, size_t to)
{
    char *plain = mem_text_n(bare + from, to - from);
    size_t length = to - from;
    struct json *value;

    for (size_t i = 0; i < length; i++) {
        if (plain[i] == '"')
            i = jsonc_skip_value(plain, i) - 1;
        else if (plain[i] == ',' && strchr("]}", plain[jsonc_skip_blanks(plain, i + 1)]))
            plain[i] = ' ';
    }
    value = config_read_value(plain, length);
    free(plain);
    return value;
}

static struct json *find(const struct text *text, const struct config_path *path)
{
    char *bare = jsonc_blank(text);
    struct jsonc_member member;
    struct json *value = NULL;
    size_t object, depth;

    if (walk_to(bare, path, &object, &depth, &member) && depth == depth_of(path))
        value = read_value(bare, member.value, member.value_end);
    free(bare);
    return value;
}

/* Behind the comments that share a line with what ends at `at`; never inside of one. */
static size_t end_of_line_comments(const struct text *text, size_t at)
{
    const char *bytes = text_string(text);
    size_t end = at;

    for (;;) {
        const char *close;

        at += strspn(bytes + at, " \t");
        if (strncmp(bytes + at, "//", 2) == 0)
            return at + strcspn(bytes + at, "\r\n");
        close = strncmp(bytes + at, "/*", 2) == 0 ? strstr(bytes + at + 2, "*/") : NULL;
        if (!close || memchr(bytes + at, '\n', (size_t)(close - bytes) - at))
            return end;
        end = at = (size_t)(close - bytes) + 2;
    }
}

/* Where the last value of an object or list ends; 0 where it is empty. */
static size_t last_value_end(const char *bare, size_t object)
{
    struct jsonc_member member = { 0 };
    size_t at = object;

    while (jsonc_next(bare, bare[object] == '[', &at, &member))
        ;
    return member.value_end;
}

/* On a line of its own, unless the whole object is on one. `key` is NULL in a list. */
static void insert(struct text *text, const char *bare, size_t object, const char *key,
                   const struct json *value)
{
    size_t last = last_value_end(bare, object), close = jsonc_skip_value(bare, object) - 1;
    bool is_one_line = last && !memchr(bare + object, '\n', close - object);
    size_t comma = last ? jsonc_skip_blanks(bare, last) : 0;
    bool has_comma = last && bare[comma] == ',';
    size_t anchor = last ? (has_comma ? comma + 1 : last) : object + 1, blanks, rest;
    struct layout layout;
    struct text indent = { 0 }, member = { 0 };

    read_layout(text, bare, &layout);
    if (!is_one_line)
        anchor = end_of_line_comments(text, anchor);
    if (last && !is_one_line) {
        size_t first = jsonc_skip_blanks(bare, object + 1);

        if (memchr(bare + object, '\n', first - object))
            add_indent_of(&indent, bare, first, config_bom(text));
    }
    if (indent.used == 0) {
        add_indent_of(&indent, bare, object, config_bom(text));
        text_add_text(&indent, text_string(&layout.unit));
    }
    if (is_one_line)
        text_add_text(&member, has_comma ? " " : ", ");
    else
        text_add_format(&member, "%s%s", layout.line_end, text_string(&indent));
    if (key)
        add_key(&member, key);
    add_json(&member, value, is_one_line ? NULL : &layout, text_string(&indent));
    if (has_comma)
        text_add_char(&member, ',');
    if (!is_one_line && !memchr(bare + anchor, '\n', close - anchor)) {
        text_add_text(&member, layout.line_end);
        add_indent_of(&member, bare, object, config_bom(text));
    }
    blanks = strspn(text->bytes + anchor, " \t\r");
    rest = !last && anchor + blanks == close ? close : anchor; /* of { } nothing is worth keeping */
    config_splice(text, anchor, rest, member.bytes, member.used);
    if (last && !has_comma && !is_one_line)
        config_splice(text, last, last, ",", 1);
    text_release(&indent);
    text_release(&member);
    text_release(&layout.unit);
}

static void replace(struct text *text, const char *bare, const struct jsonc_member *member,
                    const struct json *value)
{
    bool is_one_line = !memchr(bare + member->value, '\n', member->value_end - member->value) &&
                       json_kind(value) != KIND_OBJECT;
    struct text indent = { 0 }, made = { 0 };
    struct layout layout;

    read_layout(text, bare, &layout);
    add_indent_of(&indent, bare, member->key, config_bom(text));
    add_json(&made, value, is_one_line ? NULL : &layout, text_string(&indent));
    config_splice(text, member->value, member->value_end, made.bytes, made.used);
    text_release(&indent);
    text_release(&made);
    text_release(&layout.unit);
}

/* {"a": {"b": value}} for the keys of the path behind the first `depth` + 1 ones. */
static struct json *wrap(const struct config_path *path, size_t depth, const struct json *value)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct json *wrapped = NULL;

    for (size_t i = depth + 1; i < path->count; i++) {
        json_write_object(&writer, NULL);
        json_write_foreign_key(&writer, path->keys[i]);
    }
    text_add_text(&out, path->is_item ? "[" : "");
    json_add(&out, value);
    text_add_text(&out, path->is_item ? "]" : "");
    for (size_t i = depth + 1; i < path->count; i++)
        text_add_char(&out, '}');
    json_parse(text_string(&out), out.used, &wrapped, NULL);
    text_release(&out);
    return wrapped;
}

/* What stands at that depth is not what the path goes through. */
static bool refuse_kind(const struct config_path *path, size_t depth, struct error *err)
{
    const char *key = path->keys[depth ? depth - 1 : 0];

    return error_say(err, ERROR_bad_type, "",
                     depth == path->count ? TEXT_REASON_NOT_LIST : TEXT_REASON_NOT_OBJECT, "path",
                     key, NULL);
}

static bool set(struct text *text, const struct config_path *path, const struct json *value,
                struct error *err)
{
    char *bare = jsonc_blank(text);
    struct jsonc_member member;
    struct json *wrapped;
    size_t object, depth;
    bool ok = true;

    if (bare[jsonc_skip_blanks(bare, 0)] == '\0') { /* nothing in it but comments */
        if (text->used > config_bom(text) && text->bytes[text->used - 1] != '\n')
            text_add_text(text, config_line_end(text));
        text_add_format(text, "{}%s", config_line_end(text));
        free(bare);
        bare = jsonc_blank(text);
    }
    if (!walk_to(bare, path, &object, &depth, &member)) {
        ok = refuse_kind(path, depth, err);
    } else if (depth == depth_of(path)) {
        replace(text, bare, &member, value);
    } else if (depth == path->count) {
        insert(text, bare, object, NULL, value);
    } else {
        wrapped = wrap(path, depth, value);
        insert(text, bare, object, path->keys[depth], wrapped);
        json_free(wrapped);
    }
    free(bare);
    return ok;
}

static bool drop(struct text *text, const struct config_path *path, struct error *err)
{
    char *bare = jsonc_blank(text);
    struct jsonc_member member;
    size_t object, depth, from, to, before;

    (void)err;
    if (!walk_to(bare, path, &object, &depth, &member) || depth < depth_of(path)) {
        free(bare);
        return true;
    }
    before = member.key;
    while (before > 0 && strchr(" \t\r\n", bare[before - 1]))
        before--; /* behind the comma or the brace */
    from = member.key;
    while (from > before && strchr(" \t", text->bytes[from - 1]))
        from--;
    if (from > before && text->bytes[from - 1] == '\n')
        from -= from > before + 1 && text->bytes[from - 2] == '\r' ? 2 : 1;
    to = jsonc_skip_blanks(bare, member.value_end);
    if (bare[to] == ',') {
        to++;
    } else {
        to = member.value_end;
        if (bare[before - 1] == ',') {
            config_splice(text, before - 1, before, "", 0);
            from--;
            to--;
        }
    }
    config_splice(text, from, to, "", 0);
    free(bare);
    return true;
}

const struct config_format config_json = { check_json, find, set, drop };
const struct config_format config_jsonc = { check_jsonc, find, set, drop };
