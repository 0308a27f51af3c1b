/* hash.c - see hash.h. */
#include "crypto/hash.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

void hash_bytes(const void *bytes, size_t length, uint8_t out[HASH_BYTES])
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, length, bytes);
    sha256_digest(&context, HASH_BYTES, out);
}

void hash_parts(const struct hash_part *parts, size_t count, uint8_t out[HASH_BYTES])
{
    struct sha256_ctx context;

    sha256_init(&context);
    for (size_t i = 0; i < count; i++) {
        uint64_t length = parts[i].length;

        sha256_update(&context, sizeof length, (const uint8_t *)&length);
        if (length)
            sha256_update(&context, length, parts[i].bytes);
    }
    sha256_digest(&context, HASH_BYTES, out);
}

void hash_hex(const uint8_t *hash, size_t bytes, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[2 * bytes] = '\0';
}

void hash_keyed(const uint8_t key[HASH_BYTES], const void *bytes, size_t length,
                uint8_t out[HASH_BYTES])
{
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, HASH_BYTES, key);
    hmac_sha256_update(&context, length, bytes);
    hmac_sha256_digest(&context, HASH_BYTES, out);
}

bool hash_same(const void *a, const void *b, size_t length)
{
    return memeql_sec(a, b, length) != 0;
}
