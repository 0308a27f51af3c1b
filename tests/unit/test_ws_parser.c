/*
 * test_ws_parser.c - frames of a WebSocket to messages, and heads of frames that are sent.
 * Proves: P19
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/websocket_server.h"

#define BYTES(text) text, sizeof(text) - 1

struct parsed {
    struct text told; /* "opcode:bytes|" a piece */
    int code;         /* 0: it wants more */
};

static void parse(struct parsed *parsed, const char *bytes, size_t length, size_t step)
{
    struct ws_parser parser = { 0 };
    char *own = mem_text_n(bytes, length);

    *parsed = (struct parsed){ 0 };
    for (size_t at = 0; at < length && !parsed->code;) {
        struct ws_piece piece;
        size_t used, part = step < length - at ? step : length - at;
        enum ws_outcome outcome = ws_parse(&parser, own + at, part, &used, &piece);

        at += used;
        if (outcome == WS_FAILED)
            parsed->code = piece.code;
        if (outcome == WS_HAS_PIECE) {
            text_add_format(&parsed->told, "%d:", piece.opcode);
            text_add(&parsed->told, piece.bytes, piece.length);
            text_add_char(&parsed->told, '|');
        }
    }
    if (!parsed->code)
        assert_int_equal(ws_parser_is_idle(&parser),
                         length > 0 && !parser.is_open && parser.head_used == 0);
    ws_parser_release(&parser);
    assert_true(ws_parser_is_idle(&parser));
    free(own);
}

static const struct {
    const char *name, *bytes;
    size_t length;
    const char *told;
    int code;
} cases[] = {
    { "text", BYTES("\x81\x82\0\0\0\0hi"), "1:hi|", 0 },
    { "masked", BYTES("\x81\x82\x01\x02\x03\x04\x69\x6b"), "1:hi|", 0 },
    { "empty", BYTES("\x81\x80\0\0\0\0"), "1:|", 0 },
    { "two", BYTES("\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b"), "1:a|1:b|", 0 },
    { "fragments", BYTES("\x01\x81\0\0\0\0a\x00\x81\0\0\0\0b\x80\x81\0\0\0\0c"), "1:abc|", 0 },
    { "ping between", BYTES("\x01\x81\0\0\0\0a\x89\x81\0\0\0\0!\x80\x81\0\0\0\0c"), "9:!|1:ac|",
      0 },
    { "code point in two", BYTES("\x01\x81\0\0\0\0\xce\x80\x81\0\0\0\0\xba"), "1:\xce\xba|", 0 },
    { "close",
      BYTES("\x88\x85\0\0\0\0\x03\xe8"
            "bye"),
      "8:bye|", 0 },
    { "half", BYTES("\x81\x85\0\0\0\0he"), "", 0 },
    { "unmasked", BYTES("\x81\x02hi"), "", 1002 },
    { "reserved bit", BYTES("\xc1\x80\0\0\0\0"), "", 1002 },
    { "opcode", BYTES("\x83\x80\0\0\0\0"), "", 1002 },
    { "nothing to continue", BYTES("\x80\x80\0\0\0\0"), "", 1002 },
    { "within another", BYTES("\x01\x81\0\0\0\0a\x81\x81\0\0\0\0b"), "", 1002 },
    { "ping in parts", BYTES("\x09\x80\0\0\0\0"), "", 1002 },
    { "ping too long", BYTES("\x89\xfe\0\x7e\0\0\0\0"), "", 1002 },
    { "length not the shortest", BYTES("\x81\xfe\0\x05\0\0\0\0hello"), "", 1002 },
    { "binary", BYTES("\x82\x81\0\0\0\0a"), "", 1003 },
    { "not UTF-8", BYTES("\x81\x82\0\0\0\0\xc3("), "", 1007 },
    { "UTF-8 that ends early", BYTES("\x81\x81\0\0\0\0\xc3"), "", 1007 },
    { "one byte of a code", BYTES("\x88\x81\0\0\0\0\x03"), "", 1002 },
    { "code 1005", BYTES("\x88\x82\0\0\0\0\x03\xed"), "", 1002 },
    { "reason not UTF-8", BYTES("\x88\x83\0\0\0\0\x03\xe8\xff"), "", 1007 },
    { "256 MiB to come", BYTES("\x81\xff\0\0\0\0\x10\0\0\0\0\0\0\0"), "", 1009 },
};

static void test_parser(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step <= cases[i].length; step++) {
            struct parsed parsed;

            parse(&parsed, cases[i].bytes, cases[i].length, step);
            if (strcmp(text_string(&parsed.told), cases[i].told) != 0 ||
                parsed.code != cases[i].code)
                fail_msg("%s, %zu at a time: %d %s", cases[i].name, step, parsed.code,
                         text_string(&parsed.told));
            text_release(&parsed.told);
        }
    }
}

static void test_heads(void **state)
{
    static const struct {
        size_t length, head;
        const char *bytes;
    } rows[] = {
        { 0, 2, "\x81\x00" },
        { 125, 2, "\x81\x7d" },
        { 126, 4, "\x81\x7e\x00\x7e" },
        { 65535, 4, "\x81\x7e\xff\xff" },
        { 65536, 10, "\x81\x7f\0\0\0\0\0\x01\0\0" },
    };
    char accept[ACCEPT_KEY_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t head[10];

        assert_int_equal(ws_write_head(WS_TEXT, rows[i].length, head), rows[i].head);
        assert_memory_equal(head, rows[i].bytes, rows[i].head);
    }
    accept_key("dGhlIHNhbXBsZSBub25jZQ==", accept); /* RFC 6455 1.3 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parser),
        cmocka_unit_test(test_heads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
