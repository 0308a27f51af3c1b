/*
 * http_request.c - a scanned head to a request (http_request.h). Headers that decide how long a
 * request is, or that a gate looks at, stand in a table: none of them may stand twice.
 */
#include "net/http_request.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

enum { LENGTH_DIGITS = 15 };

static bool refuse(struct http_fault *fault, int status, const char *why)
{
    *fault = (struct http_fault){ status, why };
    return false;
}

bool http_list_has(const char *list, const char *word)
{
    size_t length = strlen(word), part;

    for (; list && *list; list += part) {
        list += strspn(list, " \t,");
        part = strcspn(list, " \t,");
        if (part == length && strncasecmp(list, word, length) == 0)
            return true;
    }
    return false;
}

static bool take_length(struct http_request *request, const char *value, struct http_fault *fault)
{
    size_t digits = strspn(value, "0123456789");

    if (digits == 0 || value[digits])
        return refuse(fault, 400, "Content-Length is decimal digits and nothing else");
    if (digits > LENGTH_DIGITS)
        return refuse(fault, 413, "the body is too long");
    request->length = strtoll(value, NULL, 10);
    return true;
}

static bool take_encoding(struct http_request *request, const char *value, struct http_fault *fault)
{
    if (request->minor == 0)
        return refuse(fault, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (strcasecmp(value, "chunked") != 0)
        return refuse(fault, 501, "the only Transfer-Encoding is chunked");
    request->is_chunked = true;
    return true;
}

static bool take_expectation(struct http_request *request, const char *value,
                             struct http_fault *fault)
{
    if (request->minor == 0)
        return true;
    if (strcasecmp(value, "100-continue") != 0)
        return refuse(fault, 417, "the only expectation is 100-continue");
    request->expects_continue = true;
    return true;
}

static bool take_connection(struct http_request *request, const char *value,
                            struct http_fault *fault)
{
    (void)fault;
    request->closes |= http_list_has(value, "close");
    return true;
}

static const struct {
    const char *name;
    bool may_repeat;
    bool (*take)(struct http_request *request, const char *value, struct http_fault *fault);
} known_fields[] = {
    { "authorization", false, NULL },
    { "connection", true, take_connection },
    { "content-length", false, take_length },
    { "content-type", false, NULL },
    { "expect", false, take_expectation },
    { "host", false, NULL },
    { "idempotency-key", false, NULL },
    { "if-match", false, NULL },
    { "if-none-match", false, NULL },
    { "last-event-id", false, NULL },
    { "mcp-method", false, NULL },
    { "mcp-name", false, NULL },
    { "mcp-protocol-version", false, NULL },
    { "mcp-session-id", false, NULL },
    { "origin", false, NULL },
    { "sec-fetch-site", false, NULL },
    { "sec-websocket-key", false, NULL },
    { "sec-websocket-version", false, NULL },
    { "transfer-encoding", false, take_encoding },
    { "upgrade", false, NULL },
};

/* Methods of HTTP/1.1 that a route may serve; the gate answers 405 where none does. */
static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS" };

static bool check_method(const char *method, struct http_fault *fault)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(methods[i], method) == 0)
            return true;
    return refuse(fault, 501, "this method is not served here");
}

/* "GET /path HTTP/1.1", one blank between. */
static bool parse_line(struct http_request *request, char *line, struct http_fault *fault)
{
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

    if (!version || target == line || strchr(version + 1, ' '))
        return refuse(fault, 400, "a request line is METHOD, target and version");
    *target++ = '\0';
    *version++ = '\0';
    if (strncmp(version, "HTTP/", 5) != 0)
        return refuse(fault, 400, "the version is HTTP/1.1");
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return refuse(fault, 505, "the version is HTTP/1.1");
    request->minor = version[7] == '1' ? 1 : 0;
    request->closes = request->minor == 0;
    request->method = line;
    request->path = target;
    return check_method(line, fault) && http_target_parse(target, &request->query, fault);
}

static bool is_token(const char *name)
{
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("!#$%&'*+-.^_`|~", *name))
            return false;
    return true;
}

static bool take_field(struct http_request *request, const char *name, const char *value,
                       struct http_fault *fault)
{
    bool is_repeated = http_request_find(request, name, 0) >= 0;

    request->has_repeats |= is_repeated;
    for (size_t i = 0; i < ARRAY_LEN(known_fields); i++) {
        if (strcmp(known_fields[i].name, name) != 0)
            continue;
        if (is_repeated && !known_fields[i].may_repeat)
            return refuse(fault, 400, "a header that stands only once stands twice");
        return !known_fields[i].take || known_fields[i].take(request, value, fault);
    }
    return true;
}

static bool parse_field(struct http_request *request, char *line, struct http_fault *fault)
{
    char *value = strchr(line, ':'), *end = line + strlen(line);

    if (!value || value == line)
        return refuse(fault, 400, "a header is a name, a colon and a value");
    *value++ = '\0';
    if (!is_token(line))
        return refuse(fault, 400, "the name of a header has a character it may not have");
    for (char *at = line; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    value += strspn(value, " \t");
    while (end > value && end[-1] == ' ')
        *--end = '\0';
    if (end > value && end[-1] == '\t') /* parsers differ on whether it is part of the value */
        return refuse(fault, 400, "a header does not end with a tabulator");
    if (!take_field(request, line, value, fault))
        return false;
    request->fields[request->field_count++] = (struct http_field){ line, value };
    return true;
}

/* A list may come in several lines; they are joined, so that callers see it whole. */
static void join_repeats(struct http_request *request, size_t length)
{
    struct text joined = { 0 };
    size_t used = 0;

    request->joined = mem_new(length + 2 * (size_t)request->field_count);
    for (int i = 0; i < request->field_count; i++) {
        struct http_field *field = &request->fields[i];
        int next = http_request_find(request, field->name, i + 1);

        if (next < 0 || field->name[0] == '\0')
            continue;
        text_clear(&joined);
        text_add_text(&joined, field->value);
        for (; next >= 0; next = http_request_find(request, field->name, next)) {
            text_add_format(&joined, ", %s", request->fields[next].value);
            request->fields[next].name = "";
        }
        field->value = memcpy(request->joined + used, joined.bytes, joined.used + 1);
        used += joined.used + 1;
    }
    text_release(&joined);
}

static bool parse_lines(struct http_request *request, size_t length, struct http_fault *fault)
{
    char *line = request->bytes, *end = line + length - 2; /* without the empty line */

    while (line < end) {
        char *stop = memchr(line, '\r', (size_t)(end - line));

        *stop = '\0';
        if (line == request->bytes ? !parse_line(request, line, fault)
                                   : !parse_field(request, line, fault))
            return false;
        line = stop + 2;
    }
    if (request->minor > 0 && http_request_find(request, "host", 0) < 0)
        return refuse(fault, 400, "HTTP/1.1 wants a Host");
    if (request->is_chunked && request->length >= 0)
        return refuse(fault, 400, "Content-Length and Transfer-Encoding exclude each other");
    if (request->has_repeats)
        join_repeats(request, length);
    return true;
}

bool http_request_parse(struct http_request *request, const char *head, size_t length,
                        struct http_fault *ret_fault)
{
    size_t lines = 0;

    for (const char *at = head; (at = memchr(at, '\n', (size_t)(head + length - at))); at++)
        lines++;
    *request = (struct http_request){ .length = -1 };
    request->bytes = mem_text_n(head, length);
    request->fields = mem_new(lines * sizeof *request->fields);
    if (parse_lines(request, length, ret_fault))
        return true;
    http_request_release(request);
    return false;
}

void http_request_release(struct http_request *request)
{
    free(request->bytes);
    free(request->joined);
    free(request->fields);
    *request = (struct http_request){ .length = -1 };
}

int http_request_find(const struct http_request *request, const char *name, int first)
{
    for (int i = first; i < request->field_count; i++)
        if (strcmp(request->fields[i].name, name) == 0)
            return i;
    return -1;
}

/* The bytes of a head and of a chunked body; see http_request.h. */

static enum http_scanned refuse_head(struct http_fault *fault, int status, const char *why)
{
    *fault = (struct http_fault){ status, why };
    return HTTP_SCAN_REFUSED;
}

/* Behind CR LF: one more line, or the end. */
static enum http_scanned end_line(struct http_scan *scan, struct http_fault *fault)
{
    bool is_empty = scan->at - 1 == scan->line_at;

    if (is_empty && scan->line_count == 0)
        return refuse_head(fault, 400, "a request begins with its request line");
    scan->has_cr = false;
    scan->at++;
    if (is_empty)
        return HTTP_SCAN_DONE;
    scan->line_at = scan->at;
    if (scan->line_count++ > HTTP_FIELDS)
        return refuse_head(fault, 431, "a request has at most 100 headers");
    return HTTP_SCAN_MORE;
}

static enum http_scanned judge_byte(const struct http_scan *scan, unsigned char byte,
                                    struct http_fault *fault)
{
    bool is_first_line = scan->line_count == 0;

    if (byte == '\n')
        return refuse_head(fault, 400, "lines end with CR LF");
    if (byte == 0x7f || (byte < 0x20 && (byte != '\t' || is_first_line)))
        return refuse_head(fault, 400, "a head has no control characters");
    if (!is_first_line && scan->at == scan->line_at && (byte == ' ' || byte == '\t'))
        return refuse_head(fault, 400, "a header does not begin with a blank");
    if (is_first_line && scan->at >= HTTP_LINE_BYTES)
        return refuse_head(fault, 414, "a request line has at most 8192 bytes");
    return HTTP_SCAN_MORE;
}

enum http_scanned http_scan_head(struct http_scan *scan, const char *bytes, size_t length,
                                 struct http_fault *ret_fault)
{
    while (scan->at < length) {
        unsigned char byte = (unsigned char)bytes[scan->at];
        enum http_scanned scanned;

        if (scan->at >= HTTP_HEAD_BYTES)
            return refuse_head(ret_fault, 431, "a head has at most 32768 bytes");
        if (scan->has_cr) {
            if (byte != '\n')
                return refuse_head(ret_fault, 400, "lines end with CR LF");
            scanned = end_line(scan, ret_fault);
            if (scanned != HTTP_SCAN_MORE)
                return scanned;
            continue;
        }
        if (byte == '\r') {
            scan->has_cr = true;
        } else {
            scanned = judge_byte(scan, byte, ret_fault);
            if (scanned != HTTP_SCAN_MORE)
                return scanned;
        }
        scan->at++;
    }
    return HTTP_SCAN_MORE;
}

enum chunk_step {
    CHUNK_SIZE,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_END_CR,
    CHUNK_END_LF,
};
enum { CHUNK_DIGITS = 7 }; /* 256 MiB, far above any body we take */

/* -1: none */
static int hex_digit(char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = byte ? strchr(digits, tolower((unsigned char)byte)) : NULL;

    return found ? (int)(found - digits) : -1;
}

static enum http_scanned scan_size(struct http_chunks *chunks, char byte, struct http_fault *fault)
{
    int digit = hex_digit(byte);

    if (digit >= 0 && chunks->digits < CHUNK_DIGITS) {
        chunks->left = chunks->left * 16 + (uint32_t)digit;
        chunks->digits++;
        return HTTP_SCAN_MORE;
    }
    if (digit >= 0)
        return refuse_head(fault, 413, "a chunk is too long");
    if (byte != '\r' || chunks->digits == 0)
        return refuse_head(fault, 400, "a chunk's size is hexadecimal digits and nothing else");
    chunks->step = CHUNK_SIZE_LF;
    return HTTP_SCAN_MORE;
}

static const char bad_line_end[] = "lines of a chunked body end with CR LF";

/* The bytes between the data: each step wants one of them. */
static const struct {
    char wanted;
    uint8_t next; /* enum chunk_step */
    const char *why_not;
} frames[] = {
    [CHUNK_SIZE_LF] = { '\n', CHUNK_DATA, bad_line_end },
    [CHUNK_DATA_CR] = { '\r', CHUNK_DATA_LF, "a chunk is longer than its size says" },
    [CHUNK_DATA_LF] = { '\n', CHUNK_SIZE, bad_line_end },
    [CHUNK_END_CR] = { '\r', CHUNK_END_LF, "trailers are not taken" },
    [CHUNK_END_LF] = { '\n', CHUNK_END_LF, bad_line_end },
};

static enum http_scanned scan_frame(struct http_chunks *chunks, char byte, struct http_fault *fault)
{
    uint8_t step = chunks->step;

    if (step == CHUNK_SIZE)
        return scan_size(chunks, byte, fault);
    if (byte != frames[step].wanted)
        return refuse_head(fault, 400, frames[step].why_not);
    chunks->step = frames[step].next;
    if (step == CHUNK_SIZE_LF && chunks->left == 0)
        chunks->step = CHUNK_END_CR;
    if (step == CHUNK_DATA_LF)
        chunks->digits = 0;
    return step == CHUNK_END_LF ? HTTP_SCAN_DONE : HTTP_SCAN_MORE;
}

enum http_scanned http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t length,
                                   size_t *ret_used, struct http_fault *ret_fault)
{
    size_t at = 0;

    while (at < length) {
        enum http_scanned scanned;

        if (chunks->step == CHUNK_DATA) {
            size_t part = length - at < chunks->left ? length - at : chunks->left;

            chunks->left -= (uint32_t)part;
            at += part;
            if (chunks->left == 0)
                chunks->step = CHUNK_DATA_CR;
            continue;
        }
        scanned = scan_frame(chunks, bytes[at], ret_fault);
        at++;
        if (scanned != HTTP_SCAN_MORE) {
            *ret_used = at;
            return scanned;
        }
    }
    *ret_used = at;
    return HTTP_SCAN_MORE;
}

/* One character of a target, decoded; -1: its percent sign stands for nothing. */
static int decode_byte(const char **at)
{
    const char *from = *at;
    int high, low;

    (*at)++;
    if (*from != '%')
        return (unsigned char)*from;
    high = hex_digit(from[1]);
    low = high < 0 ? -1 : hex_digit(from[2]);
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
            return refuse(fault, 400, "a percent sign in the path is followed by two hex digits");
        if (byte < 0x20 || byte == 0x7f || byte == '\\' || (is_encoded && byte == '/'))
            return refuse(fault, 400, "the path has an encoded slash or control character");
        *to++ = (char)byte;
    }
    *to = '\0';
    if (!text_is_utf8(path, (size_t)(to - path)))
        return refuse(fault, 400, "the path is not UTF-8");
    return true;
}

static bool check_segments(const char *path, struct http_fault *fault)
{
    while (*path) {
        size_t length = strcspn(path + 1, "/");

        if (length == 0 && path[1])
            return refuse(fault, 400, "the path has an empty part");
        if ((length == 1 || length == 2) && strspn(path + 1, ".") >= length)
            return refuse(fault, 400, "the path has a part that is only dots");
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
            return refuse(fault, 400, "the query has a percent sign that stands for nothing");
        decoded[used++] = (char)byte;
    }
    if (*query || !text_is_utf8(decoded, used))
        return refuse(fault, 400, "the query is not UTF-8");
    return true;
}

bool http_target_parse(char *target, const char **ret_query, struct http_fault *ret_fault)
{
    char *mark;

    if (target[0] != '/')
        return refuse(ret_fault, 400, "the target of a request is a path that begins with a slash");
    if (!is_printable(target))
        return refuse(ret_fault, 400, "the target has a character that must be percent-encoded");
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
