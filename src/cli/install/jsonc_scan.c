/* jsonc_scan.c - see jsonc.h. Where a key stands twice the last one counts, as in the clients. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/install/config_text.h"
#include "cli/install/jsonc.h"

enum { MOST_LEVELS = 256 };
static const char BLANKS[] = " \t\r\n";

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

char *jsonc_blank(const struct text *text)
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
                break; /* never closed: whoever checks stumbles over it */
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
    text->at += strspn(text->bare + text->at, BLANKS);
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

    if (level > MOST_LEVELS)
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

static size_t count_digits(const char *at)
{
    return strspn(at, "0123456789");
}

/* How long the number at `at` is; 0: it is none. */
static size_t measure_number(const char *at)
{
    const char *from = at;
    size_t digits;

    at += *at == '-';
    digits = count_digits(at);
    if (digits == 0 || (digits > 1 && *at == '0'))
        return 0;
    at += digits;
    if (*at == '.') {
        digits = count_digits(at + 1);
        if (digits == 0)
            return 0;
        at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        digits = count_digits(at);
        if (digits == 0)
            return 0;
        at += digits;
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

bool jsonc_check(const char *bare, size_t length, bool is_lenient, size_t *ret_at)
{
    struct checked text = { bare, strspn(bare, BLANKS), length, is_lenient };
    bool ok = text.at == length || check_value(&text, 0);

    if (ok)
        text.at += strspn(bare + text.at, BLANKS);
    *ret_at = text.at;
    return ok && text.at == length;
}

size_t jsonc_skip_blanks(const char *bare, size_t at)
{
    return at + strspn(bare + at, BLANKS);
}

size_t jsonc_skip_value(const char *bare, size_t at)
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

bool jsonc_next(const char *bare, size_t *at, struct jsonc_member *ret_member)
{
    size_t here = jsonc_skip_blanks(bare, *at + 1); /* behind the brace or the comma */

    if (bare[here] != '"')
        return false;
    ret_member->key = here;
    ret_member->key_end = skip_text(bare, here + strlen(bare + here), here);
    here = jsonc_skip_blanks(bare, ret_member->key_end);
    ret_member->value = jsonc_skip_blanks(bare, here + 1);
    ret_member->value_end = jsonc_skip_value(bare, ret_member->value);
    here = jsonc_skip_blanks(bare, ret_member->value_end);
    *at = bare[here] == ',' ? here : here - 1; /* at the end: the closing brace comes next */
    return true;
}

bool jsonc_next_item(const char *bare, size_t *at, struct jsonc_member *ret_item)
{
    size_t here = jsonc_skip_blanks(bare, *at + 1); /* behind the bracket or the comma */

    if (bare[here] == ']' || bare[here] == '\0')
        return false;
    ret_item->key = ret_item->key_end = ret_item->value = here;
    ret_item->value_end = jsonc_skip_value(bare, here);
    here = jsonc_skip_blanks(bare, ret_item->value_end);
    *at = bare[here] == ',' ? here : here - 1;
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

bool jsonc_find(const char *bare, size_t object, const char *name, struct jsonc_member *ret_member)
{
    struct jsonc_member member;
    size_t at = object;
    bool is_found = false;

    while (jsonc_next(bare, &at, &member)) {
        if (is_named(bare, &member, name)) {
            *ret_member = member;
            is_found = true;
        }
    }
    return is_found;
}
