/*
 * token.h - secrets that stand for somebody: "sayso_a_" and 32 random bytes, base64url. The name
 * in front is for people and for scanners of leaked secrets; only the hash is ever kept.
 */
#ifndef CRYPTO_TOKEN_H
#define CRYPTO_TOKEN_H
#include <stdint.h>

#include "crypto/hash.h"

enum { TOKEN_BYTES = 52, TOKEN_ID_BYTES = 17 }; /* with the NUL */

void token_make(char kind_letter, char out[TOKEN_BYTES]);
void token_hash(const char *token, uint8_t out[HASH_BYTES]);
void token_id(const uint8_t hash[HASH_BYTES],
              char out[TOKEN_ID_BYTES]); /* what people call it by */

#endif
