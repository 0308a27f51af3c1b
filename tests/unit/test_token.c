/*
 * test_token.c - secrets of tokens, and base64url that has one text for each bytes.
 * Proves: R12.1, D5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"

static void test_vectors(void **state)
{
    static const struct {
        const char *bytes, *text;
    } vectors[] = {
        /* RFC 4648, 10, without padding */
        { "", "" },
        { "f", "Zg" },
        { "fo", "Zm8" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg" },
        { "fooba", "Zm9vYmE" },
        { "foobar", "Zm9vYmFy" },
        { "\xfb\xff", "-_8" },
    };
    struct text out = { 0 };
    uint8_t back[16];
    size_t length;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        text_clear(&out);
        base64_encode((const uint8_t *)vectors[i].bytes, strlen(vectors[i].bytes), &out);
        assert_string_equal(text_string(&out), vectors[i].text);
        assert_true(
            base64_decode(vectors[i].text, strlen(vectors[i].text), back, sizeof back, &length));
        assert_int_equal(length, strlen(vectors[i].bytes));
        assert_memory_equal(back, vectors[i].bytes, length);
    }
    text_release(&out);
}

static void test_one_text_each(void **state)
{
    static const char *const bad[] = {
        "Zg==", "Zm8=", "Zh", "Zm9", "Z", "Zm9vY", " Zg", "Z g", "Zg\n", "+/8", "Zm9v.", "Zm9\x80",
    };
    uint8_t back[16];
    size_t length;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (base64_decode(bad[i], strlen(bad[i]), back, sizeof back, &length))
            fail_msg("read: '%s'", bad[i]);
    }
    assert_false(base64_decode("Zg\0Z", 4, back, sizeof back, &length));
    assert_false(base64_decode("Zm9v", 4, back, 2, &length)); /* more than there is room for */
}

static void test_lengths(void **state)
{
    uint8_t bytes[64], back[64];
    struct text out = { 0 };
    size_t length;

    (void)state;
    for (size_t n = 0; n <= sizeof bytes; n++) {
        random_bytes(bytes, n);
        text_clear(&out);
        base64_encode(bytes, n, &out);
        assert_true(base64_decode(text_string(&out), out.used, back, sizeof back, &length));
        assert_int_equal(length, n);
        assert_memory_equal(back, bytes, n);
    }
    text_release(&out);
}

static void test_tokens(void **state)
{
    char one[TOKEN_BYTES], other[TOKEN_BYTES], id[TOKEN_ID_BYTES];
    uint8_t hash[HASH_BYTES], again[HASH_BYTES];

    (void)state;
    token_make('a', one);
    token_make('p', other);
    assert_int_equal(strlen(one), TOKEN_BYTES - 1); /* 256 bits whole */
    assert_memory_equal(one, "sayso_a_", 8);
    assert_memory_equal(other, "sayso_p_", 8);
    assert_string_not_equal(one + 8, other + 8);
    token_hash(one, hash);
    token_hash(one, again);
    assert_memory_equal(hash, again, HASH_BYTES);
    token_hash(other, again);
    assert_memory_not_equal(hash, again, HASH_BYTES);
    token_id(hash, id);
    assert_int_equal(strlen(id), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_one_text_each),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
