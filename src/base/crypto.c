#include "base/crypto.h"

#include <nettle/base64.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"

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

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64_encode(const uint8_t *bytes, size_t length, struct text *out)
{
    uint32_t held = 0;
    int bits = 0;

    for (size_t i = 0; i < length; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6)
            text_add_char(out, digits[held >> (bits - 6) & 63]);
    }
    if (bits > 0)
        text_add_char(out, digits[held << (6 - bits) & 63]);
}

bool base64_decode(const char *text, size_t length, uint8_t *out, size_t size, size_t *ret_length)
{
    uint32_t held = 0;
    int bits = 0;
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return false;
        held = held << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        if (used == size)
            return false;
        out[used++] = (uint8_t)(held >> bits);
    }
    *ret_length = used;
    return bits < 6 && (held & ((1U << bits) - 1)) == 0;
}

void accept_key(const char *key, char out[ACCEPT_KEY_BYTES])
{
    static const char constant[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint8_t digest[SHA1_DIGEST_SIZE];
    struct sha1_ctx context;

    sha1_init(&context);
    sha1_update(&context, strlen(key), (const uint8_t *)key);
    sha1_update(&context, strlen(constant), (const uint8_t *)constant);
    sha1_digest(&context, sizeof digest, digest);
    base64_encode_raw(out, sizeof digest, digest);
    out[ACCEPT_KEY_BYTES - 1] = '\0';
}

enum { TOKEN_SECRET_BYTES = 32 };

void token_make(char kind_letter, char out[TOKEN_BYTES])
{
    uint8_t secret[TOKEN_SECRET_BYTES];
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

enum {
    WEBHOOK_SECRET_BYTES = 32,
    SECRET_CHARS = BASE64_ENCODE_RAW_LENGTH(WEBHOOK_SECRET_BYTES),
    MAX_BYTES = 256
};
static const char prefix[] = "whsec_";

static void add_base64(const uint8_t *bytes, size_t length, struct text *out)
{
    char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];

    base64_encode_raw(encoded, length, bytes);
    text_add(out, encoded, BASE64_ENCODE_RAW_LENGTH(length));
}

void webhook_make_secret(struct text *out)
{
    uint8_t secret[WEBHOOK_SECRET_BYTES];

    random_bytes(secret, sizeof secret);
    text_add_text(out, prefix);
    add_base64(secret, sizeof secret, out);
    explicit_bzero(secret, sizeof secret);
}

static bool read_secret(const char *text, uint8_t out[MAX_BYTES], size_t *ret_length)
{
    struct base64_decode_ctx context;
    size_t length = MAX_BYTES;

    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    text += sizeof prefix - 1;
    if (strlen(text) < SECRET_CHARS / 2 || BASE64_DECODE_LENGTH(strlen(text)) > MAX_BYTES)
        return false;
    base64_decode_init(&context);
    if (!base64_decode_update(&context, &length, out, strlen(text), text) ||
        !base64_decode_final(&context))
        return false;
    *ret_length = length;
    return true;
}

bool webhook_sign(const char *secret, const char *id, int64_t time_s, const char *body,
                  size_t length, struct text *out)
{
    uint8_t key[MAX_BYTES], digest[SHA256_DIGEST_SIZE];
    struct hmac_sha256_ctx context;
    struct text front = { 0 };
    size_t key_length;

    if (!read_secret(secret, key, &key_length))
        return false;
    text_add_format(&front, "%s.%lld.", id, (long long)time_s);
    hmac_sha256_set_key(&context, key_length, key);
    hmac_sha256_update(&context, front.used, (const uint8_t *)front.bytes);
    hmac_sha256_update(&context, length, (const uint8_t *)body);
    hmac_sha256_digest(&context, sizeof digest, digest);
    text_add_text(out, "v1,");
    add_base64(digest, sizeof digest, out);
    explicit_bzero(key, sizeof key);
    explicit_bzero(&context, sizeof context);
    text_release(&front);
    return true;
}

enum { NUMBER_BYTES = 32, KEY_BYTES = 65, SIGNATURE_BYTES = 64, UNCOMPRESSED = 4 };

static bool read_exactly(const char *text, uint8_t *out, size_t size)
{
    size_t length = 0;

    return base64_decode(text, strlen(text), out, size, &length) && length == size;
}

static void read_numbers(const uint8_t *bytes, mpz_t ret_first, mpz_t ret_second)
{
    mpz_import(ret_first, NUMBER_BYTES, 1, 1, 1, 0, bytes);
    mpz_import(ret_second, NUMBER_BYTES, 1, 1, 1, 0, bytes + NUMBER_BYTES);
}

/* False: it isn't on the curve. */
static bool read_key(const char *key, struct ecc_point *out)
{
    uint8_t bytes[KEY_BYTES];
    mpz_t x, y;
    bool ok = read_exactly(key, bytes, sizeof bytes) && bytes[0] == UNCOMPRESSED;

    mpz_inits(x, y, NULL);
    if (ok) {
        read_numbers(bytes + 1, x, y);
        ok = ecc_point_set(out, x, y) != 0;
    }
    mpz_clears(x, y, NULL);
    return ok;
}

bool signature_is_good(const char *key, const char *signature, const char *text)
{
    uint8_t bytes[SIGNATURE_BYTES], digest[HASH_BYTES];
    struct dsa_signature signed_as;
    struct ecc_point point;
    bool ok;

    hash_bytes(text, strlen(text), digest);
    ecc_point_init(&point, nettle_get_secp_256r1());
    dsa_signature_init(&signed_as);
    ok = read_key(key, &point) && read_exactly(signature, bytes, sizeof bytes);
    if (ok) {
        read_numbers(bytes, signed_as.r, signed_as.s);
        ok = ecdsa_verify(&point, sizeof digest, digest, &signed_as) != 0;
    }
    dsa_signature_clear(&signed_as);
    ecc_point_clear(&point);
    return ok;
}
