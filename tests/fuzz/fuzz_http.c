/*
 * fuzz_http.c - bytes of a peer against the scan, and the same bytes against llhttp alone: whatever
 * the scan takes, llhttp takes too, reads the same in it, and ends it at the same byte. Wherever
 * the bytes are cut, the scan says the same. Proves: P14
 */
#include <llhttp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "net/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* What llhttp sees of the first request. */
struct sight {
    struct text names, values; /* with a line end behind each */
    struct text url, body;
    size_t names_at;
    bool has_head, has_message, is_chunked;
    uint64_t length;
    int method;
};

static int on_url(llhttp_t *parser, const char *bytes, size_t length)
{
    text_add(&((struct sight *)parser->data)->url, bytes, length);
    return 0;
}

static int on_name(llhttp_t *parser, const char *bytes, size_t length)
{
    text_add(&((struct sight *)parser->data)->names, bytes, length);
    return 0;
}

static int on_name_complete(llhttp_t *parser)
{
    text_add_char(&((struct sight *)parser->data)->names, '\n');
    return 0;
}

static int on_value(llhttp_t *parser, const char *bytes, size_t length)
{
    text_add(&((struct sight *)parser->data)->values, bytes, length);
    return 0;
}

static int on_value_complete(llhttp_t *parser)
{
    struct text *values = &((struct sight *)parser->data)->values;

    while (values->used > 0 &&
           (values->bytes[values->used - 1] == ' ' || values->bytes[values->used - 1] == '\t'))
        values->bytes[--values->used] = '\0'; /* llhttp leaves blanks at the end */
    text_add_char(values, '\n');
    return 0;
}

static int on_head(llhttp_t *parser)
{
    struct sight *sight = parser->data;

    sight->has_head = true;
    sight->is_chunked = parser->flags & F_CHUNKED;
    sight->length = parser->content_length;
    sight->method = parser->method;
    parser->upgrade = 0;
    return 0;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t length)
{
    text_add(&((struct sight *)parser->data)->body, bytes, length);
    return 0;
}

static int on_message(llhttp_t *parser)
{
    ((struct sight *)parser->data)->has_message = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_name,
    .on_header_field_complete = on_name_complete,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_message,
};

/* How many bytes are its first request; 0: it refuses them, or wants more. */
static size_t ask_llhttp(const char *bytes, size_t length, size_t head, struct sight *sight)
{
    llhttp_t parser;

    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = sight;
    for (size_t at = 0; at < length; at++) {
        llhttp_errno_t error = llhttp_execute(&parser, bytes + at, 1);

        if (sight->has_message)
            return at + 1;
        if (error != HPE_OK)
            return 0;
        if (at + 1 == head)
            demand(sight->has_head); /* not sooner, and now */
        else if (at + 1 < head)
            demand(!sight->has_head);
    }
    return 0;
}

static void check_fields(const struct http_request *request, const struct sight *sight)
{
    const char *name = text_string(&sight->names), *value = text_string(&sight->values);

    demand(strcmp(request->method, llhttp_method_name((llhttp_method_t)sight->method)) == 0);
    demand(sight->is_chunked == request->is_chunked);
    demand(request->length < 0 || (uint64_t)request->length == sight->length);
    for (int i = 0; i < request->field_count; i++) {
        size_t name_length = strcspn(name, "\n"), value_length = strcspn(value, "\n");
        bool is_joined = request->has_repeats; /* the value is a list then, or the name gone */

        demand(*name != '\0');
        demand(is_joined || (strlen(request->fields[i].name) == name_length &&
                             strncasecmp(request->fields[i].name, name, name_length) == 0));
        demand(is_joined || (strlen(request->fields[i].value) == value_length &&
                             memcmp(request->fields[i].value, value, value_length) == 0));
        name += name_length + 1;
        value += value_length + 1;
    }
    demand(*name == '\0' && *value == '\0');
}

/* A path has nothing in it that names another place. */
static void check_target(const struct http_request *request)
{
    demand(request->path[0] == '/' && !strstr(request->path, "//"));
    demand(!strstr(request->path, "/../") && !strstr(request->path, "/./"));
    demand(text_is_utf8(request->path, strlen(request->path)));
}

/* How many bytes the scan takes for the body; -1: refused, or not at its end. */
static long scan_body(const struct http_request *request, const char *bytes, size_t length,
                      size_t step)
{
    struct http_chunks chunks = { 0 };
    enum http_scanned scanned = HTTP_SCAN_MORE;
    struct http_fault fault;
    size_t at = 0;

    if (!request->is_chunked)
        return request->length <= (int64_t)length
                   ? (long)(request->length < 0 ? 0 : request->length)
                   : -1;
    while (at < length && scanned == HTTP_SCAN_MORE) {
        size_t used = 0;

        scanned = http_chunks_scan(&chunks, bytes + at, length - at < step ? length - at : step,
                                   &used, &fault);
        demand(used > 0);
        at += used;
    }
    return scanned == HTTP_SCAN_DONE ? (long)at : -1;
}

/* The length of the head; 0 with the fault's status: refused; 0 with 0: not at its end. */
static size_t scan_head(const char *bytes, size_t length, size_t step, struct http_fault *fault)
{
    struct http_scan scan = { 0 };
    enum http_scanned scanned = HTTP_SCAN_MORE;

    *fault = (struct http_fault){ 0 };
    for (size_t came = 0; came < length && scanned == HTTP_SCAN_MORE;) {
        came = length - came < step ? length : came + step;
        scanned = http_scan_head(&scan, bytes, came, fault);
    }
    demand((fault->status != 0) == (scanned == HTTP_SCAN_REFUSED));
    return scanned == HTTP_SCAN_DONE ? scan.at : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct http_fault fault, again;
    struct http_request request;
    struct sight sight = { 0 };
    size_t head = scan_head(bytes, size, size ? size : 1, &fault), whole;
    long body;

    demand(scan_head(bytes, size, 1, &again) == head && again.status == fault.status);
    demand(scan_head(bytes, size, 7, &again) == head && again.status == fault.status);
    if (head == 0 || !http_request_parse(&request, bytes, head, &fault))
        return 0;
    body = scan_body(&request, bytes + head, size - head, size);
    demand(scan_body(&request, bytes + head, size - head, 1) == body);
    whole = ask_llhttp(bytes, size, head, &sight);
    check_target(&request);
    if (body >= 0) {
        demand(whole == head + (size_t)body);
        check_fields(&request, &sight);
    }
    http_request_release(&request);
    text_release(&sight.names);
    text_release(&sight.values);
    text_release(&sight.url);
    text_release(&sight.body);
    return 0;
}
