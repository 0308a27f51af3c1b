/* http_target.c - see http_target.h. */
#include "net/http_target.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "net/http_scan.h"

static bool refuse(struct http_fault *fault, const char *why)
{
    *fault = (struct http_fault){ 400, why };
    return false;
}

/* One character of a target, decoded; -1: its percent sign stands for nothing. */
static int decode_byte(const char **at)
{
    const char *from = *at;
    int high, low;

    (*at)++;
    if (*from != '%')
        return (unsigned char)*from;
    high = http_hex_digit(from[1]);
    low = high < 0 ? -1 : http_hex_digit(from[2]);
    if (low < 0)
        return -1;
    *at = from + 3;
    return high * 16 + low;
}

static bool is_printable(const char *target)
{
    for (; *target; target++)
        if (*target <= ' ' || *target > '~' || *target == '#' || *target == '\\')
            return false;
    return true;
}

/* Nothing that names another place than it seems to: encoded slashes, dots, control characters. */
static bool decode_path(char *path, struct http_fault *fault)
{
    const char *from = path;
    char *to = path;

    while (*from) {
        bool is_encoded = *from == '%';
        int byte = decode_byte(&from);

        if (byte < 0)
            return refuse(fault, "a percent sign in the path is followed by two hex digits");
        if (byte < 0x20 || byte == 0x7f || byte == '\\' || (is_encoded && byte == '/'))
            return refuse(fault, "the path has an encoded slash or control character");
        *to++ = (char)byte;
    }
    *to = '\0';
    if (!text_is_utf8(path, (size_t)(to - path)))
        return refuse(fault, "the path is not UTF-8");
    return true;
}

static bool is_dots(const char *segment, size_t length)
{
    return (length == 1 && segment[0] == '.') ||
           (length == 2 && segment[0] == '.' && segment[1] == '.');
}

static bool check_segments(const char *path, struct http_fault *fault)
{
    while (*path) {
        size_t length = strcspn(path + 1, "/");

        if (length == 0 && path[1])
            return refuse(fault, "the path has an empty part");
        if (is_dots(path + 1, length))
            return refuse(fault, "the path has a part that is only dots");
        path += 1 + length;
    }
    return true;
}

static bool check_query(const char *query, struct http_fault *fault)
{
    char decoded[HTTP_LINE_BYTES];
    size_t used = 0;

    while (*query && used < sizeof decoded) {
        int byte = decode_byte(&query);

        if (byte <= 0)
            return refuse(fault, "the query has a percent sign that stands for nothing");
        decoded[used++] = (char)byte;
    }
    if (*query || !text_is_utf8(decoded, used))
        return refuse(fault, "the query is not UTF-8");
    return true;
}

bool http_target_parse(char *target, const char **ret_query, struct http_fault *ret_fault)
{
    char *mark;

    if (target[0] != '/')
        return refuse(ret_fault, "the target of a request is a path that begins with a slash");
    if (!is_printable(target))
        return refuse(ret_fault, "the target has a character that must be percent-encoded");
    mark = strchr(target, '?');
    if (mark)
        *mark = '\0';
    *ret_query = mark ? mark + 1 : target + strlen(target);
    if (!check_query(*ret_query, ret_fault) || !decode_path(target, ret_fault) ||
        !check_segments(target, ret_fault))
        return false;
    if (!mark)
        *ret_query = target + strlen(target); /* the path has shrunk */
    return true;
}

static void add_decoded(struct text *out, const char *from, const char *end)
{
    while (from < end) {
        int byte = *from == '+' ? ' ' : 0;

        if (byte)
            from++;
        else
            byte = decode_byte(&from);
        text_add_char(out, (char)byte);
    }
}

bool http_query_find(const char *query, const char *name, struct text *out)
{
    while (*query) {
        const char *end = query + strcspn(query, "&");
        const char *key_end = memchr(query, '=', (size_t)(end - query));

        if (!key_end)
            key_end = end;
        text_clear(out);
        add_decoded(out, query, key_end);
        if (strcmp(text_string(out), name) == 0) {
            text_clear(out);
            add_decoded(out, key_end < end ? key_end + 1 : end, end);
            return true;
        }
        query = *end ? end + 1 : end;
    }
    return false;
}
