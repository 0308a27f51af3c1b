/*
 * http_request.h - the strict look at a request before llhttp parses it (RFC 9112; docs/http.md).
 * Pure. What it lets through has one reading only: line ends are CR LF, a header begins its line,
 * lengths are said once. Everything it refuses ends the connection.
 */
#ifndef NET_HTTP_REQUEST_H
#define NET_HTTP_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

enum { HTTP_LINE_BYTES = 8192, HTTP_HEAD_BYTES = 32768, HTTP_FIELDS = 100 };

/* Why a request is refused; the text is for the client's author. */
struct http_fault {
    int status;
    const char *why;
};
enum http_scanned { HTTP_SCAN_MORE, HTTP_SCAN_DONE, HTTP_SCAN_REFUSED };

/* Where the look at an unfinished head stands; zeroed at its beginning. */
struct http_scan {
    uint32_t at, line_at; /* afterwards `at` is the head's length */
    uint16_t line_count;
    bool has_cr;
};
/* `bytes` is the head from its first byte, each time with more of it. */
enum http_scanned http_scan_head(struct http_scan *scan, const char *bytes, size_t length,
                                 struct http_fault *ret_fault);

/* A head, understood. */
struct http_field {
    const char *name, *value; /* in bytes; names in lower case */
};
struct http_request {
    char *bytes;  /* owned; strings, cut out of the head */
    char *joined; /* owned; values of headers that may repeat and did */
    struct http_field *fields;
    const char *method, *path, *query;
    int64_t length; /* of the body; -1: not said */
    int field_count;
    uint8_t minor; /* of HTTP/1 */
    bool is_chunked, expects_continue, closes, has_repeats;
};
/* A head that was scanned to its end. On false nothing is to be released. */
bool http_request_parse(struct http_request *request, const char *head, size_t length,
                        struct http_fault *ret_fault);
void http_request_release(struct http_request *request);
/* From the `first`th field on; the index, or -1. */
int http_request_find(const struct http_request *request, const char *name, int first);
/* One of the words of a header that is a list; NULL: it has none. */
bool http_list_has(const char *list, const char *word);

/* The frame of a chunked body; llhttp takes it apart. No extensions, no trailers. */
struct http_chunks {
    uint32_t left; /* of the chunk */
    uint8_t step, digits;
};
/* Looks at more bytes; when DONE, `*ret_used` of them belong to the body. */
enum http_scanned http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t length,
                                   size_t *ret_used, struct http_fault *ret_fault);

/* "/a%20b?c" in place: `target` becomes the path, decoded; the query stays as sent, "" without. */
bool http_target_parse(char *target, const char **ret_query, struct http_fault *ret_fault);
/* One parameter of a checked query, decoded, first of its name. False: absent. */
bool http_query_find(const char *query, const char *name, struct text *out);

#endif
