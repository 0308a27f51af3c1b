/*
 * test_hash.c - SHA-256 of parts, by published vectors through the length in front of each part.
 * Proves: R5.5 (what makes a call the same), D5 (comparing)
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

static void hash_texts(const char *const *texts, size_t count, char out[HASH_HEX_BYTES])
{
    struct hash_part parts[8];
    uint8_t hash[HASH_BYTES];

    for (size_t i = 0; i < count; i++)
        parts[i] = (struct hash_part){ texts[i], strlen(texts[i]) };
    hash_parts(parts, count, hash);
    hash_hex(hash, HASH_BYTES, out);
}

/* Computed by another implementation over the bytes: 64-bit little-endian length, then the text. */
static const struct {
    size_t count;
    const char *texts[3];
    const char *hash;
} vectors[] = {
    /* FIPS 180-4: nothing at all */
    { 0, { NULL }, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { 1, { "" }, "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc" },
    { 1, { "abc" }, "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391" },
    { 2, { "abc", "" }, "3e2f8940c3a0e0fd6f6e07bbf07f015dd7c147431e5fa14bf3f225d782641540" },
    { 2, { "a", "bc" }, "9a8acca1b6c6c0befd3fbc756aed625da998c998f7252e738c4ef061906b9b21" },
    { 2,
      { "provide_choice", "{}" },
      "d85ee4d4c1d33a22a1982853f109412808727ae5d02fe863a111a4ea36f7edad" },
    { 1,
      { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" },
      "f0d126df0d1e1fd6c9c19ae3b282dcc7dce52b72d1372e4292f5da9d1479073b" },
    { 3,
      { "\xe4\xbd\xa0\xe5\xa5\xbd", "x", "yz" },
      "fb34c332dc0b38f9b8be179b73bb97a4cf3fc770f434680c365b266a2c5ba0f8" },
};

/* Computed by another implementation. */
static void test_keyed(void **state)
{
    static const char text[] = "sayso hub 7297 0123456789abcdef";
    uint8_t key[HASH_BYTES], out[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    hash_keyed(key, text, strlen(text), out);
    hash_hex(out, sizeof out, hex);
    assert_string_equal(hex, "d0bd2f82ff8101150b5644518fbcd0deb9d55613931b56a916d2303637f68db4");
    key[31] ^= 1;
    hash_keyed(key, text, strlen(text), out);
    hash_hex(out, sizeof out, hex);
    assert_string_not_equal(hex,
                            "d0bd2f82ff8101150b5644518fbcd0deb9d55613931b56a916d2303637f68db4");
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        char hex[HASH_HEX_BYTES];

        hash_texts(vectors[i].texts, vectors[i].count, hex);
        assert_string_equal(hex, vectors[i].hash);
    }
}

static void test_no_two_lists_run_together(void **state)
{
    static const struct {
        size_t count;
        const char *texts[3];
    } lists[] = {
        { 1, { "ab" } },         { 2, { "a", "b" } },     { 2, { "", "ab" } },
        { 2, { "ab", "" } },     { 3, { "a", "b", "" } }, { 3, { "", "a", "b" } },
        { 3, { "a", "", "b" } }, { 1, { "" } },           { 2, { "", "" } },
    };
    char hashes[ARRAY_LEN(lists)][HASH_HEX_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        hash_texts(lists[i].texts, lists[i].count, hashes[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(hashes[i], hashes[k]);
    }
}

static void test_a_part_may_be_anything(void **state)
{
    const uint8_t zeros[3] = { 0 };
    struct hash_part none = { NULL, 0 }, some = { zeros, 1 }, more = { zeros, 2 };
    uint8_t a[HASH_BYTES], b[HASH_BYTES];
    char *big = mem_new(1000000);
    struct hash_part large = { big, 1000000 };

    (void)state;
    hash_parts(&none, 1, a);
    hash_parts(&(struct hash_part){ "", 0 }, 1, b);
    assert_memory_equal(a, b, HASH_BYTES);
    hash_parts(&some, 1, a);
    hash_parts(&more, 1, b);
    assert_memory_not_equal(a, b, HASH_BYTES);
    hash_parts(&large, 1, a);
    big[999999] = 1;
    hash_parts(&large, 1, b);
    assert_memory_not_equal(a, b, HASH_BYTES);
    free(big);
}

static void test_hex(void **state)
{
    const uint8_t bytes[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
    char hex[11];

    (void)state;
    memset(hex, 'x', sizeof hex);
    hash_hex(bytes, 0, hex);
    assert_string_equal(hex, "");
    hash_hex(bytes, sizeof bytes, hex);
    assert_string_equal(hex, "00017f80ff");
}

static void test_same(void **state)
{
    uint8_t a[HASH_BYTES] = { 0 }, b[HASH_BYTES] = { 0 };

    (void)state;
    assert_true(hash_same(a, b, HASH_BYTES));
    assert_true(hash_same(a, b, 0));
    for (size_t i = 0; i < HASH_BYTES; i++) {
        for (int bit = 0; bit < 8; bit++) {
            b[i] = (uint8_t)(1 << bit);
            assert_false(hash_same(a, b, HASH_BYTES));
            assert_true(hash_same(a, b, i));
        }
        b[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyed),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_no_two_lists_run_together),
        cmocka_unit_test(test_a_part_may_be_anything),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
