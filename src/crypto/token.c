/* token.c - see token.h. */
#include "crypto/token.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "crypto/base64.h"

enum { SECRET_BYTES = 32 };

void token_make(char kind_letter, char out[TOKEN_BYTES])
{
    uint8_t secret[SECRET_BYTES];
    struct text encoded = { 0 };

    random_bytes(secret, sizeof secret);
    base64_encode(secret, sizeof secret, &encoded);
    snprintf(out, TOKEN_BYTES, "sayso_%c_%s", kind_letter, text_string(&encoded));
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(encoded.bytes, encoded.used);
    text_release(&encoded);
}

void token_hash(const char *token, uint8_t out[HASH_BYTES])
{
    const struct hash_part part = { token, strlen(token) };

    hash_parts(&part, 1, out);
}

void token_id(const uint8_t hash[HASH_BYTES], char out[TOKEN_ID_BYTES])
{
    hash_hex(hash, (TOKEN_ID_BYTES - 1) / 2, out);
}
