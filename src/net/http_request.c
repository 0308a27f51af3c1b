/*
 * http_request.c - a scanned head to a request (http_scan.h). Headers that decide how long a
 * request is, or that a gate looks at, stand in a table: none of them may stand twice.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http_scan.h"
#include "net/http_target.h"

enum { LENGTH_DIGITS = 15 };

static bool refuse(struct http_fault *fault, int status, const char *why)
{
    *fault = (struct http_fault){ status, why };
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
    while (*value) {
        size_t length;

        value += strspn(value, ", \t");
        length = strcspn(value, ", \t");
        if (length == 5 && strncasecmp(value, "close", 5) == 0)
            request->closes = true;
        value += length;
    }
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

/* What HTTP/1.1 has and somebody here might serve; the gate answers 405 where nobody does. */
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

/* Lists may come in several lines; whoever asks for one sees it whole. */
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
