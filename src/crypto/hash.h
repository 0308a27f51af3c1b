/* hash.h - SHA-256 and comparison without a clock to read; nettle behind it. */
#ifndef CRYPTO_HASH_H
#define CRYPTO_HASH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_BYTES = 32, HASH_HEX_BYTES = 65 };

struct hash_part {
    const void *bytes;
    size_t length;
};
void hash_bytes(const void *bytes, size_t length, uint8_t out[HASH_BYTES]); /* plain SHA-256 */
/* Each part is hashed with its length in front, so that no two lists of parts run together. */
void hash_parts(const struct hash_part *parts, size_t count, uint8_t out[HASH_BYTES]);
void hash_hex(const uint8_t *hash, size_t bytes, char *out); /* 2 * bytes + 1 characters */
/* HMAC-SHA-256: who makes it knows the key, and whoever reads it learns nothing of it. */
void hash_keyed(const uint8_t key[HASH_BYTES], const void *bytes, size_t length,
                uint8_t out[HASH_BYTES]);
bool hash_same(const void *a, const void *b, size_t length); /* constant time */

#endif
