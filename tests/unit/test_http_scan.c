/*
 * test_http_scan.c - what the strict scan lets through and what it refuses, wherever the bytes are
 * cut; paths, queries, chunks, and the lines of an event.
 * Proves: R12.2 P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http.h"
#include "net/http_request.h"

#define GET  "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST

/* Status of the refusal; 0: taken; -1: not at its end. `step` bytes come at a time. */
static int judge(const char *head, size_t length, size_t step, struct http_request *request)
{
    struct http_scan scan = { 0 };
    struct http_fault fault = { 0 };
    enum http_scanned scanned = HTTP_SCAN_MORE;

    for (size_t came = 0; came < length && scanned == HTTP_SCAN_MORE;) {
        came = came + step < length ? came + step : length;
        scanned = http_scan_head(&scan, head, came, &fault);
    }
    if (scanned == HTTP_SCAN_MORE)
        return -1;
    if (scanned == HTTP_SCAN_DONE && http_request_parse(request, head, scan.at, &fault))
        return 0;
    assert_true(fault.status >= 400);
    assert_non_null(fault.why);
    return fault.status;
}

#define CASE(status, head)                                                                         \
    {                                                                                              \
        status, head, sizeof head - 1                                                              \
    }
static const struct {
    int status;
    const char *head;
    size_t length;
} heads[] = {
    CASE(0, GET HOST "\r\n"),
    CASE(0, "GET / HTTP/1.0\r\n\r\n"),
    CASE(0, GET HOST "X-A:\r\nX-B: \t b\tc  \r\nX-C: \xe4\xbd\xa0\r\n\r\n"),
    CASE(0, POST "Content-Length: 5\r\n\r\n"),
    CASE(0, POST "Transfer-Encoding: Chunked\r\n\r\n"),
    CASE(-1, GET HOST "\r"),
    CASE(-1, GET HOST),
    /* the matrix */
    CASE(400, POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
    CASE(400, POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
    CASE(400, POST "Content-Length: 4\r\nContent-Length: 5\r\n\r\n"),
    CASE(400, POST "Content-Length: 4\r\nContent-Length: 4\r\n\r\n"),
    CASE(400, POST "Content-Length: 4, 4\r\n\r\n"),
    CASE(400, POST "Content-Length: +5\r\n\r\n"),
    CASE(400, POST "Content-Length: -1\r\n\r\n"),
    CASE(400, POST "Content-Length: 0x5\r\n\r\n"),
    CASE(400, POST "Content-Length: 5 5\r\n\r\n"),
    CASE(400, POST "Content-Length:\r\n\r\n"),
    CASE(400, POST "Content-Length: 5\t\r\n\r\n"),
    CASE(413, POST "Content-Length: 9999999999999999999999\r\n\r\n"),
    CASE(400, POST "Content-Length : 5\r\n\r\n"),
    CASE(400, POST " Content-Length: 5\r\n\r\n"),
    CASE(400, POST "\tContent-Length: 5\r\n\r\n"),
    CASE(400, POST "X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n"),
    CASE(400, POST "X-A: b\rTransfer-Encoding: chunked\r\n\r\n"),
    CASE(400, POST "X-A: b\r\rTransfer-Encoding: chunked\r\n\r\n"),
    CASE(400, "GET / HTTP/1.1\nHost: a\n\n"),
    CASE(400, GET "Host: a\n\r\n"),
    CASE(400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    CASE(501, POST "Transfer-Encoding: xchunked\r\n\r\n"),
    CASE(501, POST "Transfer-Encoding: gzip, chunked\r\n\r\n"),
    CASE(501, POST "Transfer-Encoding: chunked, chunked\r\n\r\n"),
    CASE(501, POST "Transfer-Encoding: \"chunked\"\r\n\r\n"),
    CASE(501, POST "Transfer-Encoding:\r\n\r\n"),
    CASE(400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
    CASE(400, POST "Transfer-Encoding: \x0b"
                   "chunked\r\n\r\n"),
    CASE(400, "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"),
    CASE(400, GET HOST "X-A: a\0b\r\n\r\n"),
    CASE(400, GET HOST "X-\0: a\r\n\r\n"),
    CASE(400, GET HOST "X-A: a\x7f\r\n\r\n"),
    CASE(400, GET "\r\n"),
    CASE(400, GET HOST HOST "\r\n"),
    CASE(400, GET HOST "HOST: b\r\n\r\n"),
    CASE(400, "GET / HTTP/1.0\r\n" HOST HOST "\r\n"),
    /* lines and names */
    CASE(400, "\r\n" GET HOST "\r\n"),
    CASE(400, "\r\n\r\n"),
    CASE(400, " " GET HOST "\r\n"),
    CASE(400, "GET  / HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET /  HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET / HTTP/1.1 \r\n" HOST "\r\n"),
    CASE(400, "GET /\tHTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET /\r\n" HOST "\r\n"),
    CASE(400, "GET\r\n" HOST "\r\n"),
    CASE(400, "GET / http/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET / ICE/1.0\r\n" HOST "\r\n"),
    CASE(505, "GET / HTTP/2.0\r\n" HOST "\r\n"),
    CASE(505, "GET / HTTP/1.10\r\n" HOST "\r\n"),
    CASE(505, "GET / HTTP/0.9\r\n" HOST "\r\n"),
    CASE(505, "PRI * HTTP/2.0\r\n\r\n"),
    CASE(501, "get / HTTP/1.1\r\n" HOST "\r\n"),
    CASE(501, "BREW / HTTP/1.1\r\n" HOST "\r\n"),
    CASE(501, "CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n"),
    CASE(501, "TRACE / HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, GET HOST ": a\r\n\r\n"),
    CASE(400, GET HOST "a\r\n\r\n"),
    CASE(400, GET HOST "a b: c\r\n\r\n"),
    CASE(400, GET HOST "a(: c\r\n\r\n"),
    CASE(400, GET HOST "\xc3\xa9: c\r\n\r\n"),
    CASE(400, GET HOST "Origin: http://a\r\nOrigin: http://b\r\n\r\n"),
    CASE(400, GET HOST "Authorization: a\r\nauthorization: b\r\n\r\n"),
    CASE(417, POST "Expect: 200-ok\r\n\r\n"),
    CASE(417, POST "Expect:\r\n\r\n"),
    CASE(400, POST "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n"),
    CASE(0, "POST / HTTP/1.0\r\nExpect: 200-ok\r\n\r\n"),
    /* targets */
    CASE(400, "GET http://a/ HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET a HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET //a HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "GET /\0 HTTP/1.1\r\n" HOST "\r\n"),
    CASE(400, "\x16\x03\x01\x02\x00\x01\x00"),
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        for (size_t step = 1; step <= heads[i].length; step++) {
            struct http_request request = { 0 };
            int status = judge(heads[i].head, heads[i].length, step, &request);

            if (status != heads[i].status)
                fail_msg("%d instead of %d, %zu at once:\n%s", status, heads[i].status, step,
                         heads[i].head);
            if (status == 0)
                http_request_release(&request);
        }
    }
}

static int judge_repeated(const char *before, const char *repeated, size_t times, const char *after)
{
    struct text head = { 0 };
    struct http_request request;
    int status;

    text_add_text(&head, before);
    for (size_t i = 0; i < times; i++)
        text_add_text(&head, repeated);
    text_add_text(&head, after);
    status = judge(head.bytes, head.used, head.used, &request);
    assert_int_equal(judge(head.bytes, head.used, 997, &request), status);
    text_release(&head);
    return status;
}

/* The last that fits, and the first that does not. */
static void test_limits(void **state)
{
    static const size_t line = sizeof "GET / HTTP/1.1" - 1,
                        rest = sizeof GET HOST "X: \r\n\r\n" - 1;

    (void)state;
    assert_int_equal(judge_repeated("GET /", "a", HTTP_LINE_BYTES - line + 1, " HTTP/1.1"), 414);
    assert_int_equal(judge_repeated("GET /", "a", HTTP_LINE_BYTES - line, " HTTP/1.1"), -1);
    assert_int_equal(judge_repeated("GET /", "a", 9000, ""), 414);
    assert_int_equal(judge_repeated(GET HOST "X: ", "a", HTTP_HEAD_BYTES - rest, "\r\n\r"), -1);
    assert_int_equal(judge_repeated(GET HOST "X: ", "a", HTTP_HEAD_BYTES - rest + 1, "\r\n\r\n"),
                     431);
    assert_int_equal(judge_repeated(GET HOST "X: ", "a", 40000, ""), 431);
    assert_int_equal(judge_repeated(GET HOST, "A: b\r\n", HTTP_FIELDS - 1, "\r"), -1);
    assert_int_equal(judge_repeated(GET HOST, "A: b\r\n", HTTP_FIELDS, "\r"), 431);
    assert_int_equal(judge_repeated(GET HOST, "A: b\r\n", 1000, "\r\n"), 431);
}

static void test_request(void **state)
{
    static const char head[] =
        "DELETE /a%2Bb/%E4%BD%A0?q=%41&x HTTP/1.1\r\nHost:  a:1 \r\n"
        "ACCEPT: a\r\nConnection: x, Close\r\nAccept: b\r\naccept: c\r\n"
        "Content-Length: 0017\r\nExpect: 100-Continue\r\nX: 1\r\nX: 2\r\n\r\n";
    struct http_request request;

    (void)state;
    assert_int_equal(judge(head, sizeof head - 1, 1000, &request), 0);
    assert_string_equal(request.method, "DELETE");
    assert_string_equal(request.path, "/a+b/\xe4\xbd\xa0");
    assert_string_equal(request.query, "q=%41&x");
    assert_int_equal(request.length, 17);
    assert_int_equal(request.minor, 1);
    assert_true(request.closes && request.expects_continue && !request.is_chunked);
    assert_string_equal(request.fields[http_request_find(&request, "host", 0)].value, "a:1");
    assert_string_equal(request.fields[http_request_find(&request, "accept", 0)].value, "a, b, c");
    assert_int_equal(http_request_find(&request, "accept", 2), -1);
    assert_string_equal(request.fields[http_request_find(&request, "x", 0)].value, "1, 2");
    assert_int_equal(http_request_find(&request, "y", 0), -1);
    http_request_release(&request);
}

static const struct {
    const char *target, *path, *query; /* path NULL: refused */
} targets[] = {
    { "/", "/", "" },
    { "/a/b/", "/a/b/", "" },
    { "/a?b?c=/../", "/a", "b?c=/../" },
    { "/a%20b%7E~", "/a b~~", "" },
    { "/%e4%bd%a0?%e4%bd%a0", "/\xe4\xbd\xa0", "%e4%bd%a0" },
    { "/...", "/...", "" },
    { "/.a/b.", "/.a/b.", "" },
    { "/?", "/", "" },
    { "", NULL, NULL },
    { "a", NULL, NULL },
    { "*", NULL, NULL },
    { "?a", NULL, NULL },
    { "//", NULL, NULL },
    { "/a//b", NULL, NULL },
    { "/.", NULL, NULL },
    { "/..", NULL, NULL },
    { "/../a", NULL, NULL },
    { "/a/../b", NULL, NULL },
    { "/a/./b", NULL, NULL },
    { "/%2e%2e/a", NULL, NULL },
    { "/.%2E/a", NULL, NULL },
    { "/static/..%2f..%2fetc/passwd", NULL, NULL },
    { "/a%2fb", NULL, NULL },
    { "/a%2Fb", NULL, NULL },
    { "/a%5cb", NULL, NULL },
    { "/a\\b", NULL, NULL },
    { "/a%00", NULL, NULL },
    { "/a%0d%0ab", NULL, NULL },
    { "/a%7f", NULL, NULL },
    { "/a%", NULL, NULL },
    { "/a%4", NULL, NULL },
    { "/a%4g", NULL, NULL },
    { "/a%ff", NULL, NULL },
    { "/a%c0%af", NULL, NULL },
    { "/a%ed%a0%80", NULL, NULL },
    { "/a#b", NULL, NULL },
    { "/a b", NULL, NULL },
    { "/\xe4\xbd\xa0", NULL, NULL },
    { "/a?b%", NULL, NULL },
    { "/a?b%zz", NULL, NULL },
    { "/a?b%00", NULL, NULL },
    { "/a?b%ff", NULL, NULL },
    { "/a?b=%c3&%a9", NULL, NULL },
};

static void test_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        char *target = mem_text(targets[i].target);
        const char *query = NULL;
        struct http_fault fault = { 0 };

        if (http_target_parse(target, &query, &fault)) {
            if (!targets[i].path)
                fail_msg("taken: %s", targets[i].target);
            assert_string_equal(target, targets[i].path);
            assert_string_equal(query, targets[i].query);
        } else if (targets[i].path || fault.status != 400) {
            fail_msg("refused (%d, %s): %s", fault.status, fault.why, targets[i].target);
        }
        free(target);
    }
}

static void test_query(void **state)
{
    static const char query[] = "a=1&b=x%20y+z&c&=d&a=2&%61b=%3d=&e==";
    static const char *const found[][2] = {
        { "a", "1" },   { "b", "x y z" }, { "c", "" },   { "", "d" },
        { "ab", "==" }, { "e", "=" },     { "d", NULL }, { "A", NULL },
    };
    struct text out = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        bool is_there = http_query_find(query, found[i][0], &out);

        assert_int_equal(is_there, found[i][1] != NULL);
        if (is_there)
            assert_string_equal(text_string(&out), found[i][1]);
    }
    assert_false(http_query_find("", "a", &out));
    text_release(&out);
}

static const struct {
    const char *body;
    int outcome;   /* 0: whole; -1: not at its end; else the status */
    int left_over; /* bytes behind its end */
} chunked[] = {
    { "0\r\n\r\n", 0, 0 },
    { "5\r\nhello\r\n0\r\n\r\nGET", 0, 3 },
    { "a\r\n0123456789\r\n00A\r\n0123456789\r\n0000000\r\n\r\n", 0, 0 },
    { "5\r\nhello\r\n", -1, 0 },
    { "5\r\nhello\r\n0\r\n\r", -1, 0 },
    { "5\r\nhello!\r\n", 400, 0 },
    { "5\r\nhell\r\n0\r\n\r\n", 400, 0 },
    { "5\nhello\r\n", 400, 0 },
    { "5\r\nhello\n0\r\n\r\n", 400, 0 },
    { "5\r\rhello", 400, 0 },
    { "0\r\n\n", 400, 0 },
    { "\r\n", 400, 0 },
    { " 5\r\nhello", 400, 0 },
    { "5 \r\nhello", 400, 0 },
    { "5;a=b\r\nhello", 400, 0 },
    { "0x5\r\nhello", 400, 0 },
    { "-5\r\nhello", 400, 0 },
    { "+5\r\nhello", 400, 0 },
    { "5_0\r\n", 400, 0 },
    { "g\r\n", 400, 0 },
    { "0\r\nX-Trailer: a\r\n\r\n", 400, 0 },
    { "FFFFFFFFFFFFFFFF\r\n", 413, 0 },
    { "10000000\r\n", 413, 0 },
    { "000000005\r\nhello", 413, 0 },
};

static void test_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunked); i++) {
        size_t length = strlen(chunked[i].body);

        for (size_t step = 1; step <= length; step++) {
            struct http_chunks chunks = { 0 };
            struct http_fault fault = { 0 };
            enum http_scanned scanned = HTTP_SCAN_MORE;
            size_t at = 0;
            int outcome;

            while (at < length && scanned == HTTP_SCAN_MORE) {
                size_t used, part = at + step < length ? step : length - at;

                scanned = http_chunks_scan(&chunks, chunked[i].body + at, part, &used, &fault);
                at += used;
            }
            outcome = scanned == HTTP_SCAN_MORE ? -1 : fault.status;
            if (outcome != chunked[i].outcome ||
                (outcome == 0 && length - at != (size_t)chunked[i].left_over))
                fail_msg("%d, %zu left, %zu at once: %s", outcome, length - at, step,
                         chunked[i].body);
        }
    }
}

static const struct {
    const char *id, *event, *data, *frame;
} events[] = {
    { NULL, NULL, "a", "data: a\n\n" },
    { NULL, "message", "{}", "event: message\ndata: {}\n\n" },
    { "1", "m", "", "id: 1\nevent: m\ndata: \n\n" },
    { NULL, NULL, "a\nb\r\nc\rd\n", "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n" },
    { NULL, NULL, "\r\r\n", "data: \ndata: \ndata: \n\n" },
    { "1\ndata: x", "m\r\rn", "a", "id: 1data: x\nevent: mn\ndata: a\n\n" },
};

static void test_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        struct text out = { 0 };

        sse_add_event(&out, events[i].id, events[i].event, events[i].data, strlen(events[i].data));
        assert_string_equal(out.bytes, events[i].frame);
        text_release(&out);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_request), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_query),   cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_events),
    };

    return cmocka_run_group_tests_name("http_scan", tests, NULL, NULL);
}
