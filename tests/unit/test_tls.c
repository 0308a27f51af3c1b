/*
 * test_tls.c - TLS without sockets: handshakes in pieces, records that are cut, changed or no
 * records at all, and who is believed to be whom.
 * Proves: R12.1, R13.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"
#include "net/tls.h"
#include "tls_fixture.h"

static struct tls_files files;

struct pair {
    struct tls_context *server_context, *client_context;
    struct tls *server, *client;
};

static void pair_open_as(struct pair *pair, const char *certificate, const char *ca,
                         const char *host)
{
    struct error err = { 0 };

    *pair = (struct pair){ 0 };
    if (!tls_context_new_server(certificate, files.key, &pair->server_context, &err) ||
        !tls_context_new_client(ca, &pair->client_context, &err))
        fail_msg("%s", err.message);
    pair->server = tls_new_server(pair->server_context);
    pair->client = tls_new_client(pair->client_context, host);
}

static void pair_open(struct pair *pair)
{
    pair_open_as(pair, files.certificate, files.ca, "localhost");
}

static void pair_close(struct pair *pair)
{
    tls_free(pair->server);
    tls_free(pair->client);
    tls_context_free(pair->server_context);
    tls_context_free(pair->client_context);
}

/* What one has for the other, in pieces of so many bytes; how many there were. */
static size_t carry(struct tls *from, struct tls *to, size_t piece)
{
    size_t carried = 0, length;

    while (tls_unsent(from) > 0) {
        const char *bytes = tls_out(from, &length);

        length = length < piece ? length : piece;
        tls_feed(to, bytes, length);
        tls_handshake(to);
        tls_sent(from, length);
        carried += length;
    }
    return carried;
}

static void shake_hands(struct pair *pair, size_t piece)
{
    tls_handshake(pair->client);
    while (carry(pair->client, pair->server, piece) + carry(pair->server, pair->client, piece) > 0)
        continue;
}

static void take_all(struct tls *tls, struct text *in, enum tls_outcome wanted)
{
    char bytes[3000];
    enum tls_outcome outcome;
    size_t got;

    while ((outcome = tls_read(tls, bytes, sizeof bytes, &got)) == TLS_DONE) {
        assert_true(got > 0);
        text_add(in, bytes, got);
    }
    assert_int_equal(got, 0);
    assert_int_equal(outcome, wanted);
}

static void handshakes_may_come_in_pieces(void **state)
{
    static const size_t pieces[] = { 1, 2, 5, 100, 1000000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct text in = { 0 };
        struct pair pair;

        pair_open(&pair);
        assert_false(tls_write(pair.server, "x", 1)); /* the handshake is not done yet */
        shake_hands(&pair, pieces[i]);
        assert_true(tls_is_ready(pair.server) && tls_is_ready(pair.client));
        assert_true(tls_write(pair.client, "question", 8));
        carry(pair.client, pair.server, pieces[i]);
        take_all(pair.server, &in, TLS_WANTS_MORE);
        assert_string_equal(text_string(&in), "question");
        text_clear(&in);
        assert_true(tls_write(pair.server, "answer", 6));
        carry(pair.server, pair.client, pieces[i]);
        take_all(pair.client, &in, TLS_WANTS_MORE);
        assert_string_equal(text_string(&in), "answer");
        text_release(&in);
        pair_close(&pair);
    }
}

static void an_end_is_said_and_heard(void **state)
{
    struct text in = { 0 };
    struct pair pair;

    (void)state;
    pair_open(&pair);
    shake_hands(&pair, 1000);
    assert_true(tls_write(pair.client, "last", 4));
    tls_end(pair.client);
    tls_end(pair.client);
    assert_false(tls_write(pair.client, "more", 4));
    carry(pair.client, pair.server, 1);
    take_all(pair.server, &in, TLS_ENDED);
    assert_string_equal(text_string(&in), "last");
    assert_true(tls_write(pair.server, "still", 5)); /* the other half is open */
    carry(pair.server, pair.client, 1000);
    text_clear(&in);
    take_all(pair.client, &in, TLS_WANTS_MORE);
    assert_string_equal(text_string(&in), "still");
    text_release(&in);
    pair_close(&pair);
}

static void much_comes_whole(void **state)
{
    enum { MUCH = 4194304 };
    char *sent = malloc(MUCH);
    struct text in = { 0 };
    struct pair pair;

    (void)state;
    random_bytes(sent, MUCH);
    pair_open(&pair);
    shake_hands(&pair, 1000);
    assert_true(tls_write(pair.server, sent, MUCH));
    while (tls_unsent(pair.server) > 0) {
        size_t length;
        const char *bytes = tls_out(pair.server, &length);

        length = length < 7777 ? length : 7777;
        tls_feed(pair.client, bytes, length);
        tls_sent(pair.server, length);
        take_all(pair.client, &in, TLS_WANTS_MORE);
    }
    assert_int_equal(in.used, MUCH);
    assert_memory_equal(in.bytes, sent, MUCH);
    text_release(&in);
    free(sent);
    pair_close(&pair);
}

static void a_record_that_is_cut_gives_nothing(void **state)
{
    struct text in = { 0 };
    struct pair pair;
    size_t length;

    (void)state;
    pair_open(&pair);
    shake_hands(&pair, 1000);
    assert_true(tls_write(pair.client, "all or nothing", 14));
    tls_out(pair.client, &length);
    tls_feed(pair.server, tls_out(pair.client, &length), length - 1);
    take_all(pair.server, &in, TLS_WANTS_MORE);
    assert_int_equal(in.used, 0);
    tls_feed(pair.server, tls_out(pair.client, &length) + length - 1, 1);
    take_all(pair.server, &in, TLS_WANTS_MORE);
    assert_string_equal(text_string(&in), "all or nothing");
    text_release(&in);
    pair_close(&pair);
}

static void a_record_that_was_changed_is_the_end(void **state)
{
    (void)state;
    for (size_t at = 0; at < 30; at += 3) {
        struct text in = { 0 };
        struct error err = { 0 };
        struct pair pair;
        char bytes[256];
        size_t length;

        pair_open(&pair);
        shake_hands(&pair, 1000);
        assert_true(tls_write(pair.client, "send 10 to alice", 16));
        memcpy(bytes, tls_out(pair.client, &length), 37);
        if (at == 3)
            at = 5; /* a longer length would only mean that more is to come */
        bytes[at] ^= 1;
        tls_feed(pair.server, bytes, length);
        take_all(pair.server, &in, TLS_FAILED);
        assert_int_equal(in.used, 0);
        assert_true(tls_has_failed(pair.server));
        assert_false(tls_write(pair.server, "x", 1));
        assert_false(tls_is_ready(pair.server));
        tls_explain(pair.server, &err);
        assert_true(strlen(err.message) > 5);
        pair_close(&pair);
    }
}

static void what_is_no_tls_is_refused_with_an_alert(void **state)
{
    static const char *const said[] = { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x80\x2e\x01\x03",
                                        "\x16\x03\x01\xff\xff\x01",
                                        "\x15\x03\x01\x00\x02\x02\x28" };
    char noise[512];

    (void)state;
    for (size_t i = 0; i <= ARRAY_LEN(said); i++) {
        struct pair pair;
        size_t got;

        pair_open(&pair);
        random_bytes(noise, sizeof noise);
        noise[0] = 'x';
        if (i < ARRAY_LEN(said)) /* the third has NULs */
            tls_feed(pair.server, said[i], i < 2 ? strlen(said[i]) : 6 + (i == 3));
        tls_feed(pair.server, noise, sizeof noise);
        assert_int_equal(tls_read(pair.server, noise, sizeof noise, &got), TLS_FAILED);
        assert_int_equal(tls_handshake(pair.server), TLS_FAILED);
        tls_feed(pair.server, noise, sizeof noise); /* is not kept */
        assert_int_equal(tls_read(pair.server, noise, sizeof noise, &got), TLS_FAILED);
        tls_end(pair.server);
        pair_close(&pair);
    }
}

/* Who a client takes for the server. */
static const struct {
    const char *certificate, *ca, *host;
    const char *why; /* NULL: it is believed */
} believed[] = {
    { files.certificate, files.ca, "localhost", NULL },
    { files.certificate, files.ca, "LOCALHOST", NULL },
    { files.certificate, files.ca, "127.0.0.1", NULL },
    { files.certificate, files.ca, "elsewhere.example", "hostname mismatch" },
    { files.certificate, files.ca, "localhost.evil.example", "hostname mismatch" },
    { files.certificate, files.ca, "127.0.0.2", "IP address mismatch" },
    { files.certificate, files.ca, "::1", "IP address mismatch" },
    { files.certificate, files.other_ca, "localhost", "unable to get local issuer certificate" },
    { files.expired, files.ca, "localhost", "certificate has expired" },
};

static void only_the_right_certificate_is_believed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(believed); i++) {
        struct error err = { 0 };
        struct pair pair;

        pair_open_as(&pair, believed[i].certificate, believed[i].ca, believed[i].host);
        shake_hands(&pair, 1000);
        assert_int_equal(tls_is_ready(pair.client), believed[i].why == NULL);
        assert_int_equal(tls_has_failed(pair.client), believed[i].why != NULL);
        if (believed[i].why) {
            tls_explain(pair.client, &err);
            if (!strstr(err.message, believed[i].why))
                fail_msg("%s for %s: %s", believed[i].why, believed[i].host, err.message);
            assert_false(tls_write(pair.client, "token", 5)); /* nothing is said to it */
        }
        pair_close(&pair);
    }
}

static void files_that_do_not_fit_are_named(void **state)
{
    const struct {
        const char *certificate, *key, *path, *says;
    } cases[] = {
        { "/nowhere", files.key, "/tls_cert", "/nowhere is not a PEM certificate" },
        { files.key, files.key, "/tls_cert", "is not a PEM certificate" },
        { files.certificate, files.certificate, "/tls_key", "is not an unencrypted PEM key" },
        { files.certificate, files.locked_key, "/tls_key", "is not an unencrypted PEM key" },
        { files.certificate, files.other_key, "/tls_key", "does not match the certificate in" },
    };
    struct tls_context *context = NULL;
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(tls_context_new_server(cases[i].certificate, cases[i].key, &context, &err));
        assert_string_equal(err.path, cases[i].path);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s: %s", cases[i].says, err.message);
        assert_null(strstr(err.message, "BEGIN")); /* never of what is in it */
    }
    assert_false(tls_context_new_client(files.key, &context, &err));
    assert_non_null(strstr(err.message, "contains no PEM certificates"));
    assert_false(tls_context_new_client("/nowhere", &context, &err));
    assert_null(context);
}

/* A context that is freed, as after a new certificate, ends no connection. */
static void connections_outlive_their_certificate(void **state)
{
    struct text in = { 0 };
    struct pair pair;

    (void)state;
    pair_open(&pair);
    shake_hands(&pair, 1000);
    tls_context_free(pair.server_context);
    pair.server_context = NULL;
    assert_true(tls_write(pair.server, "here", 4));
    carry(pair.server, pair.client, 1000);
    take_all(pair.client, &in, TLS_WANTS_MORE);
    assert_string_equal(text_string(&in), "here");
    text_release(&in);
    pair_close(&pair);
}

static int make_files(void **state)
{
    (void)state;
    tls_files_make(&files);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    tls_files_remove(&files);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_may_come_in_pieces),
        cmocka_unit_test(an_end_is_said_and_heard),
        cmocka_unit_test(much_comes_whole),
        cmocka_unit_test(a_record_that_is_cut_gives_nothing),
        cmocka_unit_test(a_record_that_was_changed_is_the_end),
        cmocka_unit_test(what_is_no_tls_is_refused_with_an_alert),
        cmocka_unit_test(only_the_right_certificate_is_believed),
        cmocka_unit_test(files_that_do_not_fit_are_named),
        cmocka_unit_test(connections_outlive_their_certificate),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
