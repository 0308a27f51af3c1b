/* crypto.h - hashes, base64url, secrets, and signatures; nettle is behind them. */
#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* SHA-256 and comparison without a clock to read; nettle behind it. */

enum { HASH_BYTES = 32, HASH_HEX_BYTES = 65 };

struct hash_part {
    const void *bytes;
    size_t length;
};
void hash_bytes(const void *bytes, size_t length, uint8_t out[HASH_BYTES]); /* plain SHA-256 */
/* Each part is hashed with its length in front, so that no two lists of parts run together. */
void hash_parts(const struct hash_part *parts, size_t count, uint8_t out[HASH_BYTES]);
void hash_hex(const uint8_t *hash, size_t bytes, char *out); /* 2 * bytes + 1 characters */
/* HMAC-SHA-256: only a holder of the key can make it, and it reveals nothing of the key. */
void hash_keyed(const uint8_t key[HASH_BYTES], const void *bytes, size_t length,
                uint8_t out[HASH_BYTES]);
bool hash_same(const void *a, const void *b, size_t length); /* constant time */

/* Base64url without padding (RFC 4648, 5): for secrets and seals in texts. */

void base64_encode(const uint8_t *bytes, size_t length, struct text *out);
/* Exactly what base64_encode writes: no blanks, no padding, no spare bits, so that two different
 * texts never mean the same bytes. False also where it would be more than `size` bytes. */
bool base64_decode(const char *text, size_t length, uint8_t *out, size_t size, size_t *ret_length);

/* The reply to a WebSocket handshake (RFC 6455 4.2.2): SHA-1 and base64 of what the client sent. */

enum { ACCEPT_KEY_BYTES = 29 }; /* with the NUL */
void accept_key(const char *key, char out[ACCEPT_KEY_BYTES]);

/* Secrets that stand for an agent, a person or a host: "sayso_a_" and 32 random bytes, base64url.
 * The name in front is for people and for scanners of leaked secrets; only the hash is ever kept.
 */

enum { TOKEN_BYTES = 52, TOKEN_ID_BYTES = 17 }; /* with the NUL */

void token_make(char kind_letter, char out[TOKEN_BYTES]);
void token_hash(const char *token, uint8_t out[HASH_BYTES]);
/* what people call it by */
void token_id(const uint8_t hash[HASH_BYTES], char out[TOKEN_ID_BYTES]);

/* Signs what is sent to an address, so that who gets it knows from whom it is: the scheme of
 * standardwebhooks.com, HMAC-SHA256 over "id.timestamp.body". */

void webhook_make_secret(struct text *out); /* "whsec_" and 32 bytes as base64 */
/* "v1," and the signature as base64; false: that is no secret. */
bool webhook_sign(const char *secret, const char *id, int64_t time_s, const char *body,
                  size_t length, struct text *out);

/* Whether a browser's key signed a text: ECDSA on P-256 with SHA-256, in the forms of WebCrypto. */

/* Both in base64url: a point that isn't compressed, and r and s. False too for anything else. */
bool signature_is_good(const char *key, const char *signature, const char *text);

#endif
