/*
 * test_tunnel.c - frames of a WebSocket client and server, as the way to a hub of another machine
 * has them, and the addresses and files it takes.
 * Proves: R12.1, R13.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/frames.h"
#include "net/remote.h"

/* What a server's parser makes of it. */
static void our_frames_are_what_a_server_takes(void **state)
{
    static const size_t lengths[] = { 0, 1, 125, 126, 127, 65535, 65536, 1000000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        char *payload = malloc(lengths[i] + 1);
        struct ws_parser parser = { 0 };
        struct text frame = { 0 };
        struct ws_piece piece;
        size_t used;

        memset(payload, 'p', lengths[i] + 1);
        remote_add_frame(&frame, WS_TEXT, payload, lengths[i]);
        assert_int_equal(ws_parse(&parser, frame.bytes, frame.used, &used, &piece), WS_HAS_PIECE);
        assert_int_equal(used, frame.used);
        assert_int_equal(piece.length, lengths[i]);
        assert_memory_equal(piece.bytes, payload, lengths[i]);
        ws_parser_release(&parser);
        text_release(&frame);
        free(payload);
    }
}

static const struct {
    const char *name, *bytes;
    size_t length;
    const char *lines;
    bool ok, is_closed;
} cases[] = {
    { "a message is a line", "\x81\x02{}", 4, "{}\n", true, false },
    { "two of them", "\x81\x02{}\x81\x01x", 7, "{}\nx\n", true, false },
    { "an empty one", "\x81\x00", 2, "\n", true, false },
    { "fragments are one line", "\x01\x01{\x80\x01}", 6, "{}\n", true, false },
    { "a ping between them", "\x01\x01{\x89\x01p\x80\x01}", 9, "{}\n", true, false },
    { "126 and two bytes", "\x81\x7e\x00\x02{}", 6, "{}\n", true, false },
    { "127 and eight", "\x81\x7f\0\0\0\0\0\0\0\x02{}", 12, "{}\n", true, false },
    { "a line end within is a blank", "\x81\x03{\n}", 5, "{ }\n", true, false },
    { "the end", "\x81\x02{}\x88\x02\x03\xe9\x81\x01x", 11, "{}\n", true, true },
    { "masked", "\x81\x82zzzz{}", 8, "", false, false },
    { "reserved bits", "\xc1\x02{}", 4, "", false, false },
    { "binary", "\x82\x02{}", 4, "", false, false },
    { "a control frame in parts", "\x09\x01p", 3, "", false, false },
    { "a control frame too long", "\x89\x7e\x00\x7e", 4, "", false, false },
    { "no such opcode", "\x83\x00", 2, "", false, false },
    { "no such control frame", "\x8b\x00", 2, "", false, false },
};

static void frames_become_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece <= cases[i].length; piece++) {
            struct remote_reader reader = { 0 };
            struct text lines = { 0 }, out = { 0 };
            bool ok = true;

            for (size_t at = 0; ok && at < cases[i].length; at += piece)
                ok = remote_read_frames(&reader, cases[i].bytes + at,
                                        cases[i].length - at < piece ? cases[i].length - at : piece,
                                        &lines, &out);
            if (ok != cases[i].ok || reader.is_closed != cases[i].is_closed ||
                strcmp(text_string(&lines), cases[i].lines) != 0)
                fail_msg("%s, %zu at a time: '%s'", cases[i].name, piece, text_string(&lines));
            ws_parser_release(&reader.parser);
            text_release(&lines);
            text_release(&out);
        }
    }
}

static void a_ping_is_answered_with_its_own_words(void **state)
{
    struct remote_reader reader = { 0 };
    struct text lines = { 0 }, out = { 0 };
    struct ws_parser parser = { 0 };
    struct ws_piece piece;
    size_t used;

    (void)state;
    assert_true(remote_read_frames(&reader, "\x89\x04there", 7, &lines, &out));
    assert_int_equal(ws_parse(&parser, out.bytes, out.used, &used, &piece), WS_HAS_PIECE);
    assert_int_equal(piece.opcode, WS_PONG);
    assert_int_equal(piece.length, 4);
    assert_memory_equal(piece.bytes, "ther", 4);
    ws_parser_release(&reader.parser);
    ws_parser_release(&parser);
    text_release(&lines);
    text_release(&out);
}

static const struct {
    const char *url;
    bool ok;
} addresses[] = {
    { "http://127.0.0.1:7297", true },
    { "http://localhost:7297/", true },
    { "http://[::1]:7297", true },
    { "https://sayso.example.org", true },
    { "https://sayso.example.org:7443/", true },
    { "HTTPS://sayso.example.org", true },
    { "https://[2001:db8::1]:7443", true },
    { "http://sayso.example.org", false },
    { "http://127.0.0.1.evil.example", false },
    { "http://127.0.0.2", false },
    { "http://localhost.evil.example", false },
    { "http://10.0.0.5:7297", false },
    { "https://", false },
    { "https:///", false },
    { "https://a:0", false },
    { "https://a:65536", false },
    { "https://a:443x", false },
    { "https://a/wire", false },
    { "https://a?x", false },
    { "https://user@a", false },
    { "https://a\r\nX: y", false },
    { "https://a b", false },
    { "wss://a", false },
    { "sayso.example.org", false },
    { "", false },
};

static void write_token(const char *path, const char *text, unsigned mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void tokens_go_nowhere_in_the_clear(void **state)
{
    char path[] = "/tmp/sytokenXXXXXX";
    struct error err;

    (void)state;
    close(mkstemp(path));
    write_token(path, "sayso_a_abc\n", 0600);
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        const struct remote_target target = { addresses[i].url, path, NULL };

        if (remote_check(&target, &err) != addresses[i].ok)
            fail_msg("%s: %s", addresses[i].url, addresses[i].ok ? err.message : "is taken");
    }
    unlink(path);
}

static void a_token_file_is_private_and_holds_one(void **state)
{
    static const struct {
        const char *text;
        unsigned mode;
        const char *says; /* NULL: it is taken */
    } rows[] = {
        { "sayso_a_abc\n", 0600, NULL },
        { "sayso_a_abc \r\n\n", 0400, NULL },
        { "sayso_a_abc", 0644, "chmod 600" },
        { "sayso_a_abc", 0640, "chmod 600" },
        { "sayso_a_abc", 0606, "chmod 600" },
        { "", 0600, "does not contain a token" },
        { "\n", 0600, "does not contain a token" },
        { "two words", 0600, "does not contain a token" },
        { "a\r\nX-Evil: yes", 0600, "does not contain a token" },
    };
    char path[] = "/tmp/sytokenXXXXXX";
    struct remote_target target = { "http://127.0.0.1:1", path, NULL };
    struct error err;

    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_token(path, rows[i].text, rows[i].mode);
        assert_int_equal(remote_check(&target, &err), rows[i].says == NULL);
        if (rows[i].says && !strstr(err.message, rows[i].says))
            fail_msg("%s: %s", rows[i].says, err.message);
        unlink(path);
    }
    assert_false(remote_check(&target, &err)); /* there is none any more */
    assert_int_equal(err.code, ERROR_not_found);
    target.token_file = "/tmp";
    assert_false(remote_check(&target, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_frames_are_what_a_server_takes),
        cmocka_unit_test(frames_become_lines),
        cmocka_unit_test(a_ping_is_answered_with_its_own_words),
        cmocka_unit_test(tokens_go_nowhere_in_the_clear),
        cmocka_unit_test(a_token_file_is_private_and_holds_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
